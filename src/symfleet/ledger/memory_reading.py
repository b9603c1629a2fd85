"""The reading half of the in-memory ledger."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from symfleet.errors import DataError, IntegrityError, SymfleetError
from symfleet.ledger import plan as planning
from symfleet.ledger.contract import (
    CampaignRow,
    CoordinatorTotals,
    CrashRow,
    DecisionRow,
    EpochRow,
    Finding,
    LedgerStatus,
    WorkRow,
)
from symfleet.ledger.edges import Knowledge, unpack_edges
from symfleet.ledger.manifest import decode_manifest, manifest_digest
from symfleet.ledger.memory_state import EpochState, Tables, shown_of
from symfleet.ledger.tally import (
    chain_next,
    chain_start,
    decision_counts,
    is_of_generation,
    stories_digest,
    totals_of,
)
from symfleet.protocol.answers import Artefact, SinkRow
from symfleet.types import Epoch, InputId, Keep, SinkKind, WorkState, input_id_of


class MemoryReading:
    """Read-only views of the tables."""

    def __init__(self, campaign: CampaignRow, tables: Tables) -> None:
        self._campaign = campaign
        self._tables = tables

    def status(self) -> LedgerStatus:
        """Return one consistent snapshot."""
        tables = self._tables
        epoch = tables.epochs[-1] if tables.epochs else None
        number = epoch.epoch if epoch else Epoch(0)
        return LedgerStatus(
            campaign=self._campaign,
            epoch=_epoch_row(epoch) if epoch else None,
            epochs=len(tables.epochs),
            states={state: self._count(state) for state in WorkState},
            suspects=sum(
                work.suspect and work.state is not WorkState.DONE for work in tables.work.values()
            ),
            pending_first=self._pending_first(),
            unpublished=self._unpublished(),
            corpus=sum(artefact.kind is SinkKind.CORPUS for artefact in tables.artefacts),
            this_epoch=totals_of(self._sums(number)),
            total=totals_of(self._sums(None)),
            faults_this_epoch=self._faults(number),
            faults_total=self._faults(None),
            coordinators=self._coordinators(number),
            executed_by=self._executed_by(),
            idle_window_s=epoch.idle_window_s if epoch else None,
            decisions=len(tables.decisions),
            last_new_edge_wall=max((d.wall for d in tables.decisions if d.new_edges), default=None),
        )

    def epochs(self) -> Sequence[EpochRow]:
        """Return all epochs, oldest first."""
        return tuple(_epoch_row(epoch) for epoch in self._tables.epochs)

    def input_bytes(self, input_id: InputId) -> bytes:
        """Return the bytes, hashed again."""
        data = self._tables.inputs.get(input_id)
        if data is None:
            raise DataError("no such input", where=input_id, why="the ledger does not hold it")
        if input_id_of(data) != input_id:
            raise IntegrityError(
                "an input does not match its name", where=input_id, why=input_id_of(data)
            )
        return data

    def corpus(self) -> Iterator[InputId]:
        """Yield the corpus in admission order."""
        for artefact in self._tables.artefacts:
            if artefact.kind is SinkKind.CORPUS:
                yield artefact.input_id

    def decisions(self) -> Iterator[DecisionRow]:
        """Yield all decisions in order."""
        for decision in self._tables.decisions:
            digest = manifest_digest(decode_manifest(decision.manifest))
            yield DecisionRow(
                decision.number, decision.work_id, decision.manifest, digest, decision.epoch
            )

    def crashes(self) -> Sequence[CrashRow]:
        """Return crashes and hangs, oldest first."""
        return tuple(
            CrashRow(
                kind=artefact.kind,
                input_id=artefact.input_id,
                parent=artefact.parent,
                signal=artefact.signal,
                epoch=artefact.epoch,
                decision=artefact.decision,
                found_wall=self._tables.decisions[artefact.decision - 1].wall,
                size=len(artefact.data),
            )
            for artefact in self._tables.artefacts
            if artefact.kind is not SinkKind.CORPUS
        )

    def work_rows(self, state: WorkState, limit: int) -> Sequence[WorkRow]:
        """Return rows of a state for people; open ones in frontier order."""
        found = [work for work in self._tables.work.values() if work.state is state]
        if state in (WorkState.PENDING, WorkState.DEFERRED):
            last = state is WorkState.PENDING
            found.sort(key=lambda work: (last and work.suspect, work.place, work.row))
        return tuple(
            WorkRow(
                work_id=work.work_id,
                input_id=work.input_id,
                state=work.state,
                deliveries=work.deliveries,
                blames=len(work.blamed_by),
                losses=work.losses,
                detail=work.detail,
            )
            for work in found[:limit]
        )

    def artefacts(
        self, kind: SinkKind, after: int, limit: int, bytes_max: int
    ) -> Sequence[Artefact]:
        """Return artefacts of a kind with number > `after`, in order; at least one when any."""
        chosen: list[Artefact] = []
        size = 0
        for artefact in self._tables.artefacts[after:]:
            if artefact.kind is not kind:
                continue
            size += len(artefact.data)
            if chosen and (len(chosen) == limit or size > bytes_max):
                break
            chosen.append(artefact)
        return tuple(chosen)

    def sinks(self) -> tuple[SinkRow, ...]:
        """Return all sinks."""
        return tuple(sink.row for sink in self._tables.sinks)

    def knowledge(self) -> bytes:
        """Return all edges, packed."""
        known = Knowledge()
        for decision in self._tables.decisions[self._tables.generation.decisions_before :]:
            known.add(known.new_in(unpack_edges(decision.new_edges)))
        return known.packed()

    def chain_at(self, decision: int) -> str | None:
        """Return the hash of a decision, None when there is no such decision."""
        decisions = self._tables.decisions
        return decisions[decision - 1].chain.hex() if 0 < decision <= len(decisions) else None

    def audit(self) -> Iterator[Finding]:
        """Check everything; yield what is wrong."""
        yield from self._audit_inputs()
        yield from self._audit_decisions()
        yield from self._audit_sums()

    # ---- parts ----------------------------------------------------------------------------------

    def _count(self, state: WorkState) -> int:
        return sum(work.state is state for work in self._tables.work.values())

    def _pending_first(self) -> int | None:
        if self._campaign.keep is Keep.ALL:
            return None
        first = sum(
            work.state is WorkState.PENDING
            and not work.suspect
            and work.place < planning.LATER_TURNS
            for work in self._tables.work.values()
        )
        return min(first, planning.PENDING_COUNTED_MAX)

    def _unpublished(self) -> int:
        epoch = len(self._tables.epochs)
        return sum(
            artefact.kind is sink.row.kind
            for sink in self._tables.sinks
            if sink.epoch == epoch
            for artefact in self._tables.artefacts[sink.row.published_upto :]
        )

    def _sums(self, epoch: Epoch | None) -> Mapping[str, int]:
        sums: Counter[str] = Counter()
        first_epoch = self._tables.generation.first_epoch
        for (at, _, name), amount in self._tables.counters.items():
            if (epoch is None or at == epoch) and (at >= first_epoch or not is_of_generation(name)):
                sums[name] += amount
        return sums

    def _faults(self, epoch: Epoch | None) -> dict[str, dict[str, int]]:
        faults: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for (at, _, name, reason), amount in sorted(self._tables.faults.items()):
            if epoch is None or at == epoch:
                faults[name][reason] += amount
        return {name: dict(reasons) for name, reasons in faults.items()}

    def _executed_by(self) -> dict[int, int]:
        executed: Counter[int] = Counter()
        for (_, coordinator, name), amount in self._tables.counters.items():
            if name == "executed":
                executed[coordinator] += amount
        return dict(sorted(executed.items()))

    def _coordinators(self, epoch: Epoch) -> tuple[CoordinatorTotals, ...]:
        executed = {
            coordinator: amount
            for (at, coordinator, name), amount in self._tables.counters.items()
            if at == epoch and name == "executed"
        }
        acks = {c: ack for (at, c), ack in self._tables.acks.items() if at == epoch}
        faults: Counter[int] = Counter()
        for (at, coordinator, _, _), amount in self._tables.faults.items():
            if at == epoch:
                faults[coordinator] += amount
        return tuple(
            CoordinatorTotals(
                coordinator=coordinator,
                executed=executed.get(coordinator, 0),
                acknowledged=acks[coordinator].acknowledged if coordinator in acks else 0,
                workers=acks[coordinator].total if coordinator in acks else 0,
                missing=acks[coordinator].missing if coordinator in acks else (),
                faults=faults[coordinator],
            )
            for coordinator in sorted(executed.keys() | acks.keys() | faults.keys())
        )

    def _audit_inputs(self) -> Iterator[Finding]:
        for input_id, data in self._tables.inputs.items():
            if input_id_of(data) != input_id:
                yield Finding("input does not match its name", input_id, input_id_of(data))
        for work in self._tables.work.values():
            try:
                planning.check_item(work.payload, work.work_id, work.state_id, work.input_id)
            except DataError as error:
                yield Finding("work row does not match its ids", work.work_id, str(error))
            if work.input_id not in self._tables.inputs:
                yield Finding("input is missing", f"work {work.work_id}", work.input_id)
            if (work.state is WorkState.DONE) != (work.decision > 0):
                yield Finding("state and decision disagree", f"work {work.work_id}", work.state)

    def _audit_decisions(self) -> Iterator[Finding]:
        epoch, chain, last = 0, b"", b""
        for decision in self._tables.decisions:
            row = f"decision {decision.number}"
            try:
                manifest = decode_manifest(decision.manifest)
            except SymfleetError as error:
                yield Finding("manifest is not valid", row, str(error))
                continue
            if (manifest.work_id, manifest.epoch, manifest.fence) != (
                decision.work_id,
                decision.epoch,
                decision.fence,
            ):
                yield Finding("manifest is bound to something else", row, manifest.work_id)
            if decision.epoch != epoch:
                epoch = decision.epoch
                opened = self._tables.epochs[epoch - 1]
                chain = chain_start(
                    self._campaign.campaign,
                    opened.epoch,
                    opened.coordinator,
                    decision.number - 1,
                    last,
                )
            chain = chain_next(
                chain,
                decision.number,
                decision.manifest,
                decision.record_bytes,
                decision.new_edges,
            )
            last = decision.chain
            if chain != decision.chain:
                yield Finding("chain of decisions is broken", row, decision.chain.hex())
            record = decision.record
            shown = [
                shown_of(artefact)
                for artefact in self._tables.artefacts
                if artefact.decision == decision.number
            ]
            first = shown[0].number if shown else 0
            told = (record.shown, record.first_shown, record.stories)
            if told != (len(shown), first, stories_digest(shown)):
                yield Finding("an artefact is not what its decision shows", row, f"from {first}")

    def _audit_sums(self) -> Iterator[Finding]:
        sums: Counter[tuple[Epoch, int, str]] = Counter()
        for decision in self._tables.decisions:
            generated = decode_manifest(decision.manifest).generated
            for name, amount in decision_counts(generated, decision.record).items():
                sums[decision.epoch, decision.record.coordinator, name] += amount
        stored = {
            key: amount
            for key, amount in self._tables.counters.items()
            if not key[2].startswith(("external_inputs", "skipped_inputs."))
        }
        for key in sums.keys() | stored.keys():
            if sums.get(key, 0) != stored.get(key, 0):
                detail = f"stored {stored.get(key, 0)}, sum {sums.get(key, 0)}"
                yield Finding("counter is not the sum over decisions", str(key), detail)


def _epoch_row(epoch: EpochState) -> EpochRow:
    return EpochRow(
        epoch=epoch.epoch,
        opened_wall=epoch.opened_wall,
        closed_wall=epoch.closed_wall,
        host=epoch.host,
        pid=epoch.pid,
        reason=epoch.reason,
        exit_code=epoch.exit_code,
        leases_recovered=epoch.leases_recovered,
        decisions=epoch.decisions,
        command_line=epoch.command_line,
        version=epoch.version,
        config_toml=epoch.config_toml,
    )
