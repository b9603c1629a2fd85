"""Give a program its input through a socket, when it is run on it again."""

from __future__ import annotations

from typing import Final

PEER: Final = """\
import os, signal, socket, subprocess, sys, threading
way, path, *command = sys.argv[1:]
data = open(path, "rb").read()
if way == "listener":
    given, ours = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    given.bind("")
    given.listen(1)
    ours.connect(given.getsockname())
else:
    given, ours = socket.socketpair()
def feed():
    try:
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)
    except OSError:
        pass
def drain():
    try:
        while ours.recv(65536):
            pass
    except OSError:
        pass
child = subprocess.Popen(command, stdin=given)
given.close()
for part in (feed, drain):
    threading.Thread(target=part, daemon=True).start()
status = child.wait()
if status < 0:
    signal.signal(-status, signal.SIG_DFL) if -status not in (9, 19) else None
    os.kill(os.getpid(), -status)
os._exit(status)
"""
"""A program for `python3 -c`: WAY INPUT TARGET ARG...; it ends as the target does."""
