"""README.txt: what each thing in a campaign's folder is, for whoever finds it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from symfleet import crash
from symfleet.corpus.durable import write_file

README: Final = """\
This folder is one symfleet campaign. Everything that must not be lost is in ledger.db; the other
files are written from it and can be rebuilt: symfleet verify --repair .

  campaign.toml   the effective configuration, each setting with its meaning
  ledger.db       the truth: inputs, work, decisions, counters (SQLite; read it with care: mode=ro)
  ledger.url      instead of it: the truth is on a PostgreSQL server, and this is its address
  corpus/ab/      all inputs, each named by its SHA-256; ab are the name's first two digits
  crashes/        one folder for each crashing input: the input, report.json, reproduce.sh
  hangs/          the same for inputs that the target does not finish in time
  poison/         work that was set aside because executors died of it
  status.json     how it goes, renewed each second while it runs
  fuzzer_stats    the same for afl-whatsup (with fuzzer_setup); plot_data for afl-plot
  logs/           JSON lines, one file for each process, the newest megabytes
  inbox/          how `corpus add` and `poison rearm` reach a running campaign
  lost+found/     files that had the name of an input but other bytes
  job.lock        held while a job runs here; owner.lock by its writer

  symfleet status .          how it goes, or how it ended
  symfleet resume .          go on where it stopped; nothing that was finished is done again
  symfleet crashes list .    what was found
  symfleet crashes repro .   run the target on a crash again
  symfleet verify .          check the ledger, and the files against it
"""


def write_readme(out: Path) -> bool:
    """Write README.txt unless it is there already; return whether it was written."""
    path = out / "README.txt"
    if path.exists():
        return False
    write_file(path, README.encode(), durable=False)
    crash.point("readme.written")
    return True
