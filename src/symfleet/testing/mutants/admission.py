"""Faults of what is let in: seeds, inputs, rows that were stored before."""

from __future__ import annotations

from typing import Final

from symfleet.corpus import scan
from symfleet.corpus.scan import FolderScanner
from symfleet.ledger import plan, turn_decision
from symfleet.ledger.memory_frontier import MemoryFrontier
from symfleet.ledger.memory_rows import MemoryRows
from symfleet.protocol.coordinator import Coordinator
from symfleet.testing.mutants.planting import Edit, InSimulation, InTests, Mutant

_SQLITE: Final = ("tests/integration/test_ledger_behaviour.py::TestSqliteLedger",)
_SCAN: Final = ("tests/unit/corpus/test_scan.py",)

MUTANTS: Final = (
    Mutant(
        "names_are_believed",
        "A1",
        "Bytes are let in under a digest that they do not have.",
        (Edit(plan, "check_name", "found != input_id", "False"),),
        InTests(_SQLITE, "false_name"),
    ),
    Mutant(
        "payloads_are_believed",
        "A4",
        "A payload is let in under the work id of another.",
        (Edit(plan, "check_item", "found != work_id", "False"),),
        InTests(_SQLITE, "invalid_result"),
    ),
    Mutant(
        "stored_rows_are_believed",
        "A4",
        "A row that leads to another's input is leased.",
        (Edit(plan, "check_item", "input_id is not None and item.input != input_id", "False"),),
        InTests(("tests/integration/test_sqlite_damage.py",), "contradict"),
    ),
    Mutant(
        "failed_admission_is_confirmed",
        "A2",
        "A seed whose admission the ledger refused is marked as seen.",
        (
            Edit(
                Coordinator,
                "_source_batch",
                "if isinstance(answer, Admitted):",
                "if answer is not None:",
            ),
        ),
        InTests(("tests/unit/protocol/test_quiescence_and_end.py",), "admission_failed"),
    ),
    Mutant(
        "seen_before_it_is_durable",
        "A3",
        "A file counts as seen when it was read, not when its admission is durable.",
        (
            Edit(
                FolderScanner,
                "_take",
                "batch.bytes += len(reading.data)",
                "batch.bytes += len(reading.data); self._seen.add(self._offered[origin].key)",
            ),
        ),
        InTests(_SCAN, "only_confirmed"),
    ),
    Mutant(
        "changing_file_is_taken",
        "A3",
        "A file that changes while it is read is let in as it was found.",
        (
            Edit(
                scan,
                "judge",
                "reading.before != reading.after or len(reading.data) != reading.before.size",
                "False",
            ),
        ),
        InTests(_SCAN, "changes_while"),
    ),
    Mutant(
        "known_input_is_let_in_again",
        "C2",
        "A seed that is a decided input already becomes work once more.",
        (
            Edit(MemoryFrontier, "_admit_entry", "entry.work_id in self._tables.work", "False"),
            Edit(MemoryRows, "_new_work", "work_id in self._tables.work", "False"),
        ),
        InSimulation("late"),
    ),
    Mutant(
        "admission_shows_nothing",
        "C5",
        "An input from outside is work, but no file of the corpus.",
        (
            Edit(
                MemoryFrontier,
                "_admit_entry",
                "self._show_in_corpus(entry.input_id, None, Outcome.OK, 0, 0, entry.origin, 0)",
                "pass",
            ),
        ),
        InSimulation("calm", 5),
    ),
    Mutant(
        "bytes_of_parts_are_not_missed",
        "A5",
        "A child whose bytes nobody has becomes work.",
        (
            Edit(
                turn_decision,
                "_rows_of_parts",
                "raise planning.missing_bytes(child.input_id)",
                "row = turn.store(child.input_id, b'')",
            ),
        ),
        InTests(_SQLITE, "parts"),
    ),
)
