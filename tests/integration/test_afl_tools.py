"""The real afl-whatsup and afl-plot read what a campaign writes."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from tests.unit.observe.reports import live, report, status

from symfleet.observe.afl import AflFiles
from symfleet.observe.report import Report

needs = pytest.mark.skipif(
    not (shutil.which("afl-whatsup") and shutil.which("afl-plot") and shutil.which("gnuplot")),
    reason="afl++ or gnuplot is not installed",
)
ESCAPES = re.compile(r"\x1b(?:\[[0-9;]*[a-z]|\(B)")


def run(command: Sequence[str]) -> str:
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "TERM": "xterm"},
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    complaints = [
        line for line in ended.stderr.splitlines() if line.strip() and not line.startswith("tput")
    ]
    assert not complaints, complaints
    return ESCAPES.sub("", ended.stdout)


def campaign(out: Path, pictures: int) -> None:
    """Write what a campaign of this many pictures writes, with this process as its owner."""
    files = AflFiles(out, 1000, "0.1.0")
    for number in range(1, pictures + 1):
        files.write(_report(number))


def _report(number: int) -> Report:
    epoch = status().epoch
    assert epoch is not None
    totals = dataclasses.replace(status().total, edges=100 * number, target_runs=1000 * number)
    snapshot = status(
        epoch=dataclasses.replace(epoch, pid=os.getpid()), total=totals, corpus=10 * number
    )
    shown = report(snapshot, live())
    return msgspec.structs.replace(shown, time_total_s=7200.0 + 5 * number)


@needs
def test_whatsup_counts_a_running_campaign(tmp_path: Path) -> None:
    campaign(tmp_path, 5)
    said = run(["afl-whatsup", str(tmp_path)])
    assert re.search(r">>> tlv (instance: \S+ )?\(0 days, 2 hrs\)", said)
    assert re.search(r"Fuzzers alive : 1\b", said)
    assert re.search(r"Crashes saved : 2\b", said)
    assert re.search(r"Total execs : 5 thousands", said)
    assert "items 49/50" in said
    assert "coverage 0.00%, crashes saved 2" in said


@needs
def test_whatsup_sums_several_campaigns(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        campaign(tmp_path / name, 3)
    said = run(["afl-whatsup", "-s", str(tmp_path)])
    assert re.search(r"Fuzzers alive : 2\b", said)
    assert re.search(r"Total execs : 6 thousands", said)


@needs
def test_plot_draws_every_picture(tmp_path: Path) -> None:
    out, plots = tmp_path / "out", tmp_path / "plots"
    out.mkdir()
    campaign(out, 8)
    run(["afl-plot", str(out), str(plots)])
    for name in ("high_freq.png", "low_freq.png", "exec_speed.png", "edges.png"):
        assert (plots / name).read_bytes().startswith(b"\x89PNG"), name
    assert "tlv" in (plots / "index.html").read_text()
