"""On which host each rank stands, and how many slots it has.

The root is on this host, where the output folder is: this host comes first, also when it executes
nothing itself. Workers stand where their slots are; further coordinators go where a coordinator
would have the most slots otherwise. Ranks are numbered host by host, coordinators of a host before
its workers, so that everybody can tell from a rank's number what it is.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from symfleet.config.hosts import HostSlots, parse_hosts
from symfleet.config.model import Resources
from symfleet.errors import UserError


@dataclass(frozen=True, slots=True)
class PlacedHost:
    """A host and the slots of its ranks in order; 0 for a coordinator."""

    name: str
    sizes: tuple[int, ...]

    @property
    def slots(self) -> int:
        """How many inputs it executes at the same time."""
        return sum(self.sizes)


@dataclass(frozen=True, slots=True)
class Placement:
    """All hosts, this one first."""

    hosts: tuple[PlacedHost, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Slots of each rank; 0 for a coordinator."""
        return tuple(size for host in self.hosts for size in host.sizes)

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.sizes)

    @property
    def slots(self) -> int:
        """Number of slots."""
        return sum(self.sizes)

    @property
    def remote(self) -> tuple[str, ...]:
        """All hosts but this one."""
        return tuple(host.name for host in self.hosts[1:])


def is_this_host(name: str) -> bool:
    """Whether a name or an address is this computer's own."""
    if name in ("localhost", socket.gethostname()):
        return True
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:  # nobody knows it: ssh will say so
        return False
    for family, kind, _, _, address in found:
        # Only an address of this computer can be bound.
        with contextlib.suppress(OSError), socket.socket(family, kind) as probe:
            probe.bind((address[0], 0))
            return True
    return False


def place_ranks(
    resources: Resources,
    *,
    absent: Sequence[str] = (),
    is_here: Callable[[str], bool] = is_this_host,
) -> Placement | None:
    """Share the slots of this launch out over the hosts; None without hosts.

    `absent`: hosts to leave out. Raises UserError when one host is named twice, or when there are
    more coordinators than the slots are worth."""
    wanted = _wanted(parse_hosts(resources.hosts), resources.slots)
    if not wanted:
        return None
    here = [host for host in wanted if is_here(host.name)]
    if len(here) > 1:
        raise UserError(
            "this host is named twice",
            where=", ".join(host.name for host in here),
            why="these names are all its own",
            hint="name it once, with all its slots",
        )
    own = HostSlots(socket.gethostname(), here[0].slots if here else 0)
    others = [host for host in wanted if host not in here and host.name not in absent]
    hosts = [own, *others]
    coordinators = _coordinators([host.slots for host in hosts], _fitting(resources, hosts))
    return Placement(
        tuple(
            PlacedHost(host.name, _sizes(host.slots, count, resources.slots_per_worker))
            for host, count in zip(hosts, coordinators, strict=True)
        )
    )


def _wanted(hosts: Sequence[HostSlots], slots: int) -> list[HostSlots]:
    """Take as many slots as are asked for, host by host."""
    wanted = []
    for host in hosts:
        take = min(host.slots, slots)
        slots -= take
        if take:
            wanted.append(HostSlots(host.name, take))
    return wanted


def _fitting(resources: Resources, hosts: Sequence[HostSlots]) -> int:
    """Return how many coordinators there are to be: no more than hosts that are left can use."""
    return max(1, min(resources.coordinator_count, sum(host.slots for host in hosts) // 3))


def _coordinators(slots: Sequence[int], count: int) -> list[int]:
    """Return how many coordinators each host has; the first has the root."""
    there = [1] + [0] * (len(slots) - 1)
    for _ in range(count - 1):
        busiest = max(range(len(slots)), key=lambda n: (slots[n] / (there[n] + 1), -n))
        there[busiest] += 1
    return there


def _sizes(slots: int, coordinators: int, slots_per_worker: int) -> tuple[int, ...]:
    workers = -(-slots // slots_per_worker)
    # Each coordinator needs somebody to serve, at home where that can be.
    workers = min(slots, max(workers, coordinators)) if slots else 0
    small, larger = divmod(slots, workers) if workers else (0, 0)
    return (0,) * coordinators + tuple(small + (n < larger) for n in range(workers))
