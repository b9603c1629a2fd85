"""The coordinator's share of the frontier: what it has claimed, and how it gives that back.

Each leased row of this epoch stands in exactly one place: in the claim table (claimed, not yet
dispatched) or in one delivery. Rows are claimed in three stages: pending ones; when nothing else is
open, deferred ones (J8); when even those are done, suspects, deferred or not, one at a time. A
stage that came back short is not asked again until something changed.

The retry budget counts protocol failures of a work id in this epoch; beyond it an item is deferred.
A deferral that fails keeps the item here, in memory, and counts (J8).
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from symfleet.errors import IntegrityError
from symfleet.protocol.answers import Answer, Audited, Changed, Claimed, Failed, Lease, TurnAnswers
from symfleet.protocol.delivery import Undo
from symfleet.protocol.operations import AuditLeases, Claim, Defer, Release
from symfleet.protocol.outbox import Outbox
from symfleet.types import FencingToken, StateId, WorkId

CLAIM_MAX: Final = 1024
"""Most rows of one claim, and with it most rows of the claim table beyond what is kept."""


class Stage(enum.IntEnum):
    """What is claimed next."""

    PENDING = 0
    DEFERRED = 1
    SUSPECTS = 2
    NOTHING = 3


class Frontier:
    """Claim table, retry budget, and what the last answers said about the ledger."""

    def __init__(
        self, coordinator: int, retries_max: int, pending: int, outbox: Outbox, *, shared: bool
    ) -> None:
        """`pending`: rows at the beginning. `shared`: other coordinators claim from it too."""
        self.claimed: OrderedDict[WorkId, Lease] = OrderedDict()
        self.states: dict[StateId, WorkId] = {}
        """State ids that this coordinator holds (L1)."""
        self.open_work = pending
        self.pending = pending
        self.leased = 0
        """Leased rows of all coordinators."""
        self.changes = -1
        """-1: no transaction has told yet."""
        self.deferred = 0
        self.poisoned = 0
        self.retries: dict[WorkId, int] = {}
        self.alone: set[WorkId] = set()
        """Items that were lost in a bundle and go alone next time."""
        self._coordinator = coordinator
        self._retries_max = retries_max
        self._outbox = outbox
        self._shared = shared
        self._stage = Stage.PENDING
        self._asked: Stage | None = None
        self._short = False
        self._dry_at = -2
        self._stirred = False

    # ---- claiming ---------------------------------------------------------------------------

    def hear(self, changes: int, pending: int, open_work: int, leased: int) -> bool:
        """Take another coordinator's view of the ledger when it is newer; return whether it is."""
        if changes <= self.changes:
            return False
        self.changes = changes
        self.pending, self.open_work, self.leased = pending, open_work, leased
        return True

    def stir(self) -> None:
        """Note that this turn's operations may make work claimable."""
        self._stirred = True

    def claim(self, limit: int, *, quiet: bool) -> None:
        """Ask for up to `limit` rows if there may be any. `quiet`: nothing is in flight and
        nothing is claimed, here or elsewhere, so that the later stages may be looked at."""
        limit = min(limit, CLAIM_MAX)
        stirred, self._stirred = self._stirred, False
        if limit <= 0:
            return
        if stirred or self.changes != self._dry_at:
            self._stage = Stage.PENDING
            if not stirred and self.pending == 0 and self.open_work == 0:
                return
            if not stirred and self.pending == 0 and self._shared and not quiet:
                return  # what others have leased is no reason to ask
        elif not quiet or self.open_work == 0 or self._stage is Stage.NOTHING:
            return
        stage = self._stage
        if stage is not Stage.PENDING and not quiet:
            return
        if stage is Stage.SUSPECTS:
            limit = 1
        self._asked = stage
        self._outbox.ask(
            Claim(
                self._coordinator,
                limit,
                with_deferred=stage is not Stage.PENDING,
                suspects_only=stage is Stage.SUSPECTS,
            ),
            lambda answer: self._on_claimed(limit, answer),
        )

    def _on_claimed(self, limit: int, answer: Answer) -> None:
        if not isinstance(answer, Claimed):
            return
        self._short = len(answer.leases) < limit
        for lease in answer.leases:
            assert lease.work_id not in self.claimed, "L1: one holder per work id"
            assert lease.state_id not in self.states, "L1: one holder per state id"
            self.states[lease.state_id] = lease.work_id
            self.claimed[lease.work_id] = lease

    def take_answers(self, answers: TurnAnswers) -> None:
        """Note what the ledger looks like after the turn's transaction."""
        self.open_work, self.pending = answers.open_work, answers.pending
        self.changes, self.leased = answers.changes, answers.leased
        self.deferred, self.poisoned = answers.deferred, answers.poisoned
        if self._asked is not None and self._short:
            # This stage has nothing more until something changes.
            self._dry_at = answers.changes
            self._stage = Stage(min(self._asked + 1, Stage.NOTHING))
        self._asked, self._short = None, False

    @property
    def may_grow(self) -> bool:
        """Whether a claim in a quiet turn could still find something."""
        return self.open_work > 0 and (
            self._stage is not Stage.NOTHING or self.changes != self._dry_at
        )

    # ---- giving back ------------------------------------------------------------------------

    def put_back(self, lease: Lease) -> None:
        """Keep a lease that could not be dispatched in this turn, at the head."""
        self.claimed[lease.work_id] = lease
        self.claimed.move_to_end(lease.work_id, last=False)

    def give_back_claims(self) -> int:
        """Release everything that was claimed and not dispatched."""
        leases = list(self.claimed.values())
        self.claimed.clear()
        for lease in leases:
            self._drop_state(lease)
            self._release(lease, Undo("given_back", sent=False))
        return len(leases)

    def return_item(self, lease: Lease, how: Undo) -> None:
        """Give the lease of an item that was in flight back, by release or by deferral."""
        self._drop_state(lease)
        if how.retry:
            used = self.retries.get(lease.work_id, 0)
            if used >= self._retries_max:
                self._defer(lease, how.reason or how.cause)
                return
            self.retries[lease.work_id] = used + 1
        self._release(lease, how)

    def finish_item(self, lease: Lease) -> None:
        """Forget an item that was decided, or that is somebody else's by now."""
        self._drop_state(lease)
        self.retries.pop(lease.work_id, None)
        self.alone.discard(lease.work_id)

    def _release(self, lease: Lease, how: Undo) -> None:
        self.stir()
        self._outbox.ask(
            Release(lease.work_id, lease.token, how.cause, ran=how.ran, at_head=how.at_head),
            lambda answer: self._on_released(lease, answer),
        )

    def _on_released(self, lease: Lease, answer: Answer) -> None:
        match answer:
            case Failed():
                self._keep(lease)
            case Changed(changed=False):
                self._outbox.fault("wrong_owner_rejected", "release")
            case _:
                pass

    def _defer(self, lease: Lease, reason: str) -> None:
        self.stir()
        self._outbox.tally("protocol_deferred")
        self._outbox.ask(
            Defer(lease.work_id, lease.token, reason),
            lambda answer: self._on_deferred(lease, answer),
        )

    def _on_deferred(self, lease: Lease, answer: Answer) -> None:
        match answer:
            case Failed():
                # J8: what could not be set aside durably stays here.
                self._outbox.fault("deferral_failed")
                self._outbox.totals["protocol_deferred", ""] -= 1
                self._keep(lease)
            case Changed(changed=False):
                self._outbox.fault("wrong_owner_rejected", "defer")
            case _:
                pass

    def _keep(self, lease: Lease) -> None:
        self.states[lease.state_id] = lease.work_id
        self.claimed[lease.work_id] = lease

    def _drop_state(self, lease: Lease) -> None:
        if self.states.get(lease.state_id) == lease.work_id:
            del self.states[lease.state_id]

    # ---- audit ------------------------------------------------------------------------------

    def audit(self, in_flight: Iterable[Lease], lost: Callable[[WorkId], None]) -> None:
        """Ask whether the leased rows are exactly those that are held here. `lost` is called for
        each that the ledger gave to nobody or to somebody else."""
        held: Sequence[Lease] = [*self.claimed.values(), *in_flight]
        self._outbox.ask(
            AuditLeases(
                self._coordinator,
                tuple[tuple[WorkId, FencingToken], ...](
                    (lease.work_id, lease.token) for lease in held
                ),
            ),
            lambda answer: self._on_audited(lost, answer),
        )

    def _on_audited(self, lost: Callable[[WorkId], None], answer: Answer) -> None:
        if not isinstance(answer, Audited):
            return
        if answer.orphaned:
            raise IntegrityError(
                f"{len(answer.orphaned)} leased rows are held by nobody",
                where=f"work {answer.orphaned[0]}",
                why="each leased row of the epoch stands in exactly one claim table",
                hint="start again: the next epoch recovers them; please report this",
            )
        for work_id in answer.unknown:
            self._outbox.fault("leases_lost")
            lease = self.claimed.pop(work_id, None)
            if lease is not None:
                self._drop_state(lease)
            lost(work_id)
