"""All ranks of a job in one process: the real loops, in virtual time, over the wires in memory.

Theory of operation. Each rank is a thread, and one of them runs at a time: who sleeps hands over to
the rank that wakes up next, and time is what the sleepers say. So a run is the same every time, and
takes as long as its work takes. What is real: `Root`, `run_peer`, `WorkerLoop`, and everything
below them, files and the ledger among it. What is not: MPI, and the executors.

The process may be killed at any crash point like any other one. A rank other than the root, which
has nothing durable, may die alone, too: as an exception that nobody catches.
"""

from __future__ import annotations

import random
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final

from symfleet.errors import InternalError
from symfleet.protocol.events import Finish
from symfleet.protocol.worker import Worker
from symfleet.runtime.introduction import (
    Dismissal,
    Introduction,
    PeerIntroduction,
    RootGone,
    await_introduction,
    say_farewell,
)
from symfleet.runtime.layout import ROOT_RANK
from symfleet.runtime.notes import NoteLog
from symfleet.runtime.peer import run_peer
from symfleet.runtime.places import RankPlaces
from symfleet.runtime.plan import EpochPlan
from symfleet.runtime.root import Root
from symfleet.runtime.worker_loop import StartClient, WorkerLoop
from symfleet.transport.contract import Transport
from symfleet.transport.inproc import Network

STEP_S: Final = 0.005
"""A good shortest sleep: looks in between would find nothing, and take real time."""
_LOOK_S: Final = 1e-5
_LEAVE_S: Final = 60.0
"""Virtual time that the others have for leaving when the root has."""


class RankDied(BaseException):
    """A rank dies alone: no handler of errors may catch it."""


class Rank:
    """One thread and its place among the others."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.turn = threading.Lock()
        self.turn.acquire()
        self.wakes_at = 0.0
        self.alive = True


class Stage:
    """The clock of all ranks, and who of them runs."""

    def __init__(self, size: int, step_s: float) -> None:
        """The calling thread is rank 0, and runs. `step_s`: nobody sleeps for less."""
        self._step_s = step_s
        self.ranks = [Rank(number) for number in range(size)]
        self.now = 1000.0
        self.failure = ""
        """What a rank said that ended in a way it must not."""
        self._numbers = {threading.get_ident(): 0}

    @property
    def here(self) -> Rank:
        """The rank that runs."""
        return self.ranks[self._numbers[threading.get_ident()]]

    # ---- the clock of all ----------------------------------------------------------------------

    def monotonic(self) -> float:
        """Return virtual seconds. Looking takes a moment: who only looks must see time pass."""
        self.now += _LOOK_S
        return self.now

    def wall(self) -> float:
        """Return a virtual wall time."""
        return 1.7e9 + self.now

    def sleep(self, seconds: float) -> None:
        """Let others run until it is time."""
        rank = self.here
        rank.wakes_at = max(rank.wakes_at, self.now + max(seconds, self._step_s))
        self._hand_over()
        rank.turn.acquire()

    def pause(self, number: int, seconds: float) -> None:
        """Let a rank do nothing for a while, as after SIGSTOP."""
        self.ranks[number].wakes_at = self.now + seconds

    def _hand_over(self) -> None:
        waiting = [rank for rank in self.ranks if rank.alive]
        chosen = min(waiting, key=lambda rank: rank.wakes_at)
        self.now = max(self.now, chosen.wakes_at)
        chosen.turn.release()

    # ---- lives ---------------------------------------------------------------------------------

    def begin(self, number: int, life: Callable[[], None]) -> None:
        """Let a rank begin to live when its turn comes."""

        rank = self.ranks[number]

        def live() -> None:
            rank.turn.acquire()
            try:
                life()
            except BaseException:  # noqa: BLE001 - the border of a rank
                self.failure = self.failure or traceback.format_exc()
            rank.alive = False
            self._hand_over()

        thread = threading.Thread(target=live, daemon=True)
        thread.start()
        assert thread.ident is not None
        self._numbers[thread.ident] = number

    def await_others(self) -> None:
        """Wait until nobody but the caller lives; raise InternalError when somebody stays."""
        end = self.now + _LEAVE_S
        while any(rank.alive for rank in self.ranks[1:]):
            if self.now >= end:
                raise InternalError("ranks do not leave", where="one process")
            self.sleep(0.01)


class Job:
    """One epoch of a campaign."""

    def __init__(
        self, plan: EpochPlan, start_client: StartClient, draw: random.Random, step_s: float
    ) -> None:
        """`step_s`: the shortest sleep of a rank."""
        self._plan = plan
        self._start_client = start_client
        self._draw = draw
        self.network = Network(plan.config.resources.ranks)
        self.stage = Stage(self.network.size, step_s)

    def place(self) -> str:
        """Return the rank that runs, for `crash.arm`."""
        return str(self.stage.here.number)

    def kill_rank(self) -> None:
        """Let the rank that runs die alone, for `crash.arm`."""
        raise RankDied

    def run(self, until: Callable[[Job], None] | None = None) -> Finish:
        """Run the epoch to its end; raises what the root raises. `until` is told when all live."""
        for number in range(1, self.network.size):
            self.stage.begin(number, lambda number=number: self._live(number))  # type: ignore[misc]
        if until is not None:
            until(self)
        finish = Root(self._plan, self.network.endpoint(ROOT_RANK), self.stage).run()
        self.stage.await_others()
        if self.stage.failure:
            raise InternalError("a rank failed", where="one process", why=self.stage.failure)
        return finish

    def _live(self, number: int) -> None:
        transport = self.network.endpoint(number)
        try:
            match await_introduction(transport, self.stage):
                case Dismissal():
                    say_farewell(transport, ROOT_RANK, self.stage)
                case PeerIntroduction() as introduction:
                    run_peer(introduction, transport, self.stage, self._places)
                case Introduction() as introduction:
                    self._work(introduction, transport)
        except RootGone:
            pass
        except RankDied:
            self.network.lose(number)

    @property
    def _places(self) -> RankPlaces:
        run_dir = Path(self._plan.run_dir)
        return RankPlaces(Path(self._plan.config.output.out_dir), run_dir / "work")

    def _work(self, introduction: Introduction, transport: Transport) -> None:
        machine = Worker(introduction.setup(transport.rank, self._draw), self.stage.monotonic())
        out = self._places.out
        name = f"worker-{transport.rank}"
        WorkerLoop(
            machine,
            transport,
            self.stage,
            introduction.knobs,
            self._start_client,
            NoteLog(out, name, introduction.output, introduction.epoch),
        ).run()
