"""What a soak writes down, as it goes: so that it can be read whatever ends it.

`progress.json` is replaced atomically; `faults.jsonl` and `samples.jsonl` grow by a line. All lie
in the soak's own folder, which is kept whenever something was wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from symfleet.corpus.durable import write_file
from symfleet.testing.soak_memory import RoleMemory
from symfleet.testing.soak_watch import Life

PROGRESS: Final = "progress.json"
STORY: Final = "faults.jsonl"
_SAMPLES: Final = "samples.jsonl"


class FaultRecord(msgspec.Struct, frozen=True):
    """One fault that met somebody."""

    number: int
    at_s: float
    campaign: int
    fault: str
    pid: int
    seconds: float
    decided: int
    runs: int
    """Length of the engine's log."""


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
    wrong: tuple[str, ...]


class SoakRecord(msgspec.Struct, frozen=True):
    """Everything that is told of a soak."""

    seed: int
    minutes: float
    every_s: float
    coordinators: int
    slots: int
    nodes: int
    store: str
    wall_s: float
    faults: int
    by_fault: dict[str, int]
    decided: int
    executions: int
    epochs: int
    lost: int
    counted_twice: int
    memory: dict[str, RoleMemory]
    violations: tuple[str, ...]
    campaigns: tuple[CampaignRecord, ...]
    finished: bool


@dataclass(frozen=True, slots=True)
class Story:
    """Where a campaign writes its faults. `began`: monotonic seconds of the soak's beginning.
    `before`: faults of earlier campaigns."""

    recorder: Recorder
    campaign: int
    began: float
    before: int


class Recorder:
    """Writes into one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def progress(self, record: SoakRecord) -> None:
        """Replace what stands there."""
        data = msgspec.json.format(msgspec.json.encode(record), indent=1)
        write_file(self._folder / PROGRESS, data + b"\n")

    def fault(self, record: FaultRecord) -> None:
        """Add a fault to the story."""
        self._append(STORY, msgspec.json.encode(record))

    def lives(self, campaign: int, lives: list[Life]) -> None:
        """Add what was seen of the processes of a campaign."""
        for life in lives:
            line = {
                "campaign": campaign,
                "role": life.member.role,
                "pid": life.member.pid,
                "first_s": round(life.first_s, 2),
                "samples": [
                    (round(one.age_s, 2), one.decided, one.rss_kib, one.files)
                    for one in life.samples
                ],
            }
            self._append(_SAMPLES, msgspec.json.encode(line))

    def _append(self, name: str, data: bytes) -> None:
        with (self._folder / name).open("ab") as stream:
            stream.write(data + b"\n")
