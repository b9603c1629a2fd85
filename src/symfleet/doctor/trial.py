"""Let the executor try a target on one small input, as a worker would before a campaign."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from symfleet.doctor.check import Check, ok, problem

_TRIAL_S: Final = 60.0
_SAID_CHARS_MAX: Final = 400


def try_target(executor: Path, argv: tuple[str, ...]) -> Check:
    """Run one execution with `symfleet-exec -i INPUT -o DIR -- TARGET`; say what it made of it."""
    with tempfile.TemporaryDirectory(prefix="symfleet-doctor-") as folder:
        seed = Path(folder) / "input"
        seed.write_bytes(b"symfleet")
        children = Path(folder) / "children"
        children.mkdir()
        command = [str(executor), "-i", str(seed), "-o", str(children), "--", *argv]
        try:
            ended = subprocess.run(
                command,
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
        said = (ended.stderr or ended.stdout).decode(errors="replace").strip()[-_SAID_CHARS_MAX:]
        if ended.returncode != 0:
            return problem("trial", said or f"exit code {ended.returncode}", "see its message")
        made = sum(1 for _ in children.iterdir())
        return ok("trial", f"one execution made {made} new inputs")
