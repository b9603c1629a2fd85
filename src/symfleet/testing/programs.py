"""Configurations of small campaigns whose engine is a program of a few lines."""

from __future__ import annotations

import sys
from pathlib import Path

from symfleet.config.model import (
    Advanced,
    CampaignConfig,
    Output,
    Resources,
    Stop,
    Target,
)


def program_campaign(
    out: Path,
    seeds: Path,
    program: Path,
    log: Path,
    *,
    slots: int,
    seconds: float = 0.0,
    stop: Stop | None = None,
    advanced: Advanced | None = None,
) -> CampaignConfig:
    """Return a campaign that explores everything that `program` yields.

    The program is called with the input, the output folder, `log` (where it appends the digest of
    each input that it runs) and the seconds that it should take."""
    words = (sys.executable, "-S", "-E", str(program), "@@", "@out", str(log), f"{seconds:g}")
    return CampaignConfig(
        target=Target(
            argv=(sys.executable,),
            seed_paths=(str(seeds),),
            keep="all",
            engine="command",
            engine_command=words,
        ),
        resources=Resources(jobs=slots),
        stop=stop or Stop(until_quiescent=True),
        output=Output(out_dir=str(out), screen="none"),
        advanced=advanced or Advanced(),
    )
