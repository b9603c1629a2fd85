"""Damaged and forged frames: never an exception, always counted, or handled like a sound frame."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Iterator

import pytest

from symfleet.protocol.codec import HEADER_BYTES, KINDS, BadBody, Codec, Frame, FrameFault
from symfleet.protocol.events import (
    ExecutionDone,
    FrameReceived,
    Leave,
    Note,
    Send,
    WorkerAction,
)
from symfleet.protocol.messages import (
    Accepted,
    AnyMessage,
    Beat,
    Hello,
    Knowledge,
    Part,
    Progress,
    Ready,
    Refuse,
    Refused,
    ResetSlot,
    Result,
    Started,
    Stop,
    StopAck,
    WorkerFault,
)
from symfleet.protocol.operations import CountFaults
from symfleet.protocol.setup import Knobs
from symfleet.testing.coordinator_bench import CoordinatorBench, Turn, admission
from symfleet.testing.synthetic import SyntheticProgram
from symfleet.testing.worker_bench import WorkerBench
from symfleet.types import DispatchToken

FRAMES = 10_000
FRAMES_A_BENCH = 40
PROGRAM = SyntheticProgram(30)


def flip_one_bit(draw: random.Random, frame: bytes) -> bytes:
    at = draw.randrange(len(frame) * 8)
    return frame[: at // 8] + bytes([frame[at // 8] ^ (1 << at % 8)]) + frame[at // 8 + 1 :]


def cut_or_grow(draw: random.Random, frame: bytes) -> bytes:
    if draw.random() < 0.5:
        return frame[: draw.randrange(len(frame))]
    return frame + draw.randbytes(draw.randrange(1, 40))


def burst(draw: random.Random, frame: bytes) -> bytes:
    """Overwrite up to four bytes; CRC-32 finds every burst of at most 32 bits."""
    at, size = draw.randrange(len(frame)), draw.randrange(1, 5)
    damaged = frame[:at] + draw.randbytes(size) + frame[at + size :]
    return damaged if damaged != frame else flip_one_bit(draw, frame)


AFTER_SEALING = (flip_one_bit, cut_or_grow, burst)


def sealed_again(frame: bytes) -> bytes:
    """Give a changed frame a right length and checksum."""
    head = frame[: HEADER_BYTES - 8] + struct.pack("<I", len(frame) - HEADER_BYTES)
    crc = zlib.crc32(frame[HEADER_BYTES:], zlib.crc32(head))
    return head + struct.pack("<I", crc) + frame[HEADER_BYTES:]


def forge(draw: random.Random, frame: bytes, others: list[bytes]) -> bytes:
    """Change a frame before its seal: header fields, body bytes, or parts of another frame."""
    forged = bytearray(frame)
    other = draw.choice(others)
    match draw.randrange(9):
        case 0:
            forged[6] = draw.randrange(len(KINDS) + 2)
        case 1:
            forged[7] = draw.choice((0, 1, 1, 2, 255))
        case 2:
            forged[48:80] = draw.choice((bytes(32), draw.randbytes(32), other[48:80]))
        case 3:
            forged[36:48] = draw.choice((draw.randbytes(12), other[36:48]))
        case 4:
            forged[4:36] = draw.choice((draw.randbytes(32), forged[4:28] + draw.randbytes(8)))
        case 5:
            forged[HEADER_BYTES:] = other[HEADER_BYTES:]
        case 6 if len(forged) > HEADER_BYTES:
            at = draw.randrange(HEADER_BYTES, len(forged))
            forged[at : at + draw.randrange(1, 9)] = draw.randbytes(draw.randrange(9))
        case 7:
            forged += draw.randbytes(draw.randrange(1, 9))
        case _:
            del forged[draw.randrange(HEADER_BYTES, len(forged) + 1) :]
    return sealed_again(bytes(forged))


# ---- coordinator --------------------------------------------------------------------------------


def coordinator() -> CoordinatorBench:
    """Return a bench with two workers, four slots, and work in flight on all of them."""
    bench = CoordinatorBench(workers=2, slots=2, program=PROGRAM, knobs=Knobs(prefetch=1))
    bench.join()
    bench.turn(bench.seed(*range(10)))
    return bench


def worker_frames(bench: CoordinatorBench) -> list[bytes]:
    """Return one sound frame of every kind that a worker sends, of the bench's present state."""
    events: list[FrameReceived] = []
    for delivery in bench.machine._core.in_flight:
        rank, slot, token = delivery.place.rank, delivery.place.slot, delivery.token
        items = [PROGRAM.execute(lease.work_id, lease.data) for lease in delivery.leases]
        result = Result(tuple(items), 0, "")
        messages: tuple[AnyMessage, ...] = (
            Started(),
            Progress(3),
            Part(0, 0, items[0].children),
            result,
            Refused("digest: x"),
            Ready(token, 0),
        )
        events += [bench.frame(message, rank=rank, slot=slot, token=token) for message in messages]
    events += [
        bench.hello(1),
        bench.hello(2),
        bench.ready(None),
        bench.frame(WorkerFault("internal", "m", "h")),
        bench.frame(StopAck(2), slot=None),
    ]
    return [event.data for event in events]


def coordinator_state(bench: CoordinatorBench) -> object:
    view = bench.machine.view()
    status = bench.ledger.status()
    return (
        [(s.place, s.state, s.deliveries, s.items) for s in view.slots],
        view.in_flight_items,
        view.claimed_items,
        status.states,
        status.total,
    )


@pytest.mark.guarantee("D8")
def test_frames_damaged_after_sealing_are_all_refused_and_counted_by_a_coordinator() -> None:
    draw = random.Random("after sealing, coordinator")
    bench = coordinator()
    frames, before = worker_frames(bench), coordinator_state(bench)
    for _ in range(FRAMES // 100):
        events = [
            FrameReceived(
                draw.choice((1, 2)), draw.choice(AFTER_SEALING)(draw, draw.choice(frames))
            )
            for _ in range(100)
        ]
        bench.turn(*events)
    assert coordinator_state(bench) == before
    assert sum(bench.faults()["quarantined_frames"].values()) == FRAMES


def turn_of(bench: CoordinatorBench, frame: bytes, rank: int) -> Turn:
    return bench.turn(FrameReceived(rank, frame))


def counted(bench: CoordinatorBench) -> int:
    return sum(bench.machine._core.outbox.totals.values())


def effects(turn: Turn) -> object:
    """Return what a turn did, counters and log lines aside."""
    return (
        [op for op in turn.operations if not isinstance(op, CountFaults)],
        [(rank, header, message) for rank, header, message in turn.messages],
        [a for a in turn.actions if not isinstance(a, Send | Note)],
    )


def forgeries(draw: random.Random, frames: Callable[[], list[bytes]], most: int) -> Iterator[bytes]:
    for _ in range(min(most, FRAMES_A_BENCH)):
        sound = frames()
        yield forge(draw, draw.choice(sound), sound)


@pytest.mark.guarantee("D4")
@pytest.mark.guarantee("D8")
@pytest.mark.parametrize("batch", range(10))
def test_forged_frames_are_refused_and_counted_or_handled_like_sound_ones(batch: int) -> None:
    draw = random.Random(f"before sealing, coordinator {batch}")
    left = FRAMES // 10
    while left > 0:
        judged, model = coordinator(), coordinator()
        for forged in forgeries(draw, lambda bench=judged: worker_frames(bench), left):  # type: ignore[misc]
            left -= 1
            rank = forged[32] if forged[32] in (1, 2) else 1
            opened = judged.codecs[0].open(forged)
            before, count = coordinator_state(judged), counted(judged)
            turn = turn_of(judged, forged, rank)
            if isinstance(opened, Frame) and opened.header.rank == rank:
                header = opened.header
                again = judged.codecs[rank].seal(
                    opened.message,
                    slot=header.slot,
                    incarnation=header.incarnation,
                    token=header.token,
                    repeat=header.repeat,
                )
                assert effects(turn) == effects(turn_of(model, again, rank))
                assert coordinator_state(judged) == coordinator_state(model)
            else:
                model.turn(*([FrameReceived(rank, forged)] if isinstance(opened, BadBody) else []))
                assert counted(judged) > count
                assert _same_but_recovered(before, coordinator_state(judged), turn)
            if judged.machine._core.ending is not None:
                break


def _same_but_recovered(before: object, after: object, turn: Turn) -> bool:
    """A refused frame changes nothing, unless its mark completes a join with an earlier READY."""
    recovered = any(
        isinstance(message, Accepted) and message.disposition == "recovered"
        for _, _, message in turn.messages
    )
    return recovered or before == after


def test_recorded_frames_of_an_older_epoch_are_harmless_when_replayed() -> None:
    first = coordinator()
    recorded = worker_frames(first)
    second = CoordinatorBench(workers=2, slots=2, program=PROGRAM, ledger=first.ledger)
    second.join()
    before = coordinator_state(second)
    second.turn(*[FrameReceived(1 if frame[32] == 1 else 2, frame) for frame in recorded])
    assert coordinator_state(second) == before
    assert second.faults()["quarantined_frames"] == {FrameFault.EPOCH.value: len(recorded)}


@pytest.mark.guarantee("C7")
@pytest.mark.guarantee("J4")
def test_results_of_this_epoch_that_are_replayed_decide_nothing_more() -> None:
    bench = CoordinatorBench(workers=2, slots=2, program=PROGRAM, knobs=Knobs(prefetch=1))
    bench.join()
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


# ---- worker -------------------------------------------------------------------------------------


def worker() -> WorkerBench:
    """Return a worker with two slots, one of which runs."""
    bench = WorkerBench(slots=2)
    bench.up()
    bench.step(bench.work(PROGRAM.data(0))[1])
    return bench


def coordinator_frames(bench: WorkerBench) -> list[bytes]:
    """Return one sound frame of every kind that a coordinator sends."""
    token = DispatchToken("5" * 64)
    return [
        event.data
        for event in (
            bench.work(PROGRAM.data(1), slot=0)[1],
            bench.work(PROGRAM.data(2), slot=1)[1],
            bench.frame(Accepted(token, "decided")),
            bench.frame(Knowledge(0, 1, b"abcd"), slot=None),
            bench.frame(Beat(), slot=None),
            bench.frame(ResetSlot(), slot=1),
            bench.frame(bench.welcome(), slot=None),
            bench.frame(Refuse("no"), slot=None),
            bench.frame(Stop(30.0), slot=None),
        )
    ]


def worker_state(bench: WorkerBench) -> object:
    return [
        (
            slot.state,
            slot.incarnation,
            slot.current.token if slot.current else None,
            [one.token for one in slot.waiting],
            list(slot.unanswered),
        )
        for slot in bench.machine._slots
    ]


def test_frames_damaged_after_sealing_are_all_refused_and_counted_by_a_worker() -> None:
    draw = random.Random("after sealing, worker")
    bench = worker()
    frames, before = coordinator_frames(bench), worker_state(bench)
    for _ in range(FRAMES // 100):
        bench.step(
            *[
                FrameReceived(0, draw.choice(AFTER_SEALING)(draw, draw.choice(frames)))
                for _ in range(100)
            ]
        )
    assert worker_state(bench) == before
    assert sum(bench.machine.quarantined.values()) == FRAMES


def _sent(bench: WorkerBench, actions: list[WorkerAction]) -> object:
    return [action for action in actions if not isinstance(action, Note)]


@pytest.mark.guarantee("D4")
@pytest.mark.parametrize("batch", range(5))
def test_forged_frames_never_break_a_worker(batch: int) -> None:
    draw = random.Random(f"before sealing, worker {batch}")
    codec = Codec(worker().machine._setup.campaign, worker().machine._setup.epoch, 0, 4 << 20)
    left = FRAMES // 5
    while left > 0:
        judged, model = worker(), worker()
        for forged in forgeries(draw, lambda bench=judged: coordinator_frames(bench), left):  # type: ignore[misc]
            left -= 1
            opened = judged.codec.open(forged)
            before, count = worker_state(judged), sum(judged.machine.quarantined.values())
            actions = list(judged.step(FrameReceived(0, forged)))
            if isinstance(opened, Frame) and opened.header.rank == 0:
                header = opened.header
                again = codec.seal(
                    opened.message,
                    slot=header.slot,
                    incarnation=header.incarnation,
                    token=header.token,
                    repeat=header.repeat,
                )
                other = list(model.step(FrameReceived(0, again)))
                assert _sent(judged, actions) == _sent(model, other)
                assert worker_state(judged) == worker_state(model)
            else:
                model.step(*([FrameReceived(0, forged)] if isinstance(opened, BadBody) else []))
                assert sum(judged.machine.quarantined.values()) == count + 1
                assert worker_state(judged) == before
            if any(isinstance(action, Leave) for action in actions):
                break


def test_messages_that_only_workers_send_are_unexpected_at_a_worker() -> None:
    bench = worker()
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
