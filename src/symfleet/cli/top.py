"""`symfleet top OUT`: the live screen of a campaign that runs elsewhere. It only reads."""

from __future__ import annotations

import sys
from pathlib import Path

from cyclopts import App

from symfleet.cli.arguments import Invocation, OutFolder
from symfleet.cli.campaign import is_owned, report_from_ledger, require_campaign
from symfleet.cli.present import say
from symfleet.clock import SystemClock
from symfleet.config.environment import wants_colour
from symfleet.observe.display import LaunchDisplay, Look
from symfleet.observe.lines import summary_lines
from symfleet.observe.report import read_status
from symfleet.runtime.stop_signals import StopSignals

_PERIOD_S = 1.0
_TICK_S = 0.1


def top(out: OutFolder, /) -> int:
    """Show the live screen of a running campaign; end with Ctrl-C or when it ends."""
    require_campaign(out)
    clock = SystemClock()
    mode = "live" if sys.stdout.isatty() else "plain"
    look = Look(
        started_wall_s=0.0, period_s=_PERIOD_S, plain_period_s=_PERIOD_S, colour=wants_colour()
    )
    display = LaunchDisplay(out, mode, sys.stdout, look)
    # Counted, not raised: Python drops a KeyboardInterrupt that comes while a finaliser runs.
    with StopSignals() as signals:
        while not signals.count and _is_live(out):
            display.ticked(clock.monotonic())
            clock.sleep(_TICK_S)
    display.finished()
    say(["", *summary_lines(report_from_ledger(out), str(out))])
    return 0


def _is_live(out: Path) -> bool:
    shown = read_status(out) if is_owned(out) else None
    return shown is not None and shown.live is not None


def register(app: App, _: Invocation) -> None:
    """Add the command."""
    app.command(top, name="top")
