"""Rank program: all ranks decide the same lease, and publish and mark the same files, at once.

Arguments: a folder, the number of rounds, and the address of a PostgreSQL server or nothing. Rank 0
owns the ledger; with a server the other ranks write to it over their own connections, else their
turns go through rank 0. In each round rank 0 leases an item, every rank decides it with the very
same token, publishes what the decision shows and has the sink marked. In every other round one rank
takes the file away again, or puts wrong bytes in its place, while the others may be publishing it;
whoever publishes next accepts the right bytes only. Prints JSON about all rounds.
"""

import dataclasses
import json
import os
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import mpi4py

mpi4py.rc.thread_level = "single"
from mpi4py import MPI  # noqa: E402

from symfleet.clock import SystemClock  # noqa: E402
from symfleet.corpus.layout import Reproduction, corpus_path  # noqa: E402
from symfleet.corpus.publish import Publisher  # noqa: E402
from symfleet.ledger import opener, postgres_opener  # noqa: E402
from symfleet.ledger.places import attach_ledger  # noqa: E402
from symfleet.ledger.postgres_attached import AttachRequest  # noqa: E402
from symfleet.protocol.codec import Codec  # noqa: E402
from symfleet.protocol.events import SinkAdvanced  # noqa: E402
from symfleet.protocol.operations import Admit, Claim, MarkPublished  # noqa: E402
from symfleet.protocol.setup import Knobs  # noqa: E402
from symfleet.runtime.remote_ledger import RemoteLedger  # noqa: E402
from symfleet.runtime.turn_service import TurnService  # noqa: E402
from symfleet.testing.ledgers import (  # noqa: E402
    admission,
    campaign_row,
    child,
    decision,
    epoch_request,
)
from symfleet.transport.mpi import MpiTransport  # noqa: E402
from symfleet.types import Epoch, Incarnation, Keep, SinkKind  # noqa: E402

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.Get_rank(), COMM.Get_size()
CLOCK, KNOBS = SystemClock(), Knobs()
FOLDER, ROUNDS, SERVER = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
OUT = FOLDER / "out"
REPRODUCTION = Reproduction(("/bin/target", "@@"), "file")
DEADLINE_S = 60.0


class Shown:
    """What the ledger shows at the moment, as every rank was told."""

    def __init__(self) -> None:
        self.rows: list[Any] = []

    def artefacts(self, kind: SinkKind, after: int, limit: int, bytes_max: int) -> list[Any]:
        return [row for row in self.rows if row.number > after][:limit]


class Store:
    """The ledger as this rank reaches it."""

    def __init__(self) -> None:
        self.ledger: Any = None
        self.service: TurnService | None = None
        self.seen = 0
        """How many operations the ledger has run through rank 0."""
        transport = None if SERVER else MpiTransport(CLOCK)
        if RANK == 0:
            request = opener.OwnerRequest("here", os.getpid(), lock_wait_s=1.0)
            row = campaign_row(Keep.ALL, os.urandom(16).hex())
            self.ledger = (
                postgres_opener.create(OUT, row, request, CLOCK, SERVER)
                if SERVER
                else opener.create(OUT, row, request, CLOCK)
            )
            self.ledger.open_epoch(epoch_request())
        campaign = COMM.bcast(RANK == 0 and self.ledger.status().campaign.campaign)
        access = COMM.bcast(self.ledger.access() if RANK == 0 and SERVER else None)
        if transport is not None:
            codec = Codec(campaign, Epoch(1), RANK, KNOBS.frame_bytes)
            clients = {rank: (rank, Incarnation(rank)) for rank in range(1, SIZE)}
            self.transport = transport
            if RANK == 0:
                self.service = TurnService(self.ledger, transport, codec, clients, KNOBS, self.note)
            else:
                self.ledger = RemoteLedger(transport, CLOCK, codec, Incarnation(RANK), KNOBS)
        elif RANK:
            self.ledger = attach_ledger(access, AttachRequest(RANK, "here", os.getpid()), CLOCK)

    def note(self, operations: Any, _: Any) -> None:
        self.seen += len(operations)

    def together(self, operation: Any) -> list[Any] | None:
        """Run an operation on every rank at once; return all answers at rank 0."""
        COMM.Barrier()
        if self.service is None:
            return COMM.gather(self.ledger.run([operation]).answers[0])
        self.seen, mine, deadline = 0, None, time.monotonic() + DEADLINE_S
        while self.seen < SIZE:
            assert time.monotonic() < deadline
            rest = self.service.arrived(self.transport.receive(64, 8 << 20).events)
            assert not rest
            answers = self.service.run([] if mine else [operation])
            mine = mine or (answers.answers if answers else None)
        while self.transport.unsent_bytes():
            self.transport.receive(1, 1)
        assert mine
        return COMM.gather(mine[0])


def publish(publisher: Publisher, upto: int) -> SinkAdvanced:
    """Publish until the mark is to move; whatever fails, fails the test."""
    while True:
        for event in publisher.step(upto, time.monotonic(), flush=True):
            assert isinstance(event, SinkAdvanced), event
            return event


def spoil(path: Path, how: int) -> None:
    """Take a published file away, or put wrong bytes in its place."""
    path.unlink(missing_ok=True)
    if how:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"wrong")


def main() -> None:
    """Play all rounds."""
    store, shown = Store(), Shown()
    told: dict[str, Any] = {"decided": Counter(), "marked": Counter(), "wrong_files": []}
    numbers: list[set[int]] = []
    sink, source, mark, repaired = None, 0, 0, 0
    if RANK == 0:
        source = store.ledger.register_source("seeds", "/seeds", "here")
        sink = store.ledger.register_sink(SinkKind.CORPUS, str(OUT / "corpus"), "here")
    sink = COMM.bcast(sink)
    publisher = Publisher(sink, OUT, shown, REPRODUCTION)
    for number in range(ROUNDS):
        found = decide_together(store, source, number)
        if RANK == 0:
            told["decided"].update(one.disposition for one in found)
            numbers.append({one.decision for one in found})
            shown.rows = list(store.ledger.artefacts(SinkKind.CORPUS, mark, 100, 1 << 20))
        shown.rows = COMM.bcast(shown.rows)
        upto = shown.rows[-1].number
        paths = [Path(sink.path) / corpus_path(row.input_id) for row in shown.rows]
        event = publish_together(publisher, upto, number, paths[0])
        moves = store.together(
            MarkPublished(event.sink, event.incarnation, event.published_from, upto)
        )
        if RANK == 0:
            told["marked"].update(one.disposition for one in moves)
            repaired += mend(dataclasses.replace(sink, published_upto=mark), shown, number, paths)
            told["wrong_files"] += [
                str(path)
                for path, row in zip(paths, shown.rows, strict=True)
                if not path.is_file() or path.read_bytes() != row.data
            ]
        mark = upto
        COMM.Barrier()
    if RANK == 0:
        total = store.ledger.status().total
        told |= {
            "each_once": numbers == [{n} for n in range(1, ROUNDS + 1)],
            "repaired": repaired,
            "executed": total.executed,
            "generated": total.generated,
            "findings": [str(finding) for finding in store.ledger.audit()],
        }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
    COMM.Barrier()
    if RANK == 0 or SERVER:
        store.ledger.close()


def decide_together(store: Store, source: int, number: int) -> Any:
    """Lease one item and have every rank decide it; return the answers at rank 0."""
    lease = None
    if RANK == 0:
        seed = admission(b"seed %d" % number)
        answers = store.ledger.run([Admit(source, (seed,)), Claim(0, 1)]).answers
        (lease,) = answers[1].leases
    lease = COMM.bcast(lease)
    return store.together(decision(lease, [child(b"child %d" % number, number + 1)], keep=Keep.ALL))


def publish_together(publisher: Publisher, upto: int, number: int, path: Path) -> SinkAdvanced:
    """Publish what is shown, while one rank may spoil a file of it."""
    COMM.Barrier()
    if number == 0:  # a publisher that begins clears what dead ones left: one after the other
        for _ in range(RANK):
            COMM.Barrier()
    elif number % 2 and number // 2 % SIZE == RANK:
        spoil(path, number // 2 % 2)
    event = publish(publisher, upto)
    if number == 0:
        for _ in range(SIZE - RANK):
            COMM.Barrier()
    return event


def mend(sink: Any, shown: Shown, number: int, paths: list[Path]) -> int:
    """Spoil a file that everybody has published, and publish again as the next epoch does."""
    if number % 2:
        spoil(paths[-1], number // 2 % 2)
    return publish(Publisher(sink, OUT, shown, REPRODUCTION), shown.rows[-1].number).repaired


try:
    main()
except BaseException:  # noqa: BLE001 - the others would wait for ever
    traceback.print_exc()
    COMM.Abort(1)
