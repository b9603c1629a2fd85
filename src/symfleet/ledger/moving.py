"""A campaign moves to another store of its truth: the switch, and what becomes of the old one.

Theory of operation. OUT/ledger.moving is written when a copy is complete and verified. From this
instant the campaign lives in the new place, whatever else is done already: that one durable rename
is the switch. What follows is only names. The copy loses its mark and gets its name, the old store
loses its own (`ledger.db.retired-1`, `ledger.url.retired-1` with the schema `..._retired_1`) and
keeps everything else, and the note goes. Each step can be done again, so whoever owns the campaign
next finishes what a kill has left; readers ask for that.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

import msgspec

from symfleet import crash
from symfleet.config.ledger_address import SQLITE, is_postgres
from symfleet.corpus.durable import io_failure, remove_file, sync_folder, write_file
from symfleet.corpus.plain_files import read_plain
from symfleet.errors import HostError, IntegrityError, IOFailure
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.faults import NotReadyError
from symfleet.ledger.postgres_address import (
    ADDRESS_NAME,
    LedgerAddress,
    StoredAddress,
    read_address,
    write_address,
)
from symfleet.ledger.sqlite_tables import SIDE_FILES, finish_copy
from symfleet.types import CampaignId

MOVE_NAME: Final = "ledger.moving"
COPY_NAME: Final = LEDGER_NAME + ".copying"
_RETIRED: Final = ".retired-"
_NOTE_BYTES_MAX: Final = 65_536


class Move(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What OUT/ledger.moving holds: where the campaign lives now, `sqlite` or an address."""

    to: str
    campaign: CampaignId


def is_moving(out: Path) -> bool:
    """Whether a move is noted and not finished."""
    return (out / MOVE_NAME).exists()


def refuse_unfinished(out: Path) -> None:
    """Raise NotReadyError while names of a move are not in place."""
    if is_moving(out):
        raise NotReadyError(
            "the campaign is just moving to another ledger",
            where=str(out),
            why=f"{MOVE_NAME} is there: the copy is complete, not all files have their names yet",
            hint="`symfleet resume` or the same `symfleet ledger copy` finishes it",
        )


def move(out: Path, to: Move) -> str:
    """Let the campaign live at `to`, whose copy is complete and verified; return what it has left.
    The caller owns it."""
    write_file(out / MOVE_NAME, msgspec.json.encode(to) + b"\n")
    crash.point("move.noted")
    return finish_move(out)


def finish_move(out: Path) -> str:
    """Do what a noted move has still to do; return what the campaign has left, for people. The
    caller holds the owner's lock.

    Raises HostError when the server cannot be reached that the campaign moves to.
    """
    noted = _read_note(out)
    if noted is None:
        return ""
    if is_postgres(noted.to):
        _arrive_on_server(out, noted)
        crash.point("move.arrived")
        left = _retire_file(out)
    else:
        finish_copy(out / COPY_NAME, out / LEDGER_NAME)
        crash.point("move.arrived")
        left = _retire_address(out)
    crash.point("move.retired")
    try:
        (out / MOVE_NAME).unlink()
        sync_folder(out)
    except OSError as error:
        raise io_failure(error, "the move cannot be finished", str(out / MOVE_NAME)) from error
    crash.point("move.finished")
    return left


def _read_note(out: Path) -> Move | None:
    path = out / MOVE_NAME
    try:
        noted = msgspec.json.decode(read_plain(path, _NOTE_BYTES_MAX), type=Move)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise io_failure(error, "the note of a move cannot be read", str(path)) from error
    except msgspec.MsgspecError as error:
        raise _damaged(path, str(error)) from error
    if noted.to != SQLITE and not is_postgres(noted.to):
        raise _damaged(path, f"it names {noted.to!r}")
    return noted


def _damaged(path: Path, why: str) -> IntegrityError:
    return IntegrityError(
        "the note of a move is damaged",
        where=str(path),
        why=why,
        hint='it is one line: {"to":"sqlite" or "postgresql://...","campaign":"..."}',
    )


def _arrive_on_server(out: Path, noted: Move) -> None:
    from symfleet.ledger.postgres_connection import schema_of
    from symfleet.ledger.postgres_tables import take_mark_away

    take_mark_away(LedgerAddress(noted.to, schema_of(noted.campaign)))
    write_address(out, StoredAddress(noted.to, noted.campaign))


def _retire_file(out: Path) -> str:
    ledger = out / LEDGER_NAME
    if not ledger.exists():
        return ""
    retired = _free_name(out, LEDGER_NAME)
    # Its log first: a database never loses it. An owner has folded it back, so it is empty.
    for suffix in reversed(SIDE_FILES):
        path = ledger.with_name(ledger.name + suffix)
        if suffix and path.exists() and (suffix == "-shm" or path.stat().st_size == 0):
            remove_file(path)
        _rename(path, retired.with_name(retired.name + suffix))
    return str(retired.absolute())


def _retire_address(out: Path) -> str:
    from symfleet.ledger.postgres_connection import schema_of
    from symfleet.ledger.postgres_tables import retire_schema

    stored = read_address(out)
    if stored is None:
        return ""
    left = address = LedgerAddress(stored.url, schema_of(stored.campaign))
    # The server may be why the campaign moved. Nothing here names the schema any more.
    with contextlib.suppress(HostError, IOFailure):
        left = retire_schema(address, f"the campaign moved to {(out / LEDGER_NAME).absolute()}")
    _rename(out / ADDRESS_NAME, _free_name(out, ADDRESS_NAME))
    return left.shown


def _rename(path: Path, name: Path) -> None:
    try:
        if path.exists():
            path.rename(name)
            sync_folder(path.parent)
    except OSError as error:
        raise io_failure(error, "the old ledger cannot be put away", str(path)) from error


def _free_name(out: Path, name: str) -> Path:
    taken = {retired.name for retired in retired_files(out)}
    number = 1
    while f"{name}{_RETIRED}{number}" in taken:
        number += 1
    return out / f"{name}{_RETIRED}{number}"


def retired_files(out: Path) -> tuple[Path, ...]:
    """Return what earlier moves have left in a folder, by name."""
    found = out.glob(f"ledger.*{_RETIRED}*")
    return tuple(sorted(path for path in found if path.name.rpartition("-")[2].isdigit()))
