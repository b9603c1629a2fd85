"""Spoilt streams to the native executor: it may refuse and end, it never breaks.

The full form takes an executor with sanitizers: `python -m benchmarks.frames --executor`.
"""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

import pytest

from symfleet.testing.frames.executor import garbage_to_executor

STREAMS = 24


def test_no_spoilt_stream_breaks_the_executor(
    program: Path, fake_target: str, tmp_path: Path
) -> None:
    report = garbage_to_executor(
        (str(program), "--serve"),
        (fake_target, "magic", "@@"),
        tmp_path,
        "executor",
        STREAMS,
        env=dict(os.environ),
    )
    assert report.violations == []
    assert report.frames == STREAMS


@pytest.mark.parametrize("nested", [b"\x91", b"\x81\xa1k"])
def test_a_frame_that_is_nested_without_end_is_refused(program: Path, nested: bytes) -> None:
    body = b"\x82\xa1x" + nested * 5_000_000 + b"\xc0\xa1t\xa5hello"
    with subprocess.Popen(
        [program, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(struct.pack("<I", len(body)) + body)
        process.stdin.flush()
        code = process.wait(60)  # before the end of its input, which would end it at once
        assert process.stderr is not None
        said = process.stderr.read()
    assert code > 0, said
    assert b"nested too deep" in said
