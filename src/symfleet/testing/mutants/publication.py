"""Faults of what is shown as files."""

from __future__ import annotations

from typing import Final

from symfleet.corpus import publish
from symfleet.corpus.publish import Folder, Publisher
from symfleet.ledger import plan, turn_rows
from symfleet.ledger.memory import MemoryLedger
from symfleet.ledger.memory_reading import MemoryReading
from symfleet.testing.mutants.planting import Edit, InSimulation, InTests, Mutant

_PUBLISHER: Final = ("tests/property/test_publisher.py",)
_SQLITE: Final = ("tests/integration/test_ledger_behaviour.py::TestSqliteLedger",)

MUTANTS: Final = (
    Mutant(
        "marked_before_it_is_written",
        "C6",
        "A sink's mark moves past artefacts whose files are not there yet.",
        (
            Edit(
                Publisher,
                "_write_some",
                "if not artefacts or self._written >= upto:",
                "if True:",
            ),
        ),
        InTests(_PUBLISHER, "durable_together"),
    ),
    Mutant(
        "mark_moves_unsynced",
        "C6",
        "A sink's mark moves before its files are durable.",
        (Edit(Publisher, "_advance", "sync_filesystem(self._folder.folder)", "pass"),),
        InTests(_PUBLISHER, "failed_write"),
    ),
    Mutant(
        "mark_is_not_compared",
        "C6",
        "A mark moves from wherever its publisher thinks it is.",
        (
            Edit(
                plan,
                "mark_disposition",
                'if published_upto == mark.published_from else "stale"',
                "",
            ),
        ),
        InTests(_SQLITE, "compare_and_set"),
    ),
    Mutant(
        "dead_publisher_moves_the_mark",
        "C6",
        "A publisher of an older epoch moves the mark of the present one.",
        (Edit(plan, "mark_disposition", "mark.incarnation != incarnation", "False"),),
        InTests(_SQLITE, "sink"),
    ),
    Mutant(
        "redo_begins_at_the_end",
        "C5",
        "A publisher that comes back goes on behind what was decided before.",
        (
            Edit(
                MemoryLedger,
                "register_sink",
                "incarnation=fresh)",
                "incarnation=fresh, published_upto=len(self._tables.artefacts))",
            ),
        ),
        InSimulation("two", 2),
    ),
    Mutant(
        "last_file_is_not_written",
        "C5",
        "The last artefact before a mark is not written.",
        (
            Edit(
                MemoryReading,
                "artefacts",
                "return tuple(chosen)",
                "return tuple(chosen[:-1] or chosen)",
            ),
        ),
        InSimulation("calm"),
    ),
    Mutant(
        "wrong_bytes_stay",
        "C5",
        "A file of the right name and size is taken for the right one.",
        (Edit(Folder, "_holds", "and path.read_bytes() == file.data", ""),),
        InTests(_PUBLISHER, "wrong_bytes"),
    ),
    Mutant(
        "damaged_bytes_are_shown",
        "A1",
        "Bytes of the ledger that lost their digest are published under it.",
        (Edit(publish, "check_artefact", "digest != artefact.input_id", "False"),),
        InTests(_PUBLISHER, "lost_their_digest"),
    ),
    Mutant(
        "shown_out_of_order",
        "C5",
        "Artefacts are numbered by kind and not in the order of decisions.",
        (
            Edit(
                turn_rows,
                "_PUT_ARTEFACT",
                "VALUES (?,",
                "VALUES (? + 1 - 2 * (? % 2),",
            ),
        ),
        InTests(_SQLITE, "numbers"),
    ),
)
