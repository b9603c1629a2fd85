"""Speed of a PostgreSQL ledger that several processes write to, each over its own connection."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier

from symfleet.clock import SystemClock
from symfleet.config.ledger_address import LedgerAccess
from symfleet.ledger.places import attach_ledger
from symfleet.ledger.postgres_attached import AttachedLedger, AttachRequest
from symfleet.protocol.answers import Claimed, Decided, Lease
from symfleet.protocol.operations import Claim, Release
from symfleet.testing.ledgers import child, decision
from symfleet.types import Keep

CHILD_BYTES = 1024
_START_S = 120.0


@dataclass(frozen=True)
class Load:
    """What each process does: turns of `batch` rows for `seconds`; results bring two children."""

    batch: int
    seconds: float
    results: bool


@dataclass(frozen=True)
class Share:
    """What one process did: `amount` rows between two readings of one clock; its own CPU time."""

    amount: int
    began: float
    ended: float
    cpu_s: float


def rate_of_writers(access: LedgerAccess, connections: int, load: Load) -> float:
    """Let that many processes write at once; return what all did together per second."""
    shares = run_writers(access, connections, load)
    first, last = min(s.began for s in shares), max(s.ended for s in shares)
    return sum(share.amount for share in shares) / (last - first)


def run_writers(access: LedgerAccess, connections: int, load: Load) -> list[Share]:
    """Let that many processes write at once; return what each of them did."""
    spawning = multiprocessing.get_context("spawn")
    barrier, told = spawning.Barrier(connections), spawning.Queue()
    processes = [
        spawning.Process(target=_write, args=(access, number, load, barrier, told))
        for number in range(1, connections + 1)
    ]
    for process in processes:
        process.start()
    shares: list[Share] = [told.get(timeout=_START_S + load.seconds) for _ in processes]
    for process in processes:
        process.join()
    return shares


def _write(
    access: LedgerAccess, number: int, load: Load, barrier: Barrier, told: Queue[Share]
) -> None:
    ledger = attach_ledger(access, AttachRequest(number, "bench", os.getpid()), SystemClock())
    turn = _results(ledger, number, load) if load.results else _moves(ledger, number, load)
    barrier.wait(_START_S)
    done, cpu, began = 0, time.process_time(), time.monotonic()
    while (ended := time.monotonic()) - began < load.seconds:
        done += turn()
    told.put(Share(done, began, ended, time.process_time() - cpu))
    ledger.close()


def _claim(ledger: AttachedLedger, number: int, batch: int) -> tuple[Lease, ...]:
    (answer,) = ledger.run([Claim(number, batch)]).answers
    assert isinstance(answer, Claimed)
    return answer.leases


def _moves(ledger: AttachedLedger, number: int, load: Load) -> Callable[[], int]:
    def turn() -> int:
        leases = _claim(ledger, number, load.batch)
        ledger.run([Release(lease.work_id, lease.token, "given_back") for lease in leases])
        return 2 * len(leases)

    return turn


def _results(ledger: AttachedLedger, number: int, load: Load) -> Callable[[], int]:
    """Making results is the engines' work: children are made before the clock runs."""
    amount = int(1500 * load.seconds)
    tail = number.to_bytes(8, "little") * (CHILD_BYTES // 8 - 1)
    made = [child(serial.to_bytes(8, "little") + tail) for serial in range(2 * amount)]

    def turn() -> int:
        leases = _claim(ledger, number, load.batch)
        decides = [
            decision(lease, (made.pop(), made.pop()), keep=Keep.ALL) for lease in leases if made
        ]
        answers = ledger.run(decides).answers
        assert all(isinstance(a, Decided) and a.new_work == 2 for a in answers)
        return len(decides)

    return turn
