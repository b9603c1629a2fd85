"""Models of C library functions against the functions themselves, on random records.

`models/libc_models.c` calls each function twice in equal worlds and compares everything that can be
seen. Here it gets its records: all at once without an executor, and a few at a time in a session
whose recordings must explain themselves, where every argument depends on symbolic bytes.

The long form, by hand: `python tests/native/libc_models.py [--records N] [--seed N]`.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

from recording import Target, check_recording
from wrapper import SOURCES, symfleet_cc

PROGRAM = SOURCES / "models" / "libc_models.c"
INCLUDE = SOURCES.parents[1] / "native" / "include"
OPTIONS = ("-fno-builtin", f"-I{INCLUDE}")
RECORD_BYTES = 64
RECORDS_OF_A_RUN = 10
LEVELS = ("-O0", "-O1", "-O2", "-O3")
RUN_TIMEOUT_S = 600


def random_records(rng: random.Random, count: int) -> bytes:
    """Return records whose text repeats itself, so that searches find and comparisons last."""
    records = []
    for _ in range(count):
        alphabet = rng.choice([b"ab", b"aAbB01 \0", b"0123456789-+x \n", bytes(range(256))])
        text = bytes(rng.choice(alphabet) for _ in range(48))
        records.append(text + rng.randbytes(RECORD_BYTES - len(text)))
    return b"".join(records)


def told_apart_alone(program: pathlib.Path, data: bytes, folder: pathlib.Path) -> str:
    """Return what a run without executor tells apart; empty if nothing."""
    path = folder / "records"
    path.write_bytes(data)
    done = subprocess.run(
        [program, path], capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False
    )
    return "" if done.returncode == 0 else f"status {done.returncode}: {done.stdout[-2000:]}"


def told_apart_in_a_session(program: pathlib.Path, data: bytes, folder: pathlib.Path) -> str:
    """Return what a recorded run tells apart, or what its recording gets wrong."""
    size = RECORD_BYTES * RECORDS_OF_A_RUN
    with Target([str(program), "@@"], folder / "input") as target:
        for at in range(0, len(data), size):
            part = data[at : at + size]
            recording = target.run(part)
            if recording.status:
                return f"status {recording.status:#x}: {target.output()[-2000:]!r}"
            target.output()
            faults = check_recording(recording, part)
            if faults or recording.degraded or not recording.branches:
                return f"records at {at} of {part.hex()}: {faults[:5]}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for level in LEVELS:
            program = folder / f"models{level}"
            done = symfleet_cc(["-w", level, *OPTIONS, str(PROGRAM), "-o", str(program)])
            if done.returncode:
                sys.exit(done.stderr)
            rng = random.Random(options.seed)
            alone = told_apart_alone(program, random_records(rng, options.records), folder)
            session = told_apart_in_a_session(
                program, random_records(rng, options.records // 20), folder
            )
            print(f"{level}: {alone or 'alone: equal'}; {session or 'session: equal'}", flush=True)
            faults += bool(alone) + bool(session)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
