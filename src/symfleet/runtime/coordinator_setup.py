"""From the configuration to a coordinator's machine and scanners: the same for root and peers."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from symfleet.config.model import CampaignConfig
from symfleet.corpus.admission import admission_of
from symfleet.corpus.scan import FolderScanner
from symfleet.protocol.answers import EpochOpening
from symfleet.protocol.operations import Admission
from symfleet.protocol.setup import CoordinatorSetup, Knobs, Peer, SourceSetup
from symfleet.runtime.engines import engine_setup
from symfleet.runtime.identity import version
from symfleet.runtime.introduction import SourcePlace
from symfleet.types import CampaignId, GenerationId, Incarnation


def coordinator_setup(  # noqa: PLR0913 - a coordinator is told much at its birth
    config: CampaignConfig,
    program: str,
    *,
    campaign: CampaignId,
    generation: GenerationId,
    opening: EpochOpening,
    number: int,
    rank: int,
    incarnation: Incarnation,
    workers: Sequence[int],
    peers: Sequence[Peer],
    slots: Mapping[int, int],
    sources: Sequence[SourcePlace],
    may_restart: bool,
    cut_off_before: int = 0,
    standby: Mapping[int, Sequence[SourcePlace]] | None = None,
    knobs: Knobs,
) -> CoordinatorSetup:
    """Return what the machine of coordinator `number` is told. `standby`: sources that it scans
    when the coordinator of that number is lost. `cut_off_before`: executions of earlier epochs in
    which a limit cut something off."""

    def setups(places: Sequence[SourcePlace]) -> tuple[SourceSetup, ...]:
        return tuple(SourceSetup(one.source, watched=config.stop.watch) for one in places)

    return CoordinatorSetup(
        campaign=campaign,
        epoch=opening.epoch,
        number=number,
        rank=rank,
        incarnation=incarnation,
        secret=secrets.token_bytes(32),
        version=version(),
        workers=tuple(workers),
        peers=tuple(peers),
        slots=slots,
        engine=engine_setup(config, program),
        generation=generation,
        keep=config.keep,
        sources=setups(sources),
        standby={other: setups(places) for other, places in (standby or {}).items()},
        opening=opening,
        until_quiescent=not config.stop.watch,
        exhaustive=config.stop.until_quiescent,
        cut_off_before=cut_off_before,
        accept_faults=config.stop.accept_faults,
        may_restart=may_restart,
        knobs=knobs,
    )


def scanners_of(
    sources: Sequence[SourcePlace], config: CampaignConfig, generation: GenerationId
) -> list[FolderScanner]:
    """Return the scanners of some sources; one that is consumed removes what is admitted."""

    def admit(data: bytes, origin: str) -> Admission:
        return admission_of(data, origin, generation)

    return [
        FolderScanner(
            one.source, Path(one.path), admit, config.input_bytes_max, consume=one.consumed
        )
        for one in sources
    ]
