"""What things cost, in seconds of one core of the measured machine: the study's only parameters.

`benchmarks/scale_calibration.py` measures each on the machine that it runs on; nothing here is a
guess, and what was assumed rather than measured stands in `Assumed`. All models are linear in what
a turn holds. The simulation knows no other time than these and the lengths of executions.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

from symfleet.runtime.pace import Pace

BEGIN_TERMS: Final = ("turn", "slot", "evidence", "result", "decided", "ready", "other")
END_TERMS: Final = ("turn", "slot", "work", "leased", "decided", "other")
STORE_TERMS: Final = ("turn", "durable", "leased", "decided", "new_work", "other")

Vector = tuple[float, ...]


def total(costs: Vector, amounts: Vector) -> float:
    """Return the sum of costs times amounts."""
    return sum(map(float.__mul__, costs, amounts))


@dataclass(frozen=True, slots=True)
class Costs:
    """Measured. The vectors go with the terms of the same name.

    `begin`, `end`: the machine's two halves of a turn. `receive`, `send`: one frame over MPI.
    `loop`: the rest of a turn of the loop. `publish`: one file of the corpus sink, marks included,
    paid by the owner of the files between turns. `turn_sent`, `turn_served`: a turn of one
    coordinator that goes through the root, on its own side and on the root's; per turn, decided
    item and leased item. `sqlite`: a transaction at its owner. `postgres`: one at a client that has
    the server for itself; `postgres_alone`: the share of it that no two clients spend at the same
    time. `worker_gap`: from one delivery to the next on a slot, and `worker_item` from one item of
    a bundle to the next. `restart`: from the death of the root to the first turn of the next epoch,
    `restart_open` of it for each open row. `lost_seen`: until survivors hear of a dead rank.
    """

    begin: Vector
    end: Vector
    receive: float
    send: float
    loop: float
    publish: float
    turn_sent: Vector
    turn_served: Vector
    sqlite: Vector
    postgres: Vector
    postgres_alone: float
    sync: float
    host_delay: float
    worker_gap: float
    worker_item: float
    lost_seen: float
    restart: float
    restart_open: float
    sqlite_bytes: float
    """Of ledger.db for each decided item of the study."""
    postgres_bytes: float


SAMPLE: Final = Costs(
    begin=(5e-5, 0.0, 2e-5, 6e-5, 6e-5, 2e-5, 1e-5),
    end=(2e-5, 0.0, 6e-5, 2e-5, 3e-5, 1e-5),
    receive=5e-6,
    send=5e-6,
    loop=2e-5,
    publish=6e-5,
    turn_sent=(5e-5, 2e-5, 2e-5),
    turn_served=(5e-5, 3e-5, 2e-5),
    sqlite=(1e-4, 2e-4, 15e-6, 1e-4, 4e-5, 1e-5),
    postgres=(8e-4, 5e-4, 3e-5, 15e-5, 6e-5, 1e-5),
    postgres_alone=1.0,
    sync=15e-5,
    host_delay=2e-6,
    worker_gap=3e-4,
    worker_item=1e-4,
    lost_seen=0.05,
    restart=1.5,
    restart_open=1e-5,
    sqlite_bytes=5000,
    postgres_bytes=6000,
)
"""Costs of a machine that never was, for tests, and to shape the turns that a calibration times."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """Not measured here, because this machine is one host. A local network: `delay_s` one way, up
    to `jitter_s` more, `bytes_s` bytes a second."""

    delay_s: float = 100e-6
    jitter_s: float = 50e-6
    bytes_s: float = 1.25e9


def _looks() -> tuple[float, ...]:
    """Return when an idle loop looks, counted from the moment at which it became idle."""
    pace, at, times = Pace(), 0.0, [0.0]
    while at < 1.0:
        at += pace.idle(at, None)
        times.append(at)
    return tuple(times)


_LOOKS: Final = _looks()
_STEADY: Final = _LOOKS[-1] - _LOOKS[-2]


def next_look(idle_since: float, now: float) -> float:
    """Return when a loop that is idle since then sees what arrives now."""
    idle = now - idle_since
    if idle >= _LOOKS[-1]:
        beyond = idle - _LOOKS[-1]
        return now + (_STEADY - beyond % _STEADY)
    return idle_since + _LOOKS[bisect_left(_LOOKS, idle)]
