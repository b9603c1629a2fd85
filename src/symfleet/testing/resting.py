"""A small campaign at rest, made without a job: everything that a folder can show is there once, a
crash, a hang and poisoned work among it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from symfleet.config.project import CONFIG_NAME, render_toml
from symfleet.corpus.durable import write_file
from symfleet.corpus.layout import sink_folder
from symfleet.corpus.publish import Publisher
from symfleet.corpus.reproductions import reproduction_of
from symfleet.ledger.contract import Ledger
from symfleet.observe.writer import StatusWriter
from symfleet.protocol.answers import Claimed, Lease
from symfleet.protocol.events import SinkAdvanced
from symfleet.protocol.operations import Admit, Blame, Claim, CloseEpoch, MarkPublished
from symfleet.testing.ledgers import admission, child, decision, epoch_request
from symfleet.testing.programs import ProgramCampaign
from symfleet.types import Incarnation, Keep, Outcome, SinkKind

DECIDED = b"decided"
POISONED = b"poisoned"
OPEN = b"open"


def make_resting(folder: Path, program: Path) -> ProgramCampaign:
    """Make the campaign; its newest launch was closed in good order."""
    made = ProgramCampaign(folder, program, {"a": DECIDED})
    config = made.config()
    with made.owned() as opened:
        ledger = opened.ledger
        ledger.open_epoch(replace(epoch_request(), config_toml=render_toml(config)))
        write_file(made.out / CONFIG_NAME, render_toml(config).encode())
        source = ledger.register_source("seeds", str(made.seeds), "here")
        publishers = [
            Publisher(
                ledger.register_sink(kind, str(sink_folder(made.out, kind)), "here"),
                made.out,
                ledger,
                reproduction_of(config),
            )
            for kind in SinkKind
        ]
        writer = StatusWriter(made.out, config, ledger, 0.0, "test")
        ledger.run([Admit(source, tuple(admission(data) for data in (DECIDED, POISONED, OPEN)))])
        children = [
            child(b"a child", 8),
            child(b"a crash", 16, outcome=Outcome.CRASH, signal=11),
            child(b"a hang", 24, outcome=Outcome.HANG),
        ]
        ledger.run([decision(claim(ledger), children, keep=Keep.ALL)])
        for executor in (1, 2, 3):
            held = claim(ledger)
            ledger.run([Blame(held.work_id, held.token, Incarnation(executor), "SIGSEGV")])
        publish(ledger, publishers)
        ledger.run([CloseEpoch("interrupted", 0)])
        writer.write(ledger, None, 2.0, 1_700_000_003.0)
    return made


def claim(ledger: Ledger) -> Lease:
    """Lease the first row of the frontier."""
    (answer,) = ledger.run([Claim(0, 1)]).answers
    assert isinstance(answer, Claimed)
    (lease,) = answer.leases
    return lease


def publish(ledger: Ledger, publishers: list[Publisher]) -> None:
    """Show everything that there is, and move the marks."""
    last = ledger.run([]).last_artefact
    for publisher in publishers:
        while publisher.published_upto < last:
            for moved in publisher.step(last, 0.0, flush=True):
                assert isinstance(moved, SinkAdvanced), moved
                mark = MarkPublished(
                    moved.sink, moved.incarnation, moved.published_from, moved.published_upto
                )
                ledger.run([mark])
