"""What a soak sees of a job's processes: their size, what they hold, and who is left.

One look reads the process table once. It notes memory and open files of each member, zombies,
members of dead epochs that live on, names in /dev/shm that a member has mapped, entries of the
private temporary folder and of the run folder, and the size of the ledger's log.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from symfleet.testing.jobs import Member, Role

_PAGE_KIB: Final = os.sysconf("SC_PAGE_SIZE") // 1024
_SHM: Final = "/dev/shm/"  # noqa: S108 - only looked at
_MAPS_EVERY: Final = 4
"""Looks between two that read the memory maps, which are long."""
_LOG_KIB_MAX: Final = 64 * 1024
"""Of the ledger's log: an owner folds it back after 16 to 30 MiB, when no reader needs it."""
_SIZED: Final = frozenset(Role) - {Role.TARGET}


class Watched(Protocol):
    """What the watch needs of a job (`symfleet.testing.jobs.Job`)."""

    out: Path

    @property
    def pid(self) -> int:
        """Process id of the running launcher."""
        ...

    @property
    def is_running(self) -> bool:
        """Whether the launcher has not ended yet."""
        ...

    def members(self) -> list[Member]:
        """Return the live processes of the job."""
        ...


@dataclass(frozen=True, slots=True)
class Process:
    """A line of the process table."""

    parent: int
    started: int
    state: str
    rss_kib: int


def process_table() -> dict[int, Process]:
    """Return all processes of this host."""
    table: dict[int, Process] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        rss = int(fields[21]) * _PAGE_KIB
        table[int(folder.name)] = Process(int(fields[1]), int(fields[19]), fields[0], rss)
    return table


@dataclass(frozen=True, slots=True)
class Sample:
    """One process at one instant. `age_s`: since it was first seen."""

    at_s: float
    age_s: float
    decided: int
    rss_kib: int
    files: int


@dataclass(slots=True)
class Life:
    """One process from its first look to its last."""

    member: Member
    epoch: int
    """Process id of its mpirun, 0 for a launcher and before there is one."""
    first_s: float
    samples: list[Sample] = field(default_factory=list)


@dataclass(slots=True)
class Peaks:
    """The most that was seen at one look."""

    files: dict[str, int] = field(default_factory=dict)
    rss_kib: dict[str, int] = field(default_factory=dict)
    zombies: int = 0
    processes: int = 0
    log_kib: int = 0
    temporary: int = 0
    run_folders: int = 0
    shared: int = 0


class Watch:
    """Looks at one job; `lives` and `peaks` are what it saw, `violations` what must not be."""

    def __init__(
        self,
        job: Watched,
        temporary: Path,
        *,
        left_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`temporary`: the job's private TMPDIR. `left_s`: how long a member of a dead epoch, or a
        zombie, may be there."""
        self._job = job
        self._temporary = temporary
        self._left_s = left_s
        self._clock = clock
        self._looks = 0
        self._running: dict[tuple[int, int], Life] = {}
        self._since: dict[tuple[str, int, int], float] = {}
        """What must not last -> when it was first seen."""
        self.shared: set[str] = set()
        self.lives: list[Life] = []
        self.peaks = Peaks()
        self.violations: list[str] = []

    def look(self, decided: int) -> list[Member]:
        """Look once; return the members that live."""
        now = self._clock()
        members = self._job.members()
        table = process_table()
        self._note_members(now, members, table, decided)
        self._note_left(now, members, table)
        self._note_zombies(now, table)
        self._note_files()
        self._looks += 1
        if self._looks % _MAPS_EVERY == 1:
            self._note_shared(members)
        return members

    def finish(self) -> list[str]:
        """After the job's end: say what it left; names in /dev/shm that it had, and files."""
        found = [f"left in shared memory: {name}" for name in self.shared if Path(name).exists()]
        if self.peaks.log_kib > _LOG_KIB_MAX:
            found.append(f"the ledger's log grew to {self.peaks.log_kib} KiB")
        found += [f"left in TMPDIR: {path.name}" for path in self._temporary.iterdir()]
        if self._run_folder.exists():
            found.append(f"left: {self._run_folder.name}")
        return self.violations + found

    # ---- members -----------------------------------------------------------------------------

    def _note_members(
        self, now: float, members: list[Member], table: dict[int, Process], decided: int
    ) -> None:
        epoch = next((m.pid for m in members if m.role is Role.MPIRUN), 0)
        peaks = self.peaks
        peaks.processes = max(peaks.processes, len(members))
        for member in members:
            life = self._running.get((member.pid, member.started))
            if life is None:
                of = 0 if member.role is Role.LAUNCHER else epoch
                life = Life(member, of, now)
                self._running[member.pid, member.started] = life
                if member.role in _SIZED:
                    self.lives.append(life)
            process = table.get(member.pid)
            if process is None or process.started != member.started or process.state == "Z":
                continue
            role = member.role.value
            peaks.rss_kib[role] = max(peaks.rss_kib.get(role, 0), process.rss_kib)
            if member.role in _SIZED and (files := _entries(Path(f"/proc/{member.pid}/fd"))):
                peaks.files[role] = max(peaks.files.get(role, 0), files)
                age = now - life.first_s
                life.samples.append(Sample(now, age, decided, process.rss_kib, files))

    def _note_left(self, now: float, members: list[Member], table: dict[int, Process]) -> None:
        """Whose mpirun is gone must go, too."""
        mpiruns = {member.pid for member in members if member.role is Role.MPIRUN}
        launcher = self._job.pid if self._job.is_running else 0
        for key, life in list(self._running.items()):
            process = table.get(key[0])
            if process is None or process.started != key[1] or process.state == "Z":
                del self._running[key]
                self._since.pop(("left", *key), None)
                continue
            alive = life.epoch in mpiruns if life.epoch else key[0] == launcher
            if self._lasts(now, ("left", *key), holds=not alive):
                role, pid = life.member.role, life.member.pid
                self.violations.append(f"a {role} (pid {pid}) of a dead epoch lives on")

    def _note_zombies(self, now: float, table: dict[int, Process]) -> None:
        if not self._job.is_running:
            return
        below, zombies = {self._job.pid}, 0
        # Parents may have higher ids than their children: go on until nothing is added.
        grown = True
        while grown:
            more = {pid for pid, one in table.items() if one.parent in below} - below
            grown = bool(more)
            below |= more
        gone = {key for key in self._since if key[0] == "zombie"}
        for pid in below:
            one = table.get(pid)
            if one is None or one.state != "Z":
                continue
            zombies += 1
            gone.discard(("zombie", pid, one.started))
            if self._lasts(now, ("zombie", pid, one.started), holds=True):
                parent = table.get(one.parent)
                state = parent.state if parent else "gone"
                self.violations.append(f"zombie {pid} of {one.parent} (state {state}) stays")
        for key in gone:
            del self._since[key]
        self.peaks.zombies = max(self.peaks.zombies, zombies)

    def _lasts(self, now: float, what: tuple[str, int, int], *, holds: bool) -> bool:
        """Whether something lasts too long, told once."""
        if not holds:
            self._since.pop(what, None)
            return False
        first = self._since.setdefault(what, now)
        if now - first < self._left_s:
            return False
        self._since[what] = float("inf")
        return True

    # ---- files -------------------------------------------------------------------------------

    @property
    def _run_folder(self) -> Path:
        return self._job.out / ".run"

    def _note_files(self) -> None:
        peaks = self.peaks
        peaks.log_kib = max(peaks.log_kib, _size_kib(self._job.out / "ledger.db-wal"))
        peaks.temporary = max(peaks.temporary, _entries(self._temporary))
        peaks.run_folders = max(peaks.run_folders, _entries(self._run_folder))

    def _note_shared(self, members: list[Member]) -> None:
        held: set[str] = set()
        for member in members:
            if member.role not in (Role.MPIRUN, Role.ROOT, Role.COORDINATOR, Role.WORKER):
                continue
            try:
                text = Path(f"/proc/{member.pid}/maps").read_text()
            except OSError:
                continue
            words = (line.split(maxsplit=5) for line in text.splitlines() if _SHM in line)
            held |= {line[5] for line in words if line[5].startswith(_SHM)}
        self.shared |= {name for name in held if not name.endswith(" (deleted)")}
        self.peaks.shared = max(self.peaks.shared, len(held))


def _entries(folder: Path) -> int:
    try:
        return sum(1 for _ in folder.iterdir())
    except OSError:
        return 0


def _size_kib(path: Path) -> int:
    try:
        return path.stat().st_size // 1024
    except OSError:
        return 0
