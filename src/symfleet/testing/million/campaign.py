"""Makes a campaign with very many decided records and a few open ones, through the ledger's own
operations, so that nothing about it is unlike one that has run for weeks.

It is made once, in a folder that stays, and goes on being used: each measurement decides some of
the open records, and more are admitted when they run out.
"""

from __future__ import annotations

import hashlib
import shutil
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from symfleet.corpus.layout import Reproduction, project, sink_folder
from symfleet.corpus.publish import Folder, check_artefact
from symfleet.ledger.contract import Ledger
from symfleet.protocol.answers import Claimed, Lease
from symfleet.protocol.item_results import Flips
from symfleet.protocol.operations import Admission, Admit, Claim, Decide, MarkPublished
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.testing.ledgers import epoch_request
from symfleet.testing.programs import ProgramCampaign
from symfleet.types import GenerationId, Keep, Outcome, SinkKind, WorkState, input_id_of

OPEN: Final = 300
"""Records that are open: what a campaign of two slots has on its hands."""

_TURN: Final = 1000
_FILES: Final = 10_000
_BYTES_MAX: Final = 1 << 28
_FLIPS: Final = Flips(unsat=3)


class Made(msgspec.Struct, frozen=True):
    """What stands beside a campaign that is complete."""

    records: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Million:
    """A campaign that is complete."""

    campaign: ProgramCampaign
    made: Made


def seconds_of(folder: Path) -> Path:
    """Return where it is noted that the campaign is complete."""
    return folder / "made.json"


def open_million(folder: Path, records: int, program: Path, tell: Callable[[str], None]) -> Million:
    """Return the campaign of a folder, made when there is none of that size. `program`: the engine
    program, copied, because an edit of it would make another generation."""
    noted = seconds_of(folder)
    if noted.exists():
        made = msgspec.json.decode(noted.read_bytes(), type=Made)
        if made.records == records:
            return Million(_campaign(folder, program), made)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(program, folder / program.name)
    campaign = _campaign(folder, program)
    began = time.monotonic()
    with campaign.owned() as opened:
        _fill(opened.ledger, opened.generation, campaign, records, tell)
    made = Made(records, round(time.monotonic() - began, 1))
    noted.write_bytes(msgspec.json.encode(made))
    return Million(campaign, made)


def _campaign(folder: Path, program: Path) -> ProgramCampaign:
    return ProgramCampaign(folder, folder / program.name, {"first": b"first"}, slots=2, seconds=0.2)


def refill(campaign: ProgramCampaign, serial: int) -> None:
    """Let there be `OPEN` open records again."""
    with campaign.reader() as reader:
        missing = OPEN - reader.status().states[WorkState.PENDING]
    if missing <= 0:
        return
    with campaign.owned() as opened:
        ledger = opened.ledger
        ledger.open_epoch(epoch_request())
        source = ledger.register_source("seeds", "/more", "here")
        entries = [
            _admission(opened.generation, b"more %d %d" % (serial, n)) for n in range(missing)
        ]
        ledger.run([Admit(source, tuple(entries))])


def _admission(generation: GenerationId, data: bytes) -> Admission:
    item = WorkItem(generation, input_id_of(data))
    payload = encode_item(item)
    return Admission(item.input, data, work_id_of(item), state_id_of(item), payload, "bulk")


def _input(number: int) -> bytes:
    """Return an input of some hundred bytes that looks like no other one."""
    return b"record %d " % number + hashlib.shake_128(b"%d" % number).digest(96)


def _fill(
    ledger: Ledger,
    generation: GenerationId,
    campaign: ProgramCampaign,
    records: int,
    tell: Callable[[str], None],
) -> None:
    ledger.open_epoch(epoch_request())
    source = ledger.register_source("seeds", str(campaign.seeds), "here")
    for start in range(0, records, _TURN):
        numbers = range(start, min(start + _TURN, records))
        entries = tuple([_admission(generation, _input(number)) for number in numbers])
        _, claimed = ledger.run([Admit(source, entries), Claim(0, len(entries))]).answers
        assert isinstance(claimed, Claimed)
        assert len(claimed.leases) == len(entries)
        ledger.run([_decision(lease) for lease in claimed.leases])
        ledger.checkpoint()
        if start % 50_000 == 0:
            tell(f"{start:,} of {records:,} records")
    more = tuple(_admission(generation, b"open %d" % number) for number in range(OPEN))
    ledger.run([Admit(source, more)])
    _publish(ledger, campaign.out, tell)


def _decision(lease: Lease) -> Decide:
    return Decide(
        work_id=lease.work_id,
        token=lease.token,
        input_id=input_id_of(lease.data),
        keep=Keep.ALL,
        outcome=Outcome.OK,
        exit_code=0,
        signal=0,
        edges=b"",
        unstable=0,
        generated=0,
        dropped=0,
        children=(),
        flips=_FLIPS,
        solved={},
        executions=1,
        solver_us=1000,
        wall_us=50_000,
        cpu_us=40_000,
        degraded=(),
        reason="all_unsat",
    )


def _publish(ledger: Ledger, out: Path, tell: Callable[[str], None]) -> None:
    """Write all files, as publishers would in weeks; they are synchronised by the mark's caller."""
    # A sink belongs to its host: under another name all files would be published again.
    host = socket.gethostname()
    row = ledger.register_sink(SinkKind.CORPUS, str(sink_folder(out, SinkKind.CORPUS)), host)
    folder = Folder(out, Path(row.path))
    folder.prepare()
    reproduction = Reproduction((sys.executable,), "file")
    written = row.published_upto
    while artefacts := ledger.artefacts(SinkKind.CORPUS, written, _FILES, _BYTES_MAX):
        for artefact in artefacts:
            check_artefact(artefact)
            for file in project(artefact, reproduction):
                folder.put(file)
        ledger.run([MarkPublished(row.sink, row.incarnation, written, artefacts[-1].number)])
        written = artefacts[-1].number
        if written % 100_000 < _FILES:
            tell(f"{written:,} files")
