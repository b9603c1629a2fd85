"""Storms of spoilt frames against the machines, and the rules that no frame may break.

Every frame is judged twice: by the receiver, and by a second reading of the format
(`frame_fuzz_reference`). A frame that must be refused counts exactly once under its reason and
changes nothing. A frame that is sound, because its checksum was made anew, has the same effect as
the same message from an honest sender: a second receiver, the model, gets that one and must stay
equal. Nothing ever raises. After a storm the receiver still finishes an honest campaign with exact
counters.

A storm is named by its target, its family and its seed.
"""

from __future__ import annotations

import random
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from symfleet.protocol.codec import kind_of
from symfleet.protocol.messages import Ready, Result, Work
from symfleet.testing.frames.coordinators import CoordinatorTarget
from symfleet.testing.frames.mutate import Spoilt, damage, forge, truncations
from symfleet.testing.frames.reference import BODY, Judgement, judge
from symfleet.testing.frames.target import Arrival, Report, Target
from symfleet.testing.frames.worker import WorkerTarget

FRAMES_A_TURN: Final = 100
FRAMES_A_LIFE: Final = 40
"""Forged frames that one receiver gets before it is to finish its campaign."""
FRAMES_A_LOOK: Final = 10
"""Forged frames that are made of the same sound ones; meanwhile these get older."""

NOTHING: Final = b""
"""The frame that does nothing but count, so that receiver and model have as much to write."""
_ODD_SHARE: Final = 0.3
_REPLAYED_SHARE: Final = 0.05

Make = Callable[[], Target]
TARGETS: Final[Mapping[str, Make]] = {
    "root": lambda: CoordinatorTarget(0),
    "peer": lambda: CoordinatorTarget(1),
    "worker": lambda: WorkerTarget(0),
    "adoptable worker": lambda: WorkerTarget(3),
}


def kind_name(data: bytes) -> str:
    """Return the name of the kind that a frame claims."""
    kind = kind_of(data)
    return kind.__name__ if kind is not None else "none"


class Storm:
    """Frames against one kind of receiver."""

    def __init__(self, make: Make, seed: str, make_model: Make | None = None) -> None:
        """`make` returns receivers that are alike; `make_model` others that must behave alike."""
        self._make = make
        self._make_model = make_model or make
        self._draw = random.Random(seed)
        self.report = Report()

    # ---- after the seal -------------------------------------------------------------------------

    def damaged(self, frames: int) -> Report:
        """Send damaged frames to one receiver, which then finishes its campaign."""
        target, model = self._make(), self._make_model()
        sound = target.sound()
        while frames > 0:
            chosen = [self._draw.choice(sound) for _ in range(min(frames, FRAMES_A_TURN))]
            spoilt = [(one.rank, damage(self._draw, one.data)) for one in chosen]
            self._refused_in_one_turn(target, model, spoilt)
            frames -= len(chosen)
        model.close()
        return self._finish(target)

    def truncated(self) -> Report:
        """Send every sound frame cut at each of its bytes, as it is and sealed again."""
        target, model = self._make(), self._make_model()
        cut = {kind_name(one.data): one for one in target.sound()}
        for arrival in cut.values():
            pieces = [(arrival.rank, one) for one in truncations(arrival.data) if one.how == "cut"]
            for at in range(0, len(pieces), FRAMES_A_TURN):
                self._refused_in_one_turn(target, model, pieces[at : at + FRAMES_A_TURN])
        model.close()
        self._finish(target)
        for name in cut:
            judged, model = self._make(), self._make_model()
            arrival = next(one for one in judged.sound() if kind_name(one.data) == name)
            for one in truncations(arrival.data):
                if one.how != "cut":
                    self._one(judged, model, Arrival(arrival.rank, one.data), one)
            self._finish(judged)
            model.close()
        return self.report

    def _refused_in_one_turn(
        self, target: Target, model: Target, spoilt: list[tuple[int, Spoilt]]
    ) -> None:
        """Send frames that a target must refuse; its model gets empty ones."""
        if not spoilt:
            return
        count, expected = Counter(target.refused()), Counter[tuple[str, str]]()
        for rank, one in spoilt:
            self._note(one)
            reading = self._judge(target, one.data)
            whole = not reading.refused or reading.refused == BODY
            reason = "sender" if whole and reading.rank != rank else reading.refused
            if not reason:
                self.report.violation("the reference holds a damaged frame for sound", one)
            expected["quarantined_frames", reason] += 1
            self.report.refused[reason] += 1
        try:
            did = target.take(*(Arrival(rank, one.data) for rank, one in spoilt))
        except Exception:  # noqa: BLE001 - whatever it is, it must not be
            self._raised(spoilt[0][1])
            return
        expected_effect = model.take(*(Arrival(rank, NOTHING) for rank, _ in spoilt))
        fresh = Counter(target.refused()) - count
        if fresh != expected:
            self.report.violation(
                "frames that must be refused are not counted as what they are",
                spoilt[0][1],
                counted=named(fresh),
                expected=named(expected),
            )
        if (did, target.state()) != (expected_effect, model.state()):
            self.report.violation("frames that must be refused changed something", spoilt[0][1])

    # ---- before the seal ------------------------------------------------------------------------

    def forged(self, frames: int) -> Report:
        """Send forged frames to one receiver after the other."""
        while frames > 0:
            frames -= self._life(min(frames, FRAMES_A_LIFE))
        return self.report

    def _life(self, frames: int) -> int:
        """Send forged frames to one receiver and its model; return how many. What must be refused
        whatever the state is goes together in one turn; all else goes alone."""
        judged, model = self._make(), self._make_model()
        sound: Sequence[Arrival] = ()
        refused: list[tuple[int, Spoilt]] = []
        for number in range(frames):
            if number % FRAMES_A_LOOK == 0:
                self._refused_in_one_turn(judged, model, refused)
                refused, sound = [], judged.sound()
            arrival, spoilt = self._forgery(judged, sound)
            reading = self._judge(judged, arrival.data)
            if self._never_matters(reading, arrival):
                refused.append((arrival.rank, spoilt))
            elif not self._one(judged, model, arrival, spoilt) or judged.over:
                frames = number + 1
                break
        if not judged.over:
            self._refused_in_one_turn(judged, model, refused)
        model.close()
        self._finish(judged)
        return frames

    @staticmethod
    def _never_matters(reading: Judgement, arrival: Arrival) -> bool:
        """Whether a frame counts under its reason and does nothing, in any state. The bad body of a
        RESULT, READY or WORK still names a delivery."""
        if reading.refused == BODY and reading.rank == arrival.rank:
            return reading.kind not in (Result, Ready, Work)
        return bool(reading.refused) or reading.rank != arrival.rank

    def _forgery(self, judged: Target, sound: Sequence[Arrival]) -> tuple[Arrival, Spoilt]:
        if self._draw.random() < _REPLAYED_SHARE:
            # What is recorded grows older until the next look: it may be over by now.
            replayed = self._draw.choice(sound)
            return replayed, Spoilt("replayed", replayed.data)
        odd = judged.odd(self._draw) if self._draw.random() < _ODD_SHARE else None
        if odd is not None:
            return odd, Spoilt("inside", odd.data)
        chosen = self._draw.choice(sound)
        spoilt = forge(self._draw, chosen.data, [one.data for one in sound])
        return Arrival(chosen.rank, spoilt.data), spoilt

    def _one(self, judged: Target, model: Target, arrival: Arrival, spoilt: Spoilt) -> bool:
        """Send one frame; return whether receiver and model are still alike."""
        self._note(spoilt)
        wrong = self.report.wrong
        reading = self._judge(judged, arrival.data)
        try:
            if not reading.refused and reading.rank == arrival.rank:
                self.report.handled[kind_name(arrival.data)] += 1
                self._handled(judged, model, arrival, reading, spoilt)
            else:
                reason = reading.refused or "sender"
                self.report.refused[reason] += 1
                self._refused(judged, model, arrival, reading, spoilt)
        except Exception:  # noqa: BLE001 - whatever it is, it must not be
            self._raised(spoilt)
        return self.report.wrong == wrong

    def _handled(
        self,
        judged: Target,
        model: Target,
        arrival: Arrival,
        reading: Judgement,
        spoilt: Spoilt,
    ) -> None:
        counts = [Counter(one.refused()) for one in (judged, model)]
        did = judged.take(arrival)
        expected = model.take(model.again(arrival, reading))
        if did != expected:
            self.report.violation(
                "a sound frame had another effect than on the model",
                spoilt,
                did=repr(did)[:2000],
                expected=repr(expected)[:2000],
            )
        fresh = [Counter(one.refused()) - n for one, n in zip((judged, model), counts, strict=True)]
        if fresh[0] != fresh[1]:
            self.report.violation(
                "a sound frame counts other than for the model",
                spoilt,
                counted=named(fresh[0]),
                expected=named(fresh[1]),
            )
        if judged.state() != model.state():
            self.report.violation("a sound frame led elsewhere than the model", spoilt)

    def _refused(
        self,
        judged: Target,
        model: Target,
        arrival: Arrival,
        reading: Judgement,
        spoilt: Spoilt,
    ) -> None:
        count = Counter(judged.refused())
        did = judged.take(arrival)
        # A bad body may complete a join, so the model gets it too.
        body = reading.refused == BODY and reading.rank == arrival.rank
        expected = model.take(arrival if body else Arrival(arrival.rank, NOTHING))
        fresh = Counter(judged.refused()) - count
        if not judged.is_refusal(reading, fresh):
            self.report.violation(
                f"a frame that must be refused ({reading.refused or 'sender'}) is not counted so",
                spoilt,
                counted=named(fresh),
            )
        if judged.state() != model.state():
            self.report.violation("a refused frame changed something", spoilt)
        if did != expected:
            self.report.violation(
                "a refused frame had an effect",
                spoilt,
                did=repr(did)[:2000],
                expected=repr(expected)[:2000],
            )

    # ---- both -----------------------------------------------------------------------------------

    def _judge(self, target: Target, data: bytes) -> Judgement:
        return judge(data, target.campaign, target.epoch, target.frame_bytes)

    def _note(self, spoilt: Spoilt) -> None:
        self.report.frames += 1
        self.report.ways[spoilt.how] += 1
        self.report.kinds[kind_name(spoilt.data)] += 1

    def _raised(self, spoilt: Spoilt) -> None:
        self.report.exceptions += 1
        self.report.violation("an exception", spoilt, traceback=traceback.format_exc()[-3000:])

    def _finish(self, target: Target) -> Report:
        """Have the campaign brought to its end, unless it must end otherwise by now."""
        if not target.over:
            self.report.campaigns += 1
            try:
                for what in target.finish():
                    self.report.violation(what)
            except Exception:  # noqa: BLE001 - whatever it is, it must not be
                self.report.exceptions += 1
                trace = traceback.format_exc()[-3000:]
                self.report.violation("an exception afterwards", traceback=trace)
        target.close()
        return self.report


def named(counts: Counter[tuple[str, str]]) -> dict[str, int]:
    """Return counts by one name each."""
    return {f"{name}{{{why}}}": amount for (name, why), amount in counts.items()}
