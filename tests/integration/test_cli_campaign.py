"""A real campaign by the command line: screen, verbs beside it, Ctrl-C, resume, verify, repro."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pexpect
import pyte
import pytest

import symfleet
from symfleet.cli.app import run
from symfleet.observe.report import Report, faults_in
from symfleet.testing.jobs import until
from symfleet.testing.programs import well_status
from symfleet.types import input_id_of

pytestmark = pytest.mark.jobs

ENGINE = """\
import os, signal, sys, time
data = open(sys.argv[1], "rb").read()
time.sleep(0.03)
if len(data) < 9:
    for letter in (b"A", b"B"):
        with open(os.path.join(sys.argv[2], letter.decode()), "wb") as file:
            file.write(data + letter)
if data.endswith(b"BB"):
    os.kill(os.getpid(), signal.SIGSEGV)
"""
TARGET = """\
#!/bin/sh
case $(cat "$1") in *BB) kill -SEGV $$ ;; esac
"""


class Bench:
    """A folder with a target, an engine and seeds, and the command line to work on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.out = root / "out"
        (root / "engine.py").write_text(ENGINE)
        target = root / "target"
        target.write_text(TARGET)
        target.chmod(0o755)
        (root / "seeds").mkdir()
        (root / "seeds" / "a").write_bytes(b"x")
        source = str(Path(symfleet.__file__).parents[1])
        clean = {name: text for name, text in os.environ.items() if "SYMFLEET" not in name}
        self.environment = {**clean, "PYTHONPATH": source, "TERM": "xterm-256color"}

    @property
    def explore(self) -> list[str]:
        engine = shlex.join(
            [sys.executable, "-S", "-E", f"{self.root / 'engine.py'}", "@@", "@out"]
        )
        words = ["explore", "-i", "seeds", "-o", "out", "-j", "2", "--keep", "all"]
        words += ["--rescan-period", "0.3", "--lock-wait", "0.2"]
        return [*words, "--engine", "command", "--engine-command", engine, "--", "./target", "@@"]

    def command(self, words: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "symfleet.cli.main", *words]

    def run(self, *words: str, code: int = 0) -> str:
        """Run a verb in this process."""
        said = io.StringIO()
        with contextlib.chdir(self.root), contextlib.redirect_stdout(said):
            ended = run(list(words))
        assert ended == code, said.getvalue()
        return said.getvalue()

    def launch(self, *words: str, code: int = 0) -> str:
        """Run a campaign in a process of its own."""
        ended = subprocess.run(
            self.command(words),
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == code, ended.stdout + ended.stderr
        return ended.stdout

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.run(*words, "--json", code=code))

    def relaunch(self, *words: str) -> Any:
        return json.loads(self.launch("resume", *words, "--screen", "none", "--json"))

    def report(self) -> Report:
        text = self.run("status", "out", "--json")
        return msgspec.json.decode(text, type=Report)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    for ledger in tmp_path.rglob("ledger.db"):
        well_status(ledger.parent)


class Terminal:
    """A terminal of 80 by 24 with a command in it."""

    def __init__(self, bench: Bench, words: Sequence[str]) -> None:
        command, *arguments = bench.command(words)
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        self.child = pexpect.spawn(
            command,
            arguments,
            cwd=str(bench.root),
            env=bench.environment,
            dimensions=(24, 80),
            timeout=60,
        )

    def wait_for(self, pattern: str, within_s: float = 30.0) -> list[str]:
        """Read until the picture matches; return its lines."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            data: Any = b""
            try:
                data = self.child.read_nonblocking(4096, timeout=0.5)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                pass
            self._stream.feed(data)
            if re.search(pattern, "\n".join(self.screen.display)):
                return [line.rstrip() for line in self.screen.display]
            if not data:
                break
        raise AssertionError("\n".join(self.screen.display))

    def end(self) -> int:
        """Wait for the command's end; return its exit code."""
        self.child.close(force=False)
        assert self.child.exitstatus is not None
        return int(self.child.exitstatus)


@pytest.mark.guarantee("Q4")
def test_a_campaign_from_terminal_to_crash(bench: Bench) -> None:
    terminal = Terminal(bench, bench.explore)
    try:
        lines = terminal.wait_for(r"executed +[1-9]")
        assert lines[0].startswith("symfleet target  keep all  epoch 1  running")
        assert max(len(line) for line in lines) <= 80
        assert any(line.startswith("rank 1") for line in lines)
        assert any(line.startswith("rank 2") for line in lines)

        beside_a_running_campaign(bench)
        watched_from_another_terminal(bench)

        terminal.child.sendintr()
        terminal.wait_for(r"epoch 1 ended: interrupted")
        terminal.child.expect(pexpect.EOF)
    finally:
        if terminal.child.isalive():
            terminal.child.terminate(force=True)
    assert terminal.end() == 0
    stopped = bench.report()
    assert stopped.open_work > 0
    assert stopped.live is None
    assert stopped.acks == {"0": "2/2"}

    resumed = bench.relaunch("out", "--max-executions", "20")["report"]
    assert resumed["epochs"] == 2
    assert resumed["total"]["executed"] >= stopped.total.executed + 20
    assert resumed["total"]["executed"] == (
        stopped.total.executed + resumed["this_epoch"]["executed"]
    )
    assert resumed["time_total_s"] > stopped.time_total_s
    assert faults_in(bench.report().total) == {}

    after_the_campaign(bench)


def beside_a_running_campaign(bench: Bench) -> None:
    running = bench.report()
    assert running.epoch is not None
    assert running.epoch.running
    assert running.live is not None
    assert running.live.workers_joined == 2
    assert "is running (process" in bench.run("status", "out")
    bench.run("status", "out", "--exit-code", code=75)
    for words in (bench.explore, ["resume", "out"], ["verify", "out", "--repair"]):
        bench.run(*words, code=75)
    (bench.root / "more").write_bytes(b"yy")
    (bench.root / ("ab" * 32)).write_bytes(b"a lie")
    added = bench.json("corpus", "add", "out", "more", "ab" * 32, code=65)
    assert added["added"] == [input_id_of(b"yy")]
    assert list(added["refused"].values()) == ["misnamed"]
    assert bench.json("poison", "rearm", "out") == {"rearmed": 0}
    until("the added input is admitted", lambda: bench.report().total.external_inputs == 2, 30)
    assert not list((bench.out / "inbox" / "inputs").iterdir())


def watched_from_another_terminal(bench: Bench) -> None:
    other = Terminal(bench, ["top", "out"])
    try:
        other.wait_for(r"rank 2 ")
        other.child.sendintr()
        other.wait_for(r"epoch 1 is running")
        other.child.expect(pexpect.EOF)
    finally:
        if other.child.isalive():
            other.child.terminate(force=True)
    assert other.end() == 0


def after_the_campaign(bench: Bench) -> None:
    crashes = bench.json("crashes", "list", "out")
    assert crashes
    assert {crash["signal_name"] for crash in crashes} == {"SIGSEGV"}
    first = crashes[0]
    assert Path(first["path"]).read_bytes().endswith(b"BB")
    assert first["input"] in bench.run("crashes", "show", "out", first["input"][:12])
    again = bench.json("crashes", "repro", "out")
    assert len(again) == len(crashes)
    assert all(entry["reproduced"] and entry["signal"] == 11 for entry in again)
    script = Path(first["path"]).with_name("reproduce.sh")
    assert subprocess.run([str(script)], check=False, timeout=30).returncode == -11

    verified = bench.json("verify", "out", "--sets")
    assert verified["ok"]
    exported = bench.json("corpus", "export", "out", "copy")
    assert sorted(exported["inputs"]) == verified["corpus"]
    assert sorted(path.name for path in (bench.root / "copy").iterdir()) == verified["corpus"]
    assert input_id_of(b"yy") in verified["corpus"]
    assert len({work for work, _ in verified["decisions"]}) == len(verified["decisions"])

    victim = bench.out / "corpus" / exported["inputs"][0][:2] / exported["inputs"][0]
    victim.write_bytes(b"other bytes")
    shutil.rmtree(Path(first["path"]).parent)
    for name in ("campaign.toml", "README.txt"):
        (bench.out / name).unlink()
    assert not bench.json("corpus", "verify", "out", code=2)["ok"]
    assert not bench.json("verify", "out", code=2)["ok"]
    assert bench.json("verify", "out", "--repair")["repaired"] == 6
    assert "argv = " in (bench.out / "campaign.toml").read_text()
    assert bench.json("verify", "out")["ok"]
    assert [path.read_bytes() for path in (bench.out / "lost+found").iterdir()] == [b"other bytes"]

    other = bench.explore
    other[other.index("./target")] = "/bin/true"
    bench.launch(*other, code=64)
    moved = bench.root / "moved"
    bench.out.rename(moved)
    assert bench.json("verify", "moved")["ok"]
    assert bench.relaunch("moved", "--max-executions", "1")["exit_code"] == 0
    assert bench.json("verify", "moved")["ok"]


def test_a_crash_that_does_not_come_again_is_said_so(bench: Bench) -> None:
    bench.launch(*bench.explore[:-3], "--exit-on-crash", "--screen", "none", *bench.explore[-3:])
    assert bench.json("crashes", "list", "out")
    (bench.root / "target").write_text("#!/bin/sh\n")
    again = bench.json("crashes", "repro", "out", code=2)
    assert {entry["outcome"] for entry in again} == {"ok"}
    assert "NOT reproduced" in bench.run("crashes", "repro", "out", code=2)


def test_without_a_terminal_there_are_plain_lines(bench: Bench) -> None:
    words = [*bench.explore[:-3], "--max-executions", "30", "--plain-period", "0.5"]
    said = bench.launch(*words, *bench.explore[-3:])
    lines = said.splitlines()
    assert lines[0] == f"symfleet: starting {bench.out} with 2 slots"
    assert any(re.match(r"\[\d+\.\ds\]  corpus \d+", line) for line in lines)
    assert any(line.startswith("epoch 1 ended: max_executions") for line in lines)
    assert "\x1b" not in said


def test_a_launch_that_was_killed_before_it_had_a_ledger_starts_again(bench: Bench) -> None:
    bench.out.mkdir()
    for name in (".run", "logs"):
        (bench.out / name).mkdir()
    for name in ("job.lock", "owner.lock", "ledger.db.creating", "ledger.db.creating-wal"):
        (bench.out / name).write_bytes(b"torn")
    words = [*bench.explore[:-3], "--max-executions", "1", "--screen", "none"]
    bench.launch(*words, *bench.explore[-3:])
    assert bench.report().total.executed >= 1
    assert not (bench.out / "ledger.db.creating").exists()
