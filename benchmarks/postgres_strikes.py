"""Strikes on PostgreSQL writers in full: `python -m benchmarks.postgres_strikes [--strikes 500]`.

See `symfleet.testing.stores.postgres_strikes`. Campaigns of 100 strikes each, on one private
server. The result is a dated file in benchmarks/results; the exit code is 1 when a turn was lost or
counted twice.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from symfleet.testing.stores.postgres_cluster import Cluster, programs
from symfleet.testing.stores.postgres_strikes import Report, run

ROOT = Path(__file__).resolve().parent.parent
IN_A_CAMPAIGN = 100


def main() -> int:
    """Strike, write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strikes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    bin_folder = programs()
    assert bin_folder is not None, "no PostgreSQL server is installed"
    cluster = Cluster(bin_folder)
    reports: list[Report] = []
    try:
        with tempfile.TemporaryDirectory(prefix="symfleet-strikes-") as name:
            for start in range(0, options.strikes, IN_A_CAMPAIGN):
                amount = min(IN_A_CAMPAIGN, options.strikes - start)
                folder = Path(name) / str(start)
                folder.mkdir()
                reports.append(run(folder, cluster, amount, options.seed + len(reports)))
                print(f"{start + amount} strikes: {reports[-1]}", file=sys.stderr)
    finally:
        cluster.stop()
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    result = {
        "date": date,
        "command": f"python -m benchmarks.postgres_strikes --strikes {options.strikes}"
        f" --seed {options.seed}",
        "seed": options.seed,
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
        "strikes": sum((report.strikes for report in reports), Counter()),
        "decisions": sum(report.decisions for report in reports),
        "refused": sum(report.refused for report in reports),
        "seconds": round(sum(report.seconds for report in reports), 1),
        "violations": [one for report in reports for one in report.violations],
    }
    print(json.dumps(result, indent=1))
    path = ROOT / "benchmarks" / "results" / f"postgres-strikes-{date[:10]}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    return int(bool(result["violations"]))


if __name__ == "__main__":
    raise SystemExit(main())
