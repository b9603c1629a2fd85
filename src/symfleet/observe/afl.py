"""fuzzer_stats and plot_data as AFL++ writes them, for afl-whatsup, afl-plot and what people built.

afl-whatsup sources fuzzer_stats in a shell and divides by `execs_done` and `corpus_count`: values
hold only characters that a shell leaves alone, and there is no file before both are counted. Since
4.21c it finds a fuzzer by its fuzzer_setup, which holds the command line.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from symfleet import crash
from symfleet.corpus.durable import io_failure, write_file
from symfleet.ledger.contract import LedgerStatus
from symfleet.observe.report import Report

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9 ._,:%/+-]")
PLOT_HEADER: Final = (
    "# relative_time, cycles_done, cur_item, corpus_count, pending_total, pending_favs, map_size,"
    " saved_crashes, saved_hangs, max_depth, execs_per_sec, total_execs, edges_found\n"
)

STATS_COUNTS: Final = (
    *("execs_done", "corpus_count", "corpus_imported", "saved_crashes", "saved_hangs"),
    "edges_found",
)
"""Fields of fuzzer_stats that are sums over decisions."""
PLOT_COUNTS: Final = {
    "corpus_count": 3,
    "saved_crashes": 7,
    "saved_hangs": 8,
    "execs_done": 11,
    "edges_found": 12,
}
"""Sums over decisions in a line of plot_data: the field of fuzzer_stats, and the column."""


def afl_counts(status: LedgerStatus) -> dict[str, int] | None:
    """Return what the ledger says of these fields; None while there is nothing to show."""
    total = status.total
    if total.target_runs == 0 or status.corpus == 0:
        return None
    return {
        "execs_done": total.target_runs,
        "corpus_count": status.corpus,
        "corpus_imported": total.external_inputs,
        "saved_crashes": total.crashes,
        "saved_hangs": total.hangs,
        "edges_found": total.edges,
    }


def safe_value(text: str) -> str:
    """Replace what a shell could take for more than text."""
    return _UNSAFE.sub("_", text)


def fuzzer_stats(report: Report, timeout_ms: int, version: str) -> str | None:
    """Return the file's text, None while there is nothing to divide by.

    AFL++'s words mean here: executions are runs of the target, the current item is the number of
    decided ones, everything pending is favoured. The size of the coverage map is known to executors
    only: its share is told as 0.
    """
    total = report.total
    if total.target_runs == 0 or report.corpus == 0 or report.epoch is None:
        return None
    opened = int(report.campaign.created_wall_s)
    now = int(report.epoch.opened_wall_s + report.time_this_epoch_s)
    last_find = int(report.last_new_edge_wall_s or 0)
    pace = report.live.target_runs_per_s if report.live else 0.0
    mean = total.target_runs / report.time_total_s if report.time_total_s > 0 else 0.0
    pending = total.pending + total.leased
    fields: dict[str, object] = {
        "start_time": opened,
        "last_update": now,
        "run_time": int(report.time_total_s),
        "fuzzer_pid": report.epoch.pid,
        "cycles_done": 0,
        "cycles_wo_finds": 0,
        "time_wo_finds": max(0, now - last_find) if last_find else 0,
        "execs_done": total.target_runs,
        "execs_per_sec": f"{mean:.2f}",
        "execs_ps_last_min": f"{pace:.2f}",
        "corpus_count": report.corpus,
        "corpus_favored": report.corpus,
        "corpus_found": max(0, report.corpus - total.external_inputs),
        "corpus_imported": total.external_inputs,
        "corpus_variable": 0,
        "max_depth": 0,
        "cur_item": min(total.executed, report.corpus - 1),
        "pending_favs": pending,
        "pending_total": pending,
        "stability": "100.00%",
        "bitmap_cvg": "0.00%",
        "saved_crashes": total.crashes,
        "saved_hangs": total.hangs,
        "last_find": last_find,
        "last_crash": 0,
        "last_hang": 0,
        "execs_since_crash": 0,
        "exec_timeout": timeout_ms,
        "slowest_exec_ms": 0,
        "peak_rss_mb": 0,
        "cpu_affinity": -1,
        "edges_found": total.edges,
        "total_edges": 0,
        "var_byte_count": 0,
        "havoc_expansion": 0,
        "auto_dict_entries": 0,
        "testcache_size": 0,
        "testcache_count": 0,
        "testcache_evict": 0,
        "afl_banner": Path(report.campaign.target[0]).name if report.campaign.target else "",
        "afl_version": f"symfleet-{version}",
        "target_mode": "concolic",
        "command_line": _command_line(report),
    }
    return "".join(f"{name:<18}: {safe_value(str(value))}\n" for name, value in fields.items())


def _command_line(report: Report) -> str:
    return "symfleet " + " ".join(report.campaign.target)


def plot_line(report: Report) -> str:
    """Return one line of plot_data."""
    total = report.total
    pending = total.pending + total.leased
    pace = report.live.target_runs_per_s if report.live else 0.0
    return (
        f"{int(report.time_total_s)}, 0, {total.executed}, {report.corpus}, {pending}, {pending},"
        f" 0.00%, {total.crashes}, {total.hangs}, 0, {pace:.2f}, {total.target_runs},"
        f" {total.edges}\n"
    )


class AflFiles:
    """Keeps both files in the campaign's folder."""

    def __init__(self, out: Path, timeout_ms: int, version: str) -> None:
        self._out = out
        self._timeout_ms = timeout_ms
        self._version = version
        self._last_line = ""
        self._mended = False

    def write(self, report: Report) -> None:
        """Renew fuzzer_stats; add a line to plot_data when it says something new."""
        stats = fuzzer_stats(report, self._timeout_ms, self._version)
        if stats is None:
            return
        setup = self._out / "fuzzer_setup"
        if not setup.exists():
            write_file(setup, f"# command line:\n{_command_line(report)}\n".encode(), durable=False)
        write_file(self._out / "fuzzer_stats", stats.encode(), durable=False)
        crash.point("stats.fuzzer")
        line = plot_line(report)
        if line != self._last_line:
            self._append(line)
            self._last_line = line
            crash.point("stats.plot")

    def _append(self, line: str) -> None:
        path = self._out / "plot_data"
        try:
            if not self._mended:
                _drop_torn_line(path)
                self._mended = True
            with path.open("a", encoding="ascii") as stream:
                if stream.tell() == 0:
                    stream.write(PLOT_HEADER)
                stream.write(line)
        except OSError as error:
            raise io_failure(error, "plot_data cannot be written", str(path)) from error


def _drop_torn_line(path: Path) -> None:
    """Cut off the line that an earlier launch did not finish."""
    if not path.exists():
        return
    with path.open("r+b") as stream:
        end = stream.seek(0, 2)
        start = max(0, end - 4096)
        stream.seek(start)
        tail = stream.read()
        stream.truncate(start + tail.rfind(b"\n") + 1)
