"""Faults of the vote, of COMMIT and of the end."""

from __future__ import annotations

from typing import Final

from symfleet.ledger import plan
from symfleet.ledger.memory_rows import MemoryRows
from symfleet.protocol.coordinator import Coordinator
from symfleet.protocol.quiescence import Quiescence
from symfleet.protocol.shutdown import Shutdown
from symfleet.testing.mutants.planting import Edit, InSimulation, InTests, Mutant

_VOTE: Final = ("tests/unit/protocol/test_quiescence_and_end.py",)
_SQLITE: Final = ("tests/integration/test_ledger_behaviour.py::TestSqliteLedger",)
_PEERS: Final = ("tests/unit/protocol/test_coordinators.py",)

MUTANTS: Final = (
    Mutant(
        "idle_window_is_ignored",
        "Q2",
        "A campaign ends in the first instant in which nothing is open.",
        (Edit(Quiescence, "end_turn", "idle_s >= core.setup.knobs.idle_window_s", "idle_s >= 0"),),
        InSimulation("calm"),
    ),
    Mutant(
        "vote_does_not_scan",
        "Q2",
        "A coordinator votes without having looked at its sources again.",
        (
            Edit(
                Quiescence,
                "_ready_to_vote",
                "not prepared.scans and",
                "",
            ),
            Edit(plan, "why_not_quiescent", "if open_sources:", "if False:"),
        ),
        InSimulation("late", 12),
    ),
    Mutant(
        "commit_ignores_open_sources",
        "Q2",
        "COMMIT passes while a source may still bring work.",
        (Edit(plan, "why_not_quiescent", "if open_sources:", "if False:"),),
        InTests(_SQLITE, "quiescence"),
    ),
    Mutant(
        "unpublished_decisions_are_ignored",
        "C10",
        "The campaign is quiescent although decisions are not shown as files yet.",
        (
            Edit(Coordinator, "_is_published", "self._unpublished == 0", "True"),
            Edit(plan, "why_not_quiescent", "if unpublished:", "if False:"),
        ),
        InTests(_VOTE, "every_artefact"),
    ),
    Mutant(
        "vote_is_not_voided",
        "Q2",
        "Work that comes after PREPARE voids nothing, and COMMIT does not look at its counter.",
        (
            Edit(
                Quiescence,
                "_check_void",
                "core.frontier.changes != prepared.changes or not self._idle()",
                "False",
            ),
            Edit(
                plan,
                "why_not_quiescent",
                "if changes != voted:",
                "if False:",
            ),
        ),
        InTests(_PEERS, "takes_its_yes_back"),
    ),
    Mutant(
        "deferred_is_no_open_work",
        "C10",
        "The campaign is quiescent while items are deferred.",
        (
            Edit(
                plan,
                "why_not_quiescent",
                "pending or leased or deferred",
                "pending or leased",
            ),
        ),
        InTests(_SQLITE, "quiescence"),
    ),
    Mutant(
        "late_seed_is_marked_as_seen",
        "Q3",
        "A seed that is found after the freeze is marked as seen without being admitted.",
        (
            Edit(
                Coordinator,
                "_source_batch",
                "core.ending is not None:",
                "core.ending is not None:\n"
                "        core.outbox.act(ConfirmAdmitted(batch.source, "
                "tuple(e.origin for e in batch.entries)))",
            ),
        ),
        InTests(_VOTE, "after_commit"),
    ),
    Mutant(
        "work_appears_after_commit",
        "Q3",
        "A quiescent epoch lets inputs in.",
        (
            Edit(MemoryRows, "_refuse_when_quiescent", "if self._live_epoch().quiescent:", "if 0:"),
            Edit(
                Coordinator,
                "_source_batch",
                "self._vote.frozen or core.ending is not None",
                "False",
            ),
        ),
        InTests(_VOTE, "after_commit"),
    ),
    Mutant(
        "peers_are_not_asked",
        "Q1",
        "The root commits on its own vote.",
        (Edit(Quiescence, "_all_yes", "for peer in core.peers.live", "for peer in ()"),),
        InTests(_VOTE, "every_peer"),
    ),
    Mutant(
        "peers_prepare_less",
        "Q1",
        "Only the root scans its sources when it prepares.",
        (
            Edit(
                Quiescence,
                "_prepare",
                "for source in core.sources:\n",
                "for source in core.sources if self.is_root else ():\n",
            ),
        ),
        InSimulation("calm many"),
    ),
    Mutant(
        "no_is_not_heard",
        "Q1",
        "A peer's NO does not void the round.",
        (
            Edit(
                Quiescence,
                "_check_void",
                "any(not vote.idle for vote in self._votes.values())",
                "False",
            ),
        ),
        InTests(_PEERS, "a_no_voids"),
    ),
    Mutant(
        "nobody_is_missing",
        "Q4",
        "A worker that did not acknowledge is counted as if it had.",
        (Edit(Shutdown, "_own_ack", "if worker.phase is not WorkerPhase.STOPPED", "if False"),),
        InTests(_VOTE, "does_not_acknowledge"),
    ),
    Mutant(
        "unclosed_coordinator_is_not_named",
        "Q4",
        "A coordinator that never said Closed, and its workers, are missing from the end's list.",
        (
            Edit(
                Shutdown,
                "_close",
                "*self._acks_of_unclosed()]",
                "]",
            ),
        ),
        InTests(_PEERS, "never_closes"),
    ),
)
