"""OUT/highwater: how far a ledger has come, told outside of it.

It is replaced after durable commits only, so it never runs ahead. A ledger that is behind it is an
older copy, and continuing it would do decided work again and lose inputs (C9).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from symfleet import crash
from symfleet.corpus.durable import io_failure, write_file
from symfleet.corpus.plain_files import read_plain
from symfleet.errors import IntegrityError
from symfleet.types import CampaignId

HIGHWATER_NAME: Final = "highwater"
_BYTES_MAX: Final = 65_536


class Highwater(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last decision that was durable when the file was written; 0 and "" before the first."""

    campaign: CampaignId
    ledger_incarnation: str
    epoch: int
    decision: int
    chain: str


def write_highwater(out: Path, mark: Highwater) -> None:
    """Replace the file durably."""
    crash.point("highwater.before")
    write_file(out / HIGHWATER_NAME, msgspec.json.encode(mark) + b"\n")
    crash.point("highwater.after")


def read_highwater(out: Path) -> Highwater | None:
    """Return what the file tells, None when there is none; raise IntegrityError when damaged."""
    path = out / HIGHWATER_NAME
    try:
        text = read_plain(path, _BYTES_MAX)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise io_failure(error, "the highwater file cannot be read", str(path)) from error
    try:
        return msgspec.json.decode(text, type=Highwater)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise IntegrityError(
            "the highwater file is damaged",
            where=str(path),
            why=str(error),
            hint="if the ledger is the right one (`symfleet verify` names nothing else),"
            " put this file away",
        ) from error


def judge_highwater(
    mark: Highwater, current: Highwater, chain_at_mark: str | None, path: Path
) -> IntegrityError | None:
    """Return why a ledger is not the one that the mark tells of, or None.

    `current` is what the ledger itself says; `chain_at_mark` is its hash of decision
    `mark.decision`, None when it has no such decision.
    """
    if mark.campaign != current.campaign:
        return _refused(
            path,
            f"the folder belongs to campaign {mark.campaign}, the ledger to {current.campaign}",
            "files of two campaigns are mixed: put the right ledger back",
        )
    if mark.decision > current.decision or mark.epoch > current.epoch:
        missing = max(0, mark.decision - current.decision)
        return _refused(
            path,
            f"it ends with decision {current.decision} of epoch {current.epoch}, but decision "
            f"{mark.decision} of epoch {mark.epoch} was made: {missing} decisions are missing",
            "put the newest ledger back, or go on from this one with --accept-older-ledger",
        )
    if mark.ledger_incarnation != current.ledger_incarnation:
        return _refused(
            path,
            f"the folder belongs to ledger {mark.ledger_incarnation}, "
            f"this is ledger {current.ledger_incarnation}",
            "put the right ledger back, or go on from this one with --accept-older-ledger",
        )
    if mark.decision and chain_at_mark != mark.chain:
        return _refused(
            path,
            f"its decision {mark.decision} has the hash {chain_at_mark}, but {mark.chain} was made",
            "put the right ledger back, or go on from this one with --accept-older-ledger",
        )
    return None


def _refused(path: Path, why: str, hint: str) -> IntegrityError:
    return IntegrityError(
        "the ledger is an older or another copy", where=str(path), why=why, hint=hint
    )
