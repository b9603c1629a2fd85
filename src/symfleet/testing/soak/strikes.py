"""Carries faults out on a running job: kills, stops that are continued later, requests to end."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, assert_never

from symfleet.testing.jobs import Member, Role
from symfleet.testing.soak.faults import Act, Card, Pack

_STOP_S: Final = (0.05, 1.5)
_LONG_STOP_S: Final = (2.0, 8.0)
"""A stopped process is continued after a time between these: long enough that others say things
again, and before anything takes it for dead."""
_WAIT_S: Final = 5.0
"""How long a fault waits for its victim before others come first: a coordinator that was lost comes
back with the next epoch only."""
_LONG_STOPS: Final = 0.2
"""Share of the long ones."""

Cut = Callable[[random.Random], bool]
"""Ends a random session on the database server; returns whether there was one."""


class Struckable(Protocol):
    """What strikes need of a job (`symfleet.testing.jobs.Job`)."""

    def members(self) -> list[Member]:
        """Return the live processes of the job."""
        ...

    def kill(self, member: Member, signum: int = ...) -> bool:
        """Signal one member; return whether it was still there."""
        ...


@dataclass(frozen=True, slots=True)
class Struck:
    """A fault that met somebody."""

    card: Card
    pid: int
    seconds: float = 0.0
    """How long a stop lasts."""


class Striker:
    """Strikes one job. `asked` and `killed` tell what was done to its present launcher, `dear` how
    often an epoch was ended since `forget` was called."""

    def __init__(
        self,
        chance: random.Random,
        pack: Pack,
        cut: Cut | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`cut`: where the ledger is on a server."""
        self._chance = chance
        self._pack = pack
        self._cut = cut
        self._job: Struckable
        self._clock = clock
        self._stopped: list[tuple[float, Member]] = []
        self.asked = self.killed = False
        self.dear = 0
        self._waiting_since = clock()

    def started(self, job: Struckable) -> None:
        """The job's launcher was started."""
        self._job = job
        self.asked = self.killed = False

    def forget(self) -> None:
        """The campaign has made a decision: what ended epochs before did not end it."""
        self.dear = 0

    def strike(self, *, sparing: bool) -> Struck | None:
        """Let the next fault happen; None when its victim is not there: then it waits, and after
        some time lets others pass. `sparing`: pass over what would lose items."""
        members = self._job.members()
        there = {member.role for member in members}
        waited = self._clock() - self._waiting_since >= _WAIT_S

        def fits(card: Card) -> bool:
            return not (sparing and card.loses_items) and (not waited or card.role in there)

        card = self._pack.top(fits)
        if card is None:
            self._pack.shuffle_in()
            return None
        struck = self._carry_out(card, members)
        if struck is not None:
            self._waiting_since = self._clock()
            self._pack.take(card)
            self.dear += card.ends_epoch
        return struck

    def _carry_out(self, card: Card, members: Sequence[Member]) -> Struck | None:
        if card.act is Act.BACKEND:
            assert self._cut is not None
            return Struck(card, 0) if self._cut(self._chance) else None
        found = [member for member in members if member.role is card.role]
        if not found:
            return None
        victim = self._chance.choice(found)
        match card.act:
            case Act.KILL:
                met, seconds = self._kill(victim), 0.0
            case Act.STOP:
                span = _LONG_STOP_S if self._chance.random() < _LONG_STOPS else _STOP_S
                seconds = round(self._chance.uniform(*span), 3)
                met = self._stop(victim, seconds)
            case Act.TERM:
                met, seconds = self._job.kill(victim, signal.SIGTERM), 0.0
                self.asked = self.asked or met
            case Act.SESSION:
                met, seconds = self._kill_all(victim, members), 0.0
            case _:
                assert_never(card.act)
        return Struck(card, victim.pid, seconds) if met else None

    def _kill(self, victim: Member) -> bool:
        met = self._job.kill(victim)
        self.killed = self.killed or (met and victim.role is Role.LAUNCHER)
        return met

    def _kill_all(self, launcher: Member, members: Sequence[Member]) -> bool:
        """As a power cut would, in any order."""
        for member in self._chance.sample(members, len(members)):
            self._job.kill(member)
        self.killed = True
        return launcher in members

    def _stop(self, victim: Member, seconds: float) -> bool:
        if any(member == victim for _, member in self._stopped):
            return False
        if not self._job.kill(victim, signal.SIGSTOP):
            return False
        self._stopped.append((self._clock() + seconds, victim))
        return True

    def continue_due(self, *, everyone: bool = False) -> None:
        """Continue those that were stopped for long enough."""
        now = self._clock()
        due = [member for at, member in self._stopped if everyone or at <= now]
        self._stopped = [one for one in self._stopped if one[1] not in due]
        for member in due:
            self._job.kill(member, signal.SIGCONT)
