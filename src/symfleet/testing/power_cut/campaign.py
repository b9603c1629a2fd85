"""The small finite campaign that the drivers run and that every crash state must be able to finish.

What an input becomes is a pure function of its bytes, so the end is the same whatever happened on
the way: the same (work id, manifest digest) pairs, the same files.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from symfleet.clock import Clock
from symfleet.corpus.layout import Reproduction, sink_folder
from symfleet.corpus.publish import Publisher
from symfleet.corpus.reproductions import same_for_all
from symfleet.errors import IOFailure
from symfleet.ledger import opener, places
from symfleet.ledger.contract import LedgerReader
from symfleet.ledger.sqlite import SqliteLedger
from symfleet.protocol.answers import Claimed, Decided, Failed, Lease, Quiesced, TurnAnswers
from symfleet.protocol.events import PublishFailed
from symfleet.protocol.operations import (
    Admit,
    Child,
    Claim,
    CloseEpoch,
    CommitQuiescence,
    Decide,
    MarkPublished,
    Operation,
    RecordAck,
    SetSource,
)
from symfleet.testing.ledgers import (
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
    packed,
)
from symfleet.types import Keep, Outcome, SinkKind

OUT: Final = Path("out")
"""The output folder, below the working folder: a ledger names its sinks by their paths."""
SEEDS: Final = (b"a", b"b", b"c")
BIG: Final = b"big"
"""A seed whose result has several MiB."""
LENGTH: Final = 3
BIG_PART: Final = b"p" * (1 << 20)
_BIG_WHOLE: Final = bytes(range(256)) * (1 << 13)
REPRODUCTION: Final = Reproduction(("/target", "@@"), "file")
REPRODUCTIONS: Final = same_for_all(REPRODUCTION)
_TURNS_MAX: Final = 200


def request() -> opener.OwnerRequest:
    """Return how the campaign is owned."""
    return opener.OwnerRequest("here", os.getpid(), reserve_bytes=4096, checkpoint_rows=1 << 30)


def children_of(data: bytes) -> list[Child]:
    """Return the children of an input: two up to a length, of which some crash or hang."""
    if data == BIG:
        # The first one's bytes may have come before its decision: then they are there twice.
        return [child(BIG_PART, 1), child(_BIG_WHOLE, 2)]
    if len(data) >= LENGTH:
        return []
    crash = child(data + b"!", 8 * len(data) + 1, outcome=Outcome.CRASH, signal=11)
    hang = child(data + b"?", outcome=Outcome.HANG)
    fine = child(data + b"0", 8 * len(data) + 2)
    return [fine, crash] if len(data) % 2 else [fine, hang]


def decide(lease: Lease) -> Decide:
    """Return the one decision that an item can have."""
    outcome = Outcome.CRASH if lease.data.endswith(b"!") else Outcome.OK
    edges = packed(1000 + len(lease.data))
    return decision(lease, children_of(lease.data), keep=Keep.ALL, outcome=outcome, edges=edges)


def image_of(ledger: SqliteLedger) -> bytes:
    """Return a digest of the whole database as its owner sees it."""
    return digest_of_image(ledger._writer.serialize())  # noqa: SLF001 - page by page


def digest_of_image(image: bytes) -> bytes:
    """Return a digest of a whole database."""
    return hashlib.blake2b(image, digest_size=12).digest()


@dataclass(slots=True)
class Owner:
    """Owns the campaign and does what a coordinator's loop does."""

    ledger: SqliteLedger
    clock: Clock
    source: int = 0
    publishers: dict[SinkKind, Publisher] = field(default_factory=dict)
    last: int = 0

    def begin(self, coordinator: int = 7) -> None:
        """Open an epoch with its source and its sinks."""
        self.ledger.open_epoch(epoch_request(coordinator))
        self.source = self.ledger.register_source("seeds", "/s", "here")
        for kind in SinkKind:
            path = str(sink_folder(OUT, kind))
            sink = self.ledger.register_sink(kind, path, "here")
            self.publishers[kind] = Publisher(sink, OUT, self.ledger, REPRODUCTION)
        self.last = self.ledger.run([SetSource(self.source, is_open=True)]).last_artefact

    def run(self, *operations: Operation) -> TurnAnswers:
        """Run a turn."""
        answers = self.ledger.run(operations)
        self.last = answers.last_artefact
        return answers

    def admit(self, inputs: Iterable[bytes]) -> None:
        """Admit inputs as the scanner does."""
        self.run(Admit(self.source, tuple(admission(data) for data in inputs)))

    def claim(self, limit: int) -> tuple[Lease, ...]:
        """Lease some items."""
        (answer,) = self.run(Claim(0, limit)).answers
        if isinstance(answer, Failed) and answer.disk_full:
            raise IOFailure(answer.message)
        assert isinstance(answer, Claimed)
        return answer.leases

    def decide(self, leases: Iterable[Lease]) -> None:
        """Decide items in one turn."""
        operations = [decide(lease) for lease in leases]
        for answer in self.run(*operations).answers:
            assert isinstance(answer, Decided)
            assert answer.disposition == "completed", answer

    def write_files(self) -> list[MarkPublished]:
        """Publish everything; return the marks that are to be moved."""
        marks: list[MarkPublished] = []
        for publisher in self.publishers.values():
            for _ in range(_TURNS_MAX):
                for event in publisher.step(self.last, self.clock.monotonic(), flush=True):
                    if isinstance(event, PublishFailed):
                        raise IOFailure(event.message)
                    marks.append(
                        MarkPublished(
                            event.sink,
                            event.incarnation,
                            event.published_from,
                            event.published_upto,
                        )
                    )
                if publisher.published_upto >= self.last:
                    break
        return marks

    def publish(self) -> None:
        """Publish everything and move the marks."""
        marks = self.write_files()
        if marks:
            self.run(*marks)

    def finish(self, seeds: Iterable[bytes] = SEEDS) -> None:
        """Admit what a scan would find, do all that is left, and end the epoch."""
        self.admit(seeds)
        for _ in range(_TURNS_MAX):
            leases = self.claim(16)
            if not leases:
                break
            self.decide(leases)
        self.publish()
        answers = self.run(SetSource(self.source, is_open=False))
        for _ in range(_TURNS_MAX):
            self.ledger.checkpoint()  # goes on with the audit that an unclean end is followed by
            (quiesced,) = self.run(CommitQuiescence("0", answers.changes)).answers
            if isinstance(quiesced, Quiesced) and quiesced.committed:
                break
        else:
            raise AssertionError(f"Q1: the campaign does not become quiescent: {quiesced}")
        self.run(RecordAck(0, 2, 2, (), 1.0))
        self.run(CloseEpoch("quiescent", 0))


def create(clock: Clock) -> Owner:
    """Make the campaign."""
    return Owner(opener.create(OUT, campaign_row(Keep.ALL), request(), clock), clock)


def own(clock: Clock) -> Owner:
    """Own the campaign that is there."""
    ledger = places.own_ledger(OUT, request(), clock)
    assert isinstance(ledger, SqliteLedger)
    return Owner(ledger, clock)


def undisturbed(clock: Clock, seeds: Iterable[bytes]) -> End:
    """Make and finish the campaign in the working folder; return what it comes to."""
    owner = create(clock)
    owner.begin()
    owner.finish(seeds)
    owner.ledger.close()
    with contextlib.closing(places.read_ledger(OUT)) as reader:
        return end_of(reader)


@dataclass(frozen=True, slots=True)
class End:
    """What a finished campaign comes to, however it got there."""

    decisions: frozenset[tuple[str, str]]
    corpus: frozenset[str]
    files: frozenset[str]


def end_of(reader: LedgerReader) -> End:
    """Return what a campaign came to; raise when something was counted twice."""
    pairs = [(str(row.work_id), row.manifest_digest) for row in reader.decisions()]
    assert len({work_id for work_id, _ in pairs}) == len(pairs), "C7: an item was decided twice"
    executed = reader.status().total.executed
    assert executed == len(pairs), f"C7: {executed} counted, {len(pairs)} decided"
    kinds = [sink_folder(OUT, kind) for kind in SinkKind]
    files = {str(path) for folder in kinds for path in folder.rglob("*") if path.is_file()}
    return End(frozenset(pairs), frozenset(map(str, reader.corpus())), frozenset(files))
