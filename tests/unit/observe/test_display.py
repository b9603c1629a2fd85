"""The live screen on a terminal of 80 by 24, and plain lines without one."""

from __future__ import annotations

import io
from pathlib import Path

import pyte
import pytest
from tests.unit.observe.reports import live, report, status

from symfleet.observe.display import LaunchDisplay, Look, draw
from symfleet.observe.report import encode_report


def look(**changes: object) -> Look:
    values: dict[str, object] = {
        "started_wall_s": 0.0,
        "period_s": 1.0,
        "plain_period_s": 10.0,
        "colour": True,
        "greeting": "starting",
    }
    return Look(**(values | changes))  # type: ignore[arg-type]


def on_terminal(text: str, columns: int = 80, lines: int = 24) -> list[str]:
    terminal = pyte.Screen(columns, lines)
    pyte.Stream(terminal).feed(text)
    return [line.rstrip() for line in terminal.display]


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    return tmp_path


def test_the_screen_tells_everything_on_80_by_24(out: Path) -> None:
    (out / "status.json").write_bytes(encode_report(report(part=live())))
    stream = io.StringIO()
    display = LaunchDisplay(out, "live", stream, look())
    display.ticked(5.0)
    lines = on_terminal(stream.getvalue())
    text = "\n".join(lines)
    assert lines[0].startswith("symfleet tlv  keep novel  epoch 3 (resumed 2x)  running")
    for words in (
        "2 on 2 hosts, 2 of 4 slots busy",
        "1m 10s this epoch, 2h 00m whole campaign",
        "4321 edges, last new edge 20s ago",
        "307 inputs (7 from outside)",
        "40 pending, 8 leased, 5 unpublished",
        "1234 (12.3/s), target runs 98.8k (988/s)",
        "100 sat, 50 unsat, 3 timeout, 0 unknown, 9 skipped; solver 50%",
        "60 inversion, 40 smt",
        "5 all_unsat",
        "ok  disk 4.9 GiB free",
        "rank 1    host1",
        "rank 2    host2",
    ):
        assert words in text, text
    display.told("SIGINT: finishing what runs")
    display.ticked(6.0)
    assert "SIGINT: finishing what runs" in on_terminal(stream.getvalue())


def test_the_second_picture_replaces_the_first(out: Path) -> None:
    stream = io.StringIO()
    display = LaunchDisplay(out, "live", stream, look())
    for now, slots in ((5.0, 8), (10.0, 4)):
        (out / "status.json").write_bytes(encode_report(report(part=live(slots=slots))))
        display.ticked(now)
    text = "\n".join(on_terminal(stream.getvalue()))
    assert text.count("rank 1 ") == 1
    assert "rank 4" not in text


def test_the_screen_leaves_what_was_there_and_goes_when_the_launch_ends(out: Path) -> None:
    (out / "status.json").write_bytes(encode_report(report(part=live())))
    terminal = pyte.HistoryScreen(80, 24)
    terminal.set_mode(pyte.modes.LNM)  # as a terminal's line discipline does
    shell = pyte.Stream(terminal)
    shell.feed("$ make\n")
    stream = io.StringIO()
    display = LaunchDisplay(out, "live", stream, look())
    display.ticked(5.0)
    display.told("SIGINT: finishing what runs")
    display.ticked(6.0)
    display.finished()
    shell.feed(stream.getvalue())
    scrolled = ["".join(line[n].data for n in range(6)) for line in terminal.history.top]
    assert "$ make" in scrolled
    left = [line.rstrip() for line in terminal.display if line.strip()]
    assert left == ["symfleet: SIGINT: finishing what runs"]


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (60, 10), (200, 60), (40, 24)])
def test_no_picture_is_larger_than_its_terminal(columns: int, lines: int) -> None:
    snapshot = status(faults_this_epoch={name: {"": 12345} for name in ("blames", "leases_lost")})
    picture = draw(report(snapshot, live(slots=64)), columns, lines, colour=False).split("\n")
    assert len(picture) < lines
    assert max(len(line) for line in picture) <= max(60, columns)


def test_many_workers_are_counted_where_there_is_no_room() -> None:
    picture = draw(report(part=live(slots=100)), 80, 24, colour=False)
    assert "more workers" in picture


def test_a_stopped_campaign_has_a_picture_too() -> None:
    assert "stopped" in draw(report(running=False), 80, 24, colour=False).split("\n")[0]


def test_plain_text_has_no_escapes() -> None:
    assert "\x1b" not in draw(report(part=live()), 80, 24, colour=False)


def test_without_a_terminal_there_are_plain_lines_in_time(out: Path) -> None:
    (out / "status.json").write_bytes(encode_report(report(part=live())))
    stream = io.StringIO()
    display = LaunchDisplay(out, "plain", stream, look())
    for tenth in range(210):
        display.ticked(100.0 + tenth / 10)
    display.told("stopping at once")
    lines = stream.getvalue().splitlines()
    assert lines[0] == "symfleet: starting"
    assert len(lines) == 4
    assert lines[1].startswith("[2h 00m]")
    assert lines[3] == "symfleet: stopping at once"


@pytest.mark.parametrize(
    ("watching", "hint"),
    [
        (False, "symfleet: nothing is left to explore: ending"),
        (True, "symfleet: nothing is left: waiting for inputs (seed folders, `corpus add`), or"),
    ],
)
def test_a_hint_is_given_once_for_as_long_as_it_holds(out: Path, watching: bool, hint: str) -> None:
    part = live(watching=watching)
    (out / "status.json").write_bytes(encode_report(report(status(states={}), part)))
    stream = io.StringIO()
    display = LaunchDisplay(out, "plain", stream, look(greeting=""))
    for now in (0.1, 10.2, 20.3):
        display.ticked(now)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[1].startswith(hint)


def test_a_report_of_an_earlier_launch_is_not_shown(out: Path) -> None:
    (out / "status.json").write_bytes(encode_report(report(part=live())))
    stream = io.StringIO()
    display = LaunchDisplay(out, "live", stream, look(started_wall_s=1_700_000_171.0))
    display.ticked(5.0)
    assert stream.getvalue() == "symfleet: starting\n"


def test_a_closed_terminal_ends_nothing(out: Path) -> None:
    (out / "status.json").write_bytes(encode_report(report(part=live())))
    stream = io.StringIO()
    stream.close()
    for mode in ("live", "plain"):
        display = LaunchDisplay(out, mode, stream, look())
        display.ticked(5.0)
        display.ticked(50.0)
        display.told("x")


def test_nothing_is_shown_when_nothing_is_wanted(out: Path) -> None:
    (out / "status.json").write_bytes(encode_report(report(part=live())))
    stream = io.StringIO()
    display = LaunchDisplay(out, "none", stream, look())
    display.ticked(5.0)
    display.told("x")
    assert stream.getvalue() == ""
