"""What a ledger promises of one piece of work and of one sink, one operation after the other.

Theory of operation. Work rows of one state exclude each other (L1), so the object is a *group*: all
work of one state id, with what matters of the epoch: its number, whether it is quiescent, who
was given up in it. What is written here is the contract of `protocol.operations`, and nothing of
any store: an answer is possible in a state, or it is not.

A decision makes work, too. On each child's group it is an `Appear` whose answer nobody is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, assert_never

from symfleet.ledger.plan import (
    BLAMES_TO_POISON,
    DEFERRALS_TO_POISON,
    LOSSES_TO_POISON,
    LOSSES_TO_SUSPECT,
)

Status = Literal["absent", "pending", "leased", "done", "deferred", "poisoned"]

REFUSED: Final = "refused"
"""The answer `Failed`."""

_OPEN: Final = frozenset({"pending", "leased", "deferred"})
_NOBODY: Final[frozenset[int]] = frozenset()


class Work(NamedTuple):
    """One work row. `epoch`, `fence` and `coordinator` are those of its newest lease."""

    status: Status = "absent"
    epoch: int = 0
    fence: int = 0
    coordinator: int = 0
    losses: int = 0
    suspect: bool = False
    deferrals: int = 0
    blamed: frozenset[int] = _NOBODY
    decision: int = 0


class Group(NamedTuple):
    """All work of one state id."""

    works: tuple[Work, ...]
    epoch: int = 0
    quiescent: bool = False
    left: frozenset[int] = _NOBODY


# ---- what is asked ------------------------------------------------------------------------------
# No tuples: of those, two that ask for different things with the same numbers would be equal.


@dataclass(frozen=True, slots=True)
class Appear:
    """Be admitted, or be a child that is kept. Answer: whether it was new, or REFUSED."""

    work: int


@dataclass(frozen=True, slots=True)
class Lease:
    """Be claimed. Answer: (epoch, fence, deliveries, blames, suspect). `fences`: those that nobody
    was told of, when this answer is lost: it can only have made one of them."""

    work: int
    coordinator: int
    suspects_only: bool
    with_deferred: bool
    fences: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Release. `lost`: it counts as a loss. Answer: (changed, poisoned)."""

    work: int
    epoch: int
    fence: int
    lost: bool


@dataclass(frozen=True, slots=True)
class PutOff:
    """Defer. Answer: (changed, poisoned)."""

    work: int
    epoch: int
    fence: int


@dataclass(frozen=True, slots=True)
class Accuse:
    """Blame. Answer: (changed, blames, poisoned)."""

    work: int
    epoch: int
    fence: int
    executor: int


@dataclass(frozen=True, slots=True)
class Conclude:
    """Decide. Answer: (disposition, number of the decision)."""

    work: int
    epoch: int
    fence: int


@dataclass(frozen=True, slots=True)
class Begin:
    """Open an epoch: all leases are void, what was put off is pending. Answer: its number."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Take the leases of a coordinator. Answer: none."""

    coordinator: int


@dataclass(frozen=True, slots=True)
class Rest:
    """Commit quiescence. Only what was committed is asked of work. Answer: True."""


@dataclass(frozen=True, slots=True)
class Look:
    """Read the row in the end. Answer: (status, fence, decision)."""

    work: int


Action = Appear | Lease | GiveBack | PutOff | Accuse | Conclude | Begin | GiveUp | Rest | Look


def only_looks(action: object, answer: object) -> bool:
    """Return whether an action that is answered so can have changed nothing."""
    match action:
        case Look():
            return True
        case Appear():
            return answer in {False, REFUSED}
        case GiveBack() | PutOff() | Accuse() | Conclude():
            return isinstance(answer, tuple) and answer[0] in {False, "stale"}
        case Move():
            return answer in {"stale", "already"}
        case _:
            return False


def step(  # noqa: PLR0911 - one case for each action
    state: Group, action: Action, answer: object
) -> Group | None:
    """Return the group after an action that was answered so, None when that cannot be."""
    match action:
        case Begin():
            return _begin(state, answer)
        case GiveUp(coordinator):
            return _give_up(state, coordinator)
        case Rest():
            if any(work.status in _OPEN for work in state.works):
                return None
            return state._replace(quiescent=True)
        case Look(at):
            return state if _is_seen(state.works[at], answer) else None
        case Appear(at):
            return _appear(state, at, answer)
        case Lease():
            return _lease(state, action, answer)
        case GiveBack() | PutOff() | Accuse() | Conclude():
            after, told = _by_the_holder(state, action)
            if answer is not None and answer != told and not _is_numbered(action, answer, told):
                return None
            if isinstance(action, Conclude) and isinstance(answer, tuple) and answer[1]:
                after = (after or state.works[action.work])._replace(decision=answer[1])
            return state if after is None else _with(state, action.work, after)
        case _:
            assert_never(action)


def _is_seen(work: Work, seen: object) -> bool:
    """Whether the row may be read so: a decision whose answer is lost has any number."""
    if seen is None:
        return True
    assert isinstance(seen, tuple)
    numbered = seen[2] if work.status == "done" and not work.decision else work.decision
    return seen == (work.status, work.fence, numbered)


def _with(state: Group, at: int, work: Work) -> Group:
    works = state.works
    return state._replace(works=(*works[:at], work, *works[at + 1 :]))


def _begin(state: Group, answer: object) -> Group | None:
    epoch = state.epoch + 1
    if answer is not None and answer != epoch:
        return None
    works = tuple(
        work._replace(status="pending") if work.status in {"leased", "deferred"} else work
        for work in state.works
    )
    return Group(works, epoch)


def _give_up(state: Group, coordinator: int) -> Group:
    works = tuple(
        work._replace(status="pending")
        if work.status == "leased" and work.coordinator == coordinator
        else work
        for work in state.works
    )
    return state._replace(works=works, left=state.left | {coordinator})


def _appear(state: Group, at: int, answer: object) -> Group | None:
    if answer == REFUSED:
        return state if state.quiescent else None
    is_new = state.works[at].status == "absent"
    if answer not in {None, is_new}:
        return None
    if not is_new:
        # Known work is left as it is, also when nothing new is let in any more.
        return None if state.quiescent and answer is not None else state
    return None if state.quiescent else _with(state, at, Work("pending"))


def _lease(state: Group, action: Lease, answer: object) -> Group | None:
    work = state.works[action.work]
    takes = work.status == "pending" or (work.status == "deferred" and action.with_deferred)
    if not takes or work.suspect != action.suspects_only or action.coordinator in state.left:
        return None
    if any(other.status == "leased" for other in state.works):
        return None
    fence = work.fence + 1
    if action.fences is not None and fence not in action.fences:
        return None
    told = (state.epoch, fence, fence, len(work.blamed), work.suspect)
    if answer is not None and answer != told:
        return None
    leased = work._replace(
        status="leased", epoch=state.epoch, fence=fence, coordinator=action.coordinator
    )
    return _with(state, action.work, leased)


def _by_the_holder(
    state: Group, action: GiveBack | PutOff | Accuse | Conclude
) -> tuple[Work | None, object]:
    """Return the row that a holder's action makes, None when it changes nothing, and the answer."""
    work = state.works[action.work]
    holds = (work.epoch, work.fence) == (action.epoch, action.fence)
    is_holder = holds and work.status == "leased" and work.epoch == state.epoch
    match action:
        case Conclude():
            if is_holder:
                return work._replace(status="done", suspect=False), ("completed", 0)
            told = ("already", work.decision) if holds and work.status == "done" else ("stale", 0)
            return None, told
        case GiveBack():
            return _given_back(work, lost=action.lost) if is_holder else (None, (False, False))
        case PutOff():
            return _put_off(work) if is_holder else (None, (False, False))
        case Accuse():
            if not is_holder:
                return None, (False, 0, False)
            return _accused(work, action.executor)
        case _:
            assert_never(action)


def _is_numbered(action: Action, answer: object, told: object) -> bool:
    """Whether an answer differs only in a decision's number that the ledger has chosen, or that was
    chosen by a decision whose answer is lost."""
    if not isinstance(action, Conclude) or not isinstance(answer, tuple):
        return False
    assert isinstance(told, tuple)
    return answer[0] == told[0] and answer[0] != "stale" and not told[1]


def _given_back(work: Work, *, lost: bool) -> tuple[Work, object]:
    if not lost:
        return work._replace(status="pending"), (True, False)
    losses = work.losses + 1
    poisoned = losses >= LOSSES_TO_POISON
    after = work._replace(
        status="poisoned" if poisoned else "pending",
        losses=losses,
        suspect=losses >= LOSSES_TO_SUSPECT and not poisoned,
    )
    return after, (True, poisoned)


def _put_off(work: Work) -> tuple[Work, object]:
    deferrals = work.deferrals + 1
    poisoned = deferrals >= DEFERRALS_TO_POISON
    status: Status = "poisoned" if poisoned else "deferred"
    return work._replace(status=status, deferrals=deferrals), (True, poisoned)


def _accused(work: Work, executor: int) -> tuple[Work, object]:
    blamed = work.blamed | {executor}
    poisoned = len(blamed) >= BLAMES_TO_POISON
    status: Status = "poisoned" if poisoned else "pending"
    after = work._replace(status=status, blamed=blamed, losses=0)
    return after, (True, len(blamed), poisoned)


# ---- sinks --------------------------------------------------------------------------------------


class Sink(NamedTuple):
    """How far a sink has shown what there is. `incarnation` 0: nobody registered it in this
    epoch."""

    incarnation: int = 0
    upto: int = 0


@dataclass(frozen=True, slots=True)
class Register:
    """Register the sink. Answer: (incarnation, published up to)."""


@dataclass(frozen=True, slots=True)
class Unregister:
    """An epoch begins. Answer: none."""


@dataclass(frozen=True, slots=True)
class Move:
    """Move the mark by compare-and-set. Answer: the disposition."""

    incarnation: int
    start: int
    upto: int


_FORGOTTEN: Final = -1
"""An incarnation whose registration was answered to nobody: no one can name it."""


def step_sink(state: Sink, action: Register | Unregister | Move, answer: object) -> Sink | None:
    """Return the sink after an action that was answered so, None when that cannot be."""
    match action:
        case Unregister():
            return Sink(0, state.upto)
        case Register():
            if answer is None:
                return Sink(_FORGOTTEN, state.upto)
            assert isinstance(answer, tuple)
            return Sink(answer[0], state.upto) if answer[1] == state.upto else None
        case Move(incarnation, start, upto):
            told, after = "stale", state
            if state.incarnation and incarnation == state.incarnation:
                if state.upto >= upto:
                    told = "already"
                elif state.upto == start:
                    told, after = "completed", Sink(incarnation, upto)
            return after if answer in {None, told} else None
        case _:
            assert_never(action)
