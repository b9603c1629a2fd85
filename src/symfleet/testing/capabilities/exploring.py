"""Go from input to input with symfleet-exec, as a campaign would: new edges first.

symfleet-exec is given a few inputs at a time and tells of each child and each input with one JSON
object a line (docs/reference/executor-protocol.md).
"""

from __future__ import annotations

import heapq
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from symfleet.testing.capabilities.programs import Way

BATCH_MAX: Final = 16
_PATIENCE_S: Final = 60.0
"""What symfleet-exec may take beyond the budget's seconds for one batch."""
_INPUT_MS: Final = 10_000
_WORDS_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Budget:
    """How much one program may cost: inputs given to the engine, and seconds spent there.

    Running what it made, twice each, is not counted."""

    inputs: int = 1000
    seconds: float = 30.0


class Child(msgspec.Struct, tag_field="t", tag="child", frozen=True):
    """What of a child's line matters here."""

    id: int
    input: str
    how: str
    outcome: str
    edges: list[int] = []


class Done(msgspec.Struct, tag_field="t", tag="done", frozen=True):
    """What of an input's line matters here."""

    id: int
    outcome: str
    exit_code: int
    signal: int
    reason: str | None = None
    degraded: list[str] = []
    flips: dict[str, int] = {}


@dataclass(frozen=True, slots=True)
class Recorded:
    """How a run ended while the engine recorded it."""

    input: bytes
    outcome: str
    exit_code: int
    signal: int


@dataclass(frozen=True, slots=True)
class Produced:
    """An input that the engine made."""

    input: bytes
    how: str


class ExecutorFailed(Exception):
    """symfleet-exec ended with an error; the message is its own."""


@dataclass(slots=True)
class Exploration:
    """The frontier of one program, and why inputs had no children."""

    executor: Path
    target: Path
    way: Way
    folder: Path
    budget: Budget
    arguments: tuple[str, ...] = ()
    """What stands before the input on the target's command line."""
    explored: int = 0
    spent: str = ""
    engine_s: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    flips: Counter[str] = field(default_factory=Counter)
    _frontier: list[tuple[bool, int, bytes]] = field(default_factory=list)
    _seen: set[bytes] = field(default_factory=set)
    _edges: set[int] = field(default_factory=set)

    def batches(self, seed: bytes) -> Iterator[tuple[list[Produced], list[Recorded]]]:
        """Explore from a seed until nothing is left or the budget is spent.

        Yields the new inputs of each batch and how the recorded runs ended. Raises ExecutorFailed.
        """
        self._put(seed, novel=True)
        size = 1
        while self._frontier:
            left = self.budget.inputs - self.explored
            if left <= 0:
                self.spent = f"{self.budget.inputs} inputs"
                return
            if self.engine_s > self.budget.seconds:
                self.spent = f"{self.budget.seconds:.0f} s"
                return
            count = min(size, left, len(self._frontier))
            batch = [heapq.heappop(self._frontier)[2] for _ in range(count)]
            yield self._explore(batch)
            size = min(BATCH_MAX, size * 2)

    def _put(self, data: bytes, *, novel: bool) -> None:
        self._seen.add(data)
        heapq.heappush(self._frontier, (not novel, len(self._seen), data))

    def _explore(self, batch: list[bytes]) -> tuple[list[Produced], list[Recorded]]:
        produced: list[Produced] = []
        recorded: list[Recorded] = []
        began = time.monotonic()
        lines = self._call(batch)
        self.engine_s += time.monotonic() - began
        for line in lines:
            match line:
                case Child():
                    data = bytes.fromhex(line.input)
                    if data not in self._seen:
                        fresh = set(line.edges) - self._edges
                        self._edges |= fresh
                        self._put(data, novel=bool(fresh))
                        produced.append(Produced(data, line.how))
                case Done():
                    given = batch[line.id]
                    recorded.append(Recorded(given, line.outcome, line.exit_code, line.signal))
                    self._note(line)
        self.explored += len(batch)
        return produced, recorded

    def _note(self, done: Done) -> None:
        if done.reason is not None:
            self.reasons[done.reason] += 1
        if done.outcome not in ("ok", "crash"):
            self.reasons[f"outcome {done.outcome}"] += 1
        for what in done.degraded:
            self.reasons[f"degraded: {what}"] += 1
        self.flips.update(done.flips)

    def _call(self, batch: list[bytes]) -> list[Child | Done]:
        words = [str(self.executor), "--json", "--execution-ms", str(_INPUT_MS)]
        words += ["-o", str(self.folder / "children")]
        for number, data in enumerate(batch):
            path = self.folder / f"given-{number}"
            path.write_bytes(data)
            words += ["-i", str(path)]
        words += [*_mode(self.way), "--", str(self.target), *self.arguments]
        if self.way in (Way.FILE, Way.ARGV):
            words.append("@@")
        try:
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.budget.seconds + _PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise ExecutorFailed(f"it took more than {error.timeout:.0f} s for a batch") from error
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip() or f"exit code {done.returncode}"
            raise ExecutorFailed(" ".join(said.split())[-_WORDS_MAX:])
        decoder = msgspec.json.Decoder(Child | Done)
        return [decoder.decode(line) for line in done.stdout.splitlines()]

    def why(self) -> str:
        """Say why it ended, in the words of the engine."""
        told = [f"{self.spent} spent" if self.spent else f"nothing left after {self.explored}"]
        told += [f"{what} x{count}" for what, count in self.reasons.most_common()]
        flips = [f"{count} {what}" for what, count in sorted(self.flips.items()) if count]
        return "; ".join([*told, "flips: " + (", ".join(flips) or "none")])


def _mode(way: Way) -> tuple[str, ...]:
    """Return the executor's option for a way that it cannot tell from the command line."""
    match way:
        case Way.STDIN | Way.FILE | Way.HARNESS:
            return ()
        case Way.ARGV | Way.SOCKET | Way.LISTENER:
            return ("--input-mode", way.value)
