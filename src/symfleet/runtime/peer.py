"""A coordinator that is not the root: its machine, the same loop, and a ledger far away."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator

import msgspec

from symfleet.clock import Clock
from symfleet.errors import HostError
from symfleet.ledger.places import attach_ledger
from symfleet.protocol.codec import Codec
from symfleet.protocol.coordinator import Coordinator, CoordinatorView
from symfleet.protocol.events import Finish, Note
from symfleet.protocol.messages import SlotsSeen
from symfleet.runtime.coordinator_loop import CoordinatorLoop, CoordinatorParts, TurnStore
from symfleet.runtime.coordinator_setup import coordinator_setup, scanners_of
from symfleet.runtime.intake import Intake
from symfleet.runtime.introduction import PeerIntroduction, say_present
from symfleet.runtime.layout import ROOT_RANK
from symfleet.runtime.notes import NoteLog
from symfleet.runtime.places import RankPlaces
from symfleet.runtime.remote_ledger import RemoteLedger
from symfleet.transport.contract import NotSent, Transport


class PeerWatch:
    """The observer of a peer: notes in its log, its slots to the root, which shows them."""

    def __init__(
        self, introduction: PeerIntroduction, codec: Codec, transport: Transport, log: NoteLog
    ) -> None:
        self._codec = codec
        self._transport = transport
        self._log = log
        self._incarnation = introduction.incarnation
        self._period_s = introduction.config.output.status_period_s
        self._next = 0.0

    def turned(self, now: float, view: Callable[[], CoordinatorView]) -> None:
        """Show the slots when it is time."""
        if now < self._next:
            return
        self._next = now + self._period_s
        shown = SlotsSeen(msgspec.msgpack.encode(view()))
        with contextlib.suppress(NotSent):
            frame = self._codec.seal(shown, incarnation=self._incarnation)
            self._transport.send(ROOT_RANK, frame)

    def noted(self, note: Note) -> None:
        """Write a log line."""
        self._log.note(note)

    def finished(self, now: float) -> None:
        """The root writes the last report."""


def run_peer(
    introduction: PeerIntroduction, transport: Transport, clock: Clock, places: RankPlaces
) -> Finish:
    """Be a coordinator until the epoch ends; raise RootGone when the root does."""
    config, opening = introduction.config, introduction.opening
    knobs = introduction.knobs
    codec = Codec(introduction.campaign, introduction.epoch, transport.rank, knobs.frame_bytes)
    machine = Coordinator(
        coordinator_setup(
            config,
            introduction.program,
            campaign=introduction.campaign,
            generation=introduction.generation,
            opening=opening,
            number=introduction.number,
            rank=transport.rank,
            incarnation=introduction.incarnation,
            workers=introduction.workers,
            peers=introduction.peers,
            slots=introduction.slots,
            sources=introduction.sources,
            may_restart=introduction.may_restart,
            knobs=knobs,
        ),
        clock.monotonic(),
    )
    log = NoteLog(
        places.out, f"coordinator-{introduction.number}", config.output, introduction.epoch
    )
    with _store(introduction, transport, clock, codec, log) as store:
        loop = _loop(introduction, transport, clock, machine, store, codec, log)
        say_present(transport)
        return loop.run()


@contextlib.contextmanager
def _store(
    introduction: PeerIntroduction,
    transport: Transport,
    clock: Clock,
    codec: Codec,
    log: NoteLog,
) -> Iterator[TurnStore]:
    """Return where turns run: over an own connection when the root says how, else through it. A
    server that only the root can reach is written to through the root."""
    access, knobs = introduction.access, introduction.knobs
    if access is not None:
        from symfleet.ledger.postgres_attached import AttachRequest
        from symfleet.runtime.own_ledger import OwnLedger

        request = AttachRequest(introduction.number, socket.gethostname(), os.getpid())
        try:
            ledger = attach_ledger(access, request, clock)
        except HostError as error:
            log.note(Note("warning", "ledger_through_root", {"why": str(error)}))
        else:
            with contextlib.closing(ledger):
                yield OwnLedger(ledger, codec, knobs)
            return
    yield RemoteLedger(transport, clock, codec, introduction.incarnation, knobs)


def _loop(
    introduction: PeerIntroduction,
    transport: Transport,
    clock: Clock,
    machine: Coordinator,
    store: TurnStore,
    codec: Codec,
    log: NoteLog,
) -> CoordinatorLoop:
    config = introduction.config
    return CoordinatorLoop(
        CoordinatorParts(
            machine=machine,
            store=store,
            transport=transport,
            publishers=(),
            intake=Intake(
                scanners_of(introduction.sources, config, introduction.generation),
                config.advanced.rescan_s,
            ),
            observer=PeerWatch(introduction, codec, transport, log),
            clock=clock,
        )
    )
