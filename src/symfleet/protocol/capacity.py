"""What can still run: of one coordinator, and of all as the root knows it from their News.

A coordinator that is not the root never ends an epoch for lack of workers: its News say so, and the
root judges the whole fleet. A group whose last News is older than the workers that were given to it
counts these as waited for, so that nothing is judged in the middle of an adoption.
"""

from __future__ import annotations

from dataclasses import dataclass

from symfleet.errors import ExitCode, IOFailure
from symfleet.protocol.core import Core, Ending
from symfleet.protocol.fleet import WorkerPhase
from symfleet.types import NO_SPACE


@dataclass(frozen=True, slots=True)
class Capacity:
    """Numbers of workers, slots and deliveries; `paused`: why every host is paused, else ""."""

    live: int = 0
    waiting: int = 0
    slots: int = 0
    usable: int = 0
    in_flight: int = 0
    paused: str = ""


def own_capacity(core: Core) -> Capacity:
    """Count this coordinator's fleet, without a look at each slot."""
    live = waiting = slots = usable = 0
    runs = False
    for worker in core.fleet.workers.values():
        slots += len(worker.slots)
        if worker.phase is WorkerPhase.JOINED:
            live += 1
            usable += len(worker.slots) - worker.slots_lost
            runs = runs or worker.host not in core.breaker.paused
        elif worker.phase is WorkerPhase.EXPECTED:
            waiting += 1
    paused = ""
    if live and not runs:
        host, why = next(iter(core.breaker.paused.items()))
        paused = f"{host}: {why}"
    return Capacity(live, waiting, slots, usable, len(core.in_flight), paused)


def whole_capacity(core: Core) -> Capacity:
    """Count the fleets of all living coordinators."""
    total = own_capacity(core)
    live, waiting = total.live, total.waiting
    slots, usable, in_flight = total.slots, total.usable, total.in_flight
    paused = [total.paused] if total.live else []
    for peer in core.peers.live:
        news = peer.news
        if news is None:
            waiting += max(1, len(peer.workers))
            continue
        live += news.workers
        waiting += news.waiting + max(0, len(peer.workers) - news.known)
        slots += news.slots
        usable += news.usable
        in_flight += news.in_flight
        if news.workers:
            paused.append(news.paused)
    why = paused[0] if paused and all(paused) else ""
    return Capacity(live, waiting, slots, usable, in_flight, why)


def end_without_hosts(paused: str) -> Ending:
    """Return how a job ends whose hosts are all paused: a full disk counts as one, whoever met it
    first. `paused`: host, and the reason that its engine gave."""
    host, _, why = paused.partition(": ")
    if not why.startswith(f"{NO_SPACE}: "):
        return Ending(f"no host can run the engine: {paused}", int(ExitCode.HOST))
    full = IOFailure(
        "no host can run the engine",
        where=host,
        why=why,
        hint="free some space there, then `symfleet resume` goes on where it stopped",
    )
    return Ending(str(full), int(full.exit_code))


def open_places(core: Core) -> int:
    """Count the places that waited for work when places were counted last."""
    if not core.fleet.free:
        return 0
    return sum(
        worker.free
        for worker in core.fleet.in_phase(WorkerPhase.JOINED)
        if worker.host not in core.breaker.paused
    )
