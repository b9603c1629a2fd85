"""Bad input of every kind gets its exit code and an error of four parts, in words and as JSON."""

from __future__ import annotations

import errno
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import symfleet
from symfleet import crash
from symfleet.cli.app import run
from symfleet.clock import SystemClock
from symfleet.doctor.target import INSTRUMENTATION_MARK
from symfleet.errors import ExitCode
from symfleet.ledger.contract import EpochRequest
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.highwater import HIGHWATER_NAME, read_highwater
from symfleet.ledger.opener import OwnerRequest, open_owner
from symfleet.runtime.campaign_lock import CampaignLock
from symfleet.testing.programs import ProgramCampaign
from symfleet.types import Incarnation

PROGRAMS = Path(__file__).parents[1] / "programs"
LABELS = ("  where:      ", "  why:        ", "  what to do: ")


@dataclass
class Place:
    """A folder with seeds, programs, and a campaign that was never run."""

    root: Path
    held: list[Callable[[], None]] = field(default_factory=list)

    @property
    def out(self) -> Path:
        return self.root / "campaign" / "out"

    def path(self, name: str) -> str:
        return str(self.root / name)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    for name in list(os.environ):
        if name.startswith("SYMFLEET_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    made = Place(tmp_path)
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "a").write_bytes(b"a")
    (tmp_path / "empty").mkdir()
    (tmp_path / "plain.txt").write_text("no program\n")
    instrumented = tmp_path / "target"
    instrumented.write_bytes(b"#!/bin/sh\n# " + INSTRUMENTATION_MARK + b"\n")
    instrumented.chmod(0o755)
    yield made
    for release in made.held:
        release()
    crash.arm("")


def campaign(place: Place) -> None:
    made = ProgramCampaign(place.root / "campaign", PROGRAMS / "none.py", {"a": b"a"})
    with made.owned() as opened:
        opened.ledger.open_epoch(
            EpochRequest(
                host="here",
                pid=1,
                command_line="",
                version="",
                coordinator=Incarnation(1),
                now_wall=1.0,
                config_toml="",
            )
        )


def truncated(place: Place) -> None:
    campaign(place)
    with (place.out / LEDGER_NAME).open("r+b") as stream:
        stream.truncate(4096 * 3)
    assert (place.out / HIGHWATER_NAME).exists()


def foreign(place: Place) -> None:
    campaign(place)
    (place.out / HIGHWATER_NAME).unlink()
    (place.out / LEDGER_NAME).write_bytes(b"SQLite format 4\0" * 512)


def overwritten(place: Place) -> None:
    campaign(place)
    with (place.out / LEDGER_NAME).open("r+b") as stream:
        stream.write(b"X" * 16)


def with_dangling(place: Place) -> None:
    campaign(place)
    (place.root / "dangling").symlink_to("nowhere")


def flipped(place: Place) -> None:
    campaign(place)
    with (place.out / LEDGER_NAME).open("r+b") as stream:
        stream.seek(18)
        stream.write(b"\xff")


def older_copy(place: Place) -> None:
    campaign(place)
    path = place.out / HIGHWATER_NAME
    mark = read_highwater(place.out)
    assert mark is not None
    text = json.loads(path.read_bytes())
    text |= {"decision": 7, "chain": "ab" * 32, "epoch": 3}
    path.write_text(json.dumps(text))


def locked(place: Place) -> None:
    campaign(place)
    lock = CampaignLock(place.out, SystemClock())
    lock.acquire(0.0)
    place.held.append(lock.release)


def owned(place: Place) -> None:
    campaign(place)
    request = OwnerRequest(host="elsewhere", pid=77, lock_wait_s=0.0)
    ledger = open_owner(place.out, request, SystemClock())
    place.held.append(ledger.close)


def full_disk(place: Place) -> None:
    campaign(place)
    crash.arm("file.write:1:enospc,file.write:2:enospc")


def odd_seeds(place: Place) -> None:
    """Everything but an input; links that a walk must not follow."""
    odd = place.root / "odd"
    odd.mkdir()
    (odd / "none").touch()
    with (odd / "large").open("wb") as stream:
        stream.truncate((1 << 20) + 1)
    os.mkfifo(odd / "pipe")
    for name in ("loop", "again"):
        (odd / name).symlink_to(odd)


def misshapen(place: Place) -> None:
    (place.root / "shape.toml").write_text("[[stop]]\nmax_time_s = 1\n")


def nothing(place: Place) -> None:
    """The place is as it is."""


def no_mpi(place: Place) -> None:
    place.held.append(_patched("symfleet.runtime.mpirun.sysconfig.get_path", lambda _: "/nowhere"))
    place.held.append(_patched("os.environ", {"PATH": "/nowhere"}))


def _patched(name: str, value: object) -> Callable[[], None]:
    patch = pytest.MonkeyPatch()
    patch.setattr(name, value)
    return patch.undo


@dataclass(frozen=True)
class Case:
    """A command line, what has to be so before, and what its error must say."""

    name: str
    words: str
    code: ExitCode
    says: str
    before: Callable[[Place], None] = nothing


ON = "-o new -i seeds -- {target} @@"
COMMAND = "--keep all --engine command --engine-command '/bin/sh x.sh'"

CASES = [
    Case("misspelt option", f"explore --jbos 3 {ON}", ExitCode.USAGE, "did you mean --jobs?"),
    Case("misspelt command", "explre", ExitCode.USAGE, "did you mean explore?"),
    Case("misspelt, a target", "explor -i seeds -o x -- y", ExitCode.USAGE, "mean explore?"),
    Case("misspelt, a target only", "docter -- y @@", ExitCode.USAGE, "mean doctor?"),
    Case("misspelt inner, a target", "poison lst x -- y", ExitCode.USAGE, "did you mean list?"),
    Case("misspelt inner command", "crashes lst", ExitCode.USAGE, "did you mean list?"),
    Case("misspelt key", "config explain prefech", ExitCode.USAGE, "did you mean prefetch?"),
    Case("missing argument", "status", ExitCode.USAGE, "OUT is missing"),
    Case("too many arguments", "status a b", ExitCode.USAGE, "nobody expects b"),
    Case("option without value", "explore -j", ExitCode.USAGE, "-j"),
    Case("no jobs", f"explore -j 0 {ON}", ExitCode.USAGE, "from 1 to 1024"),
    Case("negative jobs", f"explore -j -1 {ON}", ExitCode.USAGE, "from 1 to 1024"),
    Case("absurd jobs", f"explore -j 1000000 {ON}", ExitCode.USAGE, "from 1 to 1024"),
    Case("no coordinators", f"explore --coordinators 0 {ON}", ExitCode.USAGE, "from 1 to 64"),
    Case("a fraction of one", f"explore --coordinators 1.5 {ON}", ExitCode.USAGE, "from 1 to 64"),
    Case("words", f"explore --coordinators some {ON}", ExitCode.USAGE, "from 1 to 64"),
    Case(
        "more coordinators than slots are worth",
        f"explore -j 5 --coordinators 2 {ON}",
        ExitCode.USAGE,
        "each needs 3 slots at least, and there are 5",
    ),
    Case("jobs that are no number", f"explore -j many {ON}", ExitCode.USAGE, "from 1 to 1024"),
    Case("endless time", f"explore --max-time inf {ON}", ExitCode.USAGE, "max_time_s"),
    Case("negative limit", f"explore --wall-time -5 {ON}", ExitCode.USAGE, "wall_ms"),
    Case("unknown choice", f"explore --keep some {ON}", ExitCode.USAGE, "novel, all"),
    Case("missing config", f"explore --config no.toml {ON}", ExitCode.DATA, "no.toml"),
    Case("no target", "explore -o new -i seeds", ExitCode.USAGE, "no target is given"),
    Case("target for nobody", "status x -- y", ExitCode.USAGE, "takes no target"),
    Case("no output folder", "explore -i seeds -- {target} @@", ExitCode.USAGE, "-o out"),
    Case(
        "missing target",
        "explore -o new -i seeds -- ./nowhere @@",
        ExitCode.USAGE,
        "the target is missing",
    ),
    Case(
        "missing target of another compiler",
        "explore -o new -i seeds --keep all --engine symcc -- ./nowhere @@",
        ExitCode.USAGE,
        "the target is missing",
    ),
    *(
        Case(
            f"engine's program that is {what}",
            f"explore -o new -i seeds --keep all --engine command --engine-command '{word} @@' "
            "-- {target} @@",
            ExitCode.USAGE,
            says,
        )
        for what, word, says in (
            ("missing", "./nowhere", "the engine's program is missing"),
            ("not on PATH", "nowhere", "no folder in PATH holds it"),
            ("a folder", "./seeds", "the engine's program is missing"),
            ("not executable", "./plain.txt", "chmod +x"),
        )
    ),
    Case(
        "output where no folder can be",
        f"explore -o /proc/nowhere -i seeds {COMMAND} -- /bin/true @@",
        ExitCode.IO,
        "choose another folder after -o",
    ),
    Case(
        "target that is a folder",
        "explore -o new -i seeds -- ./seeds @@",
        ExitCode.USAGE,
        "not a program",
    ),
    Case(
        "target that is not executable",
        "explore -o new -i seeds -- ./plain.txt @@",
        ExitCode.USAGE,
        "chmod +x",
    ),
    Case(
        "target that is not instrumented",
        "explore -o new -i seeds -- /bin/cat @@",
        ExitCode.DATA,
        "symfleet cc",
    ),
    Case("no seeds given", "explore -o new -- {target} @@", ExitCode.USAGE, "no seeds are given"),
    Case(
        "missing seeds",
        "explore -o new -i nowhere -- {target} @@",
        ExitCode.DATA,
        "the seeds are missing",
    ),
    Case("no seed", "explore -o new -i empty -- {target} @@", ExitCode.DATA, "there are no seeds"),
    Case(
        "seeds that no scan takes",
        "explore -o new -i odd -- {target} @@",
        ExitCode.DATA,
        "from 1 to 1048576 bytes",
        odd_seeds,
    ),
    Case(
        "seeds that are a pipe",
        "explore -o new -i odd/pipe -- {target} @@",
        ExitCode.DATA,
        "no readable regular file",
        odd_seeds,
    ),
    Case("unset seeds", "explore -o new -i '' -- {target} @@", ExitCode.USAGE, "path of the seeds"),
    Case("unset target", "explore -o new -i seeds -- '' @@", ExitCode.USAGE, "name is empty"),
    Case(
        "setting instead of a table",
        f"explore --config shape.toml {ON}",
        ExitCode.USAGE,
        "write [stop] on a line",
        misshapen,
    ),
    Case(
        "output that is a file",
        "explore -o plain.txt -i seeds -- {target} @@",
        ExitCode.USAGE,
        "not a folder",
    ),
    Case(
        "output of something else",
        "explore -o seeds -i seeds -- {target} @@",
        ExitCode.USAGE,
        "holds something else",
    ),
    Case(
        "engine without coverage that is to judge novelty",
        "explore -o new -i seeds --engine command --engine-command true -- {target} @@",
        ExitCode.USAGE,
        "--keep all",
    ),
    Case("missing campaign", "resume nowhere", ExitCode.USAGE, "no such folder"),
    Case("folder without campaign", "verify seeds", ExitCode.DATA, "this is no campaign"),
    Case("live job", "resume {out}", ExitCode.BUSY, "has held it for", locked),
    Case("live owner", "verify {out} --repair", ExitCode.BUSY, "process 77 on elsewhere", owned),
    Case("truncated ledger", "status {out}", ExitCode.INTEGRITY, "damaged", truncated),
    Case("truncated, owned", "verify {out} --repair", ExitCode.INTEGRITY, "cut off", truncated),
    Case("no database", "status {out}", ExitCode.INTEGRITY, "had a ledger", overwritten),
    Case("no database, resumed", "resume {out}", ExitCode.INTEGRITY, "had a ledger", overwritten),
    Case("export to a file", "corpus export {out} plain.txt", ExitCode.USAGE, "file has", campaign),
    Case("export below one", "corpus export {out} plain.txt/x", ExitCode.USAGE, "file", campaign),
    Case(
        "export to a dead link",
        "corpus export {out} dangling",
        ExitCode.USAGE,
        "leads nowhere",
        with_dangling,
    ),
    Case(
        "output on a dead link",
        "explore -o dangling -i seeds -- {target} @@",
        ExitCode.USAGE,
        "leads nowhere",
        with_dangling,
    ),
    Case(
        "unknown parameter of a URL",
        "ledger copy {out} --to postgresql://u@h/d?bogus=1",
        ExitCode.USAGE,
        '"bogus"',
        campaign,
    ),
    Case(
        "bad parameter of a URL",
        "ledger copy {out} --to postgresql://u@127.0.0.1:1/d?sslmode=x",
        ExitCode.USAGE,
        "sslmode",
        campaign,
    ),
    Case("foreign ledger", "verify {out} --repair", ExitCode.DATA, "not a ledger", foreign),
    Case("damaged header", "verify {out} --repair", ExitCode.INTEGRITY, "header", flipped),
    Case(
        "older copy",
        "verify {out} --repair",
        ExitCode.INTEGRITY,
        "7 decisions are missing",
        older_copy,
    ),
    Case("full disk", "corpus add {out} seeds", ExitCode.IO, "free some space", full_disk),
    Case("missing file", "corpus add {out} nowhere", ExitCode.USAGE, "no such file", campaign),
    Case("no files", "corpus add {out}", ExitCode.USAGE, "no files are given", campaign),
    Case("unknown crash", "crashes show {out} ab", ExitCode.USAGE, "no crash has this", campaign),
    Case("unknown poison", "poison rearm {out} ab", ExitCode.USAGE, "no poisoned work", campaign),
    Case("setting of a campaign", "resume {out} --seed 9", ExitCode.USAGE, "belongs to", campaign),
    Case(
        "no MPI",
        f"explore -o new -i seeds {COMMAND} -- /bin/true @@",
        ExitCode.HOST,
        "mpirun is missing",
        no_mpi,
    ),
]


def words_of(case: Case, place: Place) -> list[str]:
    filled = case.words.format(target=place.path("target"), out=place.out)
    return shlex.split(filled)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input_has_an_exit_code_and_four_parts(
    case: Case, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    case.before(place)
    before = _ledger_bytes(place)
    words = words_of(case, place)
    assert run(words) == case.code
    shown = capsys.readouterr()
    lines = shown.err.splitlines()
    assert lines[0].startswith("symfleet: error: "), shown.err
    assert [line[: len(label)] for line, label in zip(lines[1:], LABELS, strict=True)] == [*LABELS]
    assert all(line[len(LABELS[0]) :].strip() for line in lines[1:]), shown.err
    assert case.says in shown.err
    assert "Traceback" not in shown.err
    assert not (place.root / "new").exists() or not list((place.root / "new").iterdir())
    assert _ledger_bytes(place) == before, "nothing is lost"

    end = words.index("--") if "--" in words else len(words)
    assert run([*words[:end], "--json", *words[end:]]) == case.code
    shown = capsys.readouterr()
    error = json.loads(shown.out)["error"]
    parts = [lines[0].removeprefix("symfleet: error: "), *(line[14:] for line in lines[1:])]
    assert set(error) == {"what", "where", "why", "what_to_do", "exit_code"}
    assert error["exit_code"] == case.code
    assert error["what"] == parts[0]
    assert error["what_to_do"] == parts[3]
    assert shown.err == ""


def _ledger_bytes(place: Place) -> bytes | None:
    path = place.out / LEDGER_NAME
    return path.read_bytes() if path.exists() else None


def cli(words: Sequence[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    source = str(Path(symfleet.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "symfleet.cli.main", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": source, **environment},
    )


def test_a_process_of_its_own_says_the_same(place: Place) -> None:
    ended = cli(["status", "nowhere"], place.root)
    assert ended.returncode == 64
    assert "what to do" in ended.stderr
    assert ended.stdout == ""


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("words", ["doctor ./nowhere @@", "doctor -- ./nowhere @@ -x"])
def test_the_doctor_takes_a_target_with_and_without_the_mark(
    capsys: pytest.CaptureFixture[str], words: str
) -> None:
    assert run(words.split()) == ExitCode.USAGE
    assert "the target is missing" in capsys.readouterr().err


def test_debug_adds_the_traceback(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "nowhere", "--debug"]) == 64
    assert "Traceback" in capsys.readouterr().err


def test_a_bug_of_ours_has_a_traceback_and_asks_for_a_report(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr("symfleet.cli.status.report_from_ledger", broken)
    assert run(["status", "x"]) == 70
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "report it" in said
    assert "ZeroDivisionError: surprise" in said


def test_a_reader_that_goes_away_is_no_error(place: Place, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    saved = os.dup(1)
    try:
        os.dup2(writer, 1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdout", open(1, "w", closefd=False))  # noqa: SIM115
            assert run(["config", "show"]) == 0
            sys.stdout.flush()
    finally:
        os.dup2(saved, 1)
        os.close(saved)
        os.close(writer)


def test_a_full_disk_under_the_output_is_no_success(place: Place) -> None:
    source = str(Path(symfleet.__file__).parents[1])
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "symfleet.cli.main", "config", "show"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "PYTHONPATH": source},
        )
    assert ended.returncode == 74
    assert "the output cannot be written" in ended.stderr


def test_closed_standard_streams_are_no_bug(place: Place) -> None:
    source = str(Path(symfleet.__file__).parents[1])
    said = place.root / "said"
    command = shlex.join([sys.executable, "-m", "symfleet.cli.main", "config", "show"])
    script = f"{command} <&- >&- && {command} 2>&- >{said} && {command} nowhere <&- >&- 2>&-"
    environment = {**os.environ, "PYTHONPATH": source}
    ended = subprocess.run(["sh", "-c", script], timeout=60, check=False, env=environment)
    assert ended.returncode == 64
    assert "prefetch" in said.read_text()


class Refused:
    """A verb that the operating system does not let go on."""

    def __init__(self, code: int) -> None:
        self.code = code

    def __call__(self, *_: object) -> None:
        raise OSError(self.code, os.strerror(self.code), "some/file")


@pytest.mark.parametrize("code", [errno.EACCES, errno.EMFILE, errno.ENAMETOOLONG])
def test_what_the_system_refuses_is_an_error_of_four_parts(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr("symfleet.cli.status.report_from_ledger", Refused(code))
    assert run(["status", "x"]) == 74
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "some/file" in said
    assert all(label.strip() in said for label in LABELS)
