"""How the target is run on an input, for each launch: what may change between launches (variables
of the target, its place) changes the files that tell how a crash comes again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symfleet.config.model import CampaignConfig
from symfleet.config.resolve import parse_toml
from symfleet.corpus.layout import Reproduction
from symfleet.errors import SymfleetError
from symfleet.ledger.contract import LedgerReader
from symfleet.protocol.answers import Artefact
from symfleet.types import Epoch


def reproduction_of(config: CampaignConfig) -> Reproduction:
    """Return how the campaign's target is run on one input under a configuration."""
    return Reproduction(
        argv=config.target.argv,
        input_mode=config.target.effective_input_mode,
        environment=config.target.env,
    )


@dataclass(frozen=True, slots=True)
class Reproductions:
    """`by_epoch`: each launch whose way differs from that of the one before, ascending."""

    by_epoch: tuple[tuple[Epoch, Reproduction], ...]

    def of(self, artefact: Artefact) -> Sequence[Reproduction]:
        """Return the ways in which an artefact's files may tell of it: that of the launch that
        found it, then those of later ones, which may have published it."""
        first = 0
        for place, (epoch, _) in enumerate(self.by_epoch):
            if epoch <= artefact.epoch:
                first = place
        return [reproduction for _, reproduction in self.by_epoch[first:]]


def same_for_all(reproduction: Reproduction) -> Reproductions:
    """Return the ways of a campaign whose launches were all alike."""
    return Reproductions(((Epoch(0), reproduction),))


def reproductions_of(reader: LedgerReader) -> Reproductions:
    """Read the ways of all launches of a campaign."""
    first = reproduction_of(parse_toml(reader.status().campaign.config_toml))
    found = [(Epoch(0), first)]
    for epoch in reader.epochs():
        try:
            reproduction = reproduction_of(parse_toml(epoch.config_toml))
        except SymfleetError:
            continue  # a launch that had to change nothing wrote nothing down
        if reproduction.argv and reproduction != found[-1][1]:
            found.append((epoch.epoch, reproduction))
    return Reproductions(tuple(found))
