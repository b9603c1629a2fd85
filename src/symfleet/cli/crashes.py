"""`symfleet crashes list|show|repro OUT`."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec
from cyclopts import App, Parameter

from symfleet.cli import present
from symfleet.cli.arguments import Invocation, Json, OutFolder
from symfleet.cli.campaign import config_of, reading
from symfleet.config.environment import inherited_environment
from symfleet.corpus.layout import command_line, input_path
from symfleet.corpus.reproductions import reproduction_of
from symfleet.errors import ExitCode, UserError
from symfleet.ledger.contract import CrashRow
from symfleet.triage.reproduce import Replay, replay
from symfleet.types import Outcome, SinkKind

CrashId = Annotated[str, Parameter(name="ID", help="Digest of the input, or its first digits.")]
OptionalId = Annotated[
    str | None,
    Parameter(name="ID", help="Digest of one input, or its first digits.", show_default=False),
]
_ID_SHOWN: Final = 16


class CrashShown(msgspec.Struct, frozen=True):
    """A crash or hang as JSON shows it."""

    kind: str
    input: str
    signal: int
    signal_name: str
    bytes: int
    parent: str | None
    epoch: int
    decision: int
    found_wall_s: float
    path: str


class Reproduced(msgspec.Struct, frozen=True):
    """One input that was run again."""

    input: str
    expected_signal: int
    reproduced: bool
    outcome: str
    signal: int
    exit_code: int
    command: tuple[str, ...]
    output: str


def signal_name(number: int) -> str:
    """Return `SIGSEGV`, or the number of a signal without a name."""
    if number == 0:
        return "-"
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def shown(row: CrashRow, out: Path) -> CrashShown:
    """Describe a row with its file."""
    return CrashShown(
        kind=row.kind.value,
        input=row.input_id,
        signal=row.signal,
        signal_name=signal_name(row.signal),
        bytes=row.size,
        parent=row.parent,
        epoch=row.epoch,
        decision=row.decision,
        found_wall_s=row.found_wall,
        path=str(input_path(out.absolute(), row.kind, row.input_id)),
    )


def list_crashes(out: OutFolder, /, *, json: Json = False) -> int:
    """List crashes and hangs, oldest first."""
    with reading(out) as reader:
        rows = [shown(row, out) for row in reader.crashes()]
    lines = [
        f"{row.kind:<8} {row.input[:_ID_SHOWN]}  {row.signal_name:<9} {row.bytes:>7} bytes"
        f"  epoch {row.epoch}"
        for row in rows
    ]
    if rows:
        lines += [
            "",
            f"files: {out}/{{crashes,hangs}}/DIGEST/input",
            f"more:  {_how(out, rows[0])}",
        ]
    present.show(rows, lines or ["no crashes and no hangs"], as_json=json)
    return 0


def _how(out: Path, row: CrashShown) -> str:
    name = row.input[:_ID_SHOWN]
    return f"symfleet crashes show {shlex.quote(str(out))} {name}   (or repro)"


def show_crash(out: OutFolder, crash: CrashId, /, *, json: Json = False) -> int:
    """Show one crash: what it is, where it came from, how to run it."""
    with reading(out) as reader:
        row = _find(list(reader.crashes()), crash)
        config = config_of(reader)
        data = reader.input_bytes(row.input_id)
    entry = shown(row, out)
    command = command_line(reproduction_of(config), entry.path)
    document = {"crash": entry, "command": command, "hex": data[:256].hex()}
    present.show(document, _crash_lines(entry, command, data), as_json=json)
    return 0


def _crash_lines(entry: CrashShown, command: tuple[str, ...], data: bytes) -> Iterator[str]:
    yield f"{entry.kind}  {entry.input}"
    yield f"signal     {entry.signal_name} ({entry.signal})"
    yield f"size       {entry.bytes} bytes"
    yield f"parent     {entry.parent or '-'}"
    yield f"found      epoch {entry.epoch}, decision {entry.decision}"
    yield f"file       {entry.path}"
    yield f"command    {shlex.join(command)}"
    for offset in range(0, min(len(data), 256), 16):
        row = data[offset : offset + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        yield f"  {offset:04x}  {row.hex(' '):<47}  {text}"
    if len(data) > 256:
        yield "  ..."


def repro(out: OutFolder, crash: OptionalId = None, /, *, json: Json = False) -> int:
    """Run the target on one crash or on all, and say whether the same thing happens.

    Exit code 0 when all do, 2 when one does not.
    """
    with reading(out) as reader:
        config = config_of(reader)
        rows = list(reader.crashes())
        chosen = [_find(rows, crash)] if crash is not None else rows
        reproduction = reproduction_of(config)
        results = []
        for row in chosen:
            again = replay(
                reproduction,
                reader.input_bytes(row.input_id),
                _timeout_s(row, config.limits.wall_ms),
                inherited_environment(),
            )
            path = str(input_path(out.absolute(), row.kind, row.input_id))
            results.append(_judge(row, again, command_line(reproduction, path)))
    present.show(results, _repro_lines(results), as_json=json)
    failed = any(not result.reproduced for result in results)
    return int(ExitCode.FINISHED_WITH_FAULTS if failed else ExitCode.DONE)


def _timeout_s(row: CrashRow, wall_ms: int) -> float:
    # A crash may be slow on a busy machine; a hang must only outlast its limit.
    return wall_ms / 1000 * (10 if row.kind is SinkKind.CRASHES else 1)


def _judge(row: CrashRow, again: Replay, command: tuple[str, ...]) -> Reproduced:
    if row.kind is SinkKind.HANGS:
        same = again.outcome is Outcome.HANG
    else:
        same = again.outcome is Outcome.CRASH and again.signal == row.signal
    return Reproduced(
        input=row.input_id,
        expected_signal=row.signal,
        reproduced=same,
        outcome=again.outcome.value,
        signal=again.signal,
        exit_code=again.exit_code,
        command=command,
        output=again.output[-4096:],
    )


def _repro_lines(results: list[Reproduced]) -> Iterator[str]:
    if not results:
        yield "no crashes and no hangs"
    for result in results:
        verdict = "reproduced" if result.reproduced else "NOT reproduced"
        now = signal_name(result.signal) if result.signal else result.outcome
        yield f"{result.input[:_ID_SHOWN]}  {verdict}: {now}   {shlex.join(result.command)}"


def _find(rows: list[CrashRow], prefix: str) -> CrashRow:
    found = [row for row in rows if row.input_id.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    raise UserError(
        "no crash has this digest" if not found else "this could be several crashes",
        where=prefix,
        why="none begins with these digits"
        if not found
        else ", ".join(row.input_id[:_ID_SHOWN] for row in found[:4]),
        hint="`symfleet crashes list` shows all",
    )


def register(app: App, _: Invocation) -> None:
    """Add the commands."""
    crashes = App(name="crashes", help="What was found: list, show, repro.")
    crashes.command(list_crashes, name="list")
    crashes.command(show_crash, name="show")
    crashes.command(repro, name="repro")
    app.command(crashes)
