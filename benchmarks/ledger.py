"""Speed of the ledger: state transitions and durable results, against one file per record.

The baseline is what a job queue on a file system does for each record: write a temporary file,
fsync it, rename it, fsync the folder. Both run in turn in the same process on the same disk, so
that the ratio says something on any machine.

    python -m benchmarks.ledger [--quick] [--folder DIR] [--json FILE]
                                [--postgres [--connections N]]

With --postgres: the same turns on a private PostgreSQL server on that disk, against SQLite and
against one row a transaction on the server; and by N processes at once, each over its own
connection, which share the cores with the server.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import secrets
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.ledger_writers import Load, rate_of_writers
from symfleet.clock import SystemClock
from symfleet.ledger import opener, postgres_opener
from symfleet.ledger.postgres import PostgresLedger
from symfleet.ledger.row_reading import RowReading
from symfleet.ledger.sqlite import SqliteLedger
from symfleet.protocol.answers import Claimed, Decided, Lease
from symfleet.protocol.operations import Admit, Claim, Decide, Release
from symfleet.testing.ledgers import admission, campaign_row, child, decision, epoch_request
from symfleet.testing.stores.postgres_cluster import Cluster, programs
from symfleet.types import CampaignId, Keep, WorkState

BATCH = 64
Owned = SqliteLedger | PostgresLedger
Make = Callable[[Path], Owned]
CHILD_BYTES = 1024


@dataclass(frozen=True)
class Figure:
    """One measured rate. `ratio`: against the baseline named `against`, of the same run."""

    name: str
    unit: str
    median: float
    low: float
    high: float
    repetitions: int
    against: str = ""
    ratio: float = 0.0


REQUEST = opener.OwnerRequest("bench", os.getpid())


def create(out: Path) -> SqliteLedger:
    """Make a campaign with an epoch and a source."""
    ledger = opener.create(out, campaign_row(Keep.ALL), REQUEST, SystemClock())
    ledger.open_epoch(epoch_request())
    assert ledger.register_source("seeds", "/s", "bench") == 1
    return ledger


def on_server(url: str) -> Make:
    """Return how to make such a campaign on a server."""

    def make(out: Path) -> PostgresLedger:
        row = replace(campaign_row(Keep.ALL), campaign=CampaignId(secrets.token_hex(16)))
        ledger = postgres_opener.create(out, row, REQUEST, SystemClock(), url)
        ledger.open_epoch(epoch_request())
        assert ledger.register_source("seeds", "/s", "bench") == 1
        return ledger

    return make


def own(out: Path) -> SqliteLedger:
    """Open an existing ledger as its owner."""
    return opener.open_owner(out, REQUEST, SystemClock())


@contextmanager
def owned(folder: Path, items: int, make: Make = create) -> Iterator[Owned]:
    """A ledger with pending items."""
    out = Path(tempfile.mkdtemp(dir=folder))
    ledger = make(out)
    for start in range(0, items, 1000):
        ledger.run([Admit(1, tuple(admission(b"item %d" % n) for n in range(start, start + 1000)))])
        ledger.checkpoint()
    try:
        yield ledger
    finally:
        ledger.close()
        shutil.rmtree(out)


def claim(ledger: Owned, amount: int) -> tuple[Lease, ...]:
    """Lease rows."""
    (answer,) = ledger.run([Claim(0, amount)]).answers
    assert isinstance(answer, Claimed)
    assert len(answer.leases) == amount
    return answer.leases


def rate_of_transitions(
    folder: Path, seconds: float, batch: int = BATCH, make: Make = create
) -> float:
    """Claim and give back in turns of `batch` rows; return state changes per second."""
    with owned(folder, 20_000, make) as ledger:
        done = 0
        end = time.perf_counter() + seconds
        start = time.perf_counter()
        while time.perf_counter() < end:
            leases = claim(ledger, batch)
            ledger.run([Release(lease.work_id, lease.token, "given_back") for lease in leases])
            ledger.checkpoint()
            done += 2 * batch
        return done / (time.perf_counter() - start)


def rate_of_decisions(folder: Path, seconds: float) -> float:
    """Claim and decide without children; return state changes per second."""
    with owned(folder, 40_000 if seconds < 2 else 200_000) as ledger:
        done = 0
        spent = 0.0
        while spent < seconds and done < (76_000 if seconds < 2 else 390_000):
            began = time.perf_counter()
            leases = claim(ledger, BATCH)
            spent += time.perf_counter() - began
            decides = [decision(lease, keep=Keep.ALL) for lease in leases]
            began = time.perf_counter()
            ledger.run(decides)
            ledger.checkpoint()
            spent += time.perf_counter() - began
            done += 2 * BATCH
        return done / spent


def rate_of_results(folder: Path, seconds: float, batch: int, make: Make = create) -> float:
    """Claim and decide with two new children of 1 KiB each; return durable results per second.

    Making the results is the engines' work and is not timed.
    """
    with owned(folder, 1000, make) as ledger:
        done = serial = 0
        spent = 0.0
        while spent < seconds:
            began = time.perf_counter()
            leases = claim(ledger, batch)
            spent += time.perf_counter() - began
            decides: list[Decide] = []
            for lease in leases:
                kids = [child(new_input(serial + n)) for n in range(2)]
                serial += 2
                decides.append(decision(lease, kids, keep=Keep.ALL))
            began = time.perf_counter()
            answers = ledger.run(decides).answers
            ledger.checkpoint()
            spent += time.perf_counter() - began
            assert all(isinstance(a, Decided) and a.new_work == 2 for a in answers)
            done += batch
        return done / spent


def new_input(serial: int) -> bytes:
    """Return 1 KiB that no other call returned."""
    return serial.to_bytes(8, "little") * (CHILD_BYTES // 8)


def write_record(folder: Path, name: str, data: bytes) -> None:
    """Write one durable file the way job queues on file systems do."""
    unfinished = folder / (name + ".tmp")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.write(descriptor, data)
    os.fsync(descriptor)
    os.close(descriptor)
    unfinished.rename(folder / name)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(descriptor)
    os.close(descriptor)


def rate_of_file_transitions(folder: Path, seconds: float) -> float:
    """Rewrite one small record for each transition."""
    out = Path(tempfile.mkdtemp(dir=folder))
    record = json.dumps({"id": "0" * 64, "state": "leased", "token": "0" * 64}).encode()
    done = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        write_record(out, f"{done % 1000:04}", record)
        done += 1
    rate = done / (time.perf_counter() - start)
    shutil.rmtree(out)
    return rate


def rate_of_file_results(folder: Path, seconds: float) -> float:
    """Write two children, their two records, and the parent's record for each result."""
    out = Path(tempfile.mkdtemp(dir=folder))
    record = json.dumps({"id": "0" * 64, "state": "done", "children": ["0" * 64] * 2}).encode()
    done = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        for n in range(2):
            write_record(out, f"{done}-{n}.input", new_input(done * 2 + n))
            write_record(out, f"{done}-{n}.work", record)
        write_record(out, f"{done % 1000}.work", record)
        done += 1
    rate = done / (time.perf_counter() - start)
    shutil.rmtree(out)
    return rate


def opening_times(folder: Path, rows: int) -> list[Figure]:
    """Measure opening and listing with `rows` decided items and 300 open ones."""
    out = Path(tempfile.mkdtemp(dir=folder))
    ledger = create(out)
    for start in range(0, rows, 1000):
        entries = tuple(admission(b"item %d" % n) for n in range(start, start + 1000))
        ledger.run([Admit(1, entries)])
        decides = [decision(lease, keep=Keep.ALL) for lease in claim(ledger, 1000)]
        ledger.run(decides)
        ledger.checkpoint()
    ledger.run([Admit(1, tuple(admission(b"open %d" % n) for n in range(300))), Claim(0, 100)])
    ledger.abandon()
    figures = [
        timed("reader opens", rows, lambda: opener.open_reader(out).close()),
        timed("owner opens, start check included", rows, lambda: own(out).close()),
    ]
    reader = opener.open_reader(out)
    figures += [
        timed("status told", rows, reader.status),
        timed("open work listed", rows, lambda: list_open(reader)),
    ]
    reader.close()
    shutil.rmtree(out)
    return figures


def list_open(reader: RowReading) -> None:
    """List everything that is open."""
    states = (WorkState.PENDING, WorkState.LEASED, WorkState.DEFERRED, WorkState.POISONED)
    assert sum(len(reader.work_rows(state, 1000)) for state in states) == 300


def timed(name: str, rows: int, run: Callable[[], object]) -> Figure:
    """Repeat something short; return milliseconds."""
    values = []
    for _ in range(7):
        began = time.perf_counter()
        run()
        values.append((time.perf_counter() - began) * 1e3)
    values.sort()
    title = f"{name}, {rows:,} decided"
    return Figure(title, "ms", statistics.median(values), values[0], values[-1], len(values))


def measured(name: str, unit: str, repetitions: int, run: Callable[[], float]) -> Figure:
    """Repeat a measurement."""
    values = sorted(run() for _ in range(repetitions))
    print(f"  {name}: {[round(value) for value in values]}", file=sys.stderr)
    return Figure(name, unit, statistics.median(values), values[0], values[-1], repetitions)


def compared(figure: Figure, baseline: Figure) -> Figure:
    """Add the ratio to a baseline of the same run."""
    ratio = figure.median / baseline.median
    return Figure(**(asdict(figure) | {"against": baseline.name, "ratio": ratio}))


def writers_rate(folder: Path, connections: int, load: Load, make: Make) -> float:
    """Let processes write to a new ledger over their own connections; return rows per second."""
    with owned(folder, 20_000, make) as ledger:
        access = ledger.access()
        assert access is not None
        return rate_of_writers(access, connections, load)


def postgres_figures(
    folder: Path, repetitions: int, seconds: float, connections: int
) -> list[Figure]:
    """Measure turns on a private server whose files are on the same disk."""
    bin_folder = programs()
    assert bin_folder is not None, "no PostgreSQL server is installed"
    # Beside our own folder: the server runs as another user, who may not enter that one.
    cluster = Cluster(bin_folder, home=folder.parent)
    try:
        make = on_server(cluster.url)

        def moves(name: str, batch: int, make: Make) -> Figure:
            return measured(
                f"claim + give back, {batch} a turn, {name}",
                "transitions/s",
                repetitions,
                lambda: rate_of_transitions(folder, seconds, batch, make),
            )

        def results(name: str, batch: int, make: Make) -> Figure:
            return measured(
                f"results, {batch} a turn, {name}",
                "results/s",
                repetitions,
                lambda: rate_of_results(folder, seconds, batch, make),
            )

        def together(what: str, unit: str, *, results: bool) -> Figure:
            load = Load(BATCH, seconds, results)
            return measured(
                f"{what}, {BATCH} a turn, {connections} connections",
                unit,
                repetitions,
                lambda: writers_rate(folder, connections, load, make),
            )

        single, sqlite = moves("PostgreSQL", 1, make), moves("SQLite", BATCH, create)
        one, beside = results("PostgreSQL", 1, make), results("SQLite", BATCH, create)
        return [
            single,
            compared(moves("PostgreSQL", BATCH, make), single),
            compared(together("claim + give back", "transitions/s", results=False), single),
            compared(sqlite, single),
            one,
            compared(results("PostgreSQL", BATCH, make), one),
            compared(together("results", "results/s", results=True), one),
            compared(beside, one),
        ]
    finally:
        cluster.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one repetition of 0.7 s each")
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="on the disk to measure")
    parser.add_argument("--postgres", action="store_true", help="measure a PostgreSQL server")
    parser.add_argument("--connections", type=int, default=8, help="that write at once")
    parser.add_argument("--repetitions", type=int, default=5, help="of each measurement")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    options = parser.parse_args()
    repetitions, seconds = (1, 0.7) if options.quick else (options.repetitions, 4.0)
    load = os.getloadavg()[0]
    folder = Path(tempfile.mkdtemp(prefix="ledger-benchmark-", dir=options.folder))
    if options.postgres:
        try:
            figures = postgres_figures(folder, repetitions, seconds, options.connections)
        finally:
            shutil.rmtree(folder)
        report(figures, options.json, load)
        return
    try:
        file_moves = measured(
            "one file a transition",
            "transitions/s",
            repetitions,
            lambda: rate_of_file_transitions(folder, seconds),
        )
        file_results = measured(
            "five files a result",
            "results/s",
            repetitions,
            lambda: rate_of_file_results(folder, seconds),
        )
        moves = measured(
            "claim + give back, 64 a turn",
            "transitions/s",
            repetitions,
            lambda: rate_of_transitions(folder, seconds),
        )
        decisions = measured(
            "claim + decide, 64 a turn",
            "transitions/s",
            repetitions,
            lambda: rate_of_decisions(folder, seconds),
        )
        results = [
            measured(
                f"result with 2 children of 1 KiB, {batch} a turn",
                "results/s",
                repetitions,
                lambda batch=batch: rate_of_results(folder, seconds, batch),  # type: ignore[misc]
            )
            for batch in (1, 8, BATCH)
        ]
        openings = opening_times(folder, 20_000 if options.quick else 1_000_000)
    finally:
        shutil.rmtree(folder)
    figures = [
        file_moves,
        file_results,
        compared(moves, file_moves),
        compared(decisions, file_moves),
        *(compared(figure, file_results) for figure in results),
        *openings,
    ]
    report(figures, options.json, load)


def report(figures: list[Figure], json_file: Path | None, load: float) -> None:
    """Print a table; write JSON when asked. `load`: runnable processes before the measurement."""
    print(f"{'':48} {'median':>10} {'low':>10} {'high':>10}  {'ratio':>6}")
    for figure in figures:
        ratio = f"{figure.ratio:5.0f}x" if figure.ratio else ""
        places = 1 if figure.unit == "ms" else 0
        print(
            f"{figure.name:48} {figure.median:10,.{places}f} {figure.low:10,.{places}f}"
            f" {figure.high:10,.{places}f}  {ratio:>6}  {figure.unit}"
        )
    if json_file is not None:
        document = {
            "machine": platform.machine(),
            "cores": os.cpu_count(),
            "load_average": load,
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
            "figures": [asdict(figure) for figure in figures],
        }
        json_file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
