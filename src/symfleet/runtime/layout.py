"""Which rank does what: coordinators, and which workers each of them has.

Rank 0 is the root, which is coordinator 0. Further coordinators go to the hosts with the most ranks
for each coordinator there, so that a worker finds one on its own host where that can be. Slots are
shared out as evenly as can be over the workers, and the workers over the coordinators: balance
comes first, the common host second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.errors import UserError

ROOT_RANK: Final = 0


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """What a worker rank is told: whom it serves, and with how many slots."""

    coordinator: int
    """Number of its coordinator."""
    slots: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Roles of all ranks."""

    coordinators: tuple[int, ...]
    """Rank of each coordinator, by number."""
    workers: Mapping[int, WorkerPlace]
    """By rank."""

    def group(self, number: int) -> tuple[int, ...]:
        """Return the worker ranks of a coordinator."""
        return tuple(rank for rank, place in self.workers.items() if place.coordinator == number)


def lay_out(
    hosts: Sequence[str], coordinators: int, slots: int, placed: Sequence[int] = ()
) -> Layout:
    """Give each rank its role. `hosts`: the host of each rank. `placed`: slots of each rank, 0 for
    a coordinator, where the launcher has placed the ranks itself. Raises UserError when there are
    too few ranks for so many coordinators with a worker each."""
    if placed:
        assert len(placed) == len(hosts), "the launcher has started the ranks that it placed"
        return _placed(hosts, placed)
    workers = len(hosts) - coordinators
    if workers < coordinators:
        raise UserError(
            f"{len(hosts)} ranks are too few for {coordinators} coordinators",
            where="mpirun or srun",
            why="each coordinator needs a rank of its own and one worker rank at least",
            hint=f"start at least {2 * coordinators} ranks, or lower --coordinators",
        )
    chosen = _coordinator_ranks(hosts, coordinators)
    ranks = [rank for rank in range(len(hosts)) if rank not in chosen]
    small, larger = divmod(slots, workers)
    sizes = {rank: max(1, small + (n < larger)) for n, rank in enumerate(ranks)}
    served = _share_workers(hosts, chosen, sizes)
    return Layout(
        tuple(chosen), {rank: WorkerPlace(served[rank], size) for rank, size in sizes.items()}
    )


def _placed(hosts: Sequence[str], sizes: Sequence[int]) -> Layout:
    chosen = [rank for rank, size in enumerate(sizes) if size == 0]
    slots = {rank: size for rank, size in enumerate(sizes) if size > 0}
    served = _share_workers(hosts, chosen, slots)
    return Layout(
        tuple(chosen), {rank: WorkerPlace(served[rank], size) for rank, size in slots.items()}
    )


def _coordinator_ranks(hosts: Sequence[str], coordinators: int) -> list[int]:
    """Choose a rank for each coordinator, the root's first."""
    free: dict[str, list[int]] = {}
    for rank, host in enumerate(hosts):
        free.setdefault(host, []).append(rank)
    there = dict.fromkeys(free, 0)
    chosen: list[int] = []
    while len(chosen) < coordinators:
        host = hosts[ROOT_RANK]
        if chosen:
            # The host where a coordinator would have the most ranks; the first one of equals.
            host = max(
                (name for name, ranks in free.items() if ranks),
                key=lambda name: (len(free[name]) + there[name]) / (there[name] + 1),
            )
        there[host] += 1
        chosen.append(free[host].pop(0))
    return chosen


def _share_workers(
    hosts: Sequence[str], chosen: Sequence[int], sizes: Mapping[int, int]
) -> dict[int, int]:
    """Return the coordinator's number for each worker rank."""
    loads = dict.fromkeys(range(len(chosen)), 0)
    counts = dict.fromkeys(loads, 0)
    full = len(sizes) // len(chosen)
    served: dict[int, int] = {}

    def give(rank: int, candidates: Sequence[int]) -> None:
        number = min(candidates, key=lambda one: (loads[one], counts[one], one))
        served[rank] = number
        loads[number] += sizes[rank]
        counts[number] += 1

    for rank in sizes:
        at_home = [n for n in loads if hosts[chosen[n]] == hosts[rank] and counts[n] < full]
        if at_home:
            give(rank, at_home)
    for rank in sizes:
        if rank not in served:
            fewest = min(counts.values())
            give(rank, [number for number in loads if counts[number] == fewest])
    return served
