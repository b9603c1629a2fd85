"""Shows status.json while a campaign runs: a live screen, plain lines, or nothing.

It draws with cursor movements only (no alternate screen, no hidden cursor), so that a launcher that
is killed leaves a usable terminal behind. It runs on a thread of the launcher, which is outside
MPI, and only ever reads.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import threading
from pathlib import Path
from typing import Final, Self, TextIO

from symfleet.observe.lines import plain_line
from symfleet.observe.report import Report, decode_report
from symfleet.observe.screen import render

_HOME: Final = "\x1b[H"
_CLEAR: Final = "\x1b[2J"
_CLEAR_LINE: Final = "\x1b[K"
_CLEAR_BELOW: Final = "\x1b[J"


def read_status(out: Path) -> Report | None:
    """Return what status.json says, None when there is none or it is of another version."""
    try:
        return decode_report((out / "status.json").read_bytes())
    except OSError:
        return None


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


class Display:
    """Context manager around a running campaign. Reports of earlier launches are not shown."""

    def __init__(
        self, out: Path, mode: str, stream: TextIO, *, started_wall_s: float, period_s: float,
        plain_period_s: float, colour: bool,
    ) -> None:  # fmt: skip
        self._out = out
        self._mode = mode
        self._stream = stream
        self._started_wall_s = started_wall_s
        self._period_s = period_s if mode == "live" else plain_period_s
        self._colour = colour
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._mode in {"live", "plain"}:
            self._thread = threading.Thread(target=self._run, name="display", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        # A terminal that is closed must not end the campaign.
        with contextlib.suppress(OSError, ValueError):
            if self._mode == "live":
                self._stream.write(_CLEAR + _HOME)
            while not self._stop.wait(self._period_s):
                self._show()

    def _show(self) -> None:
        report = read_status(self._out)
        if report is None or report.live is None:
            return
        if report.live.written_wall_s < self._started_wall_s:
            return
        if self._mode == "plain":
            self._stream.write(plain_line(report) + "\n")
        else:
            size = shutil.get_terminal_size()
            lines = draw(report, size.columns, size.lines, colour=self._colour).split("\n")
            text = "".join(line + _CLEAR_LINE + "\r\n" for line in lines)
            self._stream.write(_HOME + text + _CLEAR_BELOW)
        self._stream.flush()
