"""Where a campaign's files are. One function per place, so that a name stands here only."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, assert_never

from symfleet.config.model import INPUT_MARK
from symfleet.config.target import SOCKET_MODES
from symfleet.corpus.peer import PEER
from symfleet.protocol.answers import Artefact
from symfleet.types import InputId, SinkKind

LOST_AND_FOUND: Final = "lost+found"
STAGING: Final = ".staging"
CAMPAIGN_MARKS: Final = ("ledger.db", "ledger.url", "job.lock")
"""Files of which a campaign's folder always has one, from before its first look at the seeds.
campaign.toml is none: people keep settings of that name beside their seeds."""


SANITIZER_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "abort_on_error=1:halt_on_error=1:print_stacktrace=1",
    }
)
"""Variables of sanitizers, where nobody sets them: as the engine does (`fork_server.cpp`), a report
ends in a signal; for people who read it, it has names and lines."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """How the target is run on one input. `argv[0]` is an absolute path."""

    argv: tuple[str, ...]
    input_mode: str
    environment: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectedFile:
    """One file that an artefact becomes, relative to its sink's folder.

    `named_by_content`: the name stands for these bytes, so that others under it are a fault. The
    rest is derived (two executions may find one crash) and simply written again."""

    path: str
    data: bytes
    named_by_content: bool
    mode: int = 0o644


def sink_folder(out: Path, kind: SinkKind) -> Path:
    """Return the folder of a sink: OUT/corpus, OUT/crashes, OUT/hangs."""
    return out / kind.value


def corpus_path(input_id: InputId) -> str:
    """Return `ab/<digest>`."""
    return f"{input_id[:2]}/{input_id}"


def input_path(out: Path, kind: SinkKind, input_id: InputId) -> Path:
    """Return where the bytes of an artefact are."""
    folder = sink_folder(out, kind)
    if kind is SinkKind.CORPUS:
        return folder / corpus_path(input_id)
    return folder / input_id / "input"


def project(artefact: Artefact, reproduction: Reproduction) -> Iterator[ProjectedFile]:
    """Yield the files of an artefact; the same artefact always gives the same files."""
    match artefact.kind:
        case SinkKind.CORPUS:
            yield ProjectedFile(
                corpus_path(artefact.input_id), artefact.data, named_by_content=True
            )
        case SinkKind.CRASHES | SinkKind.HANGS:
            folder = artefact.input_id
            yield ProjectedFile(
                f"{folder}/report.json", _report(artefact, reproduction), named_by_content=False
            )
            yield ProjectedFile(
                f"{folder}/reproduce.sh",
                _script(artefact, reproduction),
                named_by_content=False,
                mode=0o755,
            )
            # Last: where the input is, the rest is too.
            yield ProjectedFile(f"{folder}/input", artefact.data, named_by_content=True)
        case _:
            assert_never(artefact.kind)


def argument_of(data: bytes) -> bytes:
    """Return what a program sees of an input that is an argument."""
    return data.partition(b"\0")[0]


def command_line(reproduction: Reproduction, stand_in: str) -> tuple[str, ...]:
    """Return the target's command line. `stand_in`: the input's path, with `argv` the argument."""
    if reproduction.input_mode not in ("file", "argv"):
        return reproduction.argv
    return tuple(word.replace(INPUT_MARK, stand_in) for word in reproduction.argv)


def _report(artefact: Artefact, reproduction: Reproduction) -> bytes:
    named = INPUT_MARK if reproduction.input_mode == "argv" else "input"
    report = {
        "input": artefact.input_id,
        "bytes": len(artefact.data),
        "outcome": artefact.outcome.value,
        "signal": artefact.signal,
        "parent": artefact.parent,
        "how": artefact.how,
        "site": f"{artefact.site:016x}",
        "epoch": artefact.epoch,
        "decision": artefact.decision,
        "command": list(command_line(reproduction, named)),
        "input_mode": reproduction.input_mode,
    }
    return json.dumps(report, indent=1, sort_keys=True).encode() + b"\n"


def _script(artefact: Artefact, reproduction: Reproduction) -> bytes:
    # The input's path must survive quoting: its mark is quoted with the word, then taken out of it.
    as_argument = reproduction.input_mode == "argv"
    stand_in = _quoted(argument_of(artefact.data)) if as_argument else '"$input"'
    words = []
    for word in reproduction.argv:
        parts = [shlex.quote(part) if part else "" for part in word.split(INPUT_MARK)]
        words.append(stand_in.join(parts) if len(parts) > 1 else parts[0] or "''")
    if reproduction.input_mode in SOCKET_MODES:
        words = ["python3", "-c", shlex.quote(PEER), reproduction.input_mode, '"$input"', *words]
    redirect = ' <"$input"' if reproduction.input_mode == "stdin" else ""
    lines = [
        "#!/bin/sh",
        f"# {artefact.outcome.value}, signal {artefact.signal}: runs the target on this input.",
        'input=$(dirname -- "$0")/input',
    ]
    lines += [f"export {shlex.quote(pair)}" for pair in reproduction.environment]
    for name, value in SANITIZER_OPTIONS.items():
        lines.append(f'export {name}="${{{name}-{value}}}"')
    lines.append(f"exec {' '.join(words)}{redirect}")
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def _quoted(data: bytes) -> str:
    """Return bytes as one word of a shell."""
    return shlex.quote(data.decode("utf-8", "surrogateescape"))
