"""What other coordinators cost the owner of the ledger, and whether all get their share.

    python -m benchmarks.turns [--coordinators 4] [--seconds 4] [--repetitions 5]

Every coordinator decides what it has claimed and claims as much again, 64 items a turn, as fast as
it can: the root on its own ledger, the others by TURN frames over MPI. The owner's CPU time is that
of its part: taking frames, the transaction, the answers; making up results is the engines' work and
is not counted. Runs with one coordinator and with many alternate, so that the machine's state does
not decide; fsync is real, on the disk of the checkout.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from symfleet.clock import SystemClock
from symfleet.config.environment import inherited_environment
from symfleet.ledger import opener
from symfleet.ledger.contract import Ledger
from symfleet.protocol.answers import Answer, Claimed, TurnAnswers
from symfleet.protocol.codec import Codec
from symfleet.protocol.operations import Admit, Claim, Decide, Operation
from symfleet.protocol.setup import Knobs
from symfleet.runtime.introduction import RootGone
from symfleet.runtime.mpirun import find_mpirun, mpirun_command
from symfleet.runtime.remote_ledger import RemoteLedger
from symfleet.runtime.turn_service import TurnService
from symfleet.testing.ledgers import admission, campaign_row, child, decision, epoch_request
from symfleet.transport.mpi import MpiTransport
from symfleet.types import CampaignId, Epoch, Incarnation, Keep

ROOT = Path(__file__).resolve().parent.parent
BATCH = 64
CHILD_BYTES = 1024
ITEMS_A_SECOND = 20_000
CAMPAIGN = CampaignId("c1" * 16)
KNOBS = Knobs()


class Work:
    """What a coordinator does: it decides what it holds, and claims as much again."""

    def __init__(self, number: int, children: int) -> None:
        self._number = number
        self._children = children
        self._serial = number << 40

    def next(self, answers: TurnAnswers | None) -> list[Operation]:
        """Return the next turn."""
        claimed = answers.answers[-1] if answers is not None else None
        leases = claimed.leases if isinstance(claimed, Claimed) else ()
        operations: list[Operation] = []
        for lease in leases:
            kids = []
            for _ in range(self._children):
                self._serial += 1
                kids.append(child(self._serial.to_bytes(8, "little") * (CHILD_BYTES // 8)))
            operations.append(decision(lease, kids, keep=Keep.ALL))
        return [*operations, Claim(self._number, BATCH)]


def owner_rank(transport: MpiTransport, folder: Path, children: int, seconds: float) -> None:
    """Own the ledger and be one of its coordinators; print what it cost."""
    clock = SystemClock()
    request = opener.OwnerRequest("bench", os.getpid())
    ledger: Ledger = opener.create(folder, campaign_row(Keep.ALL), request, clock)
    ledger.open_epoch(epoch_request())
    source = ledger.register_source("seeds", "/s", "bench")
    for start in range(0, int(ITEMS_A_SECOND * (seconds + 1)), 1000):
        entries = tuple(admission(b"item %d" % n) for n in range(start, start + 1000))
        ledger.run([Admit(source, entries)])
        ledger.checkpoint()
    decided, claimed = Counter[str](), Counter[int]()

    def note(asked: Sequence[Operation], told: Sequence[Answer]) -> None:
        decided["turns"] += 1
        for operation, answer in zip(asked, told, strict=True):
            if isinstance(operation, Decide):
                decided["items"] += 1
            elif isinstance(operation, Claim) and isinstance(answer, Claimed):
                claimed[operation.coordinator] += len(answer.leases)
                assert len(answer.leases) == BATCH, "there is work for all"

    clients = {rank: (rank, Incarnation(rank)) for rank in range(1, transport.size)}
    codec = Codec(CAMPAIGN, Epoch(1), 0, KNOBS.frame_bytes)
    service = TurnService(ledger, transport, codec, clients, KNOBS, note)
    for rank in clients:
        transport.send(rank, b"begin")
    work, answers, cpu_s = Work(0, children), None, 0.0
    operations: list[Operation] = []
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        operations = operations or work.next(answers)
        cpu = time.process_time()
        service.arrived(transport.receive(KNOBS.turn_results, service.own_bytes_max).events)
        if service.stand_back:
            service.run(())
        else:
            answers, operations = service.run(operations), []
        service.checkpoint()
        cpu_s += time.process_time() - cpu
    took_s = time.perf_counter() - began
    for rank in clients:
        service.dismiss(rank)
    transitions = decided["items"] + sum(claimed.values())
    result = {
        "transitions": transitions,
        "rate": transitions / took_s,
        "cpu_us": cpu_s / transitions * 1e6,
        "commits": decided["turns"],
        "claimed": [claimed[number] for number in range(transport.size)],
    }
    sys.stdout.write(json.dumps(result) + "\n")
    ledger.close()


def peer_rank(transport: MpiTransport, children: int) -> None:
    """Be a coordinator elsewhere until the owner has enough."""
    clock = SystemClock()
    while not transport.receive(1, 1, 0).events:
        clock.sleep(0.001)
    codec = Codec(CAMPAIGN, Epoch(1), transport.rank, KNOBS.frame_bytes)
    ledger = RemoteLedger(transport, clock, codec, Incarnation(transport.rank), KNOBS)
    work, answers = Work(transport.rank, children), None
    try:
        while True:
            answers = ledger.run(work.next(answers))
    except RootGone:
        return


def be_rank(folder: str, children: str, seconds: str) -> NoReturn:
    """Be one rank of one run."""
    transport = MpiTransport(SystemClock())
    if transport.rank == 0:
        owner_rank(transport, Path(folder), int(children), float(seconds))
    else:
        peer_rank(transport, int(children))
    transport.leave()


def run(folder: Path, ranks: int, children: int, seconds: float) -> dict[str, Any]:
    """Run the ranks once on a new ledger."""
    out = Path(tempfile.mkdtemp(dir=folder))
    command = mpirun_command(find_mpirun(os.defpath), ranks, folder, Path("unused"))
    launch = command[: command.index(sys.executable)]
    words = ["--rank", str(out), str(children), str(seconds)]
    done = subprocess.run(
        [*launch, sys.executable, "-m", "benchmarks.turns", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
        cwd=ROOT,
        env=inherited_environment(),
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare(folder: Path, coordinators: int, children: int, options: Any) -> dict[str, Any]:
    """Run one and many in turn; return medians, their ratio, and how unequal the shares were."""
    ones, many = [], []
    for _ in range(options.repetitions):
        ones.append(run(folder, 1, children, options.seconds))
        many.append(run(folder, coordinators, children, options.seconds))
        print(json.dumps([ones[-1], many[-1]]), file=sys.stderr)
    ratios = [b["cpu_us"] / a["cpu_us"] for a, b in zip(ones, many, strict=True)]
    off = [_off(one["claimed"]) for one in many]
    return {
        "children": children,
        "one": _median(ones),
        "many": _median(many),
        "cpu_ratio": round(statistics.median(ratios), 3),
        "cpu_ratios": [round(ratio, 3) for ratio in ratios],
        "share_off_worst_percent": round(100 * max(off), 1),
        "shares": [one["claimed"] for one in many],
    }


def _off(claimed: Sequence[int]) -> float:
    """Return by how much the most unequal share differs from an equal one."""
    equal = sum(claimed) / len(claimed)
    return max(abs(one - equal) for one in claimed) / equal


def _median(runs: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {
        name: round(statistics.median(one[name] for one in runs), 2)
        for name in ("rate", "cpu_us", "commits")
    }


def main() -> None:
    """Measure, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coordinators", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="symfleet-turns-", dir=ROOT / "build") as name:
        figures = [compare(Path(name), options.coordinators, kids, options) for kids in (0, 2)]
    date = datetime.datetime.now(tz=datetime.UTC).isoformat(timespec="seconds")
    result = {
        "date": date,
        "command": "python -m benchmarks.turns"
        f" --coordinators {options.coordinators} --seconds {options.seconds:g}"
        f" --repetitions {options.repetitions}",
        "coordinators": options.coordinators,
        "batch": BATCH,
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
        "figures": figures,
    }
    print(json.dumps(result, indent=1))
    path = ROOT / "benchmarks" / "results" / f"turns-{date[:10]}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--rank", folder, children, seconds]:
            be_rank(folder, children, seconds)
        case _:
            main()
