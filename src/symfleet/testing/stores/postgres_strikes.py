"""Strike writers on PostgreSQL inside their transactions, and see that each turn counts once.

    python -m symfleet.testing.stores.postgres_strikes --strikes 20 --seed 1 --folder DIR

The backend is killed with SIGKILL, the server is restarted inside of a transaction, the socket is
dropped before COMMIT or with COMMIT's answer in it, the owner's advisory lock is lost to another
owner. The writer is the owner or an attached coordinator in turn. After each strike the decision
stands once, or was refused to a writer that owns nothing any more, and stands nowhere. Prints one
line of JSON; the exit code is 1 when anything is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from unittest import mock

from symfleet.clock import SystemClock
from symfleet.errors import BusyError
from symfleet.ledger import opener, postgres_opener, postgres_writer
from symfleet.ledger.postgres import PostgresLedger
from symfleet.ledger.postgres_writer import PostgresWriter
from symfleet.protocol.answers import Claimed, Decided, Lease
from symfleet.protocol.operations import Admit, Claim, Decide
from symfleet.testing.ledgers import admission, campaign_row, child, decision, epoch_request
from symfleet.testing.stores.postgres_cluster import Cluster, programs
from symfleet.testing.stores.postgres_proxy import Proxy
from symfleet.testing.stores.postgres_writers import attached
from symfleet.types import CampaignId, Keep

KINDS: Final = (
    "backend killed",
    "server restarted",
    "socket dropped before COMMIT",
    "answer to COMMIT lost",
    "lock lost",
)
_RECONNECT_S: Final = 2.0
"""How long an owner that lost its lock asks for it: the wait is what a strike costs, not what it
shows. The other strikes leave the writer its usual time."""
_REQUEST: Final = opener.OwnerRequest("here", os.getpid(), lock_wait_s=10.0)


@dataclass(slots=True)
class Report:
    """What the strikes came to."""

    strikes: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    """Turns of writers that owned nothing any more."""
    decisions: int = 0
    seconds: float = 0.0
    violations: list[str] = field(default_factory=list)


class Strikes:
    """One campaign that is struck again and again."""

    def __init__(self, folder: Path, cluster: Cluster, seed: int) -> None:
        self._folder = folder
        self._cluster = cluster
        self._dice = random.Random(seed)
        home = Path(tempfile.mkdtemp(prefix="proxy-", dir=cluster.folder))
        self._proxy = Proxy(home, cluster)
        self._out = folder / "out"
        campaign = CampaignId(f"{self._dice.getrandbits(128):032x}")
        row = replace(campaign_row(Keep.ALL), campaign=campaign)
        self._root = postgres_opener.create(
            self._out, row, _REQUEST, SystemClock(), self._proxy.url
        )
        self._begin(self._root)
        self._owners = 0
        self.report = Report()

    def _begin(self, root: PostgresLedger) -> None:
        root.open_epoch(epoch_request(self._dice.getrandbits(62) | 1))
        root.register_source("seeds", "/s", "here")
        self._root = root
        self._peer = attached(root, 1)

    def close(self) -> None:
        """End everything."""
        self._peer.close()
        self._root.close()
        self._proxy.close()
        shutil.rmtree(self._proxy.folder, ignore_errors=True)

    def run(self, strikes: int) -> None:
        """Strike so often, each kind in turn; look at everything in the end."""
        began = time.monotonic()
        for number in range(strikes):
            kind = KINDS[number % len(KINDS)]
            self.report.strikes[kind] += 1
            self._strike(number, kind)
        self.report.violations += [str(finding) for finding in self._root.audit()]
        self.report.seconds = round(time.monotonic() - began, 2)

    # ---- one strike -----------------------------------------------------------------------------

    def _strike(self, number: int, kind: str) -> None:
        is_root = self._dice.random() < 0.5 or kind == "lock lost"
        writer: PostgresWriter = self._root if is_root else self._peer
        entry = Admit(1, (admission(b"struck %d" % number),))
        _, claimed = writer.run([entry, Claim(0 if is_root else 1, 1)]).answers
        assert isinstance(claimed, Claimed)
        (lease,) = claimed.leases
        decide = self._decision(lease, number)
        try:
            told = self._struck(writer, decide, kind)
        except BusyError as error:
            self.report.refused += 1
            if kind != "lock lost":
                self._wrong(number, kind, f"refused: {error}")
            return
        if kind == "lock lost":
            self._wrong(number, kind, "an owner that has lost its lock has decided")
            return
        self.report.decisions += 1
        self._look(number, kind, writer, decide, told)

    def _decision(self, lease: Lease, number: int) -> Decide:
        kids = [child(b"kid of %d" % number, 8 * number)] if number % 2 else []
        return decision(lease, kids, keep=Keep.ALL)

    def _struck(self, writer: PostgresWriter, decide: Decide, kind: str) -> Decided:
        cuts = self._proxy.cuts
        if kind == "answer to COMMIT lost":
            self._proxy.swallows_commit = True
            told = writer.run([decide]).answers[0]
            assert self._proxy.cuts == cuts + 1
        else:
            with _patience(kind), _inside(writer, lambda: self._act(writer, kind)) as acted:
                try:
                    told = writer.run([decide]).answers[0]
                finally:
                    assert acted
        assert isinstance(told, Decided)
        return told

    def _act(self, writer: PostgresWriter, kind: str) -> None:
        match kind:
            case "backend killed":
                _kill_backend(writer)
            case "server restarted":
                self._cluster.halt(self._dice.choice(("immediate", "fast")))
                self._cluster.start()
            case "socket dropped before COMMIT":
                self._proxy.cut()
            case _:
                self._lose_lock(writer)

    def _lose_lock(self, writer: PostgresWriter) -> None:
        """Take the struck transaction away with its session, and let another owner have the lock
        before the first one is back."""
        self._owners += 1
        self._peer.close()
        _kill_backend(writer)
        other = self._folder / f"owner-{self._owners}"
        other.mkdir()
        for name in ("ledger.url", "highwater"):
            shutil.copy(self._out / name, other / name)
        self._out = other
        self._begin(_owned_soon(other))

    # ---- looking --------------------------------------------------------------------------------

    def _look(
        self, number: int, kind: str, writer: PostgresWriter, decide: Decide, told: Decided
    ) -> None:
        wanted = self.report.decisions
        if (told.disposition, told.decision) != ("completed", wanted):
            self._wrong(number, kind, f"{told} instead of decision {wanted}")
        again = writer.run([decide]).answers[0]
        if again != Decided("already", decision=told.decision):
            self._wrong(number, kind, f"said again: {again}")
        status = self._root.status()
        if (status.total.executed, status.decisions) != (wanted, wanted):
            counts = f"executed {status.total.executed}, decisions {status.decisions}"
            self._wrong(number, kind, f"{counts}, wanted {wanted}")

    def _wrong(self, number: int, kind: str, what: str) -> None:
        self.report.violations.append(f"strike {number}, {kind}: {what}")


def _patience(kind: str) -> contextlib.AbstractContextManager[object]:
    if kind == "lock lost":
        return mock.patch.object(postgres_writer, "RECONNECT_S", _RECONNECT_S)
    return contextlib.nullcontext()


def _owned_soon(out: Path) -> PostgresLedger:
    """Own a campaign whose server may be recovering."""
    deadline = time.monotonic() + 30.0
    while True:
        try:
            return postgres_opener.open_owner(out, _REQUEST, SystemClock())
        except Exception:  # whatever a server says that is just coming up
            if time.monotonic() >= deadline:
                raise
        time.sleep(0.02)


def _kill_backend(writer: PostgresWriter) -> None:
    """Kill the server's process of a session; the server ends all others and recovers."""
    os.kill(writer._ownership.backend, signal.SIGKILL)  # noqa: SLF001 - struck where it is weak


@contextlib.contextmanager
def _inside(writer: PostgresWriter, act: Callable[[], None]) -> Iterator[list[bool]]:
    """Act once inside the writer's next transaction, after all its work and before its COMMIT."""
    whole = writer._write_standing  # noqa: SLF001 - the last thing before COMMIT
    acted: list[bool] = []

    def write_standing(cursor: Any, before: tuple[int, ...]) -> None:
        whole(cursor, before)
        if not acted:
            acted.append(True)
            writer._ownership.session.settle()  # noqa: SLF001
            act()

    with mock.patch.object(writer, "_write_standing", write_standing):
        yield acted


def run(folder: Path, cluster: Cluster, strikes: int, seed: int) -> Report:
    """Strike a new campaign below `folder`."""
    struck = Strikes(folder, cluster, seed)
    try:
        struck.run(strikes)
    finally:
        struck.close()
    return struck.report


def main() -> int:
    """Print the report; exit with 1 when anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--strikes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    bin_folder = programs()
    assert bin_folder is not None, "no PostgreSQL server is installed"
    cluster = Cluster(bin_folder)
    try:
        report = run(options.folder, cluster, options.strikes, options.seed)
    finally:
        cluster.stop()
    fields = {name: getattr(report, name) for name in Report.__slots__}
    sys.stdout.write(json.dumps(fields) + "\n")
    return int(bool(report.violations))


if __name__ == "__main__":
    raise SystemExit(main())
