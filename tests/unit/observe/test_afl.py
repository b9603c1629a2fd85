"""fuzzer_stats and plot_data hold what AFL++'s tools can take."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.observe.reports import TOTALS, live, report, status

from symfleet.observe.afl import PLOT_HEADER, AflFiles, fuzzer_stats, safe_value

SAFE_LINE = re.compile(r"[a-z_]+ *: [A-Za-z0-9 ._,:%/+-]*")


@given(text=st.text())
def test_values_hold_no_character_that_a_shell_would_take(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9 ._,:%/+-]*", safe_value(text))


def test_every_line_is_safe_whatever_the_target_is_called() -> None:
    shown = report(part=live())
    target = ("/x/$(rm -rf ~)`\"'\n;", "@@")
    campaign = msgspec.structs.replace(shown.campaign, target=target)
    hostile = msgspec.structs.replace(shown, campaign=campaign)
    text = fuzzer_stats(hostile, 1000, "0.1")
    assert text is not None
    for line in text.splitlines():
        assert SAFE_LINE.fullmatch(line), line


def test_there_is_no_file_while_a_reader_would_divide_by_zero() -> None:
    empty = dataclasses.replace(TOTALS, target_runs=0)
    assert fuzzer_stats(report(status(total=empty)), 1000, "0.1") is None
    assert fuzzer_stats(report(status(corpus=0)), 1000, "0.1") is None


def test_numbers_are_the_campaigns(tmp_path: Path) -> None:
    text = fuzzer_stats(report(part=live()), 1000, "0.1")
    assert text is not None
    values = dict(re.split(r" *: ", line, maxsplit=1) for line in text.splitlines())
    assert values["execs_done"] == "98765"
    assert values["corpus_count"] == "307"
    assert values["saved_crashes"] == "2"
    assert values["saved_hangs"] == "1"
    assert values["run_time"] == "7200"
    assert values["fuzzer_pid"] == "4242"
    assert values["edges_found"] == "4321"
    assert 0 <= int(values["cur_item"]) < 307


def test_plot_data_grows_by_a_line_when_something_changed(tmp_path: Path) -> None:
    files = AflFiles(tmp_path, 1000, "0.1")
    first, second = report(part=live()), report(status(corpus=308), live())
    for shown in (first, first, second):
        files.write(shown)
    lines = (tmp_path / "plot_data").read_text().splitlines(keepends=True)
    assert lines[0] == PLOT_HEADER
    assert len(lines) == 3
    assert all(line.count(",") == PLOT_HEADER.count(",") for line in lines[1:])


def test_a_torn_last_line_is_cut_off_by_the_next_launch(tmp_path: Path) -> None:
    path = tmp_path / "plot_data"
    path.write_text(PLOT_HEADER + "1, 0, 1, 1, 1, 1, 0.00%, 0, 0, 0, 0.00, 1, 1\n2, 0, 1")
    AflFiles(tmp_path, 1000, "0.1").write(report(part=live()))
    lines = path.read_text().splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("7200, ")
