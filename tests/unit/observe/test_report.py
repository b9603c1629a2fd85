"""The report: the protocol's counters, once for the epoch and once for the campaign."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.unit.observe.reports import live, report, status

from symfleet.observe.report import (
    FAULTS,
    Counters,
    decode_report,
    encode_report,
    faults_in,
    read_status,
)

PROTOCOL_COUNTERS = """
executed{coordinator}, generated, unique_children, external_inputs, pending, leased, unpublished,
deferred, poisoned, suspect; quarantined_results{unowned, missing, malformed, stale},
invalid_results, quarantined_ready{missing, malformed, stale, unowned}, quarantined_frames,
id_mismatches, wrong_owner_rejected, protocol_requeued, protocol_deferred, deferral_failed,
silence_timeouts, slots_recovered, slots_reborn, blames, late_children, unstable_edges,
leases_recovered, leases_lost, redone_decisions, projection_repaired
"""


@pytest.mark.guarantee("J10")
@pytest.mark.guarantee("D8")
def test_every_counter_of_the_protocol_has_its_name() -> None:
    names = re.findall(r"([a-z_]+)(?:\{([a-z, ]+)\})?", PROTOCOL_COUNTERS)
    document = json.loads(encode_report(report()))
    for copy in (document["this_epoch"], document["total"]):
        for name, labels in names:
            if name == "executed":
                continue
            if labels:
                assert set(copy[name]) == set(labels.split(", "))
            else:
                assert isinstance(copy[name], int)
    assert document["this_epoch"]["executed"] == 34
    assert document["this_epoch"]["executed_by_coordinator"] == {"0": 34}
    assert document["total"]["executed_by_coordinator"] == {"0": 1034, "1": 200}
    assert document["total"]["executed"] == 1234


def test_states_are_those_of_now_in_both_copies() -> None:
    shown = report()
    for copy in (shown.this_epoch, shown.total):
        assert (copy.pending, copy.leased, copy.suspect, copy.unpublished) == (40, 8, 1, 5)
    assert shown.open_work == 48


def test_faults_are_sums_over_reasons_and_unknown_ones_are_not_lost() -> None:
    shown = report()
    assert faults_in(shown.this_epoch) == {}
    assert faults_in(shown.total) == {"quarantined_results": 2, "blames": 1}
    assert shown.total.quarantined_results["stale"] == 2
    assert shown.total.other_faults == {"odd.x": 4}


def test_every_fault_is_a_counter() -> None:
    assert set(FAULTS) <= set(Counters.__struct_fields__)


def test_acknowledgements_and_the_idle_window_are_shown() -> None:
    snapshot = status(idle_window_s=1.01)
    document = json.loads(encode_report(report(snapshot)))
    assert document["acks"] == {"0": "0/0"}
    assert document["unacknowledged"] == []
    assert document["idle_window_s"] == 1.01


def test_a_report_reads_back() -> None:
    for shown in (report(), report(part=live()), report(running=False)):
        assert decode_report(encode_report(shown)) == shown


@pytest.mark.parametrize("source", [b"", b"{", b"{}", b'{"schema": 1}', b"\xff"])
def test_a_torn_or_foreign_report_is_none(tmp_path: Path, source: bytes) -> None:
    assert decode_report(source) is None
    (tmp_path / "status.json").write_bytes(source)
    assert read_status(tmp_path) is None
    assert read_status(tmp_path / "missing") is None


def test_a_report_is_one_flat_vocabulary() -> None:
    """Nobody who reads the JSON meets a key that is not a field of the model."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"extra": 1}', type=Counters)
