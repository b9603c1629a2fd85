"""Figures in the documentation are those of the newest results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_on_reliability_shows_the_newest_results() -> None:
    compared = subprocess.run(
        [sys.executable, "-m", "benchmarks.reliability", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert compared.returncode == 0, f"run python -m benchmarks.reliability\n{compared.stderr}"
