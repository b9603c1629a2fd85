"""`symfleet doctor [TARGET]`: what this host or this target lacks, and how to mend it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter

from symfleet.cli import present
from symfleet.cli.arguments import Invocation, Json
from symfleet.clock import SystemClock
from symfleet.config.environment import (
    executor_path,
    inherited_environment,
    settings_environment,
)
from symfleet.config.hostfile import with_hostfile
from symfleet.config.model import Resources
from symfleet.config.resolve import resolve
from symfleet.config.target import INPUT_MODES
from symfleet.doctor.check import Check, Verdict, ok, problem
from symfleet.doctor.host import check_host
from symfleet.doctor.mixture import check_objects
from symfleet.doctor.target import find_target, is_instrumented
from symfleet.doctor.trial import try_target
from symfleet.errors import ExitCode, HostError, UserError
from symfleet.runtime.mpirun import find_mpirun
from symfleet.runtime.placement import place_ranks
from symfleet.runtime.reach import SSH, ask_hosts, problem_of

Target = Annotated[
    str,
    Parameter(
        name="TARGET",
        help="A program to look at as well, and its arguments; after -- when some are options.",
    ),
]
Output = Annotated[
    Path,
    Parameter(name=["--output", "-o"], help="Where a campaign would be.", show_default=False),
]

NamedHosts = Annotated[
    str | None,
    Parameter(name="--hosts", help="Other hosts, as `explore` takes them.", show_default=False),
]
Hostfile = Annotated[
    str | None,
    Parameter(
        name="--hostfile", help="File with hosts, as `explore` takes it.", show_default=False
    ),
]
Ssh = Annotated[
    str | None,
    Parameter(
        name="--ssh",
        help="Command that reaches a host.",
        show_default=False,
        allow_leading_hyphen=True,
    ),
]
InputMode = Annotated[
    str | None,
    Parameter(
        name="--input-mode",
        help=f"How the target gets its input, as `explore` takes it: {', '.join(INPUT_MODES)}.",
        show_default=False,
    ),
]

Seed = Annotated[
    Path | None,
    Parameter(
        name="--seed",
        help="An input to try the target on, instead of a made-up one.",
        show_default=False,
    ),
]

_MARKS: Final = {Verdict.OK: "ok     ", Verdict.WARNING: "warning", Verdict.PROBLEM: "PROBLEM"}


def check_one_target(
    name: str, arguments: tuple[str, ...], search: str, input_mode: str, seed: Path | None
) -> Iterator[Check]:
    """Yield the checks of a target; raise UserError when there is none to look at."""
    program = find_target(name, search)
    yield ok("target", str(program))
    if not is_instrumented(program):
        yield problem(
            "instrumented",
            "it was not built by `symfleet cc`",
            "build it with CC='symfleet cc' CXX='symfleet c++'",
        )
        return
    yield ok("instrumented", "built by symfleet")
    yield from check_objects(program)
    if executor_path().is_file():
        yield from try_target(executor_path(), (str(program), *arguments), input_mode, seed)


def _lines(checks: list[Check]) -> Iterator[str]:
    for check in checks:
        yield f"{_MARKS[check.verdict]}  {check.name:<14} {check.detail}"
        if check.fix:
            yield f"         {'':<14} fix: {check.fix}"


def register(app: App, invocation: Invocation) -> None:
    """Add the command."""

    @app.command(name="doctor")
    def doctor(
        *target: Target,
        input_mode: InputMode = None,
        seed: Seed = None,
        output: Output = Path(),
        hosts: NamedHosts = None,
        hostfile: Hostfile = None,
        ssh: Ssh = None,
        json: Json = False,
    ) -> int:
        """Check this host, others and a target if they are given. Exit code 69 when something is
        missing.

        A program and its arguments may stand after `--`, as `explore` takes them.
        """
        argv = (*target, *(invocation.target or ()))
        said: dict[str, object] = {"hosts": hosts, "hostfile": hostfile, "ssh": ssh}
        if input_mode is not None:
            said |= {"input_mode": input_mode, "argv": argv}
            if not argv:
                raise UserError(
                    "there is no target that could get its input",
                    where=f"--input-mode {input_mode}",
                    why="the option says how a target is called",
                    hint="symfleet doctor --input-mode MODE -- TARGET ...",
                )
        if seed is not None:
            _check_seed(seed, argv)
        flags = {name: value for name, value in said.items() if value is not None}
        config = with_hostfile(resolve(flags, settings_environment()).config)
        mode = config.target.input_mode
        return examine(argv, output, config.resources, mode, seed, as_json=json)


def _check_seed(seed: Path, argv: tuple[str, ...]) -> None:
    """Raise UserError when there is nothing that could be tried."""
    if not argv:
        raise UserError(
            "there is no target that could get the seed",
            where=f"--seed {seed}",
            why="the option says what the target is tried on",
            hint="symfleet doctor --seed FILE -- TARGET @@",
        )
    if not seed.is_file():
        raise UserError(
            "the seed is not a file",
            where=str(seed.absolute()),
            why="a target is tried on one input",
            hint="give a file after --seed",
        )


def check_other_hosts(resources: Resources) -> Iterator[Check]:
    """Yield a check of each host that is not this one: can it be reached, is it like this one?"""
    placement = place_ranks(resources)
    if placement is None:
        return
    for answer in ask_hosts(resources.ssh or SSH, placement.remote, SystemClock()):
        bad = problem_of(answer)
        if bad is None:
            yield ok(f"host {answer.host}", answer.said.splitlines()[-1])
        else:
            yield problem(f"host {answer.host}", f"{bad.what}: {bad.why}", bad.hint)


def examine(
    argv: tuple[str, ...],
    output: Path,
    others: Resources,
    input_mode: str,
    seed: Path | None,
    *,
    as_json: bool,
) -> int:
    """Show all checks; return the exit code. `argv`: the target, empty when there is none."""
    environment = inherited_environment()
    search = environment.get("PATH", os.defpath)
    try:
        mpirun: str | None = find_mpirun(search)
    except HostError:
        mpirun = None
    checks = list(check_host(output.absolute(), mpirun, environment))
    checks += check_other_hosts(others)
    if argv:
        checks += check_one_target(argv[0], argv[1:], search, input_mode, seed)
    present.show(checks, _lines(checks), as_json=as_json)
    bad = any(check.verdict is Verdict.PROBLEM for check in checks)
    return int(ExitCode.HOST if bad else ExitCode.DONE)
