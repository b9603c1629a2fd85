"""The first process of a pretended host: makes its file tree, then serves its shell.

Started by `symfleet.testing.hosts.namespaces` inside fresh namespaces (network, mounts, host name,
IPC, processes). It builds a root of its own: the system and symfleet's environment are mounted
read-only at their own places, everything else is the host's own folder. Being process 1, it reaps
orphans, and its death is the death of every process of the host.

The shell is what ssh is to a real host: a TCP port on the host's address, which no other network
reaches. A client sends one line, the command; it gets frames (kind, length, bytes): `o` and `e` are
output, `x` is the exit code. As with ssh, a client that goes away takes nothing along.

This file imports nothing of symfleet: it must start fast, and from a bare interpreter.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

PORT: Final = 2222
HEADER: Final = struct.Struct(">cI")
COMMAND_BYTES_MAX: Final = 1 << 20

_MS_RDONLY: Final = 1
_MS_REMOUNT: Final = 32
_MS_BIND: Final = 4096
_MS_REC: Final = 16384
_MNT_DETACH: Final = 2
_PIVOT_ROOT: Final = {"x86_64": 155, "aarch64": 41}
_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty")
_READ_BYTES: Final = 1 << 16
_libc: Final = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class HostSpec:
    """What a host is made of. `root`: folder that becomes its file tree. `read_only`, `shared`:
    paths of the outside that appear at the same place. `network`: name -> address of all hosts."""

    name: str
    address: str
    root: str
    read_only: list[str]
    shared: list[str]
    network: dict[str, str]

    def encode(self) -> bytes:
        """Return one line of JSON."""
        names = ("name", "address", "root", "read_only", "shared", "network")
        return json.dumps({name: getattr(self, name) for name in names}).encode() + b"\n"


def main() -> NoReturn:
    """Read the specification, become the host, say `ready`, serve until the end."""
    spec = HostSpec(**json.loads(sys.stdin.readline()))
    _make_tree(spec)
    socket.sethostname(spec.name)
    # What ended processes had still to send must not keep this network for minutes.
    Path("/proc/sys/net/ipv4/tcp_orphan_retries").write_text("1")
    _call("ip", "link", "set", "lo", "up")
    sys.stdin.readline()  # the outside has put eth0 into our network
    _call("ip", "address", "add", f"{spec.address}/24", "dev", "eth0")
    _call("ip", "link", "set", "eth0", "up")
    server = socket.create_server((spec.address, PORT), backlog=64)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    _serve(server)


def _call(*words: str) -> None:
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)


# ---- the file tree ---------------------------------------------------------------------------


def _mount(source: str, target: Path, kind: str = "", flags: int = 0, data: str = "") -> None:
    done = _libc.mount(
        source.encode(), os.fsencode(target), kind.encode() or None, flags, data.encode() or None
    )
    if done != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), f"mount {source} on {target}")


def _bind(source: Path, target: Path, *, read_only: bool) -> None:
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    elif not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _mount(str(source), target, flags=_MS_BIND | _MS_REC)
    if read_only:
        _mount("", target, flags=_MS_REMOUNT | _MS_BIND | _MS_RDONLY)


def _make_tree(spec: HostSpec) -> None:
    root = Path(spec.root)
    root.mkdir(parents=True, exist_ok=True)
    _mount(str(root), root, flags=_MS_BIND)
    for name in ("tmp", "var/tmp", "run", "root", "srv"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("usr", "etc", "bin", "sbin", "lib", "lib64"):
        outside = Path("/") / name
        if outside.is_symlink():
            with contextlib.suppress(FileExistsError):
                (root / name).symlink_to(outside.readlink())
        elif outside.is_dir():
            _bind(outside, root / name, read_only=True)
    names = root / "run" / "hosts"
    lines = ["127.0.0.1 localhost", *(f"{place} {name}" for name, place in spec.network.items())]
    names.write_text("\n".join(lines) + "\n")
    _bind(names, root / "etc" / "hosts", read_only=True)
    (root / "dev").mkdir(exist_ok=True)
    _mount("dev", root / "dev", "tmpfs", data="mode=755")
    for name in _DEVICES:
        _bind(Path("/dev") / name, root / "dev" / name, read_only=False)
    (root / "dev" / "shm").mkdir()
    _mount("shm", root / "dev" / "shm", "tmpfs", data="mode=1777")
    for name in ("proc", "sys"):
        (root / name).mkdir(exist_ok=True)
    _mount("proc", root / "proc", "proc")
    _mount("sys", root / "sys", "sysfs", _MS_RDONLY)
    for path in spec.read_only:
        _bind(Path(path), root / path.lstrip("/"), read_only=True)
    for path in spec.shared:
        _bind(Path(path), root / path.lstrip("/"), read_only=False)
    _pivot(root)


def _pivot(root: Path) -> None:
    """Make `root` the root; nothing of the outside can be reached afterwards."""
    old = root / "old"
    old.mkdir(exist_ok=True)
    number = _PIVOT_ROOT[os.uname().machine]
    if _libc.syscall(number, os.fsencode(root), os.fsencode(old)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), "pivot_root")
    os.chdir("/")
    if _libc.umount2(b"/old", _MNT_DETACH) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), "umount of the outside")
    Path("/old").rmdir()


# ---- the shell -------------------------------------------------------------------------------


def _serve(server: socket.socket) -> NoReturn:
    """Accept clients and reap orphans, for ever."""
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    waiting = selectors.DefaultSelector()
    waiting.register(server, selectors.EVENT_READ)
    waiting.register(awake, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            if key.fileobj is server:
                client, _ = server.accept()
                if os.fork() == 0:
                    signal.set_wakeup_fd(-1)
                    server.close()
                    _session(client)
                client.close()
            else:
                os.read(awake, _READ_BYTES)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _session(client: socket.socket) -> NoReturn:
    """Run one command for a client; never returns."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with client.makefile("rb") as lines:
            command = lines.readline(COMMAND_BYTES_MAX).decode().rstrip("\n")
        child = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/root",
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        if _pump(client, child):
            client.sendall(HEADER.pack(b"x", 1) + bytes([child.wait() & 0xFF]))
    finally:
        os._exit(0)


def _pump(client: socket.socket, child: subprocess.Popen[bytes]) -> bool:
    """Pass output on until its end; False when the client has gone."""
    assert child.stdout is not None
    assert child.stderr is not None
    waiting = selectors.DefaultSelector()
    waiting.register(child.stdout, selectors.EVENT_READ, b"o")
    waiting.register(child.stderr, selectors.EVENT_READ, b"e")
    waiting.register(client, selectors.EVENT_READ)
    while len(waiting.get_map()) > 1:
        for key, _ in waiting.select():
            if key.data is None:
                return False  # it has nothing more to say, so this is its end
            data = os.read(key.fd, _READ_BYTES)
            if data:
                client.sendall(HEADER.pack(key.data, len(data)) + data)
            else:
                waiting.unregister(key.fileobj)
    return True


if __name__ == "__main__":
    main()
