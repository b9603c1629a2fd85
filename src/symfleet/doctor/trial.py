"""Let the executor try a target on one small input, as a worker would before a campaign."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from symfleet.doctor.check import Check, first_of, ok, problem, warning
from symfleet.doctor.demangling import demangled
from symfleet.doctor.mixture import YOURS
from symfleet.engine.reasons import ADVICE, OUTPUT_LIMIT

_TRIAL_S: Final = 60.0
_SAID_CHARS_MAX: Final = 400
_INPUT: Final = b"symfleet" * 8
_CALL: Final = "call "
"""How the place of a call begins that handed something on (native/include/symfleet/calls.h)."""


class _Loss(msgspec.Struct, frozen=True):
    """Where something that depends on the input was made concrete, or handed to a function without
    labels, and how often."""

    where: str
    count: int


class _Done(msgspec.Struct, frozen=True):
    """What we need of `done` (executor protocol); the rest of the line is ignored."""

    t: str
    outcome: str = ""
    generated: int = 0
    events: int = 0
    reason: str | None = None
    opened: tuple[str, ...] = ()
    symbolic_bytes: int = 0
    files: tuple[str, ...] = ()
    losses: tuple[_Loss, ...] = ()


def try_target(
    executor: Path, argv: tuple[str, ...], input_mode: str = "auto", seed: Path | None = None
) -> Iterator[Check]:
    """Run one execution with `symfleet-exec`, on a made-up input if no seed is given; yield what it
    made of it. It never raises."""
    with tempfile.TemporaryDirectory(prefix="symfleet-doctor-") as folder:
        source = seed or Path(folder) / "input"
        if seed is None:
            source.write_bytes(_INPUT)
        children = Path(folder) / "children"
        children.mkdir()
        words = [str(executor), "--json", "-i", str(source), "-o", str(children)]
        words += ["--input-mode", input_mode, "--", *argv]
        try:
            ended = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TRIAL_S,
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            yield problem(
                "trial", f"no end within {_TRIAL_S:g} s", "give a smaller job or check the target"
            )
            return
        except OSError as error:
            yield problem("trial", f"{executor}: {error.strerror}", "./symfleet.sh setup")
            return
    if ended.returncode != 0:
        said = ended.stderr.decode(errors="replace").strip()[:_SAID_CHARS_MAX]
        yield problem("trial", said or f"exit code {ended.returncode}", "see its message")
        return
    done = _last_done(ended.stdout)
    yield _judge(done, "the seed" if seed else "a made-up one")
    if done is not None:
        yield from _handed_over(done)


def _last_done(output: bytes) -> _Done | None:
    for line in reversed(output.splitlines()):
        try:
            done = msgspec.json.decode(line, type=_Done)
        except msgspec.MsgspecError:
            continue
        if done.t == "done":
            return done
    return None


def _judge(done: _Done | None, parent: str) -> Check:
    if done is None:
        return problem("trial", "the executor said nothing", "./symfleet.sh setup")
    if done.outcome == "refused":
        opened = ", ".join(done.opened[:5]) or "nothing"
        return warning(
            "trial",
            f"the target read no byte of its input; it opened {opened}",
            "say how it is called: symfleet doctor [--input-mode MODE] -- TARGET [@@]",
        )
    if done.reason == OUTPUT_LIMIT:
        return warning("trial", "the target is cut off for its output", ADVICE[OUTPUT_LIMIT])
    if done.generated == 0 and done.reason is not None:
        fix = ADVICE.get(done.reason, "try it on a real seed with `symfleet-exec`")
        return warning("trial", f"no new input from {parent}: {done.reason}", fix)
    told = f"{done.generated} new inputs from one, {done.events} branch events"
    told += f", {done.symbolic_bytes} symbolic bytes"
    if done.files:
        told += f"; opened {', '.join(done.files[:5])}"
    losses = [loss for loss in done.losses if not loss.where.startswith(_CALL)]
    if losses:
        lost = ", ".join(f"{demangled(loss.where)} ({loss.count} times)" for loss in losses[:5])
        told += f"; made concrete: {lost}"
    return ok("trial", told)


def _handed_over(done: _Done) -> Iterator[Check]:
    """Yield what the run gave to functions without labels that depends on the input."""
    calls = [loss for loss in done.losses if loss.where.startswith(_CALL)]
    if not calls:
        return
    calls.sort(key=lambda loss: -loss.count)
    told = [f"{demangled(loss.where[len(_CALL) :])} ({loss.count} times)" for loss in calls]
    yield warning(
        "handed over",
        f"functions without a model got what depends on the input: {first_of(told)}",
        YOURS,
        told,
    )
