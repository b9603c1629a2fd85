"""Build one random program, let the engine make children, and compare all runs with clang's."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from symfleet.compiler.command import Toolchain, understand
from symfleet.compiler.main import build_command
from symfleet.compiler.toolchain import CLANG_VARIABLE
from symfleet.testing.random_programs.decisions import Finding, Log, judge, read_logs
from symfleet.testing.random_programs.writing import write_inputs, write_program

PROBES: Final = Path(__file__).with_name("probes.c")
GUESSES: Final = frozenset({"optimistic", "widen", "resize"})
"""Ways to a child that do not promise to keep to the parent's path."""
INPUTS: Final = 2
"""Of a program. One of them is explored at a level, another at the next: what limits this is the
number of programs, and those find more than a second search of the same one."""
GOALS: Final = 100
"""Of each input: the search ends behind as many. A limit of wall time would make results differ."""
SOLVER_UNITS: Final = 500_000
"""Of Z3, for one query. A quarter of what is usual costs one child in fifty, and saves a fifth of
the time: what can be solved is measured elsewhere."""
_OPTIONS: Final = ("-w", "-fwrapv")
_WRAPPED: Final = tuple(f"-Wl,--wrap=__sf_{event}" for event in ("branch", "switch", "compare"))
_COMPILE_S: Final = 600
_EXPLORE_S: Final = 1800
_RUN_S: Final = 120
_SAID_CHARACTERS: Final = 500


class TrialFailed(Exception):
    """A compiler or the executor failed; the message is its own."""


class Child(msgspec.Struct, tag_field="t", tag="child", frozen=True):
    """What of a child's line matters here."""

    id: int
    input: str
    how: str
    site: int
    direction: int


class Done(msgspec.Struct, tag_field="t", tag="done", frozen=True):
    """What of an input's line matters here."""

    id: int
    outcome: str
    exit_code: int


class Verdict(msgspec.Struct, frozen=True):
    """One program at one level."""

    seed: int
    level: str
    seconds: float
    runs: int = 0
    """Runs of which the output was compared."""
    differences: list[str] = []
    findings: dict[str, dict[str, int]] = {}
    """How children were found, and how many of their predictions held."""
    missed: list[str] = []
    """Predictions that did not hold, of children that are no guesses."""


@dataclass(frozen=True, slots=True)
class _Programs:
    plain: Path
    """By clang alone; it tells its decisions."""
    recorded: Path
    """The same by symfleet; it tells the engine's branches too."""
    bare: Path
    """By symfleet, and it tells nothing."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What all trials share. `folder` is for what is built once."""

    toolchain: Toolchain
    executor: Path
    folder: Path

    def prepare(self) -> None:
        """Compile what programs are linked with."""
        clang = [self.toolchain.clang, "-O1", "-Wall", "-Wextra", "-Werror", "-c", str(PROBES)]
        _call([*clang, "-o", str(self._probes)], _COMPILE_S)
        _call([*clang, "-DSITES", "-o", str(self._probes_of_sites)], _COMPILE_S)

    @property
    def _probes(self) -> Path:
        return self.folder / "probes.o"

    @property
    def _probes_of_sites(self) -> Path:
        return self.folder / "probes-of-sites.o"

    def judge(self, seed: int, level: str, folder: Path) -> Verdict:
        """Try the program of a seed at a level; a folder of its own may be kept to look at."""
        begun = time.monotonic()
        try:
            programs = self._build(seed, level, folder)
            case = _Case(programs, folder, self.executor)
            inputs = write_inputs(seed, INPUTS)
            case.run(inputs, explored=inputs[(seed + ord(level[-1])) % INPUTS])
        except TrialFailed as failed:
            took = round(time.monotonic() - begun, 2)
            return Verdict(seed, level, took, differences=[str(failed)[:_SAID_CHARACTERS]])
        findings = {how: dict(counts) for how, counts in sorted(case.findings.items())}
        took = round(time.monotonic() - begun, 2)
        return Verdict(seed, level, took, case.runs, case.differences, findings, case.missed)

    def _build(self, seed: int, level: str, folder: Path) -> _Programs:
        source = folder / "program.c"
        source.write_text(write_program(seed))
        programs = _Programs(folder / "plain", folder / "recorded", folder / "bare")
        words = [f"-{level}", *_OPTIONS, str(source)]
        telling = [*words, f"-DPROBES={1 + seed % 2}"]
        clang = self.toolchain.clang
        _call([clang, *telling, str(self._probes), "-o", str(programs.plain)], _COMPILE_S)
        recorded = [*telling, str(self._probes_of_sites), *_WRAPPED, "-o", str(programs.recorded)]
        for command in (recorded, [*words, "-o", str(programs.bare)]):
            _call(self._symfleet_cc(command), _COMPILE_S)
        return programs

    def _symfleet_cc(self, words: list[str]) -> list[str]:
        """Return what `symfleet cc` would become, without starting it."""
        environment = {**os.environ, CLANG_VARIABLE: self.toolchain.clang}
        return build_command(words, understand(words), "c", environment)


class _Case:
    """One program: its inputs, their children, and what was found."""

    def __init__(self, programs: _Programs, folder: Path, executor: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._executor = executor
        self._log = folder / "log"
        self._input = folder / "input"
        self.runs = 0
        self.differences: list[str] = []
        self.findings: dict[str, Counter[str]] = {}
        self.missed: list[str] = []

    def run(self, inputs: Sequence[bytes], explored: bytes) -> None:
        parents = {data: self._compare(data) for data in inputs}
        recorded, children = self._explore(explored)
        if recorded and not recorded.agrees(parents[explored]):
            self.differences.append(f"recorded, it decides otherwise on {explored.hex()}")
            return
        for child in children:
            self._judge(recorded or Log([], [], set(), []), parents[explored], child, explored)

    def _judge(self, recorded: Log, parent: Log, child: Child, data: bytes) -> None:
        made = bytes.fromhex(child.input)
        log = self._compare(made)
        finding = judge(recorded, parent, log, child.site, child.direction)
        self.findings.setdefault(child.how, Counter())[finding.value] += 1
        if finding is Finding.MISSED and child.how not in GUESSES:
            self.missed.append(
                f"{child.how} {child.site:016x}:{child.direction} {data.hex()} -> {made.hex()}"
            )

    def _compare(self, data: bytes) -> Log:
        """Run clang's and ours without the engine; return what clang's has decided."""
        self._input.write_bytes(data)
        outputs = []
        for program in (self._programs.plain, self._programs.bare):
            self._log.unlink(missing_ok=True)
            done = self._run([str(program), str(self._input)])
            outputs.append((done.returncode, done.stdout))
            if program == self._programs.plain:
                log = self._only_log(data)
        self.runs += 1
        if outputs[0] != outputs[1]:
            self.differences.append(f"{outputs[0]} became {outputs[1]} on {data.hex()}")
        return log

    def _explore(self, data: bytes) -> tuple[Log | None, list[Child]]:
        """Return what the recorded run has decided, and the children.

        It tells nothing where no comparison and no branch was followed: all goals are of addresses
        then, or of functions of libc."""
        given = self._folder / "given"
        given.write_bytes(data)
        self._log.unlink(missing_ok=True)
        words = [str(self._executor), "--json", "--goals", str(GOALS)]
        words += ["--solver-rlimit", str(SOLVER_UNITS)]
        words += ["-i", str(given), "-o", str(self._folder / "children")]
        done = _call([*words, "--", str(self._programs.recorded), "@@"], _EXPLORE_S, self._told())
        decoder = msgspec.json.Decoder(Child | Done)
        lines = [decoder.decode(line) for line in done.stdout.splitlines()]
        logs = self._logs()
        if len(logs) > 1:
            raise TrialFailed(f"{len(logs)} recorded runs have told decisions on {data.hex()}")
        children = [line for line in lines if isinstance(line, Child)]
        return (logs[0] if logs else None), children

    def _logs(self) -> list[Log]:
        return list(read_logs(self._log.read_bytes() if self._log.exists() else b""))

    def _only_log(self, data: bytes) -> Log:
        logs = self._logs()
        if len(logs) != 1:
            raise TrialFailed(f"{len(logs)} runs have told their decisions on {data.hex()}")
        return logs[0]

    def _run(self, words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        return _ended(words, _RUN_S, self._told())

    def _told(self) -> dict[str, str]:
        return {**os.environ, "PROBES_FILE": str(self._log)}


def _ended(
    words: Sequence[str], timeout_s: float, environment: Mapping[str, str] | None
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise TrialFailed(f"{words[0]} took more than {timeout_s:.0f} s") from late


def _call(
    words: Sequence[str], timeout_s: float, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    done = _ended(words, timeout_s, environment)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise TrialFailed(f"{words[0]} ended with {done.returncode}: {said}")
    return done
