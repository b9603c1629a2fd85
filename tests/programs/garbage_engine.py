"""Be a symfleet whose workers have engines that answer garbage. Arguments: the kind of garbage and
a command line. Started with `--serve KIND` it is such an engine."""

import hashlib
import os
import struct
import sys

import msgspec

ENGINE = "--serve"
encode = msgspec.msgpack.encode


def say(frame):
    body = frame if isinstance(frame, bytes) else encode(frame)
    os.write(1, struct.pack("<I", len(body)) + body)


def hear():
    """Return the next frame of the worker; end with it."""
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        sys.exit(0)
    return msgspec.msgpack.decode(sys.stdin.buffer.read(struct.unpack("<I", head)[0]))


def done(run, **changed):
    digest = hashlib.sha256(run["input"]).hexdigest()
    frame = {
        "t": "done",
        "id": run["id"],
        "digest": digest,
        "outcome": "ok",
        "exit_code": 0,
        "signal": 0,
        "edges": b"",
        "unstable": 0,
        "generated": 0,
        "dropped": 0,
        "flips": {},
        "how": {},
        "executions": 1,
        "solver_us": 0,
        "wall_us": 1,
        "cpu_us": 1,
        "rss_kib_max": 1,
    }
    return frame | changed


def serve(kind):
    """Answer as the kind says; its self-test is as bad, unless only its results lie."""
    ready = {"t": "ready", "engine": "garbage 1", "edges": 0, "build": "00", "pid": os.getpid()}
    deep = b"\x82\xa1x" + b"\x91" * 5000 + b"\xc0\xa1t\xa5ready"
    while True:
        heard = hear()
        match heard["t"], kind:
            case "hello", "noise":
                os.write(1, os.urandom(4096))
            case "hello", "deep":
                say(deep)
            case "hello", "twice":
                say(ready)
                say(ready)
            case "hello", _:
                say(ready)
            case "selftest", "lies":
                say({"t": "selftest", "ok": True, "message": ""})
            case "selftest", _:
                say(b"\xc1")
            case "run", "late":
                os.write(1, b"\xff" * 4096)
            case "run", "failure":
                say({"t": "failure", "reason": "no_memory", "message": "m\0", "hint": "h"})
            case "run", "lies":
                say(done(heard, digest="0" * 64))
            case _:
                pass


if sys.argv[1] == ENGINE:
    serve(sys.argv[2])

kind = sys.argv.pop(1)

from symfleet.cli.main import main  # noqa: E402
from symfleet.engine import client  # noqa: E402

start_child = client.processes.start_child


def start_garbage(words, **how):
    """Start garbage where an engine is to be started."""
    if "symfleet.engine.serve" in words:
        words = (sys.executable, os.path.abspath(__file__), ENGINE, kind)
    return start_child(words, **how)


client.processes.start_child = start_garbage
main()
