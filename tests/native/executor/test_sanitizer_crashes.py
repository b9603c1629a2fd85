"""A crash that a sanitizer found comes again where the campaign is not."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from wrapper import symfleet_cc

from symfleet.corpus.layout import Reproduction, project
from symfleet.protocol.answers import Artefact
from symfleet.triage.reproduce import replay
from symfleet.types import Epoch, Outcome, SinkKind, input_id_of

OVERFLOW = r"""
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  uint8_t bytes[4] = {0};
  if (read(0, bytes, 4) != 4)
    return 1;
  volatile uint8_t *room = malloc(4);
  int32_t sum = bytes[3] == 'Z' ? 0x7fffffff : 0;
  if (bytes[1] == 'X')
    room[bytes[0]] = 1;
  sum += bytes[2];
  free((void *)room);
  return sum == 3;
}
"""


def artefact(data: bytes) -> Artefact:
    return Artefact(
        number=1,
        kind=SinkKind.CRASHES,
        input_id=input_id_of(data),
        parent=None,
        outcome=Outcome.CRASH,
        signal=signal.SIGABRT,
        epoch=Epoch(1),
        decision=1,
        data=data,
    )


@pytest.mark.parametrize(
    ("sanitizers", "data"),
    [("address", b"\x04X00"), ("undefined", b"000Z"), ("address,undefined", b"000Z")],
)
def test_what_the_engine_calls_a_crash_is_reproduced(
    start: Callable[[], Any], tmp_path: Path, sanitizers: str, data: bytes
) -> None:
    source, program = tmp_path / "overflow.c", tmp_path / "overflow"
    source.write_text(OVERFLOW)
    words = ["-O1", f"-fsanitize={sanitizers}", str(source), "-o", str(program)]
    done = symfleet_cc(words, "c")
    assert done.returncode == 0, done.stderr
    executor = start()
    executor.hello([str(program)], input_mode="stdin")
    found = executor.run(data).done
    assert (found.outcome, found.signal) == ("crash", signal.SIGABRT)
    reproduction = Reproduction((str(program),), "stdin")
    again = replay(reproduction, data, 30.0, dict(os.environ))
    assert (again.outcome, again.signal) == (Outcome.CRASH, signal.SIGABRT), again.output
    for file in project(artefact(data), reproduction):
        path = tmp_path / "crashes" / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
        path.chmod(file.mode)
    script = tmp_path / "crashes" / input_id_of(data) / "reproduce.sh"
    told = subprocess.run([script], capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode == -signal.SIGABRT, told
    assert "overflow.c" in told.stderr
