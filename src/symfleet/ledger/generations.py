"""A coverage generation begins: the campaign goes on with another program (or other arguments,
limits, another engine), and results of both are never mixed.

Decisions, crashes and the corpus stay. Work that was open belongs to the old program: it ends as
`superseded`. Every input of the corpus is work again, in the order in which it came, and what the
old program covered is not known of the new one. All of that is one transaction, so that a campaign
is never between two generations.
"""

from __future__ import annotations

from typing import Final

import msgspec

from symfleet import crash
from symfleet.ledger.contract import NewGeneration
from symfleet.ledger.edges import Knowledge
from symfleet.ledger.plan import outside_place
from symfleet.ledger.rows import Cursor
from symfleet.ledger.standing import Standing
from symfleet.ledger.statements import load
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.types import GenerationId, InputId

_OPENING: Final = load("opening")
_READ: Final = load("reading")
_PAGE_ROWS: Final = 512


def begin(cursor: Cursor, standing: Standing, number: int, new: NewGeneration) -> int:
    """Begin generation `number`; return how many inputs are work again."""
    superseded = cursor.execute(_OPENING["supersede"]).rowcount
    values = (
        *(number, new.generation, msgspec.json.encode(new.key).decode(), new.config_toml),
        *(new.now_wall, standing.epoch + 1, standing.decisions, superseded),
    )
    cursor.execute(_OPENING["put_generation"], values)
    standing.pending = standing.leased = standing.deferred = 0
    standing.poisoned = standing.suspects = 0
    standing.knowledge = Knowledge()
    again = _take_corpus_again(cursor, standing, new.generation)
    standing.pending += again
    standing.changes += superseded + again
    crash.point("generation.applied")
    return again


def _take_corpus_again(cursor: Cursor, standing: Standing, generation: GenerationId) -> int:
    again = after = 0
    while True:
        page = (after, _PAGE_ROWS)
        rows = cursor.connection.execute(_READ["corpus_inputs"], page).fetchall()
        work = [
            _row_of(standing.works + place, source, digest, generation)
            for place, (_, source, digest) in enumerate(rows, 1)
        ]
        again += cursor.executemany(_OPENING["put_again"], work).rowcount if work else 0
        standing.works += len(work)
        if len(rows) < _PAGE_ROWS:
            return again
        after = rows[-1][0]


def _row_of(
    work: int, source: int, digest: bytes, generation: GenerationId
) -> tuple[int, bytes, bytes, int, int, bytes]:
    item = WorkItem(generation=generation, input=InputId(digest.hex()))
    ids = bytes.fromhex(work_id_of(item)), bytes.fromhex(state_id_of(item))
    return work, *ids, source, outside_place(work), encode_item(item)
