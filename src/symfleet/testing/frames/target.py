"""What a receiver of spoilt frames must offer, and what a storm found out about it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Protocol

from symfleet.testing.frames.mutate import Spoilt
from symfleet.testing.frames.reference import Judgement
from symfleet.types import CampaignId

VIOLATIONS_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class Arrival:
    """A frame, and the rank that the transport names as its sender."""

    rank: int
    data: bytes


class Target(Protocol):
    """A receiver in the middle of a campaign. Two that were made alike behave alike."""

    campaign: CampaignId
    epoch: int
    frame_bytes: int

    def sound(self) -> Sequence[Arrival]:
        """Return a sound frame of every kind that this receiver may get at this moment."""
        ...

    def odd(self, draw: random.Random) -> Arrival | None:
        """Return a frame that is sound, with something spoilt packed in its body; None: there is no
        such kind."""
        ...

    def take(self, *arrivals: Arrival) -> object:
        """Hand frames over in one turn; return all that came of it but counts and log lines."""
        ...

    def again(self, arrival: Arrival, judged: Judgement) -> Arrival:
        """Return what was judged as its sender would have sealed it."""
        ...

    def refused(self) -> Mapping[tuple[str, str], int]:
        """Return how many frames were set aside, by counter and reason."""
        ...

    def is_refusal(self, judged: Judgement, fresh: Counter[tuple[str, str]]) -> bool:
        """Whether these new counts are what a frame that must be refused has to cause."""
        ...

    def state(self) -> object:
        """Return everything that a refused frame must not change."""
        ...

    @property
    def over(self) -> bool:
        """Whether a frame that it had to believe has brought it to its end."""
        ...

    def finish(self) -> Sequence[str]:
        """Let honest peers bring the campaign to its end; return what is wrong with that end."""
        ...

    def close(self) -> None:
        """Let go of what it holds outside this process's memory."""
        ...


@dataclass(slots=True)
class Report:
    """What a storm did and what was wrong with it."""

    frames: int = 0
    ways: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    handled: Counter[str] = field(default_factory=Counter)
    campaigns: int = 0
    """Honest campaigns that were finished after a part of the storm."""
    exceptions: int = 0
    wrong: int = 0
    violations: list[dict[str, Any]] = field(default_factory=list)
    """The first of them, with the frame."""

    def violation(self, what: str, spoilt: Spoilt | None = None, **more: object) -> None:
        """Note something that must not be."""
        self.wrong += 1
        if len(self.violations) < VIOLATIONS_MAX:
            frame = {} if spoilt is None else {"how": spoilt.how, "frame": spoilt.data[:4096].hex()}
            self.violations.append({"what": what, **frame, **more})

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: dict(value) if isinstance(value, Counter) else value
            for name, value in named.items()
        }
