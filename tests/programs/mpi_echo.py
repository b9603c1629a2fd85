"""Rank program for transport tests: rank 0 plays `scenario` with echoing ranks, prints JSON."""

import json
import os
import signal
import sys
import time

from symfleet.clock import SystemClock
from symfleet.protocol.events import FrameReceived, RankLost
from symfleet.transport.contract import NotSent
from symfleet.transport.mpi import MpiTransport

DEADLINE_S = 20.0
transport = MpiTransport(SystemClock())


def wait() -> tuple[FrameReceived | RankLost, ...]:
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        arrivals = transport.receive(64, 8 << 20)
        if arrivals.events:
            return arrivals.events
        time.sleep(0.0005)
    raise SystemExit("deadline")


def echo() -> None:
    while True:
        for event in wait():
            match event:
                case RankLost():
                    continue
                case FrameReceived(data=b""):
                    transport.leave()
                case FrameReceived(data=b"die"):
                    os.kill(os.getpid(), signal.SIGKILL)
                case FrameReceived(data=data):
                    transport.send(0, data)


def sizes() -> dict[str, object]:
    """Frames of all sizes come back whole and in order, also many at once."""
    lengths = [1, 88, 4096, 65536, 1 << 20, 4 << 20]
    frames = [bytes([n + 1]) * length for n, length in enumerate(lengths)] * 3
    for frame in frames:
        transport.send(1, frame)
    back: list[bytes] = []
    while len(back) < len(frames):
        back += [event.data for event in wait() if isinstance(event, FrameReceived)]
    return {"whole": back == frames, "unsent": transport.unsent_bytes()}


def death() -> dict[str, object]:
    """A killed rank is noticed; the others go on in the same communicator."""
    transport.send(2, b"die")
    began = time.monotonic()
    (lost,) = wait()
    noticed_s = time.monotonic() - began
    refused = False
    try:
        transport.send(2, b"too late")
    except NotSent:
        refused = True
    transport.send(1, b"still there?")
    (answer,) = wait()
    return {
        "lost": lost.rank if isinstance(lost, RankLost) else None,
        "noticed_s": noticed_s,
        "refused": refused,
        "answer": answer.data.decode() if isinstance(answer, FrameReceived) else None,
    }


def one_source() -> dict[str, object]:
    """Frames of one rank are heard while those of another wait, in order, and so is its death."""
    heard: list[str] = []

    def hear(events: tuple[FrameReceived | RankLost, ...]) -> None:
        for event in events:
            said = event.data.decode() if isinstance(event, FrameReceived) else "lost"
            heard.append(f"{event.rank} {said}")

    def hear_only_two_for(seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            hear(transport.receive(64, 8 << 20, 2).events)

    for rank, word in ((1, b"first"), (1, b"second"), (2, b"other")):
        transport.send(rank, word)
    hear_only_two_for(0.2)
    while len(heard) < 3:
        hear(wait())
    transport.send(1, b"die")
    hear_only_two_for(0.2)
    transport.send(2, b"again")
    hear_only_two_for(0.2)
    while len(heard) < 5:
        hear(wait())
    return {"heard": heard}


if transport.rank:
    echo()
result = {"sizes": sizes, "death": death, "one_source": one_source}[sys.argv[1]]()
for rank in range(1, transport.size):
    try:
        transport.send(rank, b"")
    except NotSent:
        continue
while transport.unsent_bytes():
    transport.receive(1, 1)
sys.stdout.write(json.dumps(result) + "\n")
transport.leave()
