"""What ssh is between real hosts: run a command on a pretended one.

    python -m symfleet.testing.hosts.shell [-FLAG...] [-o ConnectTimeout=S] HOST WORD...

Standard output, standard error and the exit code are the command's; 255, with a reason as ssh words
it, when the host cannot be reached. There is no encryption and nobody is asked who she is: the
network is a namespace that nothing else is part of.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from typing import BinaryIO, Final

from symfleet.testing.hosts.init import HEADER, PORT

UNREACHABLE: Final = 255
_CONNECT_S: Final = 5.0


def run(words: Sequence[str]) -> int:
    """Be the client; return the exit code."""
    rest, connect_s = list(words), _CONNECT_S
    while rest and rest[0].startswith("-"):
        if rest.pop(0) == "-o":
            name, _, value = rest.pop(0).partition("=")
            connect_s = float(value) if name == "ConnectTimeout" else connect_s
    host, command = rest[0], " ".join(rest[1:])
    try:
        with socket.create_connection((host, PORT), timeout=connect_s) as server:
            server.settimeout(None)
            server.sendall(command.replace("\n", " ").encode() + b"\n")
            with server.makefile("rb") as frames:
                return _copy(frames)
    except OSError as error:
        why = error.strerror or str(error)
        sys.stderr.write(f"ssh: connect to host {host} port {PORT}: {why}\n")
        return UNREACHABLE


def _copy(frames: BinaryIO) -> int:
    while head := frames.read(HEADER.size):
        kind, size = HEADER.unpack(head)
        data = frames.read(size)
        match kind:
            case b"o":
                os.write(1, data)
            case b"e":
                os.write(2, data)
            case _:
                return data[0]
    sys.stderr.write("ssh: the connection was closed by the host\n")
    return UNREACHABLE


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
