"""The checker of histories: it explains what can be explained, and names what cannot."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symfleet.ledger.contract import CampaignRow
from symfleet.ledger.memory import MemoryLedger
from symfleet.protocol.operations import Operation, TakeOver
from symfleet.testing.fake_clock import FakeClock
from symfleet.testing.ledgers import campaign_row, epoch_request
from symfleet.testing.linearizability import model, records
from symfleet.testing.linearizability.check import judge
from symfleet.testing.linearizability.history import (
    Records,
    Seen,
    Step,
    TurnSeen,
    seen_at_the_end,
)
from symfleet.testing.linearizability.records import asked_of, told_of
from symfleet.testing.linearizability.search import (
    Event,
    Meaning,
    UndecidedError,
    contradiction,
    explained,
)
from symfleet.testing.linearizability.workload import Board, Workload
from symfleet.types import Keep, SinkKind

# ---- the search, on a register ------------------------------------------------------------------


def register(state: int, action: tuple[str, int], answer: int | None) -> int | None:
    """Write a value, or read it."""
    name, value = action
    if name == "write":
        return value
    return state if answer in {None, state} else None


def reads(action: tuple[str, int], answer: int | None) -> bool:
    return action[0] == "read"


REGISTER = Meaning(0, register, reads)


def write(called: int, answered: int | None, value: int) -> Event:
    return Event(called, answered, ("write", value), None, f"w{value}")


def read(called: int, answered: int | None, value: int) -> Event:
    return Event(called, answered, ("read", 0), value, f"r{value}")


@pytest.mark.parametrize(
    ("events", "possible"),
    [
        ([write(0, 1, 7), read(2, 3, 7)], True),
        ([write(0, 1, 7), read(2, 3, 0)], False),
        ([write(0, 5, 7), read(1, 2, 7), read(3, 4, 7)], True),
        ([write(0, 5, 7), read(1, 2, 7), read(3, 4, 0)], False),
        ([write(0, 9, 7), write(0, 9, 8), read(1, 2, 8), read(3, 4, 7)], True),
        ([write(0, 9, 7), write(0, 9, 8), read(1, 2, 8), read(3, 4, 7), read(5, 6, 8)], False),
        # An answer that was lost: it happened late, or never.
        ([write(0, None, 7), read(1, 2, 0), read(3, 4, 7)], True),
        ([write(0, None, 7), read(1, 2, 0), read(3, 4, 0)], True),
        ([write(0, None, 7), read(1, 2, 7), read(3, 4, 0)], False),
        ([write(3, None, 7), read(1, 2, 7)], False),
        ([], True),
    ],
)
def test_a_register_is_explained_or_not(events: list[Event], possible: bool) -> None:
    assert explained(events, REGISTER) is possible
    assert (contradiction(events, REGISTER) == []) is possible


@pytest.mark.parametrize("last", [7, 999])
def test_answers_that_change_nothing_do_not_multiply_what_is_looked_at(last: int) -> None:
    together = [read(0, 100, 0) for _ in range(30)] + [write(50, 150, 7)]
    assert explained([*together, read(200, 201, last)], REGISTER, 1_000) == (last == 7)


def test_a_search_that_gives_up_names_what_would_come_next() -> None:
    writes = [write(0, 100, value) for value in range(1, 30)]
    with pytest.raises(UndecidedError) as caught:
        explained([*writes, read(200, 201, 999)], REGISTER, 1_000)
    assert caught.value.next_ones


def test_a_contradiction_holds_no_answer_that_it_does_not_need() -> None:
    noise = [write(10 * n, 10 * n + 1, n) for n in range(1, 8)]
    noise += [read(10 * n + 2, 10 * n + 3, n) for n in range(1, 8)]
    wrong = read(85, 86, 3)
    later = [write(300, 301, 5), read(302, 303, 4)]
    found = contradiction([*noise, wrong, *later], REGISTER)
    assert [one.by for one in found] == ["w3", "w4", "r3"]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(1, 9)), max_size=12))
def test_what_happened_in_one_order_is_explained(steps: list[tuple[bool, int, int]]) -> None:
    """Intervals are drawn around the instants at which operations took effect."""
    events, state = [], 0
    for at, (writes, value, slack) in enumerate(steps):
        called, answered = 10 * at - slack, 10 * at + slack
        if writes:
            state = value
            events.append(write(called, answered, value))
        else:
            events.append(read(called, answered, state))
    assert explained(events, REGISTER)


# ---- the meaning of work ------------------------------------------------------------------------

WORK = Meaning(model.Group((model.Work(),)), model.step, model.only_looks)
LEASED = [
    Event(0, 1, model.Begin(), 1, "root"),
    Event(2, 3, model.Appear(0), True, "root"),
    Event(
        4, 5, model.Lease(0, 1, suspects_only=False, with_deferred=False), (1, 1, 1, 0, False), "a"
    ),
]


@pytest.mark.parametrize(
    "lost_before",
    [model.PutOff(0, 1, 1), model.GiveBack(0, 1, 1, lost=True), model.Accuse(0, 1, 1, 1)],
)
def test_a_lost_decision_is_not_taken_for_another_lost_answer(lost_before: model.Action) -> None:
    """All name the lease by the same numbers, and only the decision explains what is told later."""
    events = [
        *LEASED,
        Event(6, None, lost_before, None, "b"),
        Event(7, None, model.Conclude(0, 1, 1), None, "c"),
        Event(20, 21, model.Conclude(0, 1, 1), ("already", 1), "d"),
    ]
    assert explained(events, WORK)


def test_a_lost_blame_is_not_taken_for_a_lost_return() -> None:
    events = [
        *LEASED,
        Event(6, None, model.GiveBack(0, 1, 1, lost=True), None, "b"),
        Event(7, None, model.Accuse(0, 1, 1, 1), None, "c"),
        Event(
            20,
            21,
            model.Lease(0, 2, suspects_only=False, with_deferred=False),
            (1, 2, 2, 1, False),
            "d",
        ),
    ]
    assert explained(events, WORK)


# ---- histories of a ledger ----------------------------------------------------------------------


def recorded(seed: int, turns: int = 150) -> tuple[Records, Seen]:
    """Return what three participants would have written down, whose turns overlap, and what stands
    in the ledger at the end."""
    row: CampaignRow = campaign_row(Keep.ALL)
    ledger = MemoryLedger(row, FakeClock())
    dice, board, found = random.Random(seed), Board(), Records()
    loads = {n: Workload(n, dice, board, 10) for n in range(4)}
    now = 0
    for turn in range(turns):
        if turn % 50 == 0:
            owner = turn + 1
            opened = ledger.open_epoch(replace(epoch_request(owner), pid=owner))
            assert ledger.register_source("seeds", "/s", "here") == 1
            found.steps.append(Step(now, now + 1, records.Opens(owner), opened.epoch, "root"))
            sink = ledger.register_sink(SinkKind.CORPUS, "/c", "here")
            told = (sink.incarnation, sink.published_upto)
            found.steps.append(Step(now + 2, now + 3, records.Registers(), told, "root"))
            for load in loads.values():
                load.sink = (sink.sink, sink.incarnation)
            now += 10
        number = dice.randrange(4)
        load = loads[number]
        operations: list[Operation] = load.next()
        if number == 0 and dice.random() < 0.1:
            operations.append(TakeOver(dice.randint(1, 3)))
        answers = ledger.run(operations)
        load.take(operations, answers)
        now += 10
        called, answered = now - dice.randrange(15), now + dice.randrange(15)
        by = f"participant {number} turn {turn}"
        for operation, answer in zip(operations, answers.answers, strict=True):
            found.steps.append(Step(called, answered, asked_of(operation), told_of(answer), by))
        found.turns.append(TurnSeen(called, answered, answers.changes, answers.last_artefact, by))
    return found, seen_at_the_end(ledger)


@pytest.fixture(scope="module")
def history() -> tuple[Records, Seen]:
    found, seen = recorded(1)
    assert judge(found, seen).violations == []
    return found, seen


@pytest.mark.parametrize("seed", range(2, 8))
def test_what_a_ledger_answered_is_explained_also_when_answers_are_lost(seed: int) -> None:
    found, seen = recorded(seed, 80)
    assert judge(found, seen).violations == []
    dice = random.Random(seed)
    turns = {step.by for step in found.steps if dice.random() < 0.1 and step.by != "root"}
    found.steps = [
        replace(step, answered=None, answer=None) if step.by in turns else step
        for step in found.steps
    ]
    found.turns = [turn for turn in found.turns if turn.by not in turns]
    assert judge(found, seen).violations == []


def change(
    found: Records, which: Callable[[Step], bool], how: Callable[[Step], Step]
) -> tuple[Records, Step]:
    """Return the records with one step changed, the last such, and that step."""
    at = max(n for n, step in enumerate(found.steps) if which(step))
    steps = [*found.steps]
    steps[at] = how(steps[at])
    return Records(steps, found.turns), steps[at]


def told(kind: type, answer: object) -> Callable[[Step], bool]:
    return lambda step: isinstance(step.asked, kind) and step.answer == answer


def decided(disposition: str) -> Callable[[Step], bool]:
    return lambda step: isinstance(step.asked, records.Decides) and step.answer[0] == disposition


PLANTS: dict[str, tuple[Callable[[Step], bool], Callable[[Step], Step]]] = {
    "a void token gives a lease back": (
        told(records.Releases, (False, False)),
        lambda step: replace(step, answer=(True, False)),
    ),
    "a holder is told that it holds nothing": (
        told(records.Releases, (True, False)),
        lambda step: replace(step, answer=(False, False)),
    ),
    "a void token is put off": (
        told(records.Defers, (False, False)),
        lambda step: replace(step, answer=(True, False)),
    ),
    "blame is forgotten": (
        lambda step: isinstance(step.asked, records.Blames) and step.answer == (True, 1, False),
        lambda step: replace(step, answer=(True, 2, False)),
    ),
    "a void token decides": (
        decided("stale"),
        lambda step: replace(step, answer=("completed", 10**6, b"")),
    ),
    "one decision is counted twice": (
        decided("already"),
        lambda step: replace(step, answer=("completed", step.answer[1], b"")),
    ),
    "a decision is refused to its holder": (
        decided("completed"),
        lambda step: replace(step, answer=("stale", 0, b"")),
    ),
    "known work is new again": (
        lambda step: isinstance(step.asked, records.Admits) and False in step.answer,
        lambda step: replace(step, answer=(True,) * len(step.answer)),
    ),
    "new work is said to be known": (
        lambda step: isinstance(step.asked, records.Admits) and True in step.answer,
        lambda step: replace(step, answer=(False,) * len(step.answer)),
    ),
    "a fence is passed over": (
        lambda step: isinstance(step.asked, records.Claims) and len(step.answer) == 1,
        lambda step: replace(
            step, answer=[(*step.answer[0][:2], step.answer[0][2] + 1, *step.answer[0][3:])]
        ),
    ),
    "a lease is of an older epoch": (
        lambda step: isinstance(step.asked, records.Claims) and len(step.answer) == 1,
        lambda step: replace(step, answer=[(step.answer[0][0], 1, *step.answer[0][2:])]),
    ),
    "a claim is given more than it asked for": (
        lambda step: isinstance(step.asked, records.Claims) and len(step.answer) > 1,
        lambda step: replace(step, asked=records.Claims(1, 1, False, False)),
    ),
    "quiescence passes open work": (
        lambda step: isinstance(step.asked, records.TakesOver),
        lambda step: replace(step, asked=records.Quiesces(), answer=True),
    ),
    "a mark moves twice": (
        told(records.Marks, "already"),
        lambda step: replace(step, answer="completed"),
    ),
    "an epoch is opened twice": (
        lambda step: isinstance(step.asked, records.Opens),
        lambda step: replace(step, answer=step.answer - 1),
    ),
    "an answer comes before its cause": (
        lambda step: isinstance(step.asked, records.Claims) and len(step.answer) > 1,
        lambda step: replace(step, called=11, answered=12),
    ),
}


@pytest.mark.parametrize("plant", sorted(PLANTS))
def test_a_planted_violation_is_named(history: tuple[Records, Seen], plant: str) -> None:
    found, seen = history
    spoilt, step = change(found, *PLANTS[plant])
    violations = judge(spoilt, seen).violations
    assert violations, plant
    assert any(step.by in violation or "the end" in violation for violation in violations)


def test_two_holders_are_named(history: tuple[Records, Seen]) -> None:
    found, seen = history
    claims = [
        step for step in found.steps if isinstance(step.asked, records.Claims) and step.answer
    ]
    first, second = claims[-3], claims[-1]
    at = found.steps.index(second)
    steps = [*found.steps]
    steps[at] = replace(second, answer=[*second.answer, first.answer[0]])
    violations = judge(Records(steps, found.turns), seen).violations
    assert any(first.by in one and second.by in one for one in violations)


def test_a_lost_decision_is_named(history: tuple[Records, Seen]) -> None:
    found, seen = history
    work = next(work for work, row in seen.rows.items() if row[0] == "done")
    rows = {**seen.rows, work: ("pending", *seen.rows[work][1:])}
    assert any("the end" in one for one in judge(found, replace(seen, rows=rows)).violations)


def test_decisions_that_do_not_keep_time_are_named(history: tuple[Records, Seen]) -> None:
    found, seen = history
    done = [step for step in found.steps if decided("completed")(step)]
    first, last = done[0], done[-1]
    swapped = {first.by: last.answer[1], last.by: first.answer[1]}
    steps = [
        replace(one, answer=(one.answer[0], swapped[one.by], one.answer[2]))
        if one is first or one is last
        else one
        for one in found.steps
    ]
    rows = dict(seen.rows)
    for step in (first, last):
        status, fence, _ = rows[step.asked.work]  # type: ignore[union-attr]
        rows[step.asked.work] = (status, fence, swapped[step.by])  # type: ignore[union-attr]
    violations = judge(Records(steps, found.turns), replace(seen, rows=rows)).violations
    assert any("was called after" in one and first.by in one for one in violations)


def test_counters_that_go_back_are_named(history: tuple[Records, Seen]) -> None:
    found, seen = history
    turns = [*found.turns]
    turns[-1] = replace(turns[-1], changes=1)
    violations = judge(Records(found.steps, turns), seen).violations
    assert any("changes went back" in one for one in violations)
