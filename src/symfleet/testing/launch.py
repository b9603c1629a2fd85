"""Run one launch: `python -m symfleet.testing.launch CONFIG.json`; exits with its code."""

import sys
from pathlib import Path

import msgspec

from symfleet.cli.present import say
from symfleet.clock import SystemClock
from symfleet.config.model import CampaignConfig
from symfleet.errors import SymfleetError
from symfleet.runtime.joined import dismiss_followers
from symfleet.runtime.launcher import run_campaign


class Told:
    """Prints what a launch tells."""

    def ticked(self, now: float) -> None:
        """Show nothing."""

    def told(self, line: str) -> None:
        """Print it."""
        say([line])


try:
    config = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=CampaignConfig)
    sys.exit(int(run_campaign(config, observer=Told())))
except SymfleetError as error:
    say([str(error)])
    dismiss_followers(error.what, SystemClock())
    sys.exit(int(error.exit_code))
