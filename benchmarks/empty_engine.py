"""An executor that does nothing, as fast as Python can: `empty_engine.py SECONDS --serve`.

It sleeps for SECONDS in each run, has no children, and speaks the executor protocol otherwise.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time

from symfleet.engine import frames
from symfleet.types import Outcome


def main() -> None:
    """Answer until the end of input."""
    seconds = float(sys.argv[1])
    reader = frames.FrameReader(frames.FROM_WORKER)
    while data := os.read(0, 1 << 20):
        reader.feed(data)
        while (frame := reader.next()) is not None:
            for answer in answers(frame, seconds):
                os.write(1, frames.encode_frame(answer))


def answers(frame: frames.FromWorker, seconds: float) -> list[frames.FromExecutor]:
    """Return what the worker hears."""
    match frame:
        case frames.Hello():
            return [frames.Ready("empty", 0, "0" * 64, os.getpid())]
        case frames.SelfTestRequest():
            return [frames.SelfTestAnswer(ok=True, message="")]
        case frames.Run():
            began = time.monotonic()
            time.sleep(seconds)
            return [
                frames.Started(frame.id),
                frames.Done(
                    id=frame.id,
                    digest=hashlib.sha256(frame.input).hexdigest(),
                    outcome=Outcome.OK,
                    exit_code=0,
                    signal=0,
                    edges=b"",
                    unstable=0,
                    generated=0,
                    dropped=0,
                    flips={},
                    how={},
                    executions=1,
                    solver_us=0,
                    wall_us=int((time.monotonic() - began) * 1e6),
                    cpu_us=0,
                    rss_kib_max=0,
                    reason="all_unsat",
                ),
            ]
        case _:
            return []


if __name__ == "__main__":
    main()
