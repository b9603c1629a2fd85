"""Do the files that people look at agree with the ledger: campaign.toml, README.txt, poison/, and
the numbers in status.json, fuzzer_stats and plot_data?

The numbers and poison/ are renewed each second while a job runs, and at its end. Where a job runs,
or the newest launch died before its end, they may lag behind the ledger, and nothing is said of
that. Names that symfleet does not give are told as `unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from symfleet.config.project import CONFIG_NAME
from symfleet.corpus.audit import FileFinding
from symfleet.corpus.poison import POISON, SHOWN_MAX, poison_files
from symfleet.ledger.contract import LedgerReader, LedgerStatus
from symfleet.observe.afl import PLOT_COUNTS, STATS_COUNTS, afl_counts
from symfleet.observe.names import is_ours
from symfleet.observe.report import decode_report
from symfleet.types import WorkState

_MISSING: Final = "missing"
_WRONG: Final = "wrong"


def compare_shown(reader: LedgerReader, out: Path, *, live: bool) -> Iterator[FileFinding]:
    """Yield what does not agree. `live`: a job works on the campaign."""
    status = reader.status()
    if status.epoch is not None:
        yield from _settings(reader, out, live=live)
        yield from _no_file(out / "README.txt")
    if not live and status.epoch is not None and status.epoch.reason is not None:
        yield from _poison(reader, out)
        yield from _status(status, out)
        yield from _afl(status, out)
    for path in sorted(out.iterdir()):
        if not is_ours(path.name):
            yield FileFinding("unknown", path.name)


def expected_settings(reader: LedgerReader) -> list[str]:
    """Return what campaign.toml may hold: what the newest launch wrote, then, while it has no
    verdict, what it found."""
    epochs = reader.epochs()
    told = [row.config_toml for row in reversed(epochs) if row.config_toml]
    told.append(reader.status().campaign.config_toml)
    is_closed = bool(epochs) and epochs[-1].reason is not None
    return told[:1] if is_closed else told[:2]


def _settings(reader: LedgerReader, out: Path, *, live: bool) -> Iterator[FileFinding]:
    problem = _problem(out / CONFIG_NAME, [text.encode() for text in expected_settings(reader)])
    if problem is not None and not (live and problem == _WRONG):
        yield FileFinding(problem, CONFIG_NAME)


def _poison(reader: LedgerReader, out: Path) -> Iterator[FileFinding]:
    folder = out / POISON
    rows = reader.work_rows(WorkState.POISONED, SHOWN_MAX)
    for row in rows:
        for name, data in poison_files(row, reader).items():
            problem = _problem(folder / name, [data])
            if problem is not None:
                yield FileFinding(problem, f"{POISON}/{name}")
    wanted = {str(row.work_id) for row in rows}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name not in wanted:
            yield FileFinding("unknown", f"{POISON}/{path.name}")


def _status(status: LedgerStatus, out: Path) -> Iterator[FileFinding]:
    path = out / "status.json"
    if not path.is_file():
        yield from _no_file(path)
        return
    report = decode_report(path.read_bytes())
    if report is None:
        yield FileFinding(_WRONG, path.name, "it cannot be read")
        return
    total = status.total
    told = {
        "campaign": (report.campaign.id, status.campaign.campaign),
        "epochs": (report.epochs, status.epochs),
        "decisions": (report.decisions, status.decisions),
        "corpus": (report.corpus, status.corpus),
        **{
            name: (getattr(report.total, name), getattr(total, name))
            for name in (
                *("executed", "generated", "unique_children", "external_inputs", "kept"),
                *("crashes", "hangs", "edges", "target_runs", "not_exhaustive"),
            )
        },
    }
    for name, (shown, stored) in told.items():
        if shown != stored:
            detail = f"{name}: {shown} there, {stored} in the ledger"
            yield FileFinding(_WRONG, path.name, detail)
            return


def _afl(status: LedgerStatus, out: Path) -> Iterator[FileFinding]:
    """Compare the counts in AFL++'s form; there is nothing before the first execution."""
    counts = afl_counts(status)
    if counts is None:
        return
    for name, read in (("fuzzer_stats", _stats_counts), ("plot_data", _plot_counts)):
        path = out / name
        if not path.is_file():
            yield from _no_file(path)
            continue
        found = read(path.read_text("ascii", "replace"))
        for key, shown in found.items():
            if shown != str(counts[key]):
                detail = f"{key}: {shown} there, {counts[key]} in the ledger"
                yield FileFinding(_WRONG, name, detail)
                break
        if not found:
            yield FileFinding(_WRONG, name, "it cannot be read")
    yield from _no_file(out / "fuzzer_setup")


def _stats_counts(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines())
    found = {key.strip(): value.strip() for key, _, value in pairs}
    return {key: found.get(key, "nothing") for key in STATS_COUNTS} if found else {}


def _plot_counts(text: str) -> dict[str, str]:
    fields = text.splitlines()[-1].split(", ") if text.strip() else []
    if len(fields) <= max(PLOT_COUNTS.values()):
        return {}
    return {key: fields[place] for key, place in PLOT_COUNTS.items()}


def _no_file(path: Path) -> Iterator[FileFinding]:
    """Yield that a file of the output folder is none, if it is none."""
    if not path.is_file():
        there = path.is_symlink() or path.exists()
        yield FileFinding(_WRONG if there else _MISSING, path.name, "it is no file" * there)


def _problem(path: Path, choices: list[bytes]) -> str | None:
    try:
        if path.is_symlink() or not path.is_file():
            return _WRONG if path.is_symlink() or path.exists() else _MISSING
        return None if path.read_bytes() in choices else _WRONG
    except OSError:
        return _WRONG
