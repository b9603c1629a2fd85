"""All mutants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from symfleet.testing.mutants import (
    admission,
    decision,
    delivery,
    join,
    ledger,
    liveness,
    publication,
    quiescence,
    takeover,
)
from symfleet.testing.mutants.planting import InSimulation, InTests, Mutant

AREAS: Final[Mapping[str, tuple[Mutant, ...]]] = {
    "delivery": delivery.MUTANTS,
    "join": join.MUTANTS,
    "liveness": liveness.MUTANTS,
    "decision": decision.MUTANTS,
    "ledger": ledger.MUTANTS,
    "quiescence": quiescence.MUTANTS,
    "takeover": takeover.MUTANTS,
    "admission": admission.MUTANTS,
    "publication": publication.MUTANTS,
}
CATALOGUE: Final = tuple(mutant for area in AREAS.values() for mutant in area)
SIMULATED: Final = tuple(one for one in CATALOGUE if isinstance(one.seen, InSimulation))
TESTED: Final = tuple(one for one in CATALOGUE if isinstance(one.seen, InTests))


def by_name() -> Mapping[str, Mutant]:
    """Return all mutants by their names."""
    return {mutant.name: mutant for mutant in CATALOGUE}
