"""What turns cost on the real stores, and on their way to them (`scale_calibration.py` asks)."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.ledger import Make, Owned, create, on_server, own
from symfleet.protocol.answers import Claimed, Lease
from symfleet.protocol.codec import Codec
from symfleet.protocol.messages import Turn
from symfleet.protocol.operations import Admit, Claim, Decide, Operation
from symfleet.protocol.turns import (
    decode_answers,
    decode_operations,
    encode_answers,
    encode_operations,
)
from symfleet.testing.ledgers import admission, child, decision, epoch_request, packed
from symfleet.testing.scale.coordinators import store_vector
from symfleet.testing.scale.costs import STORE_TERMS
from symfleet.testing.scale.fitting import Fitted, Sample, fit, fitted, quiet
from symfleet.testing.scale.workload import EDGES, INPUT_BYTES
from symfleet.testing.stores.postgres_cluster import Cluster, programs
from symfleet.types import Keep


def new_child(serial: int) -> bytes:
    """Return bytes that no other call returned."""
    return b"%-16d" % serial + bytes(INPUT_BYTES - 16)


class StoreMeter:
    """Turns of every composition on a store that holds a campaign already."""

    EDGES: Final = tuple(8 * edge for edge in range(EDGES))

    def __init__(self, ledger: Owned) -> None:
        self.ledger = ledger
        self.serial = 0
        self.leases: list[Lease] = []
        self.decided = 0
        self._draw = random.Random("turns")

    def admit(self, amount: int) -> None:
        """Let new inputs in."""
        for _ in range(0, amount, 500):
            entries = tuple(admission(new_child(self._next())) for _ in range(500))
            self.ledger.run([Admit(1, entries)])
            self.ledger.checkpoint()

    def _next(self) -> int:
        self.serial += 1
        return self.serial

    def finish(self) -> None:
        """Decide everything that is open, without children."""
        while True:
            self.turn(64, 64, children=0)
            if not self.leases and not self.turn(0, 64)[0][0][2]:
                return

    def operations(self, decides: int, claims: int, children: int = 1) -> list[Operation]:
        """Return a turn that decides items, one new child each, and claims others."""
        taken = [self.leases.pop() for _ in range(min(decides, len(self.leases)))]
        made: list[Operation] = []
        for lease in taken:
            kids = [child(new_child(self._next()), *self.EDGES) for _ in range(children)]
            made.append(decision(lease, kids, keep=Keep.ALL, edges=packed(*self.EDGES)))
        if claims:
            made.append(Claim(0, claims))
        self.decided += len(taken)
        return made

    def turn(self, decides: int, claims: int, children: int = 1) -> tuple[Sample, float]:
        """Run a turn; return its size, its processor time and its time by the clock."""
        operations = self.operations(decides, claims, children)
        began, cpu = time.perf_counter(), time.thread_time()
        answers = self.ledger.run(operations).answers
        self.ledger.checkpoint()
        wall, busy = time.perf_counter() - began, time.thread_time() - cpu
        for answer in answers:
            if isinstance(answer, Claimed):
                self.leases += answer.leases
        return (store_vector(operations, answers), busy), wall

    def sample(self, turns: int) -> list[tuple[Sample, float]]:
        """Run turns of drawn sizes."""
        sizes = (0, 1, 1, 4, 16, 64)
        samples = []
        for _ in range(turns):
            decides, claims = self._draw.choice(sizes), self._draw.choice(sizes)
            if decides > len(self.leases):
                claims = max(claims, 2 * decides)
            if decides or claims:
                samples.append(self.turn(decides, claims))
        return samples

    def quiet_samples(self, turns: int) -> list[Sample]:
        """Run turns of a few sizes many times each; return what each takes when nothing else
        runs, by the clock."""
        sizes = [(0, 1), (0, 64), (1, 1), (4, 4), (16, 16), (64, 64), (16, 0), (64, 0)]
        found = []
        for decides, claims in sizes:
            walls = []
            for _ in range(turns // len(sizes)):
                while len(self.leases) < decides:
                    self.turn(0, 64)
                (amounts, _), wall = self.turn(decides, claims)
                walls.append(wall)
            found.append((amounts, quiet(walls)))
        return found


def measure_sqlite(folder: Path, turns: int) -> dict[str, Any]:
    """Time turns on a SQLite ledger; what waits for the disk is one sync a durable turn."""
    out = Path(tempfile.mkdtemp(dir=folder))
    meter = StoreMeter(create(out))
    meter.admit(5000)
    meter.sample(40)
    rows = meter.sample(turns)
    waits = sorted(wall - busy for (amounts, busy), wall in rows if amounts[1])
    model = fitted([sample for sample, _ in rows], STORE_TERMS)
    sync = quiet(waits)
    costs = list(model.costs)
    costs[1] += sync
    meter.ledger.close()
    open_rows = meter.serial - meter.decided
    full = min(timed_opening(out) for _ in range(3))
    meter.ledger = own(out)
    meter.ledger.open_epoch(epoch_request())
    meter.leases.clear()
    meter.finish()
    meter.ledger.close()
    empty = min(timed_opening(out) for _ in range(3))
    size = sum(file.stat().st_size for file in out.glob("ledger.db*"))
    shutil.rmtree(out)
    return {
        "sqlite": Fitted(tuple(costs), model.explained, model.samples),
        "sync": sync,
        "sqlite_bytes": size / meter.serial,
        "restart_open": max(0.0, full - empty) / open_rows,
    }


def timed_opening(out: Path) -> float:
    """Open a ledger as its owner, with the check of every open row."""
    began = time.thread_time()
    own(out).close()
    return time.thread_time() - began


def measure_postgres(folder: Path, turns: int) -> dict[str, Any]:
    """Time turns over one connection to a private server on the same disk, by the clock."""
    bin_folder = programs()
    if bin_folder is None:
        raise SystemExit("no PostgreSQL server is installed: apt-get install postgresql")
    cluster = Cluster(bin_folder, home=folder.parent)
    try:
        make: Make = on_server(cluster.url)
        empty = cluster_bytes(cluster)
        out = Path(tempfile.mkdtemp(dir=folder))
        meter = StoreMeter(make(out))
        meter.admit(5000)
        meter.sample(40)
        model = fitted(meter.quiet_samples(turns), STORE_TERMS)
        meter.finish()
        size = (cluster_bytes(cluster) - empty) / meter.serial
        meter.ledger.close()
        # The order among turns that decide is taken with their first round trip and given back by
        # their COMMIT, so that hardly anything of them overlaps.
        return {"postgres": model, "postgres_bytes": size, "postgres_alone": 1.0}
    finally:
        cluster.stop()


def cluster_bytes(cluster: Cluster) -> int:
    """Return the size of a server's tables and indexes."""
    base = cluster.folder / "data" / "base"
    return sum(file.stat().st_size for file in base.rglob("*") if file.is_file())


# ---- turns through the root ---------------------------------------------------------------------


def measure_turns(folder: Path) -> dict[str, tuple[float, ...]]:
    """Time the encoding of turns and answers on both sides: per turn, decided and leased item."""
    out = Path(tempfile.mkdtemp(dir=folder))
    meter = StoreMeter(create(out))
    meter.admit(2000)
    sent: list[Sample] = []
    served: list[Sample] = []
    meter.turn(0, 64)
    codec = Codec("c1" * 16, 1, 0, 4 << 20)  # type: ignore[arg-type]
    draw = random.Random("through the root")
    for _ in range(300):
        decides, claims = draw.choice((0, 1, 8, 64)), draw.choice((0, 1, 8, 64))
        if decides > len(meter.leases):
            claims = 64
        operations = meter.operations(decides, claims)
        if not operations:
            continue
        began = time.thread_time()
        there = sealed(codec, encode_operations(operations))
        gone = time.thread_time()
        decode_operations(opened(codec, there))
        taken = time.thread_time()
        answers = meter.ledger.run(operations)
        leases = [a for a in answers.answers if isinstance(a, Claimed)]
        meter.leases += [lease for claimed in leases for lease in claimed.leases]
        answering = time.thread_time()
        back = sealed(codec, encode_answers(answers))
        answered = time.thread_time()
        decode_answers(opened(codec, back))
        done = time.thread_time()
        amounts = (
            1.0,
            sum(isinstance(operation, Decide) for operation in operations),
            sum(len(claimed.leases) for claimed in leases),
        )
        sent.append((amounts, gone - began + done - answered))
        served.append((amounts, taken - gone + answered - answering))
    meter.ledger.close()
    shutil.rmtree(out)
    return {"turn_sent": fit(sent, 3), "turn_served": fit(served, 3)}


def sealed(codec: Codec, data: bytes) -> bytes:
    """Return the frame of a turn."""
    return codec.seal(Turn(1, 0, 1, data))


def opened(codec: Codec, frame: bytes) -> bytes:
    """Return what a frame of a turn carries."""
    return codec.open(frame).message.data  # type: ignore[union-attr]
