"""Let the executor try a target on one small input, as a worker would before a campaign."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from symfleet.doctor.check import Check, ok, problem, warning
from symfleet.engine.reasons import ADVICE, OUTPUT_LIMIT

_TRIAL_S: Final = 60.0
_SAID_CHARS_MAX: Final = 400
_INPUT: Final = b"symfleet" * 8


class _Loss(msgspec.Struct, frozen=True):
    """Where something that depends on the input was made concrete, and how often."""

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


def try_target(executor: Path, argv: tuple[str, ...], input_mode: str = "auto") -> Check:
    """Run one execution with `symfleet-exec`; say what it made of it. It never raises."""
    with tempfile.TemporaryDirectory(prefix="symfleet-doctor-") as folder:
        source = Path(folder) / "input"
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
            return problem(
                "trial", f"no end within {_TRIAL_S:g} s", "give a smaller job or check the target"
            )
        except OSError as error:
            return problem("trial", f"{executor}: {error.strerror}", "./symfleet.sh setup")
    if ended.returncode != 0:
        said = ended.stderr.decode(errors="replace").strip()[:_SAID_CHARS_MAX]
        return problem("trial", said or f"exit code {ended.returncode}", "see its message")
    return _judge(_last_done(ended.stdout))


def _last_done(output: bytes) -> _Done | None:
    for line in reversed(output.splitlines()):
        try:
            done = msgspec.json.decode(line, type=_Done)
        except msgspec.MsgspecError:
            continue
        if done.t == "done":
            return done
    return None


def _judge(done: _Done | None) -> Check:
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
        return warning("trial", f"no new input from a made-up one: {done.reason}", fix)
    told = f"{done.generated} new inputs from one, {done.events} branch events"
    told += f", {done.symbolic_bytes} symbolic bytes"
    if done.files:
        told += f"; opened {', '.join(done.files[:5])}"
    if done.losses:
        lost = ", ".join(f"{loss.where} ({loss.count} times)" for loss in done.losses[:5])
        told += f"; made concrete: {lost}"
    return ok("trial", told)
