"""One campaign of a history: epochs of concurrent coordinators, disturbed all the time.

The driver forks the participants and then stops, continues and kills them, gives up some that only
stand still, ends sessions on the server, and crashes the server. What ends an epoch: its share of
operations, the death of the root, or too few coordinators. The last epoch is drained until the
ledger says that it is quiescent.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec
import psycopg

from symfleet.testing.linearizability.participants import (
    UNDONE,
    Opened,
    PeerPart,
    Root,
    RootPart,
    Site,
    be_peer,
    in_a_child,
)
from symfleet.testing.linearizability.wires import Wires, pair
from symfleet.testing.linearizability.workload import Stage
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.types import Incarnation

_DEADLINE_S: Final = 240.0
"""For an epoch, on a machine that does much else."""
_TICK_S: Final = 0.002
_FAULT_OPERATIONS: Final = (10, 120)
"""So many operations lie between two faults."""
_PAUSE_S: Final = (0.002, 0.03)
_SHORT_PATIENCE_S: Final = (0.01, 0.1)
_PEERS: Final = (2, 5)
_EPOCH_OPERATIONS: Final = (1_000, 6_000)
_PEER_FAULTS: Final = ("pause", "pause", "pause", "kill", "give up", "session")
_CHANCE: Final = {"pause root": 0.1, "kill root": 0.02, "server": 0.003}


class StuckError(Exception):
    """A participant did not do in time what it had to."""


@dataclass(slots=True)
class Peer:
    """A coordinator that lives. `stopped_until`: None while it runs."""

    number: int
    pid: int
    stopped_until: float | None = None


@dataclass(slots=True)
class Epoch:
    """The processes of one epoch."""

    owner: int
    root: int
    control: int
    peers: dict[int, Peer] = field(default_factory=dict)
    root_stopped_until: float | None = None


class Segment:
    """Makes one campaign's histories below `site.notes`."""

    def __init__(self, site: Site, seed: int, operations: int, cluster: Cluster | None) -> None:
        self._site = site
        self._dice = random.Random(seed)
        self._operations = operations
        self._cluster = cluster
        self.faults = Counter[str]()
        self._owners = 0
        self._done = 0
        self._is_drained = False

    def run(self) -> None:
        """Work for so many operations, then drain."""
        board = self._site.board
        while self._done < self._operations:
            board.recount()
            board.stage = Stage.WORK
            share = min(self._dice.randint(*_EPOCH_OPERATIONS), self._operations - self._done)
            self._epoch(share)
            self._done += board.counted()
        while not self._is_drained:
            board.recount()
            board.stage = Stage.DRAIN
            self._epoch(None)
            self._done += board.counted()

    # ---- one epoch ------------------------------------------------------------------------------

    def _epoch(self, share: int | None) -> None:
        """Run one epoch until it has had its share; None: until it is quiescent."""
        if any(self._site.notes.glob("*.error")):
            raise StuckError("a participant has failed")
        with self._started() as epoch:
            if epoch is None:
                return
            deadline = time.monotonic() + _DEADLINE_S
            board, due = self._site.board, 0
            while self._reap(epoch, share):
                if share is not None and (board.counted() >= share or not epoch.peers):
                    board.stage = Stage.END
                if time.monotonic() > deadline:
                    raise StuckError(f"epoch of owner {epoch.owner}, stage {board.stage.name}")
                time.sleep(_TICK_S)
                if board.stage is not Stage.WORK:
                    self._continue_all(epoch)
                    continue
                self._continue_due(epoch)
                if board.counted() >= due:
                    due = board.counted() + self._dice.randint(*_FAULT_OPERATIONS)
                    self._disturb(epoch)

    @contextlib.contextmanager
    def _started(self) -> Iterator[Epoch | None]:
        """Fork the root, and the others when it is ready; none is left afterwards. Yields None when
        the root could not open an epoch because its server went away."""
        self._owners += 1
        amount = self._dice.randint(*_PEERS)
        wires = {} if self._site.url else {n: pair() for n in range(1, amount + 1)}
        lives = {n: Incarnation(self._dice.getrandbits(63) | 1) for n in range(1, amount + 1)}
        hears, says = os.pipe()
        ready, told = os.pipe()
        part = RootPart(
            self._site,
            self._owners,
            self._dice.getrandbits(32),
            hears,
            told,
            Wires(0, amount + 1, {n: ends[0] for n, ends in wires.items()}),
            lives,
        )
        name = f"{self._owners:04}-root"
        root = in_a_child(self._site, name, lambda: _be_root(part, wires, (says, ready)))
        epoch = Epoch(self._owners, root, says)
        try:
            for end in (hears, told):
                os.close(end)
            for ends in wires.values():
                ends[0].close()
            opened = self._opened(ready)
            if opened is None:
                self.faults["server went away while an epoch was opened"] += 1
                yield None
                return
            for number in range(1, amount + 1):
                self._start_peer(epoch, number, lives[number], opened, wires)
            for ends in wires.values():
                ends[1].close()
            yield epoch
        finally:
            for pid in [epoch.root, *(peer.pid for peer in epoch.peers.values())]:
                if pid:
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
            for end in (says, ready):
                os.close(end)

    def _opened(self, ready: int) -> Opened | None:
        if not select.select([ready], (), (), _DEADLINE_S)[0]:
            raise StuckError("an epoch is not opened")
        told = os.read(ready, 4096)
        if not told:
            return None
        return msgspec.msgpack.decode(told, type=Opened)

    def _start_peer(
        self,
        epoch: Epoch,
        number: int,
        life: Incarnation,
        opened: Opened,
        wires: dict[int, tuple[socket.socket, socket.socket]],
    ) -> None:
        dice = self._dice
        patience = dice.uniform(*_SHORT_PATIENCE_S) if dice.random() < 0.3 else _DEADLINE_S
        own = {0: wires[number][1]} if wires else {}
        part = PeerPart(
            self._site,
            number,
            epoch.owner,
            dice.getrandbits(32),
            Wires(number, 1, own),
            life,
            opened,
            patience,
        )
        name = f"{epoch.owner:04}-peer-{number}"

        def work() -> None:
            os.close(epoch.control)
            for other, ends in wires.items():
                if other != number:
                    ends[1].close()
            be_peer(part)

        epoch.peers[number] = Peer(number, in_a_child(self._site, name, work))

    # ---- while it runs --------------------------------------------------------------------------

    def _reap(self, epoch: Epoch, share: int | None) -> bool:
        """Take note of who has ended; return whether the root lives."""
        for peer in [*epoch.peers.values()]:
            if os.waitpid(peer.pid, os.WNOHANG)[0]:
                del epoch.peers[peer.number]
                self._say_lost(epoch, peer.number)
        pid, status = os.waitpid(epoch.root, os.WNOHANG)
        if pid:
            epoch.root = 0
            if os.waitstatus_to_exitcode(status) == UNDONE:
                self.faults["job ended early"] += 1
            self._is_drained = share is None and status == 0
            return False
        return True

    def _say_lost(self, epoch: Epoch, number: int) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(epoch.control, bytes([number]))

    def _continue_due(self, epoch: Epoch) -> None:
        now = time.monotonic()
        for peer in epoch.peers.values():
            if peer.stopped_until is not None and now >= peer.stopped_until:
                peer.stopped_until = None
                os.kill(peer.pid, signal.SIGCONT)
        if epoch.root_stopped_until is not None and now >= epoch.root_stopped_until:
            epoch.root_stopped_until = None
            os.kill(epoch.root, signal.SIGCONT)

    def _continue_all(self, epoch: Epoch) -> None:
        for pid in [epoch.root, *(peer.pid for peer in epoch.peers.values())]:
            os.kill(pid, signal.SIGCONT)

    def _disturb(self, epoch: Epoch) -> None:
        dice = self._dice
        if epoch.peers:
            self._strike(epoch, dice.choice([*epoch.peers.values()]), dice.choice(_PEER_FAULTS))
        if dice.random() < _CHANCE["pause root"]:
            self.faults["root paused"] += 1
            epoch.root_stopped_until = time.monotonic() + dice.uniform(*_PAUSE_S)
            os.kill(epoch.root, signal.SIGSTOP)
        if dice.random() < _CHANCE["kill root"]:
            self.faults["root killed"] += 1
            os.kill(epoch.root, signal.SIGKILL)
        if self._cluster is not None and dice.random() < _CHANCE["server"]:
            self.faults["server crashed"] += 1
            self._cluster.halt("immediate")
            self._cluster.start()

    def _strike(self, epoch: Epoch, peer: Peer, fault: str) -> None:
        dice = self._dice
        if fault == "session":
            if self._cluster is not None:
                self.faults["session ended"] += 1
                _end_a_session(self._cluster, dice)
            return
        if fault == "kill":
            if len(epoch.peers) > 1:
                self.faults["coordinator killed"] += 1
                os.kill(peer.pid, signal.SIGKILL)
            return
        os.kill(peer.pid, signal.SIGSTOP)
        peer.stopped_until = time.monotonic() + dice.uniform(*_PAUSE_S)
        if fault == "give up" and len(epoch.peers) > 1 and dice.random() < 0.5:
            self.faults["coordinator given up while it stands still"] += 1
            self._say_lost(epoch, peer.number)
        else:
            self.faults["coordinator paused"] += 1


def _be_root(
    part: RootPart,
    wires: dict[int, tuple[socket.socket, socket.socket]],
    others: tuple[int, int],
) -> None:
    for end in others:
        os.close(end)
    for ends in wires.values():
        ends[1].close()
    Root(part).run()


def _end_a_session(cluster: Cluster, dice: random.Random) -> None:
    """End the session of a writer, whatever it is doing."""
    with (
        contextlib.suppress(psycopg.OperationalError),
        psycopg.connect(cluster.url, autocommit=True) as admin,
    ):
        rows = admin.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " AND pid <> pg_backend_pid() ORDER BY pid"
        ).fetchall()
        if rows:
            admin.execute("SELECT pg_terminate_backend(%s)", (dice.choice(rows)[0],))
