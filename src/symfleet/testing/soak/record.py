"""What a soak writes down, as it goes: so that it can be read whatever ends it.

`progress.json` is replaced atomically; `faults.jsonl` and `lives.jsonl` grow by a line. All lie in
the soak's own folder, which is kept whenever something was wrong. From it a soak goes on that was
cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from symfleet.corpus.durable import write_file
from symfleet.testing.jobs import Role
from symfleet.testing.soak.faults import Act, Card
from symfleet.testing.soak.memory import RoleMemory
from symfleet.testing.soak.oracle import Harm
from symfleet.testing.soak.watch import Life
from symfleet.types import GenerationId

PROGRESS: Final = "progress.json"
STORY: Final = "faults.jsonl"
_LIVES: Final = "lives.jsonl"
_GENERATION: Final = "generation"


class FaultRecord(msgspec.Struct, frozen=True):
    """One fault that met somebody. `at_s`: in the soak; `wall_s`: of the clock on the wall."""

    number: int
    at_s: float
    wall_s: float
    campaign: int
    act: Act
    role: Role
    pid: int
    seconds: float
    decided: int
    runs: int
    """Length of the engine's log."""

    @property
    def card(self) -> Card:
        """What happened to whom."""
        return Card(self.act, self.role)


class CampaignRecord(msgspec.Struct, frozen=True):
    """What one campaign of a soak came to."""

    campaign: int
    root_lives: bool
    exit_code: int
    wall_s: float
    decided: int
    runs: int
    epochs: int
    launches: int
    faults: dict[str, int]
    waited: int
    """Faults whose victim was not there when they came up, and that came later."""
    spared: int
    suspects_max: int
    counters: dict[str, dict[str, int]]
    """Fault counters that are not 0."""
    peaks: dict[str, Any]
    harm: Harm
    wrong: tuple[str, ...]


class PlanRecord(msgspec.Struct, frozen=True):
    """What a soak was to be."""

    seed: int
    seconds: float
    every_s: float
    cheap: int
    coordinators: int
    slots: int
    nodes: int
    pause_s: float
    steady: int
    steady_nodes: int
    steady_bulk: int
    store: str
    own_connections: bool


class SoakRecord(msgspec.Struct, frozen=True):
    """Everything that is told of a soak."""

    plan: PlanRecord
    wall_s: float
    faults: int
    by_fault: dict[str, int]
    decided: int
    executions: int
    epochs: int
    harm: Harm
    memory: dict[str, RoleMemory]
    violations: tuple[str, ...]
    campaigns: tuple[CampaignRecord, ...]
    finished: bool


class Recorder:
    """Writes into one folder, and reads what stands there of a soak that was cut off."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def progress(self, record: SoakRecord) -> None:
        """Replace what stands there."""
        data = msgspec.json.format(msgspec.json.encode(record), indent=1)
        write_file(self._folder / PROGRESS, data + b"\n")

    def read_progress(self) -> SoakRecord | None:
        """Return what stands there."""
        path = self._folder / PROGRESS
        if not path.exists():
            return None
        return msgspec.json.decode(path.read_bytes(), type=SoakRecord)

    def began(self, generation: GenerationId) -> None:
        """Keep what a campaign that nobody disturbed was called."""
        write_file(self._folder / _GENERATION, generation.encode())

    def generation(self) -> GenerationId | None:
        """Return it."""
        path = self._folder / _GENERATION
        return GenerationId(path.read_text()) if path.exists() else None

    def fault(self, record: FaultRecord) -> None:
        """Add a fault to the story."""
        self._append(STORY, record)

    def story(self) -> list[FaultRecord]:
        """Return all faults."""
        return [msgspec.json.decode(line, type=FaultRecord) for line in self._lines(STORY)]

    def lives(self, lives: Sequence[Life]) -> None:
        """Add what was seen of the processes of a campaign."""
        for life in lives:
            self._append(_LIVES, life)

    def all_lives(self) -> list[Life]:
        """Return all of them."""
        return [msgspec.json.decode(line, type=Life) for line in self._lines(_LIVES)]

    def _append(self, name: str, what: object) -> None:
        with (self._folder / name).open("ab") as stream:
            stream.write(msgspec.json.encode(what) + b"\n")

    def _lines(self, name: str) -> Sequence[bytes]:
        """Return the whole lines of a file: the last one may have been cut off."""
        path = self._folder / name
        return path.read_bytes().split(b"\n")[:-1] if path.exists() else ()


@dataclass(frozen=True, slots=True)
class Story:
    """Where a campaign writes its faults. `before`: how many there were in earlier campaigns.
    `mine`: those of this one before the soak was cut off in it. `clock`: seconds of the soak."""

    recorder: Recorder
    campaign: int
    clock: Callable[[], float]
    before: int = 0
    mine: Sequence[FaultRecord] = ()
