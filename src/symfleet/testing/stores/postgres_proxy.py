"""A unix socket before a server's, which hangs up when it is told to."""

from __future__ import annotations

import contextlib
import socket
import threading
from pathlib import Path
from typing import Final

from symfleet.testing.stores.postgres_cluster import USER, Cluster

_SOCKET: Final = ".s.PGSQL.5432"
_COMMITTED: Final = b"COMMIT\0"
_JOIN_S: Final = 10


class Proxy:
    """Forwards sessions to a cluster."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        """Listen in `folder`."""
        self.folder = folder
        self.swallows_commit = False
        """Swallow the server's answer to the next COMMIT, and hang up."""
        self.cuts = 0
        self._server = cluster.folder / _SOCKET
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / _SOCKET))
        self._listener.listen()
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        """Return the address of the server behind it."""
        return f"postgresql://{USER}@/postgres?host={self.folder}"

    def cut(self) -> None:
        """Hang up on everybody; new sessions are taken."""
        self.cuts += 1
        for end in self._sockets:
            _shut(end)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            self._sockets += [client, server]
            try:
                server.connect(str(self._server))
            except OSError:
                _shut(client)
                continue
            for source, sink, answers in ((client, server, False), (server, client, True)):
                arguments = (source, sink, answers)
                thread = threading.Thread(target=self._forward, args=arguments, daemon=True)
                self._threads.append(thread)
                thread.start()

    def _forward(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if answers and self.swallows_commit and _COMMITTED in data:
                    self.swallows_commit = False
                    self.cuts += 1
                    break
                sink.sendall(data)
        _shut(source)
        _shut(sink)

    def close(self) -> None:
        """End all sessions and threads."""
        _shut(self._listener)
        self._listener.close()
        for end in self._sockets:
            _shut(end)
        for thread in self._threads:
            thread.join(_JOIN_S)
        for end in self._sockets:
            end.close()


def _shut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
