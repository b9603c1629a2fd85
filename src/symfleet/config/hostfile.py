"""Put what the hostfile says into the configuration of a launch."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from symfleet.config.hosts import read_hostfile, render_hosts
from symfleet.config.model import CampaignConfig
from symfleet.errors import UserError


def with_hostfile(config: CampaignConfig) -> CampaignConfig:
    """Return the configuration with the hosts of its hostfile, which is read at each launch; raise
    DataError or UserError for one that cannot be used or has too few slots."""
    resources = config.resources
    if not resources.hostfile:
        return config
    path = Path(resources.hostfile).absolute()
    hosts = read_hostfile(path)
    there = sum(host.slots for host in hosts)
    if resources.jobs is not None and resources.jobs > there:
        slots = "1 slot" if there == 1 else f"{there} slots"
        together = "its host has" if len(hosts) == 1 else f"its {len(hosts)} hosts have together"
        raise UserError(
            "the hostfile has too few slots",
            where=str(path),
            why=f"{together} {slots}, {resources.jobs} are asked for",
            hint="raise the slots there, or lower or leave away --jobs",
        )
    chosen = dataclasses.replace(resources, hosts=render_hosts(hosts), hostfile=str(path))
    return dataclasses.replace(config, resources=chosen)
