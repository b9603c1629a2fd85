"""Small programs over the real ledger and corpus code, to be traced.

    python -m symfleet.testing.power_cut.drivers NAME NOTES [--plant FAULT]

runs in the working folder, where `prepare` has made what the program begins with. A note is written
when something is durable by symfleet's word: `image DIGEST` names the whole database as it was
then, `leases DIGEST` one that a power cut may take back, `done` that the program's task is done.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from symfleet.clock import Clock
from symfleet.corpus.audit import rebuild
from symfleet.corpus.inbox import drop_input
from symfleet.corpus.layout import sink_folder
from symfleet.ledger import database
from symfleet.ledger.backup import back_up
from symfleet.ledger.copying import copy_store
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.moving import COPY_NAME, Move, finish_move, is_moving, move
from symfleet.ledger.sqlite_tables import SqliteCopy, open_tables
from symfleet.ledger.statements import migrations
from symfleet.protocol.answers import Lease
from symfleet.protocol.operations import Blame, Claim, Defer, Release, StoreInputs
from symfleet.testing.ledgers import ManualClock, campaign_row
from symfleet.testing.power_cut import campaign, planted
from symfleet.testing.power_cut.campaign import BIG, BIG_PART, OUT, REPRODUCTIONS, SEEDS, Owner
from symfleet.types import Incarnation, Keep, SinkKind

SOURCE: Final = Path("source.db")
"""What a copy is made from."""
BACKUP: Final = Path("backup.db")
DROPPED: Final = b"dropped"
_HIGHWATER_DUE_S: Final = 11.0
_LATER: Final = "CREATE TABLE later (later INTEGER PRIMARY KEY) STRICT;"
_TURNS: Final = ("open_epoch", "register_source", "register_sink", "run", "rearm", "drop_unnamed")


class Notes:
    """Where a program says what is durable."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._last = b""
        self.owner: Owner | None = None

    def say(self, text: str) -> None:
        """Write a line."""
        os.write(self._descriptor, f"{text}\n".encode())

    def follow(self, owner: Owner) -> Owner:
        """Note the database as it is now, and after each transaction of this owner."""
        self.owner = owner
        self.note(owner, "image")
        for name in _TURNS:
            setattr(owner.ledger, name, self._noting(owner, getattr(owner.ledger, name)))
        return owner

    def _noting(self, owner: Owner, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            answer = call(*arguments, **named)
            operations = arguments[0] if isinstance(arguments[0], tuple) else ()
            only_leases = operations and all(isinstance(each, Claim) for each in operations)
            self.note(owner, "leases" if only_leases else "image")
            return answer

        return noted

    def note(self, owner: Owner, word: str) -> None:
        """Note the database as it is, unless nothing has changed."""
        image = campaign.image_of(owner.ledger)
        if image != self._last:
            self._last = image
            self.say(f"{word} {image.hex()}")


@contextlib.contextmanager
def newer_symfleet() -> Iterator[None]:
    """Be a symfleet that knows one migration more."""
    name, scripts = "migrations", migrations()
    setattr(database, name, lambda: (*scripts, _LATER))
    try:
        yield
    finally:
        setattr(database, name, migrations)


# ---- what they begin with -----------------------------------------------------------------------


def _nothing(_: Clock) -> None:
    """Begin without a campaign."""


def _made(clock: Clock) -> None:
    owner = campaign.create(clock)
    owner.begin()
    owner.ledger.close()


def _half(clock: Clock) -> None:
    """A campaign that died: decided and unpublished items, leases, a log that is not folded."""
    owner = campaign.create(clock)
    owner.begin()
    owner.admit(SEEDS)
    owner.decide(owner.claim(2))
    owner.publish()
    owner.decide(owner.claim(3))
    owner.claim(2)
    # Whoever closes a database folds its log back; one who died did not.
    died = OUT.with_name("died")
    shutil.copytree(OUT, died)
    owner.ledger.abandon()
    shutil.rmtree(OUT)
    died.rename(OUT)


def _spoilt(clock: Clock) -> None:
    """A campaign that has ended well, whose files were then spoilt."""
    owner = campaign.create(clock)
    owner.begin()
    owner.finish()
    owner.ledger.close()
    files = sorted(path for path in sink_folder(OUT, SinkKind.CORPUS).rglob("*") if path.is_file())
    files[0].unlink()
    files[1].write_bytes(b"spoilt")


def _elsewhere(clock: Clock) -> None:
    """A campaign whose truth is not in its folder yet."""
    _half(clock)
    (OUT / LEDGER_NAME).rename(SOURCE)
    for suffix in ("-wal", "-shm"):
        (OUT / f"{LEDGER_NAME}{suffix}").rename(SOURCE.with_name(SOURCE.name + suffix))


# ---- the programs -------------------------------------------------------------------------------


def _create(clock: Clock, notes: Notes) -> None:
    owner = notes.follow(campaign.create(clock))
    owner.begin()
    owner.admit(SEEDS[:1])
    owner.ledger.close()
    notes.say("done")


def _turns(clock: Clock, notes: Notes) -> None:
    owner = notes.follow(campaign.own(clock))
    owner.begin(8)
    for seed in SEEDS:
        owner.admit([seed])
    leases = owner.claim(2)
    owner.decide(leases[:1])
    _give_back(owner, leases[1])
    owner.run(StoreInputs((b"part of a result" * 100,)))
    owner.publish()
    for _ in range(2):
        owner.decide(owner.claim(2))
    owner.ledger.abandon()


def _give_back(owner: Owner, lease: Lease) -> None:
    """Blame, lose and defer one item: none of it may cost it its place."""
    owner.run(Blame(lease.work_id, lease.token, Incarnation(5), "it died"))
    (lease,) = owner.claim(1)
    owner.run(Release(lease.work_id, lease.token, "lost", ran=True))
    (lease,) = owner.claim(1)
    owner.run(Defer(lease.work_id, lease.token, "no answer"))


def _publish(clock: Clock, notes: Notes) -> None:
    """Files of all kinds, some in every turn, and their marks."""
    owner = notes.follow(campaign.own(clock))
    owner.begin(8)
    owner.admit(SEEDS[:2])
    for _ in range(3):
        owner.decide(owner.claim(2))
        owner.publish()
    owner.ledger.abandon()


def _big(clock: Clock, notes: Notes) -> None:
    """A result of several MiB: parts first, then the decision that names them."""
    owner = notes.follow(campaign.own(clock))
    owner.begin(8)
    owner.admit([BIG])
    (lease,) = owner.claim(1)
    owner.run(StoreInputs((BIG_PART,)))
    owner.run(campaign.decide(lease))
    owner.ledger._fold_log_back("PASSIVE")  # noqa: SLF001 - what `checkpoint` does when it is time
    owner.publish()
    owner.ledger.close()
    notes.say("done")


def _fold(clock: Clock, notes: Notes) -> None:
    """Fold the log back in both ways, begin it anew, write `highwater` when it is time."""
    assert isinstance(clock, ManualClock)
    owner = notes.follow(campaign.own(clock))
    owner.begin(8)
    owner.admit(SEEDS)
    for mode in ("PASSIVE", "PASSIVE", "TRUNCATE"):
        owner.decide(owner.claim(1))
        owner.ledger._fold_log_back(mode)  # noqa: SLF001 - what `checkpoint` does when it is time
        clock.sleep(_HIGHWATER_DUE_S)
        owner.ledger.checkpoint()
        owner.claim(1)
    owner.ledger.abandon()


def _recover(clock: Clock, notes: Notes) -> None:
    """Go on from a death: void leases, publish again what is not known to be published."""
    owner = notes.follow(campaign.own(clock))
    owner.begin(9)
    owner.publish()
    leases = owner.claim(2)
    if leases:
        owner.decide(leases)
        owner.publish()
    owner.ledger.close()
    notes.say("done")


def _close(clock: Clock, notes: Notes) -> None:
    owner = notes.follow(campaign.own(clock))
    owner.begin(9)
    owner.finish()
    owner.ledger.close()
    notes.say("done")


def _migrate(clock: Clock, notes: Notes) -> None:
    owner = notes.follow(campaign.own(clock))
    owner.begin(9)
    owner.ledger.close()
    notes.say("done")


def _repair(clock: Clock, notes: Notes) -> None:
    """What `symfleet verify --repair` does."""
    owner = notes.follow(campaign.own(clock))
    published = {sink.kind: sink.published_upto for sink in owner.ledger.sinks()}
    rebuild(owner.ledger, OUT, REPRODUCTIONS, published)
    notes.say("repaired")
    owner.ledger.close()


def _quiet(line: str) -> None:
    """Tell nobody."""


def copy_here() -> None:
    """Copy the campaign's truth into its folder and let it live there, or go on with that."""
    if is_moving(OUT):
        finish_move(OUT)
    if (OUT / LEDGER_NAME).exists():
        return
    with (
        contextlib.closing(open_tables(SOURCE)) as source,
        contextlib.closing(SqliteCopy(OUT / COPY_NAME)) as target,
    ):
        copy_store(source, target, OUT, _quiet)
    move(OUT, Move("sqlite", campaign_row(Keep.ALL).campaign))


def _copy(_: Clock, notes: Notes) -> None:
    copy_here()
    notes.say("done")


def _back_up(_: Clock, notes: Notes) -> None:
    back_up(OUT, BACKUP, _quiet)
    notes.say("done")


def _drop(_: Clock, notes: Notes) -> None:
    """What `symfleet corpus add` does."""
    drop_input(OUT, DROPPED)
    notes.say("done")


@dataclass(frozen=True, slots=True)
class Driver:
    """One program: what it begins with, what it does, and what its crash states are checked for
    beside the campaign."""

    prepare: Callable[[Clock], None]
    drive: Callable[[Clock, Notes], None]
    beside: str = ""
    newer: bool = False
    seeds: tuple[bytes, ...] = SEEDS
    every: int = 1
    """One of how many instants is looked at."""
    variants_max: int = 10_000
    """How many variants of an instant are looked at, drawn from all."""


DRIVERS: Final[Mapping[str, Driver]] = MappingProxyType(
    {
        "create": Driver(_nothing, _create),
        "turns": Driver(_made, _turns),
        "publish": Driver(_made, _publish),
        "big": Driver(_made, _big, seeds=(BIG,), every=300, variants_max=4),
        "fold": Driver(_made, _fold),
        "recover": Driver(_half, _recover),
        "close": Driver(_half, _close),
        "migrate": Driver(_half, _migrate, newer=True),
        "repair": Driver(_spoilt, _repair, beside="repair"),
        "copy": Driver(_elsewhere, _copy, beside="copy", variants_max=12),
        "backup": Driver(_half, _back_up, beside="backup"),
        "drop": Driver(_half, _drop, beside="drop"),
    }
)


def prepare(name: str) -> None:
    """Make, in the working folder, what a program begins with."""
    DRIVERS[name].prepare(ManualClock())


def drive(name: str, notes: Path) -> None:
    """Run a program in the working folder."""
    run(name, Notes(notes))


def run(name: str, notes: Notes) -> None:
    """Run a program in the working folder with notes that are open already."""
    driver = DRIVERS[name]
    with newer_symfleet() if driver.newer else contextlib.nullcontext():
        driver.drive(ManualClock(), notes)


def main() -> int:
    """Run one program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=sorted(DRIVERS))
    parser.add_argument("notes", type=Path)
    parser.add_argument("--plant", choices=sorted(planted.FAULTS))
    options = parser.parse_args()
    if options.plant:
        planted.plant(options.plant)
    drive(options.name, options.notes)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
