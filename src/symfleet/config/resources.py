"""How much of which machines is used."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from symfleet.config.hosts import parse_hosts
from symfleet.config.knob import Checked, Kind, count, number, text, words
from symfleet.errors import UserError

_SLOTS_PER_COORDINATOR: Final = 90
"""What one coordinator serves well; measured in docs/explanation/scale.md."""
_SLOTS_PER_COORDINATOR_MIN: Final = 3


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class Resources(Checked):
    """How much of which machines is used."""

    jobs: int | None = count(
        None,
        1,
        1024,
        "How many inputs are executed at the same time.",
        short="-j",
        basic=True,
        derived="the number of usable cores",
    )
    slots_per_worker: int = count(8, 1, 64, "Slots that one worker process drives.")
    coordinators: int | None = count(
        None,
        1,
        64,
        "How many processes hand out work; each needs three slots at least.",
        derived="auto: one for about 90 slots",
    )
    hosts: str = text(
        "",
        "Hosts that execute inputs, and how many each at the same time: NAME:SLOTS,NAME:SLOTS. This"
        " host has the campaign in any case, and executes when it is named.",
        derived="this host",
        basic=True,
    )
    hostfile: str = text(
        "",
        "File with a line `NAME slots=SLOTS` for each host, instead of `--hosts`.",
        is_path=True,
        basic=True,
    )
    ssh: tuple[str, ...] = words(
        "Command that runs another on a host, called with the host and a command line.",
        kind=Kind.COMMAND,
        derived="ssh that asks no questions",
    )
    network: str = text(
        "",
        "Network that the hosts use among each other: names of interfaces or addresses with a"
        " prefix length (10.1.0.0/16), separated by commas.",
        derived="every network that two hosts share",
    )
    host_retry_s: float = number(
        15.0,
        1,
        86_400,
        "How often a host that was lost is asked whether it is back, while slots are missing.",
        unit="s",
    )

    def __post_init__(self) -> None:
        Checked.__post_init__(self)
        there = sum(host.slots for host in parse_hosts(self.hosts))
        if self.hosts and not self.hostfile and self.jobs is not None and self.jobs > there:
            raise UserError(
                f"jobs cannot be {self.jobs}",
                where="hosts",
                why=f"the hosts have {there} slots together",
                hint="add hosts or raise their slots, or leave --jobs away",
            )

    @property
    def slots(self) -> int:
        """Number of slots of the campaign."""
        if self.jobs is not None:
            return self.jobs
        return sum(host.slots for host in parse_hosts(self.hosts)) or _usable_cores()

    @property
    def coordinator_count(self) -> int:
        """Number of coordinators, the root's among them."""
        if self.coordinators is not None:
            return self.coordinators
        return max(1, round(self.slots / _SLOTS_PER_COORDINATOR))

    def require_slots(self) -> None:
        """Raise UserError when there are more coordinators than the slots are worth."""
        count = self.coordinator_count
        needed = _SLOTS_PER_COORDINATOR_MIN * count
        if count > 1 and self.slots < needed:
            raise UserError(
                f"coordinators cannot be {count}",
                where="coordinators",
                why=f"each needs {_SLOTS_PER_COORDINATOR_MIN} slots at least, and there are"
                f" {self.slots}",
                hint=f"raise --jobs to {needed} or lower --coordinators to"
                f" {max(1, self.slots // _SLOTS_PER_COORDINATOR_MIN)}",
            )

    @property
    def ranks(self) -> int:
        """Number of MPI processes."""
        return self.coordinator_count + len(self.slots_by_worker)

    @property
    def slots_by_worker(self) -> tuple[int, ...]:
        """Slots of each worker rank: as even as can be, two ranks at least for two slots, and as
        many for each coordinator."""
        slots, coordinators = self.slots, self.coordinator_count
        workers = max(-(-slots // self.slots_per_worker), min(2, slots))
        workers = -(-workers // coordinators) * coordinators
        small, larger = divmod(slots, workers)
        return tuple(small + (index < larger) for index in range(workers))
