"""`symfleet doctor [-- TARGET]`: what this host or this target lacks, and how to mend it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter

from symfleet.cli import present
from symfleet.cli.arguments import Invocation, Json
from symfleet.config.environment import executor_path, inherited_environment
from symfleet.doctor.check import Check, Verdict, ok, problem
from symfleet.doctor.host import check_host
from symfleet.doctor.target import find_target, is_instrumented
from symfleet.doctor.trial import try_target
from symfleet.errors import ExitCode, HostError
from symfleet.runtime.mpirun import find_mpirun

Target = Annotated[
    str | None,
    Parameter(
        name="TARGET",
        help="A program to look at as well; with arguments: -- TARGET ARGS...",
        show_default=False,
    ),
]
Output = Annotated[
    Path,
    Parameter(name=["--output", "-o"], help="Where a campaign would be.", show_default=False),
]

_MARKS: Final = {Verdict.OK: "ok     ", Verdict.WARNING: "warning", Verdict.PROBLEM: "PROBLEM"}


def check_one_target(name: str, arguments: tuple[str, ...], search: str) -> Iterator[Check]:
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
    if executor_path().is_file():
        yield try_target(executor_path(), (str(program), *arguments))


def _lines(checks: list[Check]) -> Iterator[str]:
    for check in checks:
        yield f"{_MARKS[check.verdict]}  {check.name:<14} {check.detail}"
        if check.fix:
            yield f"         {'':<14} fix: {check.fix}"


def register(app: App, invocation: Invocation) -> None:
    """Add the command."""

    @app.command(name="doctor")
    def doctor(target: Target = None, /, *, output: Output = Path(), json: Json = False) -> int:
        """Check this host, and a target if one is given. Exit code 69 when something is missing.

        What stands after `--` is a program and its arguments, as `explore` takes it.
        """
        return examine((target,) if target else invocation.target or (), output, as_json=json)


def examine(argv: tuple[str, ...], output: Path, *, as_json: bool) -> int:
    """Show all checks; return the exit code. `argv`: the target, empty when there is none."""
    environment = inherited_environment()
    search = environment.get("PATH", os.defpath)
    try:
        mpirun: str | None = find_mpirun(search)
    except HostError:
        mpirun = None
    checks = list(check_host(output.absolute(), mpirun, environment))
    if argv:
        checks += check_one_target(argv[0], argv[1:], search)
    present.show(checks, _lines(checks), as_json=as_json)
    bad = any(check.verdict is Verdict.PROBLEM for check in checks)
    return int(ExitCode.HOST if bad else ExitCode.DONE)
