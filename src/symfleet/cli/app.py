"""The command line's frame: which verbs there are, help, and where exceptions end.

`-h` shows what is needed every day, `--help-all` everything. What stands after `--` is the target's
command line and is never looked at.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

import cyclopts
from cyclopts import App, Group

from symfleet.cli import present
from symfleet.cli.arguments import Invocation
from symfleet.cli.options import plain_switches
from symfleet.clock import SystemClock
from symfleet.config.environment import mpi_world_size
from symfleet.config.resolve import nearest
from symfleet.errors import ExitCode, SymfleetError, UserError
from symfleet.runtime.identity import version

_HELP_ALL: Final = "--help-all"
_DEBUG: Final = "--debug"
_TARGET_MARK: Final = "--"
_INTERRUPTED: Final = 130

_VERBS: Final = (
    *("explore", "resume", "status", "top", "crashes", "corpus", "poison", "verify"),
    *("ledger", "doctor", "config"),
)
"""Each is a module of this package with a function `register`; help lists them in this order."""

_WITH_TARGET: Final = ("explore", "doctor")

_EPILOGUE: Final = (
    "Compile a target with `symfleet cc`, then: `symfleet explore -i seeds -o out -- ./target @@`."
    " Every command takes --json, --debug, -h and --help-all."
)


def build_app(invocation: Invocation, verb: str | None) -> App:
    """Make the application. Only the module of `verb` is loaded; None loads all, for help."""
    app = App(
        name="symfleet",
        help="Parallel and distributed concolic execution that never loses its place.",
        help_epilogue=_EPILOGUE,
        help_flags=["-h", "--help"],
        version_flags=["--version"],
        group_parameters=Group("General", sort_key=99),
        version=version(),
    )
    if verb is None:
        app.command(_compile, name="cc", help="Compile C for exploration: a drop-in compiler.")
        app.command(_compile, name="c++", help="Compile C++ for exploration: a drop-in compiler.")
    for name in _VERBS if verb is None else (verb,):
        importlib.import_module(f"symfleet.cli.{name}").register(app, invocation)
    for place, name in enumerate(name for name in app if not name.startswith("-")):
        app[name].sort_key = place
    return app


def _compile() -> None:
    """Stand in the help page; `main` runs the compiler before this could be reached."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line; return the exit code. Nothing but SystemExit leaves it."""
    tokens, target = split_target(arguments)
    as_json = "--json" in tokens
    debug = _DEBUG in tokens
    tokens = [token for token in plain_switches(tokens) if token != _DEBUG]
    try:
        return _dispatch(tokens, target)
    except SymfleetError as error:
        return _refused(error, as_json=as_json, debug=debug)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # how rich ends when a reader has gone
            return int(ExitCode.DONE)
        raise
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the border of the process)
        unexpected = present.lack_of_host(error) or present.bug(error)
        return _refused(unexpected, as_json=as_json, debug=debug)
    finally:
        _flush()


def _refused(error: SymfleetError, *, as_json: bool, debug: bool) -> int:
    """Say why, and let go whoever waits for this process as ranks of one job."""
    code = present.show_error(error, as_json=as_json, debug=debug)
    if mpi_world_size() is not None:
        _flush()
        from symfleet.runtime.joined import dismiss_followers

        dismiss_followers(error.what, SystemClock())
    return int(code)


def _flush() -> None:
    """Write out what is left; nobody needs to be there to read it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            present.mute(stream)


def split_target(arguments: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """Split at the first `--`; None when there is none."""
    if _TARGET_MARK not in arguments:
        return list(arguments), None
    place = list(arguments).index(_TARGET_MARK)
    return list(arguments[:place]), tuple(arguments[place + 1 :])


def _dispatch(tokens: list[str], target: tuple[str, ...] | None) -> int:
    everything = _HELP_ALL in tokens
    tokens = ["--help" if token == _HELP_ALL else token for token in tokens]
    verb = tokens[0] if tokens and tokens[0] in _VERBS else None
    app = build_app(Invocation(everything=everything, target=target), verb)
    misplaced = target is not None and verb not in _WITH_TARGET
    try:
        command, bound, _ = app.parse_args(tokens, exit_on_error=False, print_error=False)
    except cyclopts.CycloptsError as error:
        # A misspelt command is told first: the one that was meant may well take a target.
        if not misplaced or isinstance(error, cyclopts.UnknownCommandError):
            raise _usage_error(app, tokens, error) from error
        raise _misplaced_target(tokens, target or ()) from error
    if misplaced:
        raise _misplaced_target(tokens, target or ())
    result: Any = command(*bound.args, **bound.kwargs)
    return int(result or 0)


def _misplaced_target(tokens: Sequence[str], target: Sequence[str]) -> UserError:
    return UserError(
        "this command takes no target",
        where=" ".join(["symfleet", *tokens, _TARGET_MARK, *target]),
        why="only explore and doctor run a program that stands after `--`",
        hint="leave away what stands after `--`",
    )


def _usage_error(app: App, tokens: Sequence[str], error: cyclopts.CycloptsError) -> UserError:
    """Say in four parts why a command line cannot be read, with the nearest name."""
    chain = tuple(error.command_chain or ())
    command = " ".join(("symfleet", *chain))
    help_hint = f"`{command} --help-all` lists everything"
    where = " ".join(("symfleet", *tokens))
    match error:
        case cyclopts.UnknownOptionError():
            # What stands where arguments may stand has no keyword.
            word = (error.token.keyword or error.token.value).partition("=")[0]
            close = nearest(word, _option_names(error.argument_collection or ()))
            return UserError(
                f"there is no option {word}",
                where=where,
                why=f"`{command}` has no option of this name",
                hint=f"did you mean {close}?" if close else help_hint,
            )
        case cyclopts.UnknownCommandError():
            word = str((error.unused_tokens or ["?"])[0])
            names = [name for name in _at(app, chain) if not name.startswith("-")]
            close = nearest(word, names)
            return UserError(
                f"there is no command {word}",
                where=where,
                why=f"`{command}` has: {', '.join(sorted(names))}",
                hint=f"did you mean {close}?" if close else f"`{command} -h` tells about each",
            )
        case cyclopts.MissingArgumentError():
            name = error.argument.name if error.argument else "something"
            return UserError(
                f"{_plain_name(name)} is missing",
                where=where,
                why=f"`{command}` cannot do without it, or the option needs a value",
                hint=f"`{command} -h` shows how to call it",
            )
        case cyclopts.UnusedCliTokensError():
            extra = " ".join(error.unused_tokens or ())
            return UserError(
                f"nobody expects {extra}",
                where=where,
                why="all places are taken",
                hint="a target's command line stands after `--`; " + help_hint,
            )
        case _:
            return UserError(
                "the command line cannot be read", where=where, why=str(error), hint=help_hint
            )


def _at(app: App, chain: Sequence[str]) -> App:
    for name in chain:
        app = app[name]
    return app


def _option_names(arguments: Iterable[Any]) -> list[str]:
    names = [str(name) for argument in arguments for name in argument.names]
    return [name for name in names if name.startswith("-")] + ["--help", "--help-all", _DEBUG]


def _plain_name(name: str) -> str:
    return name.lstrip("-").upper() if name in {"--out", "--key", "--files", "--folder"} else name
