"""Logs: JSON lines, capped, and never the end of a campaign."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from symfleet.observe.log import CappedFile, open_log


def test_a_log_line_is_json_with_its_process(tmp_path: Path) -> None:
    log = open_log(tmp_path, "root", level="info", bytes_max=10_000, files_max=2, epoch=4)
    log.write("debug", "unseen", {})
    log.write("info", "epoch_opened", {"frontier": 3, "odd": object()})
    (line,) = (tmp_path / "logs" / "root.jsonl").read_text().splitlines()
    entry = json.loads(line)
    assert entry["event"] == "epoch_opened"
    assert entry["level"] == "info"
    assert entry["process"] == "root"
    assert entry["epoch"] == 4
    assert entry["frontier"] == 3
    assert entry["timestamp"].endswith("Z")


def test_the_first_note_of_a_coordinator_loads_no_library(tmp_path: Path) -> None:
    """It is written in the very turn in which a worker has died: loading one took a quarter of a
    second, in which nobody was heard, and the next death was noticed that much later."""
    script = f"""
import sys
from pathlib import Path
import symfleet.runtime.root
from symfleet.config.model import Output
from symfleet.protocol.events import Note
from symfleet.runtime.notes import NoteLog
before = set(sys.modules)
log = NoteLog(Path({str(tmp_path)!r}), "coordinator-0", Output(), 1)
log.note(Note("warning", "worker_lost", {{"rank": 3}}))
print(sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"[]\n"
    (line,) = (tmp_path / "logs" / "coordinator-0.jsonl").read_text().splitlines()
    assert json.loads(line)["rank"] == 3


def test_old_parts_are_kept_up_to_the_cap(tmp_path: Path) -> None:
    sink = CappedFile(tmp_path / "log", bytes_max=100, files_max=3)
    for number in range(50):
        sink.write(f"{number:09d}\n")
    sink.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["log", "log.1", "log.2"]
    assert all(path.stat().st_size <= 100 for path in tmp_path.iterdir())
    assert (tmp_path / "log").read_text().endswith("000000049\n")
    kept = "".join((tmp_path / name).read_text() for name in ("log.2", "log.1", "log"))
    assert kept.splitlines() == [f"{number:09d}" for number in range(20, 50)]


def test_one_file_is_started_over(tmp_path: Path) -> None:
    sink = CappedFile(tmp_path / "log", bytes_max=30, files_max=1)
    for number in range(7):
        sink.write(f"{number:09d}\n")
    sink.close()
    assert (tmp_path / "log").read_text() == "000000006\n"


def test_a_log_that_cannot_be_written_is_counted_and_forgotten(tmp_path: Path) -> None:
    sink = CappedFile(tmp_path / "log", bytes_max=100, files_max=2)
    sink.close()
    sink.write("lost\n")
    assert sink.dropped == 1
