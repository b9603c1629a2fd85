"""The root rank: opens the campaign's ledger, joins the coordinator's parts, closes the epoch."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from symfleet import crash
from symfleet.clock import Clock
from symfleet.config.project import CONFIG_NAME, render_toml
from symfleet.corpus.durable import write_file
from symfleet.corpus.inbox import inputs_folder, prepare_inbox
from symfleet.corpus.layout import Reproduction, sink_folder
from symfleet.corpus.publish import Publisher
from symfleet.coverage.generation import engine_build_of, generation_key
from symfleet.ledger.contract import EpochRequest, Ledger
from symfleet.observe.writer import StatusWriter
from symfleet.protocol.answers import EpochOpening
from symfleet.protocol.codec import Codec
from symfleet.protocol.coordinator import Coordinator
from symfleet.protocol.events import Finish, FrameReceived, RankLost
from symfleet.protocol.setup import CoordinatorSetup, Peer
from symfleet.runtime.coordinator_loop import CoordinatorLoop, CoordinatorParts
from symfleet.runtime.coordinator_setup import coordinator_setup, scanners_of
from symfleet.runtime.engines import engine_setup, knobs_of
from symfleet.runtime.identity import new_incarnation, version
from symfleet.runtime.intake import Inbox, Intake
from symfleet.runtime.introduction import (
    Introduction,
    PeerIntroduction,
    SourcePlace,
    await_present,
    dismiss,
    encode_introduction,
    nominate,
    peer_frames,
)
from symfleet.runtime.layout import ROOT_RANK, Layout, lay_out
from symfleet.runtime.notes import NoteLog
from symfleet.runtime.places import Folders
from symfleet.runtime.plan import EpochPlan
from symfleet.runtime.roll_call import Roll, call_roll, strangers
from symfleet.runtime.root_duties import RootDuties
from symfleet.runtime.stop_rules import StopRules
from symfleet.runtime.stores import OpenedLedger, open_ledger
from symfleet.runtime.turn_service import TurnService
from symfleet.runtime.watch import StatusWatch
from symfleet.transport.contract import NotSent, Transport
from symfleet.types import Incarnation, SinkKind


@dataclass(frozen=True, slots=True)
class OpenedEpoch:
    """An epoch that is open, and who takes part in it."""

    opened: OpenedLedger
    opening: EpochOpening
    layout: Layout
    roll: Roll

    @property
    def slots(self) -> dict[int, int]:
        """Slots of each worker rank."""
        return {rank: place.slots for rank, place in self.layout.workers.items()}

    def peers_of(self, number: int) -> tuple[Peer, ...]:
        """Return all coordinators but one."""
        return tuple(
            Peer(other, rank, self.layout.group(other))
            for other, rank in enumerate(self.layout.coordinators)
            if other != number
        )


class Root:
    """One epoch, seen from its owner."""

    def __init__(self, plan: EpochPlan, transport: Transport, clock: Clock) -> None:
        self._plan = plan
        self._config = plan.config
        self._transport = transport
        self._clock = clock
        self._out = Path(plan.config.output.out_dir)
        self._knobs = knobs_of(plan.config)
        self._incarnation = new_incarnation()
        self._introduced = False
        self._early: list[FrameReceived | RankLost] = []
        self._late: set[int] = set()
        """What has arrived before the loop began."""
        self.loop: CoordinatorLoop | None = None

    @property
    def others(self) -> int:
        """How many other ranks there are."""
        return self._transport.size - 1

    def dismiss_others(self, reason: str) -> Sequence[int] | None:
        """End the ranks of an epoch that could not be opened; return those that did not acknowledge
        (Q4). None when they have been introduced to an epoch: its rules hold then."""
        if self._introduced:
            return None
        return dismiss(self._transport, self._clock, self._knobs.shutdown_grace_s, reason)

    def run(self) -> Finish:
        """Call the roll, open the epoch, run it, close the ledger. Raises SymfleetError when it
        cannot begin."""
        roll = call_roll(self._transport, self._clock, self._plan.program)
        stranger = strangers(roll)
        if stranger is not None:
            raise stranger
        resources = self._config.resources
        layout = lay_out(
            roll.hosts(), resources.coordinator_count, resources.slots, self._plan.sizes
        )
        attaches = self._config.advanced.own_connections
        nominate(self._transport, layout.coordinators[1:], attaches=attaches)
        key = generation_key(
            self._config,
            Path(self._plan.program),
            engine_build_of(engine_setup(self._config, self._plan.program).engine, version()),
        )
        opened = open_ledger(self._config, key, self._clock, may_make=not self._plan.has_ledger)
        try:
            crash.point("root.before_epoch")
            opening = opened.ledger.open_epoch(self._epoch_request())
            crash.point("root.after_epoch")
            write_file(self._out / CONFIG_NAME, render_toml(self._config).encode())
            crash.point("root.configured")
            epoch = OpenedEpoch(opened, opening, layout, roll)
            sources = self._register_sources(epoch)
            crash.point("root.watched")
            clients = self._introduce(epoch, sources)
            crash.point("root.introduced")
            self.loop = CoordinatorLoop(self._parts(epoch, sources, clients))
            return self.loop.run()
        finally:
            opened.ledger.close()

    def _epoch_request(self) -> EpochRequest:
        return EpochRequest(
            host=socket.gethostname(),
            pid=os.getpid(),
            command_line=self._plan.command_line,
            version=version(),
            coordinator=self._incarnation,
            now_wall=self._clock.wall(),
            config_toml=render_toml(self._config),
        )

    # ---- telling every rank what it is -----------------------------------------------------------

    def _register_sources(self, epoch: OpenedEpoch) -> list[list[SourcePlace]]:
        """Return the sources of each coordinator: folders with seeds are spread over those of this
        host, the inbox is the root's."""
        host = socket.gethostname()
        prepare_inbox(self._out)
        hosts = epoch.roll.hosts()
        here = [n for n, rank in enumerate(epoch.layout.coordinators) if hosts[rank] == hosts[0]]
        sources: list[list[SourcePlace]] = [[] for _ in epoch.layout.coordinators]

        def register(kind: str, path: str, number: int) -> None:
            source = epoch.opened.ledger.register_source(kind, path, host)
            sources[number].append(SourcePlace(source, path, consumed=kind == "inbox"))

        for index, path in enumerate(self._config.target.seed_paths):
            register("seeds", str(Path(path)), here[index % len(here)])
        register("inbox", str(inputs_folder(self._out)), 0)
        return sources

    def _introduce(
        self, epoch: OpenedEpoch, sources: Sequence[Sequence[SourcePlace]]
    ) -> dict[int, tuple[int, Incarnation]]:
        """Tell every rank what it is; return number and life of each other coordinator by rank."""
        self._introduced = True
        layout, opened = epoch.layout, epoch.opened
        folders = Folders(socket.gethostname(), str(self._out), self._plan.run_dir)
        jobs = replace(self._config.resources, jobs=self._config.resources.slots)
        clients: dict[int, tuple[int, Incarnation]] = {}
        for number, rank in enumerate(layout.coordinators[1:], 1):
            clients[rank] = number, new_incarnation()
            introduction = PeerIntroduction(
                campaign=opened.campaign,
                epoch=epoch.opening.epoch,
                number=number,
                incarnation=clients[rank][1],
                peers=epoch.peers_of(number),
                workers=layout.group(number),
                slots=epoch.slots,
                knobs=self._knobs,
                folders=folders,
                config=replace(self._config, resources=jobs),
                program=self._plan.program,
                generation=opened.generation,
                sources=tuple(sources[number]),
                opening=epoch.opening,
                may_restart=self._plan.launcher_pid != 0,
                pieces=0,
                access=opened.ledger.access() if self._config.advanced.own_connections else None,
            )
            self._tell(rank, peer_frames(introduction))
        early, self._late = await_present(self._transport, self._clock, clients)
        self._early += early
        for rank, place in layout.workers.items():
            worker = Introduction(
                campaign=opened.campaign,
                epoch=epoch.opening.epoch,
                coordinator=layout.coordinators[place.coordinator],
                slots=place.slots,
                knobs=self._knobs,
                folders=folders,
                output=self._config.output,
            )
            self._tell(rank, [encode_introduction(worker)])
        return clients

    def _tell(self, rank: int, frames: Sequence[bytes]) -> None:
        with contextlib.suppress(NotSent):  # it is lost, and the machine hears of that
            for frame in frames:
                self._transport.send(rank, frame)

    # ---- joining the parts -----------------------------------------------------------------------

    def _parts(
        self,
        epoch: OpenedEpoch,
        sources: Sequence[Sequence[SourcePlace]],
        clients: dict[int, tuple[int, Incarnation]],
    ) -> CoordinatorParts:
        now, ledger = self._clock.monotonic(), epoch.opened.ledger
        config = self._config
        stop_rules = StopRules(
            config.stop, now, elapsed_s=self._plan.elapsed_s, executed=self._plan.executed
        )
        service = TurnService(
            ledger,
            self._transport,
            Codec(epoch.opened.campaign, epoch.opening.epoch, ROOT_RANK, self._knobs.frame_bytes),
            clients,
            self._knobs,
            lambda asked, told: stop_rules.note(asked, told, self._clock.monotonic()),
            through_root=not config.advanced.own_connections,
        )
        return CoordinatorParts(
            machine=Coordinator(self._setup(epoch, sources), now),
            store=service,
            transport=self._transport,
            publishers=self._publishers(ledger),
            intake=self._intake(epoch, sources),
            duties=RootDuties(
                Path(self._plan.run_dir),
                stop_rules,
                ledger.status if config.advanced.own_connections else None,
            ),
            observer=StatusWatch(
                StatusWriter(self._out, config, ledger, now, version()),
                NoteLog(self._out, "coordinator-0", config.output, epoch.opening.epoch),
                self._clock,
                ledger,
                service.views,
            ),
            clock=self._clock,
            early=[*(RankLost(rank) for rank in epoch.roll.lost), *self._early],
            late=self._late,
        )

    def _setup(
        self, epoch: OpenedEpoch, sources: Sequence[Sequence[SourcePlace]]
    ) -> CoordinatorSetup:
        layout = epoch.layout
        return coordinator_setup(
            self._config,
            self._plan.program,
            campaign=epoch.opened.campaign,
            generation=epoch.opened.generation,
            opening=epoch.opening,
            number=0,
            rank=ROOT_RANK,
            incarnation=self._incarnation,
            workers=layout.group(0),
            peers=epoch.peers_of(0),
            slots=epoch.slots,
            sources=sources[0],
            standby=dict(enumerate(sources[1:], 1)),
            may_restart=self._plan.launcher_pid != 0,
            cut_off_before=epoch.opened.ledger.status().total.not_exhaustive,
            knobs=self._knobs,
        )

    def _intake(self, epoch: OpenedEpoch, sources: Sequence[Sequence[SourcePlace]]) -> Intake:
        config, opened = self._config, epoch.opened
        own, *standby = [scanners_of(one, config, opened.generation) for one in sources]
        return Intake(
            own,
            config.advanced.rescan_s,
            Inbox(self._out, opened.ledger),
            [scanner for theirs in standby for scanner in theirs],
        )

    def _publishers(self, ledger: Ledger) -> Sequence[Publisher]:
        host = socket.gethostname()
        reproduction = Reproduction(
            argv=(self._plan.program, *self._config.target.argv[1:]),
            input_mode=self._config.target.effective_input_mode,
            environment=self._config.target.env,
        )
        return [
            Publisher(
                ledger.register_sink(kind, str(sink_folder(self._out, kind)), host),
                self._out,
                ledger,
                reproduction,
            )
            for kind in SinkKind
        ]
