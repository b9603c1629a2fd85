"""From what participants wrote down to histories of objects.

Everything that concerns one state id becomes the history of its group, and everything that concerns
the sink the sink's. What an epoch does to all work (opening, takeovers, quiescence) is an event in
every group that lived then. Claims name only what they leased; one whose answer is lost may have
leased anything, and is an event of those groups whose fences say that somebody nobody heard of
has leased them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, assert_never

from symfleet.ledger.contract import LedgerReader
from symfleet.ledger.manifest import decode_manifest
from symfleet.ledger.plan import LOSS_CAUSES
from symfleet.testing.linearizability import model, records
from symfleet.testing.linearizability.records import Asked, Call, Return, short
from symfleet.testing.linearizability.search import UNTOLD, Event, Meaning
from symfleet.types import WorkState

_ROWS_MAX: Final = 10**9


@dataclass(frozen=True, slots=True)
class Seen:
    """What stands in the ledger at the end: work -> (status, fence, decision), and the number under
    which each opened epoch is written down."""

    rows: dict[str, tuple[str, int, int]]
    owners: dict[int, int]


def seen_at_the_end(reader: LedgerReader) -> Seen:
    """Read it."""
    rows: dict[str, tuple[str, int, int]] = {}
    for decision in reader.decisions():
        manifest = decode_manifest(decision.manifest)
        rows[short(decision.work_id)] = ("done", manifest.fence, decision.number)
    for state in WorkState:
        if state is not WorkState.DONE:
            for row in reader.work_rows(state, _ROWS_MAX):
                rows[short(row.work_id)] = (str(state), row.deliveries, 0)
    return Seen(rows, {row.pid: row.epoch for row in reader.epochs()})


@dataclass(frozen=True, slots=True)
class Step:
    """One operation, with its answer when there is one."""

    called: int
    answered: int | None
    asked: Asked
    answer: Any
    by: str


@dataclass(frozen=True, slots=True)
class TurnSeen:
    """The counters that came with the answers of a turn."""

    called: int
    answered: int
    changes: int
    artefacts: int
    by: str


@dataclass(slots=True)
class Records:
    """Everything that all participants wrote down."""

    steps: list[Step] = field(default_factory=list)
    turns: list[TurnSeen] = field(default_factory=list)


def gather(notes: Path) -> Records:
    """Read the notebooks of a folder."""
    found = Records()
    for path in sorted(notes.iterdir()):
        if path.suffix != ".error":
            _read_notebook(path, found)
    return found


def _read_notebook(path: Path, found: Records) -> None:
    pending: Call | None = None
    for record in records.read_records(path):
        if isinstance(record, Call):
            if pending is not None:
                _lost(path.name, pending, found)
            pending = record
            continue
        assert pending is not None
        assert pending.turn == record.turn, path
        _answered(path.name, pending, record, found)
        pending = None
    if pending is not None:
        _lost(path.name, pending, found)


def _answered(name: str, call: Call, told: Return, found: Records) -> None:
    by = f"{name} turn {call.turn}"
    for asked, answer in zip(call.asked, told.answers, strict=True):
        found.steps.append(Step(call.at, told.at, asked, answer, by))
    if told.changes:
        found.turns.append(TurnSeen(call.at, told.at, told.changes, told.artefacts, by))


def _lost(name: str, call: Call, found: Records) -> None:
    by = f"{name} turn {call.turn}"
    found.steps += [Step(call.at, None, asked, UNTOLD, by) for asked in call.asked]


@dataclass(slots=True)
class History:
    """One object: its events, what it is, and how people call it."""

    name: str
    events: list[Event]
    meaning: Meaning[Any]


@dataclass(slots=True)
class _Group:
    works: dict[str, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    fences: set[tuple[int, int]] = field(default_factory=set)
    """Work and fence of each lease that somebody was told of."""


class Objects:
    """Sorts steps into objects."""

    def __init__(self, steps: Sequence[Step], seen: Seen) -> None:
        self._seen = seen
        self._groups: dict[str, _Group] = defaultdict(_Group)
        self._state_of: dict[str, str] = {}
        self._epochs: list[Event] = []
        self._lost_claims: list[tuple[Step, records.Claims]] = []
        self._sink: list[Event] = []
        self._end = 1 + max(step.answered or step.called for step in steps)
        self._openings = [step.called for step in steps if isinstance(step.asked, records.Opens)]
        self._learn_states(steps)
        for step in sorted(steps, key=lambda step: step.called):
            self._sort(step)
        self._epochs.sort(key=lambda event: event.called)

    def histories(self) -> Iterator[History]:
        """Yield all objects."""
        for state, group in self._groups.items():
            yield self._history(state, group)
        yield History(
            "the sink", self._sink, Meaning(model.Sink(), model.step_sink, model.only_looks)
        )

    # ---- sorting --------------------------------------------------------------------------------

    def _learn_states(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step.asked:
                case records.Admits(pairs) | records.Decides(children=pairs):
                    self._state_of.update(pairs)
                case _:
                    pass

    def _of(self, work: str) -> tuple[_Group, int]:
        group = self._groups[self._state_of.get(work, work)]
        return group, group.works.setdefault(work, len(group.works))

    def _add(self, step: Step, work: str, action: Any, answer: Any) -> None:
        group, _ = self._of(work)
        group.events.append(Event(step.called, step.answered, action, answer, step.by))

    def _sort(self, step: Step) -> None:  # noqa: C901, PLR0912 - one case for each operation
        match step.asked:
            case records.Admits():
                self._admission(step, step.asked)
            case records.Claims():
                self._claim(step, step.asked)
            case records.Decides():
                self._decision(step, step.asked)
            case records.Releases(work, epoch, fence, cause, ran):
                lost = ran and cause in LOSS_CAUSES
                action = model.GiveBack(self._of(work)[1], epoch, fence, lost)
                self._add(step, work, action, _tuple(step.answer))
            case records.Defers(work, epoch, fence):
                put_off = model.PutOff(self._of(work)[1], epoch, fence)
                self._add(step, work, put_off, _tuple(step.answer))
            case records.Blames(work, epoch, fence, executor):
                accuse = model.Accuse(self._of(work)[1], epoch, fence, executor)
                self._add(step, work, accuse, _tuple(step.answer))
            case records.Marks(_, incarnation, start, upto):
                self._on_sink(step, model.Move(incarnation, start, upto), step.answer)
            case records.Registers():
                self._on_sink(step, model.Register(), _tuple(step.answer))
            case records.Opens(owner):
                self._opening(step, owner)
            case records.TakesOver(coordinator):
                self._on_all(step, model.GiveUp(coordinator), UNTOLD)
            case records.Quiesces():
                if step.answer is not False:
                    self._on_all(step, model.Rest(), step.answer)
            case records.Other():
                pass
            case _:
                assert_never(step.asked)

    def _admission(self, step: Step, admits: records.Admits) -> None:
        for at, (work, _) in enumerate(admits.works):
            refused = step.answer == records.REFUSED
            told = model.REFUSED if refused else step.answer and step.answer[at]
            self._add(step, work, model.Appear(self._of(work)[1]), told)

    def _claim(self, step: Step, claim: records.Claims) -> None:
        if step.answered is None:
            self._lost_claims.append((step, claim))
            return
        if step.answer == records.REFUSED:
            return
        for work, *told in step.answer:
            group, at = self._of(work)
            group.fences.add((at, told[1]))
            action = model.Lease(at, claim.coordinator, claim.suspects_only, claim.with_deferred)
            self._add(step, work, action, tuple(told))

    def _decision(self, step: Step, decides: records.Decides) -> None:
        """A decision is for ever, so that whether one happened whose answer is lost stands in the
        ledger."""
        row = self._seen.rows.get(decides.work)
        if step.answered is None and (row is None or row[:2] != ("done", decides.fence)):
            return
        told = None if step.answer is None else (step.answer[0], step.answer[1])
        action = model.Conclude(self._of(decides.work)[1], decides.epoch, decides.fence)
        self._add(step, decides.work, action, told)
        if told is None or told[0] == "completed":
            for work, _ in decides.children:
                self._add(step, work, model.Appear(self._of(work)[1]), UNTOLD)

    def _on_sink(self, step: Step, action: Any, answer: Any) -> None:
        self._sink.append(Event(step.called, step.answered, action, answer, step.by))

    def _on_all(self, step: Step, action: Any, answer: Any) -> None:
        self._epochs.append(Event(step.called, step.answered, action, answer, step.by))

    def _opening(self, step: Step, owner: int) -> None:
        """Whether an epoch was opened whose opening was not answered stands in the ledger. If so,
        it was before the next owner began to open one: owners exclude each other."""
        answer, answered = step.answer, step.answered
        if answered is None:
            answer = self._seen.owners.get(owner)
            later = [one for one in self._openings if one > step.called]
            answered = min(later, default=self._end)
        if answer is None:
            return
        self._epochs.append(Event(step.called, answered, model.Begin(), answer, step.by))
        self._sink.append(Event(step.called, answered, model.Unregister(), UNTOLD, step.by))

    # ---- one group ------------------------------------------------------------------------------

    def _history(self, state: str, group: _Group) -> History:
        events = group.events
        for work, at in group.works.items():
            row = self._seen.rows.get(work, ("absent", 0, 0))
            events.append(Event(self._end, self._end, model.Look(at), row, "the end"))
        events += self._claims_nobody_heard_of(group, events[0].called)
        initial, of_all = self._epochs_of(events[0].called)
        works = (model.Work(),) * len(group.works)
        meaning = Meaning(initial._replace(works=works), model.step, model.only_looks)
        return History(f"work of state {state}", [*events, *of_all], meaning)

    def _claims_nobody_heard_of(self, group: _Group, born: int) -> Iterator[Event]:
        for work, at in group.works.items():
            last = self._seen.rows.get(work, ("", 0, 0))[1]
            fences = frozenset(range(1, last + 1)) - {
                fence for leased, fence in group.fences if leased == at
            }
            if not fences:
                continue
            epoch = self._epoch_at(born)
            for step, claim in self._lost_claims:
                if self._epoch_at(step.called) >= epoch:
                    asked = (claim.coordinator, claim.suspects_only, claim.with_deferred)
                    action = model.Lease(at, *asked, fences)
                    yield Event(step.called, None, action, UNTOLD, step.by)

    def _epoch_at(self, when: int) -> int:
        """Return how many openings were called before a time."""
        return sum(opening <= when for opening in self._openings)

    def _epochs_of(self, born: int) -> tuple[model.Group, list[Event]]:
        """Return what had happened to all work before a group had its first event, and what may
        happen to it. What was lost before an epoch began is over with it."""
        state = model.Group(())
        rest: list[Event] = []
        for event in self._epochs:
            if event.answered is None or event.answered >= born:
                rest.append(event)
                continue
            after = model.step(state, event.action, event.answer)
            if after is None:
                return state, [*rest, event]
            state = after
            if isinstance(event.action, model.Begin):
                rest = [one for one in rest if one.called > event.called]
        return state, rest


def _tuple(answer: object) -> object:
    return tuple(answer) if isinstance(answer, list) else answer
