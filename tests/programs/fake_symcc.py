#!/usr/bin/env python3
"""Stand-in for a SymCC-compiled binary: flips the first byte, unless its map has it already."""

import os
import signal
import sys

path = os.environ.get("SYMCC_INPUT_FILE")
if path:
    assert sys.argv[1] == path
    with open(path, "rb") as file:
        data = file.read()
else:
    data = sys.stdin.buffer.read()
if os.environ.get("SYMCC_NO_SYMBOLIC_INPUT") != "1":
    with open(os.environ["SYMCC_AFL_COVERAGE_MAP"], "ab+") as seen:
        seen.seek(0)
        if b"first" not in seen.read():
            seen.write(b"first")
            with open(os.path.join(os.environ["SYMCC_OUTPUT_DIR"], "000000"), "wb") as file:
                file.write(b"F" + data[1:])
    if data[:5] == b"fault":
        os.kill(os.getpid(), signal.SIGSEGV)
if data[:5] == b"crash":
    os.kill(os.getpid(), signal.SIGABRT)
