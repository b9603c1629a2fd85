"""Shows status.json while a campaign runs: a live screen, plain lines, or nothing.

It draws with cursor movements only (no alternate screen, no hidden cursor), so that a launcher that
is killed leaves a usable terminal behind. It runs in the launcher, which is outside MPI, and only
ever reads.
"""

from __future__ import annotations

import contextlib
import io
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from symfleet.observe.lines import advice, plain_line
from symfleet.observe.report import Report, read_status
from symfleet.observe.screen import render

_HOME: Final = "\x1b[H"
_CLEAR_LINE: Final = "\x1b[K"
_CLEAR_BELOW: Final = "\x1b[J"


def draw(report: Report, width: int, height: int, *, colour: bool) -> str:
    """Return the screen as lines without cursor movements, at most `height - 1` of them."""
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=width,
        height=height,
        force_terminal=colour,
        no_color=not colour,
        legacy_windows=False,
        highlight=False,
    )
    console.print(render(report, width, height))
    return "\n".join(buffer.getvalue().rstrip("\n").split("\n")[: height - 1])


@dataclass(frozen=True, slots=True)
class Look:
    """How and when to show. Reports from before `started_wall_s` belong to an earlier launch."""

    started_wall_s: float
    period_s: float
    plain_period_s: float
    colour: bool
    greeting: str = ""
    """First line, told once the job runs; a live screen replaces it."""


class LaunchDisplay:
    """Shows a launch from inside the launcher, which has the terminal.

    `ticked` is called often and draws when it is time. `told` lines are for people: with a live
    screen the newest stands below it, else they are printed as they come.
    """

    def __init__(self, out: Path, mode: str, stream: TextIO, look: Look) -> None:
        """`mode` is `live`, `plain` or `none`."""
        self._out = out
        self._mode = mode
        self._stream = stream
        self._look = look
        self._next = 0.0
        self._told = ""
        self._hint = ""
        self._begun = False

    def ticked(self, now: float) -> None:
        """Draw when the period is over."""
        if self._mode == "none" or now < self._next:
            return
        period_s = self._look.period_s if self._mode == "live" else self._look.plain_period_s
        first = self._next == 0.0
        self._next = now + period_s
        if first:
            if self._look.greeting:
                self._line(self._look.greeting)
            if self._mode == "plain":
                return
        report = read_status(self._out)
        if report is None or report.live is None:
            return
        if report.live.written_wall_s < self._look.started_wall_s:
            return
        # A terminal that is closed must not end the campaign.
        with contextlib.suppress(OSError, ValueError):
            self._show(report)

    def told(self, line: str) -> None:
        """Tell people one line."""
        self._told = line
        if line and not (self._mode == "none" or self._begun):
            self._line(line)

    def finished(self) -> None:
        """Take the live screen away: what is printed next stands in its place."""
        if not self._begun:
            return
        self._begun = False
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(_HOME + _CLEAR_BELOW)
            self._stream.flush()
        if self._told:
            self._line(self._told)

    def _line(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(f"symfleet: {line}\n")
            self._stream.flush()

    def _show(self, report: Report) -> None:
        if self._mode == "plain":
            self._stream.write(plain_line(report) + "\n")
            hint = advice(report) or ""
            if hint and hint != self._hint:
                self._stream.write(f"symfleet: {hint}\n")
            self._hint = hint
        else:
            size = shutil.get_terminal_size()
            screen = draw(report, size.columns, size.lines - 1, colour=self._look.colour)
            lines = [*screen.split("\n"), self._told[: size.columns - 1]]
            text = "".join(line + _CLEAR_LINE + "\r\n" for line in lines)
            # What the terminal shows is scrolled away, not wiped: it is the user's.
            begin = _HOME if self._begun else "\r\n" * size.lines + _HOME
            self._stream.write(begin + text + _CLEAR_BELOW)
            self._begun = True
        self._stream.flush()
