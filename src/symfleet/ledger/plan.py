"""What an operation will do, worked out before anything is changed.

Both stores ask the same questions here: do the bytes have the name that they claim, which children
of a decision are kept, what does the decision count. Nothing in this module changes state, so that
an operation that is refused has changed nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final, Literal

from pyroaring import BitMap

from symfleet.errors import DataError, IntegrityError
from symfleet.ledger.edges import Knowledge, unpack_edges
from symfleet.ledger.manifest import Manifest, distinct_children, manifest_of
from symfleet.protocol.operations import Child, Decide, MarkPublished, Release, ReleaseCause
from symfleet.protocol.work import WorkItem, decode_item, state_id_of, work_id_of_payload
from symfleet.types import (
    CampaignId,
    Epoch,
    Incarnation,
    InputId,
    Keep,
    Outcome,
    SinkKind,
    StateId,
    WorkId,
)

BLAMES_TO_POISON: Final = 3
LOSSES_TO_SUSPECT: Final = 3
LOSSES_TO_POISON: Final = 5
DEFERRALS_TO_POISON: Final = 2

LOSS_CAUSES: Final[frozenset[ReleaseCause]] = frozenset(
    {"lost", "silence", "reborn", "stalled", "killed"}
)
"""Causes that count as an unblamed loss when the item was running. A drain, a send that failed and
a bad result say nothing about the item."""

# The frontier is ordered by (place, row number). Inputs from outside come first, in order of
# arrival: until they ran nobody knows what they cover, and everything they cover is not novel any
# more. Then children that brought new edges, newest decision first. Then the rest in order of
# arrival. A row given back "at head" comes before all of them, latest first.
_NOVEL_PLACE: Final = 2**57
_REST_PLACE: Final = 2**58
_HEAD_PLACE: Final = -(2**60)


def outside_place(row: int) -> int:
    """Return the frontier place of an input from outside."""
    return row


PENDING_COUNTED_MAX: Final = 10_000
"""So many rows a snapshot counts that are before the later turns: its cost has a bound."""
LATER_TURNS: Final = _REST_PLACE
"""With keep=novel what has this place or a later one is a later turn of an input."""


def novel_place(decision: int) -> int:
    """Return the frontier place of a child that brought new edges."""
    return _NOVEL_PLACE - decision


def rest_place(row: int) -> int:
    """Return the frontier place of any other row."""
    return _REST_PLACE + row


def coordinator_name(coordinator: int) -> str:
    """Return how people are told about a coordinator that is lost."""
    return f"coordinator {coordinator}"


def head_place(changes: int) -> int:
    """Return a place before all rows that have one now."""
    return _HEAD_PLACE - changes


def artefact_kind(outcome: Outcome) -> SinkKind | None:
    """Return the kind of artefact that an outcome makes of an input, beside the corpus."""
    if outcome is Outcome.CRASH:
        return SinkKind.CRASHES
    if outcome in (Outcome.HANG, Outcome.CPU):
        return SinkKind.HANGS
    return None


def check_name(input_id: InputId, data: bytes) -> None:
    """A1: refuse bytes that do not have the digest which they are named by."""
    found = hashlib.sha256(data).hexdigest()
    if found != input_id:
        raise DataError(
            "an input does not have the name that it claims",
            where=input_id,
            why=f"its bytes have the digest {found}",
            hint="the bytes changed on their way; send them again",
        )


def check_item(
    payload: bytes, work_id: WorkId, state_id: StateId, input_id: InputId | None
) -> WorkItem:
    """A4: refuse a payload that does not have the ids which it is stored under."""
    item = decode_item(payload)
    if input_id is not None and item.input != input_id:
        raise _redirected(work_id, f"it names the input {item.input}, not {input_id}")
    found = work_id_of_payload(payload)
    if found != work_id:
        raise _redirected(work_id, f"its payload has the work id {found}")
    state = found if item.strategy is None else state_id_of(item)
    if state != state_id:
        raise _redirected(work_id, f"its payload has the state id {state}, not {state_id}")
    return item


def _redirected(work_id: WorkId, why: str) -> DataError:
    return DataError(
        "a work item does not have the identity that it claims",
        where=f"work {work_id}",
        why=why,
        hint="nothing was changed; run `symfleet verify` on the campaign",
    )


def damaged(error: DataError, row: str) -> IntegrityError:
    """Turn a refusal of *stored* data into the damage that it is (C9), naming the row."""
    return IntegrityError(
        "the ledger is damaged",
        where=row,
        why=f"{error.what} ({error.where}): {error.why}",
        hint="nothing was changed; run `symfleet verify`, then restore a backup of the ledger",
    )


@dataclass(frozen=True, slots=True)
class DecisionPlan:
    """A decision, worked out. `children` are distinct, in manifest order, as `kept` and `novel`."""

    manifest: Manifest
    encoded: bytes
    children: tuple[Child, ...]
    kept: tuple[bool, ...]
    novel: tuple[bool, ...]
    new_edges: BitMap | None
    keeps_all: bool

    @property
    def kept_ids(self) -> tuple[InputId, ...]:
        """Return the kept children."""
        return tuple(
            [child.input_id for child, kept in zip(self.children, self.kept, strict=True) if kept]
        )


def plan_decision(
    decide: Decide, incarnation: Incarnation, knowledge: Knowledge, *, known_before: bool = False
) -> DecisionPlan:
    """Work out manifest, kept children and new edges; raise DataError for an invalid result.

    The item's own edges count first, then each child's in manifest order (`known_before` leaves
    them out: for a decision that was made already only the manifest matters).
    """
    if not decide.outcome.is_verdict:
        raise _invalid(decide, f"{decide.outcome} is not a verdict")
    keeps_all = decide.keep is Keep.ALL
    children = distinct_children(decide.children)
    if decide.generated < len(children):
        raise _invalid(
            decide, f"{len(children)} children are more than {decide.generated} generated"
        )
    manifest, encoded = manifest_of(decide, children, incarnation)
    if known_before:
        return DecisionPlan(manifest, encoded, children, (), (), None, keeps_all)
    novel, new = _novelty(decide, children, knowledge)
    kept = (True,) * len(children) if keeps_all else novel
    _check_children(decide, children, kept)
    if decide.follow_up is not None and not keeps_all:
        rest = decide.follow_up
        item = check_item(rest.payload, rest.work_id, rest.state_id, decide.input_id)
        if item.bound is None:
            raise _invalid(decide, "the rest of a truncated execution has no bound")
    return DecisionPlan(manifest, encoded, children, kept, novel, new or None, keeps_all)


def _novelty(
    decide: Decide, children: tuple[Child, ...], knowledge: Knowledge
) -> tuple[tuple[bool, ...], BitMap]:
    """Return which children bring new edges, and all edges that are new."""
    new = knowledge.new_in(unpack_edges(decide.edges)) if decide.edges else BitMap()
    novel: list[bool] = []
    for child in children:
        if not child.edges:
            novel.append(False)
            continue
        edges = knowledge.new_in(unpack_edges(child.edges)) - new
        novel.append(bool(edges))
        new |= edges
    return tuple(novel), new


def _check_children(decide: Decide, children: tuple[Child, ...], kept: tuple[bool, ...]) -> None:
    """Check bytes and ids of all children that become rows."""
    keeps_all = decide.keep is Keep.ALL
    for child, is_kept in zip(children, kept, strict=True):
        if child.data is not None and (is_kept or artefact_kind(child.outcome) is not None):
            check_name(child.input_id, child.data)
        if is_kept:
            item = check_item(child.payload, child.work_id, child.state_id, child.input_id)
            if keeps_all and item != WorkItem(item.generation, item.input):
                raise _invalid(decide, "keeping all, a child's work is its input alone")


def _invalid(decide: Decide, why: str) -> DataError:
    return DataError(
        "a result cannot be decided",
        where=f"work {decide.work_id}",
        why=why,
        hint="the result is invalid; the item stays as it is",
    )


def missing_bytes(input_id: InputId) -> DataError:
    """A child is to be kept, but nobody has its bytes."""
    return DataError(
        "the bytes of a child are missing",
        where=input_id,
        why="neither the result nor an earlier part brought them",
        hint="the result is invalid; the item stays as it is",
    )


def second_manifest(decide: Decide, decision: int) -> IntegrityError:
    """C7: one token decided two different things."""
    return IntegrityError(
        "a work item was decided twice with different manifests",
        where=f"work {decide.work_id}, decision {decision}",
        why="the same fencing token came with another manifest than the one that is stored",
        hint="the stored decision stands; report this, it breaks a rule of symfleet",
    )


# ---- giving back --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AfterRelease:
    """What a release makes of a row's history. `detail` is empty when nothing new is to be told."""

    losses: int
    suspect: bool
    poisoned: bool
    detail: str


def after_release(losses: int, release: Release, *, suspect: bool) -> AfterRelease:
    """Count an unblamed loss of a running item: three in a row make a suspect, five poison."""
    if not release.ran or release.cause not in LOSS_CAUSES:
        return AfterRelease(losses, suspect, poisoned=False, detail="")
    losses += 1
    poisoned = losses >= LOSSES_TO_POISON
    suspect = losses >= LOSSES_TO_SUSPECT and not poisoned
    detail = ""
    if suspect or poisoned:
        detail = f"lost {losses} times in a row while it ran, last: {release.cause}"
    return AfterRelease(losses, suspect, poisoned, detail)


# ---- sources, sinks, end ------------------------------------------------------------------------


def sink_incarnation(
    campaign: CampaignId, epoch: Epoch, sink: int, registrations: int
) -> Incarnation:
    """Return a sink incarnation that no other registration of the campaign has."""
    text = f"symfleet sink:{campaign}:{epoch}:{sink}:{registrations}".encode()
    return Incarnation(int.from_bytes(hashlib.sha256(text).digest()[:8], "big") or 1)


def unknown(what: str, number: int) -> DataError:
    """An operation names a row that nobody registered."""
    return DataError(
        f"unknown {what}",
        where=f"{what} {number}",
        why="it was not registered in this campaign",
        hint="register it after the epoch was opened",
    )


def check_mark(mark: MarkPublished, last_artefact: int) -> None:
    """Refuse a mark that goes back or past what exists (C10)."""
    if not 0 <= mark.published_from <= mark.published_upto <= last_artefact:
        raise DataError(
            "a sink's mark cannot be moved so",
            where=f"sink {mark.sink}",
            why=f"from {mark.published_from} to {mark.published_upto} of {last_artefact}",
            hint="a publisher moves its mark forward over artefacts that exist",
        )


def mark_disposition(
    mark: MarkPublished, incarnation: Incarnation, published_upto: int
) -> Literal["completed", "already", "stale"]:
    """Judge a compare-and-set of a sink's mark."""
    if mark.incarnation != incarnation:
        return "stale"
    if published_upto >= mark.published_upto:
        return "already"
    return "completed" if published_upto == mark.published_from else "stale"


def why_not_quiescent(
    *,
    pending: int,
    leased: int,
    deferred: int,
    unpublished: int,
    open_sources: int,
    changes: int,
    voted: int,
) -> str:
    """Return the first thing that forbids COMMIT, or nothing (C10, Q2)."""
    if pending or leased or deferred:
        return f"open work: {pending} pending, {leased} leased, {deferred} deferred"
    if open_sources:
        return f"{open_sources} sources are open"
    if unpublished:
        return f"{unpublished} artefacts are not published"
    if changes != voted:
        return f"the frontier changed since the vote ({voted} then, {changes} now)"
    return ""


def after_quiescence(epoch: Epoch) -> DataError:
    """Q3: new work belongs to the next epoch."""
    return DataError(
        "the epoch is quiescent",
        where=f"epoch {epoch}",
        why="work cannot appear after the vote was committed",
        hint="leave it unmarked: it is the first work of the next epoch",
    )


def coordinator_left(epoch: Epoch, coordinator: int) -> DataError:
    """L2: a coordinator whose leases were taken over, or that has closed, leases nothing more."""
    return DataError(
        "this coordinator has left the epoch",
        where=f"{coordinator_name(coordinator)}, epoch {epoch}",
        why="it was given up and its leases were taken over, or it has closed",
        hint="end this process; the others go on",
    )


def closed_before(epoch: Epoch, reason: str) -> DataError:
    """The verdict of an epoch is written once."""
    return DataError(
        "the epoch is closed already",
        where=f"epoch {epoch}",
        why=f"its verdict is {reason!r}",
        hint="open a new epoch",
    )
