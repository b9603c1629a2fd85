"""Write again what people look at when it is gone or wrong: campaign.toml, README.txt, poison/, the
status files. The ledger is only read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import symfleet
from symfleet.config.project import CONFIG_NAME
from symfleet.config.resolve import parse_toml
from symfleet.corpus.durable import write_file
from symfleet.corpus.layout import LOST_AND_FOUND
from symfleet.corpus.poison import POISON, SHOWN_MAX, project_poison
from symfleet.corpus.publish import set_aside
from symfleet.ledger.contract import LedgerReader
from symfleet.observe.afl import AflFiles
from symfleet.observe.at_rest import stored_report
from symfleet.observe.audit import compare_shown, expected_settings
from symfleet.observe.readme import write_readme
from symfleet.observe.report import encode_report
from symfleet.types import WorkState

_NUMBERS: Final = frozenset({"status.json", "fuzzer_stats", "fuzzer_setup", "plot_data"})


def restore(out: Path, reader: LedgerReader) -> int:
    """Put right what does not agree; return how many files. Whoever calls keeps all others out.

    What may be somebody's work goes to lost+found: changed settings, what has the name of an input,
    a folder in a file's place.
    The line that plot_data lacks is added; its history is in no other place, so it begins anew when
    the file is gone.
    """
    found = [one for one in compare_shown(reader, out, live=False) if one.problem != "unknown"]
    wrong = {one.path for one in found}
    for there in (out / one.path for one in found if one.problem == "wrong"):
        if there.name in (CONFIG_NAME, "input") or there.is_symlink() or not there.is_file():
            set_aside(there, out, out / LOST_AND_FOUND)
    if CONFIG_NAME in wrong:
        write_file(out / CONFIG_NAME, expected_settings(reader)[0].encode())
    write_readme(out)
    folder = out / POISON
    for path in wrong:
        if path.startswith(f"{POISON}/"):
            (out / path).unlink(missing_ok=True)
            (folder / Path(path).parts[1] / "report.json").unlink(missing_ok=True)
    project_poison(out, reader.work_rows(WorkState.POISONED, SHOWN_MAX), reader)
    if wrong & _NUMBERS:
        _renew_numbers(out, reader)
    return len(wrong)


def _renew_numbers(out: Path, reader: LedgerReader) -> None:
    report = stored_report(out, reader, running=lambda: False)
    write_file(out / "status.json", encode_report(report), durable=False)
    for name in ("fuzzer_stats", "fuzzer_setup"):
        (out / name).unlink(missing_ok=True)
    wall_ms = parse_toml(reader.status().campaign.config_toml).limits.wall_ms
    AflFiles(out, wall_ms, symfleet.__version__).write(report)
