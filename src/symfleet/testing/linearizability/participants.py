"""The processes of a history: the root, which owns the ledger, and other coordinators.

With SQLite the others' turns go through the root's turn service, as frames; on PostgreSQL each has
a connection of its own. Both run the code that a campaign runs. Each process is forked, writes its
own notebook, and may be stopped or killed by the driver at any instant.
"""

from __future__ import annotations

import os
import random
import select
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NoReturn

import msgspec

from symfleet.clock import SystemClock
from symfleet.config.ledger_address import LedgerAccess
from symfleet.engine.processes import die_with_parent
from symfleet.errors import BusyError, HostError, IOFailure
from symfleet.ledger import opener, places
from symfleet.ledger.contract import Ledger
from symfleet.ledger.places import attach_ledger
from symfleet.ledger.postgres_attached import AttachRequest
from symfleet.protocol.answers import Answer, Quiesced, TurnAnswers
from symfleet.protocol.codec import Codec
from symfleet.protocol.events import RankLost
from symfleet.protocol.operations import Admit, CommitQuiescence, Operation, SetSource, TakeOver
from symfleet.protocol.setup import Knobs
from symfleet.runtime.introduction import RootGone
from symfleet.runtime.remote_ledger import RemoteLedger
from symfleet.runtime.turn_service import TurnService
from symfleet.testing.ledgers import admission, campaign_row, epoch_request
from symfleet.testing.linearizability.records import Notebook, Opens, Registers
from symfleet.testing.linearizability.wires import WaitingClock, Wires
from symfleet.testing.linearizability.workload import Board, Stage, Workload
from symfleet.types import CampaignId, Epoch, Incarnation, Keep, SinkKind

KNOBS: Final = Knobs()
SOURCE: Final = 1
_SPAN: Final = 40
UNDONE: Final = 3
"""Status of a root whose job has ended before its time."""
_IDLE_S: Final = 0.002
_DRAINING_TURNS_MAX: Final = 20_000
_DRAINING_TURNS_MAX_SPOILT: Final = 1_000
"""A ledger that breaks promises may never become quiescent."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a history happens. `url`: a PostgreSQL server, or nothing for SQLite."""

    out: Path
    notes: Path
    campaign: CampaignId
    url: str
    board: Board
    spoil: Callable[[Ledger], Ledger] | None = None
    """What makes a ledger that breaks its promises, to see that this is noticed."""


class Opened(msgspec.Struct, frozen=True):
    """What the root tells when its epoch is open."""

    epoch: Epoch
    sink: int
    incarnation: Incarnation
    access: LedgerAccess | None


def in_a_child(site: Site, name: str, work: Callable[[], None]) -> int:
    """Fork a process that does something and ends; return its number. What it raises stands in the
    file `name`.error of the notes."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        die_with_parent(parent)
        work()
        status = 0
    except BaseException:  # noqa: BLE001 - told to the driver, which fails
        (site.notes / f"{name}.error").write_text(traceback.format_exc())
    finally:
        _leave(status)


def _leave(status: int) -> NoReturn:
    os._exit(status)


def own(site: Site, owner: int) -> Ledger:
    """Make the campaign or go on with it."""
    request = opener.OwnerRequest("here", owner, 30.0, reserve_bytes=65_536)
    clock = SystemClock()
    if opener.has_ledger(site.out):
        ledger = places.own_ledger(site.out, request, clock)
    else:
        row = replace(campaign_row(Keep.ALL), campaign=site.campaign)
        ledger = places.create_ledger(site.out, row, request, clock, site.url)
    return ledger if site.spoil is None else site.spoil(ledger)


# ---- the root -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RootPart:
    """What the root needs. `owner`: a number that no other root of the history has. `control`: from
    there the driver says who is lost, a byte for each. `told`: there it says that it is ready."""

    site: Site
    owner: int
    seed: int
    control: int
    told: int
    wires: Wires
    lives: dict[int, Incarnation]


class Root:
    """Owns the ledger for one epoch."""

    def __init__(self, part: RootPart) -> None:
        self._part = part
        self._board = part.site.board
        self._dice = random.Random(part.seed)
        self._notebook = Notebook(part.site.notes / f"{part.owner:04}-root")
        self._workload = Workload(0, self._dice, self._board, _SPAN)
        self._changes = 0
        self._lost: list[int] = []
        self._living = set(part.lives)
        self._resting = False

    def run(self) -> None:
        """Open an epoch, take turns until it ends, close."""
        try:
            self._run()
        except (BusyError, HostError, IOFailure):
            if not self._part.site.url:
                raise
            # The server went away, or ended one session after the other beyond what is put up with:
            # the job ends, and the next one begins.
            _leave(UNDONE)

    def _run(self) -> None:
        site, part = self._part.site, self._part
        ledger = self._ledger = own(site, part.owner)
        epoch = self._open(ledger)
        clients = {} if site.url else {rank: (rank, life) for rank, life in part.lives.items()}
        codec = Codec(site.campaign, epoch, 0, KNOBS.frame_bytes)
        self._service = TurnService(ledger, part.wires, codec, clients, KNOBS, self._ignore)
        spoilt, draining = site.spoil is not None, 0
        draining_max = _DRAINING_TURNS_MAX_SPOILT if spoilt else _DRAINING_TURNS_MAX
        while self._board.stage is not Stage.END or (self._living and not site.url):
            self._hear()
            if self._board.stage is Stage.DRAIN:
                draining += 1
                assert draining < draining_max, "the campaign does not become quiescent"
            self._turn()
            ledger.checkpoint()
        ledger.close()

    def _open(self, ledger: Ledger) -> Epoch:
        part = self._part
        request = replace(epoch_request(part.owner), pid=part.owner)
        self._notebook.note((Opens(part.owner),))
        opened = ledger.open_epoch(request)
        self._notebook.done(opened.epoch)
        assert ledger.register_source("seeds", "/s", "here") == SOURCE
        self._notebook.note((Registers(),))
        sink = ledger.register_sink(SinkKind.CORPUS, "/c", "here")
        self._notebook.done((sink.incarnation, sink.published_upto))
        self._workload.sink = (sink.sink, sink.incarnation)
        told = Opened(opened.epoch, sink.sink, sink.incarnation, ledger.access())
        os.write(part.told, msgspec.msgpack.encode(told))
        return opened.epoch

    @staticmethod
    def _ignore(_asked: Sequence[Operation], _told: Sequence[Answer]) -> None:
        """Nothing else is done with what is committed."""

    def _hear(self) -> None:
        """Take frames, and what the driver says."""
        part = self._part
        part.wires.wait(0.0 if self._service.waiting else _IDLE_S, (part.control,))
        if select.select([part.control], (), (), 0)[0]:
            self._lost += os.read(part.control, 64)
        arrived = part.wires.receive(KNOBS.turn_results, self._service.own_bytes_max)
        for event in self._service.arrived(arrived.events):
            if isinstance(event, RankLost):
                self._lost.append(event.rank)

    def _turn(self) -> None:
        operations: list[Operation] = []
        for rank in self._lost:
            self._service.dismiss(rank)
            self._living.discard(rank)
            operations.append(TakeOver(rank))
        self._lost.clear()
        if not self._service.stand_back and self._dice.random() < 0.3:
            operations += self._own_part()
        if not operations:
            self._service.run(())
            return
        self._notebook.call(operations)
        answers = self._service.run(operations)
        assert answers is not None
        self._notebook.told(answers)
        self._workload.take(operations, answers)
        self._changes = answers.changes
        self._board.count(0, self._workload.operations)
        if Quiesced(committed=True) in answers.answers:
            self._resting = True

    def _own_part(self) -> list[Operation]:
        if self._board.stage is Stage.WORK:
            turn = self._workload.next()
            if self._dice.random() < 0.05:
                turn.append(CommitQuiescence("all", self._changes))
            return turn
        if self._resting:
            # One is refused before all end (Q3).
            self._board.stage = Stage.END
            return [Admit(SOURCE, (admission(b"too late"),))]
        turn = [SetSource(SOURCE, is_open=False), *self._workload.drain()]
        turn.append(self._workload.mark_all(self._ledger.sinks()[0].published_upto))
        return [*turn, CommitQuiescence("all", self._changes)]


# ---- other coordinators -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PeerPart:
    """What another coordinator needs. `answer_s`: how long it waits for an answer."""

    site: Site
    number: int
    owner: int
    seed: int
    wires: Wires
    life: Incarnation
    opened: Opened
    answer_s: float


def be_peer(part: PeerPart) -> None:
    """Take turns until all end or nobody takes them any more."""
    site, board = part.site, part.site.board
    dice = random.Random(part.seed)
    notebook = Notebook(site.notes / f"{part.owner:04}-peer-{part.number}")
    workload = Workload(part.number, dice, board, _SPAN)
    workload.sink = (part.opened.sink, part.opened.incarnation)
    try:
        run = _runs(part)
        while board.stage is not Stage.END:
            if board.stage is Stage.WORK:
                operations = workload.next()
            else:
                operations = workload.drain()
                if dice.random() < 0.03:
                    late = admission(b"late %d %d" % (part.number, len(operations)))
                    operations.append(Admit(SOURCE, (late,)))
            notebook.call(operations)
            answers = run(operations)
            assert answers is not None
            notebook.told(answers)
            workload.take(operations, answers)
            board.count(part.number, workload.operations)
    except (RootGone, BusyError, HostError, IOFailure):
        return  # The answer of its last turn is lost, or it was refused for ever.


def _runs(part: PeerPart) -> Callable[[Sequence[Operation]], TurnAnswers | None]:
    """Return how its turns get to the ledger."""
    site = part.site
    if part.opened.access is not None:
        request = AttachRequest(part.number, "here", os.getpid(), 10.0)
        return attach_ledger(part.opened.access, request, SystemClock()).run
    codec = Codec(site.campaign, part.opened.epoch, part.number, KNOBS.frame_bytes)
    clock = WaitingClock(part.wires)
    return RemoteLedger(part.wires, clock, codec, part.life, KNOBS, part.answer_s).run
