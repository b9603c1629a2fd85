"""Faults of several coordinators: takeover, adoption, News, turns from afar."""

from __future__ import annotations

from typing import Final

from symfleet.ledger.memory_ending import MemoryEnding
from symfleet.ledger.memory_frontier import MemoryFrontier
from symfleet.protocol.frontier import Frontier
from symfleet.protocol.messages import Prepare
from symfleet.protocol.news import Newsroom
from symfleet.protocol.peer_frames import TABLE as PEER_TABLE
from symfleet.protocol.peer_frames import Way
from symfleet.protocol.takeover import Takeover
from symfleet.protocol.worker import Worker
from symfleet.runtime import turn_service
from symfleet.runtime.turn_service import TurnService
from symfleet.testing.mutants.planting import Edit, InSimulation, InTests, Mutant, Rows

_PEERS: Final = ("tests/unit/protocol/test_coordinators.py",)
_TURNS: Final = ("tests/unit/test_turn_service.py",)

MUTANTS: Final = (
    Mutant(
        "takeover_forgets_one_row",
        "L5",
        "The last lease of a lost coordinator stays leased to nobody.",
        (
            Edit(
                MemoryEnding,
                "_take_over",
                "for work in taken:",
                "for work in taken[:-1]:",
            ),
        ),
        InSimulation("deaths", 2),
    ),
    Mutant(
        "takeover_takes_from_all",
        "L2",
        "A takeover makes the leases of every coordinator pending.",
        (
            Edit(
                MemoryEnding,
                "_take_over",
                "== (WorkState.LEASED, epoch, coordinator)",
                "== (WorkState.LEASED, epoch, work.coordinator)",
            ),
        ),
        InSimulation("deaths"),
    ),
    Mutant(
        "lost_coordinator_may_claim",
        "L2",
        "The ledger gives leases to a coordinator that was given up: nobody holds them.",
        (
            Edit(
                MemoryFrontier,
                "_claim",
                "if claim.coordinator and (epoch, claim.coordinator) in self._tables.acks:",
                "if False:",
            ),
        ),
        InSimulation("stops", 5),
    ),
    Mutant(
        "sources_of_the_lost_are_forgotten",
        "Q1",
        "Nobody scans the sources of a coordinator that was given up.",
        (
            Edit(
                Takeover,
                "_take_sources",
                "core.setup.standby.get(peer.number, ())",
                "()",
            ),
        ),
        InSimulation("deaths"),
    ),
    Mutant(
        "leases_of_the_lost_stay",
        "L5",
        "A lost coordinator's leases are not taken over.",
        (Edit(Takeover, "_lost", "self._take_over(peer)", "pass"),),
        InSimulation("deaths", 2),
    ),
    Mutant(
        "orphans_are_not_adopted",
        "Q4",
        "The workers of a lost coordinator serve nobody any more.",
        (Edit(Takeover, "_lost", "self._settle_workers(peer)", "pass"),),
        InTests(_PEERS, "taken_over"),
    ),
    Mutant(
        "adopted_worker_keeps_its_lives",
        "J6",
        "A worker comes to its new coordinator with the slot incarnations and work of the old.",
        (Edit(Worker, "_adopted", "slot.reset(now)", "pass"),),
        InTests(("tests/unit/protocol/test_worker.py",), "adopted_worker"),
    ),
    Mutant(
        "who_was_given_up_is_not_told",
        "L2",
        "A coordinator that comes back after it was given up goes on as if it were a member.",
        (
            Edit(
                Takeover,
                "refuse",
                'core.chronicle.note(core.now, "came back after it was given up", peer.rank)',
                "return",
            ),
        ),
        InTests(_PEERS, "taken_over"),
    ),
    Mutant(
        "news_out_of_order",
        "Q2",
        "Old News replace what is known about the ledger since.",
        (Edit(Frontier, "hear", "changes <= self.changes", "changes < 0"),),
        InTests(_PEERS, "news_of_pending"),
    ),
    Mutant(
        "edges_reach_one_coordinator_only",
        "C7",
        "What one coordinator's decisions were the first to show is told to nobody.",
        (Edit(Newsroom, "_send", 'edges = b"".join(core.fresh_edges)', 'edges = b""'),),
        InTests(_PEERS, "new_edges"),
    ),
    Mutant(
        "turn_said_again_runs_again",
        "C7",
        "A turn whose number was taken before runs once more.",
        (
            Edit(
                TurnService,
                "_turn",
                "turn.number == client.taken and client.taken",
                "False",
            ),
            Edit(
                TurnService,
                "_turn",
                "turn.number != client.taken + 1",
                "turn.number > client.taken + 1",
            ),
        ),
        InTests(_TURNS, "same_number"),
    ),
    Mutant(
        "turn_of_the_lost_runs",
        "L2",
        "A turn that waits runs after its coordinator's leases were taken over.",
        (
            Edit(
                TurnService,
                "_forget",
                "if client is not None:",
                "if client is None:",
            ),
        ),
        InTests(_TURNS, "lost_coordinator"),
    ),
    Mutant(
        "turn_of_an_older_life_runs",
        "L2",
        "A turn counts whichever life of its coordinator sent it.",
        (
            Edit(
                TurnService,
                "_frame",
                "if opened.header.incarnation == client.incarnation:",
                "if True:",
            ),
        ),
        InTests(_TURNS, "out_of_order"),
    ),
    Mutant(
        "coordinator_asks_for_anothers",
        "L2",
        "A coordinator may claim in another's name, and end the epoch.",
        (Edit(turn_service, "_require_own", "if not allowed:", "if False:"),),
        InTests(_TURNS, "out_of_order"),
    ),
    Mutant(
        "anybody_asks_for_votes",
        "Q1",
        "Any coordinator may have the others PREPARE, as if it were the root.",
        (Rows(PEER_TABLE, {Prepare: (Way.ANY, "prepare")}),),
        InTests(_PEERS, "only_the_root"),
    ),
)
