"""A coordinator that is not the root: its machine, the same loop, and a ledger far away."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import msgspec

from symfleet.clock import Clock
from symfleet.protocol.codec import Codec
from symfleet.protocol.coordinator import Coordinator, CoordinatorView
from symfleet.protocol.events import Finish, Note
from symfleet.protocol.messages import SlotsSeen
from symfleet.runtime.coordinator_loop import CoordinatorLoop, CoordinatorParts
from symfleet.runtime.coordinator_setup import coordinator_setup, scanners_of
from symfleet.runtime.intake import Intake
from symfleet.runtime.introduction import PeerIntroduction
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
    loop = CoordinatorLoop(
        CoordinatorParts(
            machine=machine,
            store=RemoteLedger(transport, clock, codec, introduction.incarnation, knobs),
            transport=transport,
            publishers=(),
            intake=Intake(
                scanners_of(introduction.sources, config, introduction.generation),
                config.advanced.rescan_s,
            ),
            observer=PeerWatch(introduction, codec, transport, log),
            clock=clock,
            knobs=knobs,
        )
    )
    return loop.run()
