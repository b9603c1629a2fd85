"""`symfleet status OUT`: how a campaign goes, or how it ended."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from symfleet.cli import present
from symfleet.cli.arguments import Invocation, Json, OutFolder
from symfleet.cli.campaign import is_owned, is_worked_on, reading, report_from_ledger
from symfleet.observe.launches import epoch_lines, epochs_of
from symfleet.observe.lines import summary_lines

ExitCodeOfEpoch = Annotated[
    bool,
    Parameter(
        name="--exit-code",
        negative=(),
        show_default=False,
        help="Exit with the code of the newest epoch; 75 while it runs or when it crashed.",
    ),
]
Launches = Annotated[
    bool,
    Parameter(
        name="--launches",
        negative=(),
        show_default=False,
        help="Show every epoch instead: how it ended, and which settings were new in it. A launch"
        " has one, and one more for each time that it had to begin again by itself.",
    ),
]
_NO_VERDICT = 75


def status(
    out: OutFolder,
    /,
    *,
    exit_code: ExitCodeOfEpoch = False,
    launches: Launches = False,
    json: Json = False,
) -> int:
    """Show how a campaign goes, or how it ended; works beside a running one."""
    if launches:
        with reading(out) as reader:
            found = epochs_of(reader, lambda: is_owned(out), lambda: is_worked_on(out))
        present.show(found, epoch_lines(found), as_json=json)
        return 0
    report = report_from_ledger(out)
    present.show(report, summary_lines(report, str(out)), as_json=json)
    if not exit_code:
        return 0
    verdict = report.epoch.exit_code if report.epoch else None
    return _NO_VERDICT if verdict is None else verdict


def register(app: App, _: Invocation) -> None:
    """Add the command."""
    app.command(status, name="status")
