"""Spoilt frames to every machine: never an exception, always counted, or handled like sound ones.

The storms and the rules are in `symfleet.testing.frames.fuzz`; `python -m benchmarks.frames` sends
as many as one likes.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from symfleet.errors import DataError
from symfleet.protocol.codec import Codec, Unreadable
from symfleet.protocol.events import ExecutionDone, FrameReceived
from symfleet.protocol.intake import Intake
from symfleet.protocol.messages import AnyMessage, Hello, Ready, Result, StopAck, Turn
from symfleet.protocol.operations import Claim
from symfleet.protocol.setup import Knobs
from symfleet.protocol.turns import encode_operations
from symfleet.testing.coordinator_bench import CoordinatorBench, admission
from symfleet.testing.frames import executor as executor_fuzz
from symfleet.testing.frames.coordinators import CoordinatorTarget
from symfleet.testing.frames.fuzz import TARGETS, Storm, kind_name
from symfleet.testing.frames.target import Report
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.testing.worker_bench import WorkerBench
from symfleet.types import CampaignId

PROGRAM = SyntheticProgram(30)
DAMAGED = {"root": 30_000, "peer": 30_000, "worker": 50_000, "adoptable worker": 50_000}
FORGED = {"root": 1_500, "peer": 2_000, "worker": 6_000, "adoptable worker": 6_000}
ON_DISK = 400


def assert_clean(report: Report) -> None:
    assert report.wrong == 0, report.violations[:3]
    assert report.exceptions == 0


@pytest.mark.guarantee("D8")
@pytest.mark.parametrize("target", DAMAGED)
def test_frames_damaged_after_sealing_are_refused_counted_and_harmless(target: str) -> None:
    report = Storm(TARGETS[target], f"damaged {target}").damaged(DAMAGED[target])
    assert_clean(report)
    assert (report.frames, report.campaigns) == (DAMAGED[target], 1)
    assert report.refused.total() == report.frames
    assert report.refused.keys() >= {"short", "magic", "length", "checksum"}


@pytest.mark.guarantee("D8")
@pytest.mark.parametrize("target", TARGETS)
def test_a_frame_of_each_kind_is_refused_wherever_it_is_cut(target: str) -> None:
    report = Storm(TARGETS[target], "cut").truncated()
    assert_clean(report)
    assert report.refused.keys() == {"short", "length", "body"}


@pytest.mark.guarantee("D4")
@pytest.mark.guarantee("D8")
@pytest.mark.parametrize("target", FORGED)
def test_forged_frames_are_refused_and_counted_or_handled_as_the_model_handles_them(
    target: str,
) -> None:
    report = Storm(TARGETS[target], f"forged {target}").forged(FORGED[target])
    assert_clean(report)
    assert report.campaigns > FORGED[target] // 100, "honest campaigns end after the storms"
    sent = {kind_name(one.data) for one in TARGETS[target]().sound()}
    assert report.handled.keys() >= sent - {"Closed"}, "some of each kind get through"
    assert report.refused.keys() >= {"body", "kind", "flags", "version", "campaign", "epoch"}


@pytest.mark.guarantee("C9")
@pytest.mark.guarantee("D8")
def test_a_ledger_on_disk_takes_spoilt_turns_as_one_in_memory_does(tmp_path: Path) -> None:
    numbers = iter(range(1_000))

    def on_disk() -> CoordinatorTarget:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return CoordinatorTarget(0, folder)

    assert_clean(Storm(on_disk, "on disk", lambda: CoordinatorTarget(0)).forged(ON_DISK))


# ---- replayed ones ------------------------------------------------------------------------------


def coordinator(**more: Any) -> CoordinatorBench:
    """Return a bench with two workers and four slots that have joined."""
    bench = CoordinatorBench(workers=2, slots=2, program=PROGRAM, knobs=Knobs(prefetch=1), **more)
    bench.join()
    return bench


def test_recorded_frames_of_an_older_epoch_are_harmless_when_replayed() -> None:
    first = CoordinatorTarget(0)
    recorded = [one for one in first.sound() if one.rank in (1, 2)]
    second = coordinator(ledger=first.bench.ledger)
    before = second.ledger.status().states
    second.turn(*(FrameReceived(one.rank, one.data) for one in recorded))
    assert second.ledger.status().states == before
    assert second.faults()["quarantined_frames"] == {"epoch": len(recorded)}


@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("J4")
def test_results_of_this_epoch_that_are_replayed_decide_nothing_more() -> None:
    bench = coordinator()
    works = bench.turn(bench.seed(*range(10))).works
    recorded = [bench.result(work) for work in works]
    bench.turn(*recorded)
    decided = list(bench.ledger.decisions())
    assert len(decided) == sum(len(work.work.items) for work in works) > 0
    assert bench.faults() == {}
    bench.turn(*recorded)
    assert list(bench.ledger.decisions()) == decided
    assert sum(bench.faults()["quarantined_results"].values()) == len(recorded)
    assert not list(bench.ledger.audit())


@pytest.mark.guarantee("D8")
@pytest.mark.parametrize("order", [(1, 0), (0, 0), (0, 2), (1,), (2,)])
def test_pieces_of_a_turn_out_of_order_are_refused_with_all_before_them(
    order: tuple[int, ...],
) -> None:
    target = CoordinatorTarget(0)
    owner = target.owner
    assert owner is not None
    whole = encode_operations([Claim(1, 1)])
    cut = [whole[:3], whole[3:6], whole[6:]]
    leased = owner.ledger.status().states
    for piece in order:
        turn = Turn(owner.taken + 1, piece, 3, cut[piece])
        owner.turn(*owner.take([owner.frame_of_other(turn)]))
    assert owner.ledger.status().states == leased
    assert target.refused() == {("quarantined_frames", "turn"): len(order) - order.count(0) or 1}
    assert all(number > 0 for number, _ in owner.answers()), "who waits for it hears of it"


def test_messages_that_only_workers_send_are_unexpected_at_a_worker() -> None:
    bench = WorkerBench(slots=2)
    bench.up()
    bench.step(bench.work(PROGRAM.data(0))[1])
    messages: tuple[AnyMessage, ...] = (
        Hello("1", "h", 1, bench.lives[0], tuple(bench.lives), "e", "b", 1, "3"),
        Ready(None, 0),
        Result(()),
        StopAck(1),
    )
    for message in messages:
        bench.step(bench.frame(message))
    assert bench.machine.quarantined == {"unexpected": 4}
    data = PROGRAM.data(0)
    bench.step(ExecutionDone(0, PROGRAM.execute(admission(data).work_id, data)))
    assert [type(m) for _, m in bench.said()] == [Result, Ready]


# ---- the executor protocol ----------------------------------------------------------------------


@pytest.mark.guarantee("A6")
def test_no_engine_takes_its_worker_down() -> None:
    report = executor_fuzz.garbage_to_worker("garbage", 12_000)
    assert_clean(report)
    assert report.campaigns > 1_000
    assert set(report.ways) >= {"deep", "gone", "extra", "length", "sound", "value"}


def test_an_engine_server_that_hears_garbage_ends_with_a_word(tmp_path: Path) -> None:
    serve = (sys.executable, "-m", "symfleet.engine.serve", "command", "--", sys.executable)
    report = executor_fuzz.garbage_to_executor(
        (*serve, "-c", "0"), ("t",), tmp_path, "server", 6, env=dict(os.environ)
    )
    assert_clean(report)


# ---- the rules are seen to be broken ------------------------------------------------------------


def without_checksum(codec: Codec, data: bytes) -> Unreadable | None:
    """Judge as a codec does that takes the checksum on trust."""
    sound = honest_unreadable(codec, data)
    return None if sound is not None and sound.fault == "checksum" else sound


def open_and_believe(codec: Codec, data: bytes) -> Any:
    """Open frames of any epoch."""
    opened = honest_open(codec, data)
    if getattr(opened, "fault", None) == "epoch":
        (epoch,) = struct.unpack_from("<Q", data, 24)
        return honest_open(Codec(CampaignId(codec._campaign.hex()), epoch, 0, codec._limit), data)
    return opened


def forgetful(intake: Intake, *_: object) -> None:
    """Set a frame aside and do not count it."""


def raising(*_: object) -> None:
    raise DataError("a body that cannot be read")


honest_unreadable = Codec._unreadable
honest_open = Codec.open

PLANTED: dict[str, tuple[object, str, Any, str, str]] = {
    "no checksum": (Codec, "_unreadable", without_checksum, "damaged", "changed something"),
    "no epoch": (Codec, "open", open_and_believe, "forged", "not counted as what they are"),
    "no count": (Intake, "_quarantine", forgetful, "damaged", "not counted as what they are"),
    "an exception": (Intake, "_bad_body", raising, "forged", "an exception"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_storm_reports_a_planted_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, wrong, family, said = PLANTED[fault]
    monkeypatch.setattr(owner, name, wrong)
    report: Report = getattr(Storm(TARGETS["peer"], fault), family)(120)
    assert report.wrong > 0
    found = [violation["what"] for violation in report.violations]
    assert any(said in what for what in found), found
    assert any(violation.get("frame") for violation in report.violations), "the frame is kept"


def test_a_storm_reports_a_receiver_that_does_more_than_its_model() -> None:
    made = 0

    def make() -> CoordinatorTarget:
        nonlocal made
        made += 1
        target = CoordinatorTarget(1)
        if made % 2:  # the receiver, and not its model
            target.bench.core.frontier.retries.clear()
            target.bench.core.mint = type(target.bench.core.mint)(bytes(32))
        return target

    report = Storm(make, "other").forged(40)
    assert any("than on the model" in one["what"] for one in report.violations)
