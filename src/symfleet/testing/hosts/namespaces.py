"""Several hosts on one machine, for tests: namespaces instead of computers.

A `Host` has a network, a file tree, a host name and processes of its own; `Hosts` joins some of
them by a switch (a bridge that stands in one more network namespace, so that nothing of it can be
seen or reached from outside). The environment that runs symfleet is there at the same path,
read-only; everything else that a host is to have must be put into its tree.

What can be done to a host: `cut` and `mend` its cable, `power_off` (all its processes end at once
and nobody hears of it), `boot` it again with the same file tree, `delay` its packets where the
kernel can. Each host ends with the process that made it, whatever happens to that: the kernel kills
its first process, with that all others, and with these the namespaces.

Root only; `why_not()` says what is missing.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import symfleet
from symfleet.engine import processes
from symfleet.testing.hosts import init as host_init
from symfleet.testing.hosts.init import HostSpec
from symfleet.testing.jobs import until

_PREFIX: Final = "10.77.0."
_UNSHARE: Final = ("unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork")
_VOLATILE: Final = ("tmp", "var/tmp", "root", "run", "dev/shm")
"""Where programs of a host may write beside the folders that a test has given to it."""
SSH: Final = (sys.executable, "-m", "symfleet.testing.hosts.shell")
"""The command that stands for ssh between these hosts."""


@functools.cache
def why_not() -> str | None:
    """Return why there can be no hosts here, None when there can."""
    if os.geteuid() != 0:
        return "namespaces need root"
    for program in ("unshare", "nsenter", "ip"):
        if shutil.which(program) is None:
            return f"{program} is not installed (util-linux, iproute2)"
    tried = subprocess.run(
        [*_UNSHARE, "--kill-child", "ip", "link", "add", "name", "switch", "type", "bridge"],
        capture_output=True,
        check=False,
    )
    return f"no namespaces: {tried.stderr.decode().strip()}" if tried.returncode else None


def environment_paths() -> tuple[str, ...]:
    """Return what this interpreter and symfleet are made of, outermost folders only."""
    package = Path(symfleet.__file__).resolve().parent
    native = (package / "native").resolve()
    places = {Path(sys.prefix), Path(sys.base_prefix), package.parent, native}
    return tuple(
        str(place)
        for place in sorted(places)
        if not any(other in place.parents for other in {*places, Path("/usr")})
    )


@dataclass(frozen=True, slots=True)
class HostProcess:
    """A live process of a host; `pid` as the outside sees it."""

    pid: int
    words: tuple[str, ...]

    @property
    def is_rank(self) -> bool:
        """Whether it is a rank of a job."""
        return "symfleet.runtime.rank" in self.words

    def is_program(self, name: str) -> bool:
        """Whether it is a program of this name."""
        return bool(self.words) and Path(self.words[0]).name == name


class Host:
    """One pretended host. Made by `Hosts`."""

    def __init__(self, spec: HostSpec, switch: int) -> None:
        """`switch`: process whose network holds the bridge."""
        self._spec = spec
        self._switch = switch
        self._holder: subprocess.Popen[bytes] | None = None
        self._first = 0
        self._own_files: frozenset[str] = frozenset()
        self._own_folders = [str(Path(path)) for path in (*spec.read_only, *spec.shared)]

    @property
    def name(self) -> str:
        """Its host name."""
        return self._spec.name

    @property
    def address(self) -> str:
        """Its address in the network of the hosts."""
        return self._spec.address

    @property
    def is_up(self) -> bool:
        """Whether it is running."""
        return self._holder is not None

    def path(self, inside: str | Path) -> Path:
        """Return where the outside finds a file of the host's own tree."""
        return Path(self._spec.root) / str(inside).lstrip("/")

    # ---- life --------------------------------------------------------------------------------

    def boot(self) -> None:
        """Start the host; its file tree is what it was."""
        assert self._holder is None
        self._holder = processes.start_child(
            [*_UNSHARE, "--kill-child", sys.executable, "-S", "-E", host_init.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=sys.__stderr__.fileno() if sys.__stderr__ else subprocess.DEVNULL,
        )
        holder = self._holder
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdin.write(self._spec.encode())
        holder.stdin.flush()
        until(f"{self.name} has a first process", lambda: bool(self._find_first()), 10)
        self._first = self._find_first()
        # The same hardware address after each boot: what others remember of it stays true.
        last = int(self.address.rpartition(".")[2])
        peer = ["name", "eth0", "address", f"02:00:00:00:00:{last:02x}"]
        link = ["ip", "link", "add", "name", self._port, "type", "veth", "peer", *peer]
        self._at_switch([*link, "netns", str(self._first)])
        self._at_switch(["ip", "link", "set", self._port, "master", "switch", "up"])
        holder.stdin.write(b"\n")
        holder.stdin.flush()
        assert holder.stdout.readline() == b"ready\n", f"{self.name} does not start"
        self._own_files = self._own_files or frozenset(self._list_files())

    def _find_first(self) -> int:
        assert self._holder is not None
        assert not processes.has_ended(self._holder), f"{self.name} does not start"
        return next(iter(processes.children_of(self._holder.pid)), 0)

    def power_off(self) -> None:
        """End all processes of the host at once; the others see silence, no closed connection."""
        if self.is_up:
            self.cut()
            self.shut_down()

    def shut_down(self) -> None:
        """End all processes of the host; the kernel closes its connections as it does."""
        holder = self._holder
        if holder is None:
            return
        self._holder = None
        space = self._space()
        processes.kill_group(holder)  # the first process is told to die with its parent
        processes.reap(holder)
        for pipe in (holder.stdin, holder.stdout):
            assert pipe is not None
            pipe.close()
        until(f"the processes of {self.name} end", lambda: not self._in_space(space), 10)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._first, 0)  # ours by now, if this process adopts orphans
        # What a dead process had still to send would keep its network for some time.
        self._at_switch(["ip", "link", "delete", self._port], check=False)

    # ---- its cable ---------------------------------------------------------------------------

    @property
    def _port(self) -> str:
        return f"to-{self.name}"

    def _at_switch(self, words: Sequence[str], *, check: bool = True) -> int:
        enter = ["nsenter", f"--net=/proc/{self._switch}/ns/net", "--", *words]
        done = subprocess.run(enter, capture_output=True, check=False)
        assert done.returncode == 0 or not check, done.stderr.decode()
        return done.returncode

    def cut(self) -> None:
        """Take the host off the switch: packets both ways are lost, nothing is told to anybody."""
        self._at_switch(["ip", "link", "set", self._port, "nomaster"])

    def mend(self) -> None:
        """Put it back."""
        self._at_switch(["ip", "link", "set", self._port, "master", "switch"])

    def delay(self, delay_ms: int, loss_percent: float = 0.0) -> bool:
        """Delay (and lose) what is sent to the host; False when this kernel cannot."""
        shape = ["netem", "delay", f"{delay_ms}ms", "loss", f"{loss_percent:g}%"]
        words = ["tc", "qdisc", "replace", "dev", self._port, "root", *shape]
        return self._at_switch(words, check=False) == 0

    # ---- its processes -----------------------------------------------------------------------

    def enter(self) -> tuple[str, ...]:
        """Return the words that run a command on the host when they stand before it."""
        namespaces = ("net", "mount", "uts", "ipc", "pid")
        return (
            "nsenter",
            f"--target={self._first}",
            *(f"--{namespace}" for namespace in namespaces),
            "--root",
            "--wd",
            "--",
        )

    def run(self, *words: str, timeout_s: float = 60.0) -> subprocess.CompletedProcess[bytes]:
        """Run a command on the host and wait for its end."""
        return subprocess.run(
            [*self.enter(), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )

    def processes(self) -> list[HostProcess]:
        """Return the host's live processes without the first and its sessions' ends."""
        return list(self._processes()) if self.is_up else []

    def _processes(self) -> Iterator[HostProcess]:
        for pid in self._in_space(self._space()):
            try:
                raw = Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            words = tuple(word.decode() for word in raw.split(b"\0")[:-1])
            if words and host_init.__file__ not in words:
                yield HostProcess(pid, words)

    def _space(self) -> Path:
        """Name the namespace that all processes of the host are in."""
        return Path(f"/proc/{self._first}/ns/pid").readlink()

    @staticmethod
    def _in_space(space: Path) -> list[int]:
        """Return the live processes of a namespace."""
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and (entry / "ns" / "pid").readlink() == space:
                    state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                    found += [int(entry.name)] if state not in ("Z", "X") else []
        return found

    def ranks(self) -> list[HostProcess]:
        """Return the ranks that run on the host."""
        return [process for process in self.processes() if process.is_rank]

    def kill(self, process: HostProcess, signum: int = signal.SIGKILL) -> bool:
        """Signal a process of the host; return whether it was still there."""
        if process not in self.processes():
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signum)
            return True
        return False

    def files(self) -> list[str]:
        """Return what programs have left in the places where they write without being told to."""
        return [
            name
            for name in self._list_files()
            if name not in self._own_files
            and not any(f"{place}/".startswith(f"{name}/") for place in self._own_folders)
            and not any(f"{name}/".startswith(f"{place}/") for place in self._own_folders)
        ]

    def own(self, folder: Path) -> None:
        """Take what is in a folder, now and later, for the host's own: nothing that was left."""
        self._own_folders.append(str(folder))

    def _list_files(self) -> list[str]:
        found = []
        for place in _VOLATILE:
            folder = self.path(place)
            if place == "dev/shm":
                folder = Path(f"/proc/{self._first}/root/dev/shm")
            if folder.is_dir():
                found += [f"/{place}/{p.relative_to(folder)}" for p in folder.rglob("*")]
        return sorted(found)


class Hosts:
    """Some hosts and their switch, for as long as it is entered. Main thread only."""

    def __init__(
        self,
        folder: Path,
        names: Sequence[str],
        *,
        shared: Sequence[Path] = (),
        everywhere: Sequence[Path] = (),
        read_only: Sequence[Path] = (),
    ) -> None:
        """`folder` gets the file trees. `shared`: folders of the outside that the first host has
        at the same place, where a test looks at a campaign; `everywhere`: all have these, as of
        one disk; `read_only`: all have these, too."""
        self._folder = folder
        self._names = tuple(names)
        self._shared = [str(path) for path in shared]
        self._everywhere = [str(path) for path in everywhere]
        self._read_only = [*environment_paths(), *(str(path) for path in read_only)]
        self._switch: subprocess.Popen[bytes] | None = None
        self.all: list[Host] = []

    def __enter__(self) -> Self:
        reason = why_not()
        assert reason is None, reason
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def _start(self) -> None:
        self._switch = processes.start_child(
            ["unshare", "--net", "sh", "-c", _SWITCH],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert self._switch.stdout is not None
        said = self._switch.stdout.readline()
        assert said == b"ready\n", said
        network = {name: f"{_PREFIX}{1 + n}" for n, name in enumerate(self._names)}
        for name, address in network.items():
            spec = HostSpec(
                name=name,
                address=address,
                root=str(self._folder / name),
                read_only=self._read_only,
                shared=[*self._everywhere, *(self._shared if not self.all else [])],
                network=network,
            )
            self.all.append(Host(spec, self._switch.pid))
            self.all[-1].boot()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all hosts, and the switch."""
        for host in self.all:
            host.shut_down()
        if self._switch is not None:
            processes.kill_group(self._switch)
            processes.reap(self._switch)
            for pipe in (self._switch.stdin, self._switch.stdout):
                assert pipe is not None
                pipe.close()
            self._switch = None


_SWITCH: Final = (
    "ip link add name switch type bridge && ip link set switch up && echo ready && exec cat"
)
