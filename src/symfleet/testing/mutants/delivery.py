"""Faults of dispatch tokens, and of what arrives under none, another's or a dead one."""

from __future__ import annotations

from typing import Final

from symfleet.protocol import join
from symfleet.protocol.codec import Codec
from symfleet.protocol.intake import Intake
from symfleet.protocol.tokens import TokenMint
from symfleet.protocol.worker import Worker
from symfleet.protocol.worker_slot import WorkerSlot
from symfleet.testing.mutants.planting import Edit, InSimulation, InTests, Mutant, Put

_JOIN: Final = ("tests/unit/protocol/test_join_rules.py",)
_WORKER: Final = ("tests/unit/protocol/test_worker.py",)

MUTANTS: Final = (
    Mutant(
        "sequence_stands_still",
        "D1",
        "The sequence of a mint does not grow, so that a slot gets the same token again.",
        (Edit(TokenMint, "mint", "self._sequence += 1", "self._sequence = 1"),),
        InSimulation("calm"),
    ),
    Mutant(
        "token_without_secret",
        "D1",
        "A token does not depend on its coordinator's life: a restart mints its predecessor's.",
        (Edit(TokenMint, "__init__", "_DOMAIN + secret", "_DOMAIN"),),
        InSimulation("two", 1),
    ),
    Mutant(
        "token_of_its_own",
        "D2",
        "A worker answers under a token that it has made of the one it was given.",
        (
            Edit(
                WorkerSlot,
                "_conclude",
                "settle(assignment.token, ",
                "settle(DispatchToken(assignment.token[::-1]), ",
            ),
        ),
        InSimulation("calm"),
    ),
    Mutant(
        "work_said_again_runs_again",
        "D1",
        "A worker takes a WORK whose token it has seen as a new delivery.",
        (Edit(Worker, "_work", "header.token in slot.seen", "header.token in ()"),),
        InSimulation("deep", 3),
    ),
    Mutant(
        "result_under_an_older_token",
        "D3",
        "A worker stamps the first token of the slot's life on every result.",
        (
            Edit(
                WorkerSlot,
                "_conclude",
                "settle(assignment.token, ",
                "settle(next(iter(self.seen)), ",
            ),
        ),
        InSimulation("calm"),
    ),
    Mutant(
        "result_before_its_token_is_looked_at",
        "D4",
        "What a slot says decides its first delivery, whatever token it says it under.",
        (
            Edit(
                join,
                "_speaks_of",
                "in_flight.get(named)\n",
                "in_flight.get(named) or next(iter(slot.deliveries), None)\n",
            ),
        ),
        InTests(_JOIN, "stale"),
    ),
    Mutant(
        "stale_result_teaches",
        "D5",
        "The edges of a result are learned before anybody asks whether it is current.",
        (
            Edit(
                Intake,
                "_judge_result",
                "core = self._core\n",
                "core = self._core\n"
                "    for item in result.items if result else ():\n"
                "        core.learn(getattr(item, 'edges', b''))\n",
            ),
        ),
        InTests(_JOIN, "teaches_nothing"),
    ),
    Mutant(
        "stale_result_frees_its_slot",
        "D6",
        "A result that is not current ends what its slot has in flight.",
        (
            Edit(
                Intake,
                "_fault_result",
                'self._core.outbox.fault("quarantined_results", verdict)',
                'self._core.outbox.fault("quarantined_results", verdict)\n'
                "    self._core.roll_back_slot(slot, Undo('protocol', sent=True))",
            ),
        ),
        InTests(_JOIN, "stale"),
    ),
    Mutant(
        "malformed_result_marks_the_slot",
        "J3",
        "A bad result marks all deliveries of its slot, not the one that its header names.",
        (Edit(Intake, "_mark", "delivery.marked = True", "slot.marked = True"),),
        InTests(_JOIN, "own_delivery"),
    ),
    Mutant(
        "malformed_result_marks_another_slot",
        "D6",
        "A bad result marks what is in flight to the worker's first slot, whoever said it.",
        (
            Edit(
                Intake,
                "_mark",
                "if delivery is not None:",
                "slot = self._core.fleet.workers[slot.place.rank].slots[0]\n"
                "    delivery = next(iter(slot.deliveries), None)\n"
                "    if delivery is not None:",
            ),
        ),
        InTests(_JOIN, "own_delivery"),
    ),
    Mutant(
        "quarantine_is_not_counted",
        "D8",
        "A result that was set aside leaves no trace in the counters.",
        (
            Edit(
                Intake,
                "_fault_result",
                'self._core.outbox.fault("quarantined_results", verdict)',
                "pass",
            ),
        ),
        InTests(_JOIN, "stale"),
    ),
    Mutant(
        "checksum_is_not_compared",
        "A1",
        "A frame whose bytes changed on their way is believed.",
        (Edit(Codec, "_unreadable", "!= crc:", "!= crc and False:"),),
        InSimulation("noise", 5),
    ),
    Mutant(
        "worker_believes_the_ids_of_work",
        "A1",
        "A worker runs bytes that are not the input which their item names.",
        (Edit(Worker, "_check_entry", "item.input != input_id", "False"),),
        InTests(_WORKER, "contradicts"),
    ),
    Mutant(
        "frames_of_another_epoch_count",
        "L6",
        "A frame of an older epoch is heard in this one.",
        (Edit(Codec, "_strange", "epoch != self._epoch", "False"),),
        InTests(("tests/unit/protocol/test_codec_and_tokens.py",), "elsewhere"),
    ),
    Mutant(
        "result_said_again_is_an_echo",
        "J3",
        "A result that is said again is answered and not looked at, decided or not.",
        (Put(join, "_SETTLED", frozenset(join.Said)),),
        InTests(("tests/unit/protocol/test_results.py",), "said_again"),
    ),
)
