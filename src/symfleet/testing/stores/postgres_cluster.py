"""A private PostgreSQL server for tests: from Debian's packages, on a unix socket, gone afterwards.

The server does not run as root, so that a test run by root lends it to an unprivileged user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_PROGRAMS: Final = Path("/usr/lib/postgresql")
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a private folder is made in it
_DEADLINE_S: Final = 60
USER: Final = "symfleet"


def programs() -> Path | None:
    """Return the folder with initdb and pg_ctl of the newest version, None when there is none."""
    found = [path.parent for path in _PROGRAMS.glob("*/bin/initdb")]
    return max(found, key=lambda path: float(path.parent.name), default=None)


class Cluster:
    """One server with fsync on. `stop` ends it and removes its files."""

    def __init__(self, bin_folder: Path, home: Path | None = None) -> None:
        """Make and start it, its files below `home`."""
        self._bin = bin_folder
        # In memory where that is possible; a short path, because a socket has room for 107 bytes.
        if home is None:
            home = _MEMORY if os.access(_MEMORY, os.W_OK) else Path("/tmp")  # noqa: S108
        self.folder = Path(tempfile.mkdtemp(prefix="symfleet-pg-", dir=home))
        self._user: str | None = None
        if os.geteuid() == 0:
            account = _unprivileged()
            self._user = account.pw_name
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        self._call(
            "initdb", "-D", str(self._data), "-U", USER, "-A", "trust", "--data-checksums",
            "--no-sync", "--encoding=UTF8", "--locale=C",
        )  # fmt: skip
        (self.folder / "extra.conf").write_text(
            "listen_addresses = ''\n"
            f"unix_socket_directories = '{self.folder}'\n"
            "fsync = on\nmax_connections = 40\nshared_buffers = 64MB\nlc_messages = 'C'\n"
        )
        with (self._data / "postgresql.conf").open("a") as stream:
            stream.write(f"include '{self.folder / 'extra.conf'}'\n")
        self.start()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def url(self) -> str:
        """Return the address of a database of this server."""
        return self.url_of(USER, "postgres")

    def url_of(self, user: str, database: str) -> str:
        """Return the address of a database for a role."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def start(self) -> None:
        """Start the server; it answers when this returns."""
        self._call(
            "pg_ctl", "-D", str(self._data), "-l", str(self.folder / "log"), "-w",
            "-t", str(_DEADLINE_S), "start",
        )  # fmt: skip

    def reload(self) -> None:
        """Let the server read its settings again; new sessions have them when this returns."""
        self._call("pg_ctl", "-D", str(self._data), "reload")

    def halt(self, mode: str = "immediate") -> None:
        """Stop the server; `immediate` is a crash: the next start recovers from the log."""
        self._call(
            "pg_ctl", "-D", str(self._data), "-m", mode, "-w", "-t", str(_DEADLINE_S), "stop"
        )

    def stop(self) -> None:
        """Stop the server and remove its files."""
        try:
            if (self._data / "postmaster.pid").exists():
                self.halt()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _call(self, program: str, *arguments: str) -> None:
        command: Sequence[str] = (str(self._bin / program), *arguments)
        # The server inherits descriptors: a pipe would keep us waiting for it.
        with (self.folder / "calls.log").open("ab") as log:
            result = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                timeout=2 * _DEADLINE_S,
                check=False,
                user=self._user,
                group=None if self._user is None else pwd.getpwnam(self._user).pw_gid,
                extra_groups=None if self._user is None else [],
            )
        if result.returncode:
            told = (self.folder / "calls.log").read_text(errors="replace")[-2000:]
            raise RuntimeError(f"{program} failed: {told}")


def _unprivileged() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("no unprivileged user is there to run PostgreSQL")
