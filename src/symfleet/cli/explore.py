"""`symfleet explore`: from seeds to a corpus and crashes. On an existing campaign it resumes."""

# Cyclopts reads the annotations of a command made at run time: no `from __future__` here.

import dataclasses
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from symfleet.cli import present
from symfleet.cli.arguments import Invocation, Json
from symfleet.cli.campaign import how_to_begin, report_from_ledger, require_free_folder
from symfleet.cli.options import given, options_type
from symfleet.clock import SystemClock
from symfleet.config.environment import (
    config_file,
    inherited_environment,
    mpi_world_size,
    settings_environment,
    wants_colour,
)
from symfleet.config.hostfile import with_hostfile
from symfleet.config.model import CampaignConfig
from symfleet.config.resolve import resolve
from symfleet.doctor.target import check_engine, check_seeds, check_target
from symfleet.errors import (
    ExitCode,
    HostError,
    IntegrityError,
    IOFailure,
    SymfleetError,
    naming_folder,
    parts_of,
)
from symfleet.ledger.opener import has_ledger
from symfleet.observe.display import LaunchDisplay, Look
from symfleet.observe.lines import is_in_doubt, summary_lines
from symfleet.observe.report import Report
from symfleet.runtime.placement import place_ranks

ConfigFile = Annotated[
    Path | None,
    Parameter(name="--config", help="TOML file with settings.", show_default=False),
]


def register(app: App, invocation: Invocation) -> None:
    """Add the command."""
    options_class = options_type(everything=invocation.everything)

    @app.command(name="explore")
    def explore(
        *,
        options: Annotated[options_class, Parameter(name="*")] = options_class(),  # type: ignore[valid-type]  # noqa: B008
        config: ConfigFile = None,
        json: Json = False,
    ) -> int:
        """Explore a program from seeds; go on where an earlier launch in the folder stopped.

        What stands after `--` is the program and its arguments; `@@` stands for the input.
        """
        follow()
        flags: dict[str, Any] = given(options)
        if invocation.target is not None:
            flags["argv"] = invocation.target
        resolved = resolve(flags, settings_environment(), config or config_file())
        return launch(resolved.config, as_json=json)


def follow() -> None:
    """Under mpirun or srun be a rank, unless this is the root; does not return then."""
    if mpi_world_size() is not None:
        from symfleet.runtime.joined import follow_if_told

        follow_if_told(SystemClock())


def launch(config: CampaignConfig, *, as_json: bool, resumes: bool = False) -> int:
    """Check what can be checked at once, run the campaign, tell how it ended. `resumes`: a campaign
    that was just read from its folder."""
    from symfleet.runtime.launcher import run_campaign

    config = with_hostfile(config)
    config.require_complete()
    out = Path(config.output.out_dir).absolute()
    search = inherited_environment().get("PATH", os.defpath)
    program = check_target(config, search)
    if _executes_here(config):
        check_engine(config, search)
    require_free_folder(out)
    resumes = resumes or has_ledger(out)
    if not has_ledger(out):
        check_seeds(config)
    config = _absolute(config, program, out)
    clock = SystemClock()
    # JSON goes to standard output alone; what people read meanwhile goes beside it.
    stream = sys.stderr if as_json else sys.stdout
    mode = config.output.screen
    if mode == "auto":
        mode = "live" if stream.isatty() and wants_colour() else "plain"
    look = Look(
        started_wall_s=clock.wall(),
        period_s=config.output.status_period_s,
        plain_period_s=config.output.plain_period_s,
        colour=wants_colour(),
        greeting=f"{'resuming' if resumes else 'starting'} {out} with"
        f" {config.resources.slots} slots{_left_out(config, out)}",
    )
    display = LaunchDisplay(out, mode, stream, look)
    try:
        code = run_campaign(config, must_exist=resumes, observer=display, clock=clock)
    finally:
        display.finished()
    _tell_end(out, code, as_json=as_json, quiet=mode == "none")
    return int(code)


def _executes_here(config: CampaignConfig) -> bool:
    """Whether this host is known to execute inputs, and not only others."""
    if mpi_world_size() is not None:  # the ranks are there already, wherever that is
        return False
    placement = place_ranks(config.resources)
    return placement is None or placement.hosts[0].slots > 0


def _left_out(config: CampaignConfig, out: Path) -> str:
    """Say that a campaign inside its own seeds does not feed on itself; empty when it is not."""
    around = [
        name for name in config.target.seed_paths if Path(name).resolve() in out.resolve().parents
    ]
    return f"; it lies in the seeds {', '.join(around)} and is left out of them" if around else ""


def _absolute(config: CampaignConfig, program: Path, out: Path) -> CampaignConfig:
    """Name everything by absolute path, so that a campaign can be resumed from anywhere."""
    seeds = tuple(str(Path(name).absolute()) for name in config.target.seed_paths)
    argv = (str(program), *config.target.argv[1:])
    return dataclasses.replace(
        config,
        target=dataclasses.replace(config.target, seed_paths=seeds, argv=argv),
        output=dataclasses.replace(config.output, out_dir=str(out)),
    )


def _tell_end(out: Path, code: ExitCode, *, as_json: bool, quiet: bool) -> None:
    if not has_ledger(out):  # it was stopped before there was anything to report
        if as_json:
            present.show_json({"exit_code": int(code), "report": None})
        elif not quiet:
            present.say(["", f"stopped before the campaign had begun: {how_to_begin(out)}"])
        return
    report = report_from_ledger(out)
    failure = _failure_of(report, code, out)
    if as_json:
        told = {} if failure is None else present.error_document(failure)
        present.show_json({"exit_code": int(code), "report": report, **told})
        return
    if not quiet:
        present.say(["", *summary_lines(report, str(out))])
    if failure is not None:
        present.show_error(failure, as_json=False, debug=False)


def _failure_of(report: Report, code: ExitCode, out: Path) -> SymfleetError | None:
    """Return why an epoch that was closed in good order had to end, None when it did not have to.

    The ledger keeps the story of an error as one text; here it gets its four parts again."""
    families = {
        ExitCode.HOST: HostError,
        ExitCode.INTEGRITY: IntegrityError,
        ExitCode.IO: IOFailure,
    }
    family = families.get(code)
    if family is None or report.epoch is None:
        return None
    what, where, why, hint = parts_of(report.epoch.reason or "")
    way_on = (
        "look first what `symfleet verify` says; docs/howto/recover.md tells what to do then"
        if is_in_doubt(int(code))
        else "mend the cause, then `symfleet resume` goes on: nothing is lost"
    )
    return family(
        what if where or why else "the campaign had to stop",
        where=where or str(out),
        why=why or what,
        hint=naming_folder(hint or way_on, shlex.quote(str(out))),
    )
