"""The root rank: opens the campaign's ledger, joins the coordinator's parts, closes the epoch."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Sequence
from pathlib import Path

from symfleet import crash
from symfleet.clock import Clock
from symfleet.config.model import CampaignConfig
from symfleet.config.project import CONFIG_NAME, render_toml
from symfleet.corpus.admission import admission_of
from symfleet.corpus.durable import write_file
from symfleet.corpus.inbox import inputs_folder, prepare_inbox
from symfleet.corpus.layout import Reproduction, sink_folder
from symfleet.corpus.publish import Publisher
from symfleet.corpus.scan import FolderScanner
from symfleet.coverage.generation import engine_build_of, generation_key
from symfleet.ledger.contract import EpochRequest, Ledger
from symfleet.observe.writer import StatusWriter
from symfleet.protocol.coordinator import Coordinator
from symfleet.protocol.events import Finish
from symfleet.protocol.operations import Admission, EpochOpening
from symfleet.protocol.setup import CoordinatorSetup, SourceSetup
from symfleet.runtime.coordinator_loop import CoordinatorLoop, CoordinatorParts
from symfleet.runtime.engines import engine_setup, knobs_of
from symfleet.runtime.identity import new_incarnation, version
from symfleet.runtime.intake import Intake
from symfleet.runtime.introduction import Introduction, dismiss, encode_introduction
from symfleet.runtime.notes import NoteLog
from symfleet.runtime.plan import EpochPlan
from symfleet.runtime.stop_rules import StopRules
from symfleet.runtime.stores import open_ledger
from symfleet.runtime.watch import StatusWatch
from symfleet.transport.contract import Transport
from symfleet.types import GenerationId, SinkKind

ROOT_RANK = 0


def slots_by_rank(config: CampaignConfig, workers: int) -> dict[int, int]:
    """Share the slots out over `workers` ranks behind the root, as evenly as can be."""
    small, larger = divmod(config.resources.slots, workers)
    return {1 + index: max(1, small + (index < larger)) for index in range(workers)}


class Root:
    """One epoch, seen from its owner."""

    def __init__(self, plan: EpochPlan, transport: Transport, clock: Clock) -> None:
        self._plan = plan
        self._config = plan.config
        self._transport = transport
        self._clock = clock
        self._out = Path(plan.config.output.out_dir)
        self._incarnation = new_incarnation()
        self._slots = slots_by_rank(plan.config, transport.size - 1)
        self._introduced = False
        self.loop: CoordinatorLoop | None = None

    @property
    def workers(self) -> int:
        """How many worker ranks there are."""
        return len(self._slots)

    def dismiss_workers(self) -> Sequence[int] | None:
        """End the workers of an epoch that could not be opened; return the ranks that did not
        acknowledge (Q4). None when they have been introduced to an epoch: its rules hold then."""
        if self._introduced:
            return None
        return dismiss(self._transport, self._clock, knobs_of(self._config).shutdown_grace_s)

    def run(self) -> Finish:
        """Open the epoch, run it, close the ledger. Raises SymfleetError when it cannot open."""
        key = generation_key(
            self._config,
            Path(self._plan.program),
            engine_build_of(engine_setup(self._config, self._plan.program).engine, version()),
        )
        opened = open_ledger(self._config, key, self._clock)
        try:
            crash.point("root.before_epoch")
            opening = opened.ledger.open_epoch(self._epoch_request())
            crash.point("root.after_epoch")
            write_file(self._out / CONFIG_NAME, render_toml(self._config).encode())
            self._introduce(opened.campaign, opening)
            self.loop = CoordinatorLoop(
                self._parts(opened.ledger, opened.campaign, opened.generation, opening)
            )
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

    def _introduce(self, campaign: str, opening: EpochOpening) -> None:
        self._introduced = True
        for rank, slots in self._slots.items():
            introduction = Introduction(
                campaign=campaign,  # type: ignore[arg-type]
                epoch=opening.epoch,
                coordinator=ROOT_RANK,
                slots=slots,
                knobs=knobs_of(self._config),
            )
            self._transport.send(rank, encode_introduction(introduction))

    def _parts(
        self, ledger: Ledger, campaign: str, generation: GenerationId, opening: EpochOpening
    ) -> CoordinatorParts:
        now = self._clock.monotonic()
        scanners = self._scanners(ledger, generation)
        machine = Coordinator(
            CoordinatorSetup(
                campaign=campaign,  # type: ignore[arg-type]
                epoch=opening.epoch,
                number=0,
                rank=ROOT_RANK,
                incarnation=self._incarnation,
                secret=secrets.token_bytes(32),
                version=version(),
                workers=tuple(self._slots),
                engine=engine_setup(self._config, self._plan.program),
                generation=generation,
                keep=self._config.keep,
                sources=tuple(
                    SourceSetup(scanner.source, watched=self._config.stop.watch)
                    for scanner in scanners
                ),
                opening=opening,
                until_quiescent=not self._config.stop.watch,
                exhaustive=self._config.stop.until_quiescent,
                accept_faults=self._config.stop.accept_faults,
                may_restart=self._plan.launcher_pid != 0,
                knobs=knobs_of(self._config),
            ),
            now,
        )
        return CoordinatorParts(
            machine=machine,
            ledger=ledger,
            transport=self._transport,
            publishers=self._publishers(ledger),
            intake=Intake(scanners, self._out, ledger, self._config.advanced.rescan_s),
            stop_rules=StopRules(
                self._config.stop,
                now,
                elapsed_s=self._plan.elapsed_s,
                executed=self._plan.executed,
            ),
            observer=StatusWatch(
                StatusWriter(self._out, self._config, ledger, now, version()),
                NoteLog(self._out, "coordinator-0", self._config.output, opening.epoch),
                self._clock,
            ),
            clock=self._clock,
            knobs=knobs_of(self._config),
            run_dir=Path(self._plan.run_dir),
        )

    def _scanners(self, ledger: Ledger, generation: GenerationId) -> list[FolderScanner]:
        """Return the scanners of all sources; that of the inbox removes what is admitted."""

        def admit(data: bytes, origin: str) -> Admission:
            return admission_of(data, origin, generation)

        host = socket.gethostname()
        prepare_inbox(self._out)
        places = [("seeds", Path(path)) for path in self._config.target.seed_paths]
        places.append(("inbox", inputs_folder(self._out)))
        return [
            FolderScanner(
                ledger.register_source(kind, str(path), host),
                path,
                admit,
                self._config.input_bytes_max,
                consume=kind == "inbox",
            )
            for kind, path in places
        ]

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
