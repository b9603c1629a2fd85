"""Faults of what time does: silence, resets, lost ranks, blame."""

from __future__ import annotations

from typing import Final

from symfleet.protocol import settle
from symfleet.protocol.blame import Breaker
from symfleet.protocol.intake import Intake
from symfleet.protocol.sweeps import Sweeps
from symfleet.protocol.timeline import Timeline
from symfleet.protocol.worker import Worker
from symfleet.protocol.worker_slot import WorkerSlot
from symfleet.testing.mutants.planting import Edit, InSimulation, InTests, Mutant

_LIVENESS: Final = ("tests/unit/protocol/test_liveness.py",)
_WORKER: Final = ("tests/unit/protocol/test_worker.py",)
_RESULTS: Final = ("tests/unit/protocol/test_results.py",)

MUTANTS: Final = (
    Mutant(
        "silence_never_ends",
        "L5",
        "A delivery whose slot shows no sign of progress is waited for, for ever.",
        (
            Edit(
                Sweeps,
                "_watch",
                "if waits and silence >= knobs.delivery_silence_s:",
                "if waits and False:",
            ),
            Edit(
                Sweeps,
                "_slot_deadlines",
                "yield slot.evidence_at + knobs.delivery_silence_s",
                "pass",
            ),
        ),
        InSimulation("losses"),
    ),
    Mutant(
        "silence_by_duration",
        "J3",
        "A delivery is given up for how long it takes, whatever progress it makes.",
        (Edit(Intake, "_on_evidence", "slot.evidence_at = self._core.now", "pass"),),
        InTests(_LIVENESS, "progress"),
    ),
    Mutant(
        "late_turn_judges_silence",
        "J5",
        "A coordinator that was stopped takes its own absence for the silence of others.",
        (Edit(Timeline, "begin", "lateness > self._late_s", "False"),),
        InTests(_LIVENESS, "late_turn"),
    ),
    Mutant(
        "dead_rank_keeps_its_work",
        "J6",
        "What was in flight to a rank that died stays in flight.",
        (
            Edit(
                Sweeps,
                "rank_lost",
                'core.roll_back_slot(slot, Undo("lost", sent=True))',
                "pass",
            ),
        ),
        InSimulation("two", 1),
    ),
    Mutant(
        "reset_keeps_the_incarnation",
        "J6",
        "A slot that was reset comes back under the incarnation that it had.",
        (Edit(WorkerSlot, "reset", "self.incarnation = self._fresh()", "pass"),),
        InTests(_WORKER, "reset_slot"),
    ),
    Mutant(
        "parked_slot_is_never_reset",
        "L5",
        "A slot that stays silent is parked for ever, and with it its place.",
        (
            Edit(
                Sweeps,
                "_watch",
                "case SlotPhase.PARKED if silence >= 2 * knobs.delivery_silence_s:",
                "case SlotPhase.PARKED if False:",
            ),
        ),
        InTests(_LIVENESS, "silence"),
    ),
    Mutant(
        "ghosts_take_no_place",
        "J11",
        "What a silent worker may still hold is forgotten: it gets more than it has places.",
        (Edit(Sweeps, "park", "slot.ghosts.update(slot.parked_for)", "pass"),),
        InTests(_LIVENESS, "silent_worker"),
    ),
    Mutant(
        "hard_limit_is_ignored",
        "Q4",
        "An execution that hangs is never ended by its worker.",
        (
            Edit(
                WorkerSlot,
                "tick",
                "self._hard_at is not None and now >= self._hard_at",
                "False",
            ),
        ),
        InTests(_WORKER, "hard_limit"),
    ),
    Mutant(
        "unexplained_kill_is_blamed",
        "A6",
        "A SIGKILL that nobody explains is held against the item.",
        (Edit(settle, "judge_death", "return Fate.UNEXPLAINED", "return Fate.BLAME"),),
        InTests(_RESULTS, "unexplained"),
    ),
    Mutant(
        "host_is_never_paused",
        "A6",
        "Items are blamed one by one for a host on which every executor dies.",
        (
            Edit(
                Breaker,
                "failure",
                "streak < self.blames_to_pause or host in self.paused",
                "True",
            ),
        ),
        InTests(_RESULTS, "five_failures"),
    ),
    Mutant(
        "stopped_while_it_runs",
        "Q4",
        "A worker acknowledges the end as soon as one of its slots has stopped.",
        (Edit(Worker, "_acknowledge", "if not all(slot.state", "if not any(slot.state"),),
        InTests(_WORKER, "nothing_is_left"),
    ),
)
