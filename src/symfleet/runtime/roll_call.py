"""The roll call: before anything else, the root learns who its ranks are.

The root calls with its version and the target's path; each rank answers with its host, its process,
its versions, and the digest of the target as its host has it. A rank that runs another symfleet or
Python, or would execute another program, ends the start here, with both values named: nothing was
opened, nothing is lost (E21).

`Call` and `RollCall` ignore fields that they do not know, so that another version can be named.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from symfleet.clock import Clock
from symfleet.coverage.digests import digest_of_file
from symfleet.errors import HostError, SymfleetError
from symfleet.protocol.codec import PROTOCOL_VERSION
from symfleet.protocol.events import FrameReceived, RankLost
from symfleet.runtime.identity import python_version, version
from symfleet.runtime.layout import ROOT_RANK
from symfleet.runtime.pace import Pace
from symfleet.transport.contract import Transport

ANSWER_S: Final = 60.0
"""MPI is up when the root calls: a rank answers as soon as it has hashed the target."""


class Call(msgspec.Struct, frozen=True, tag=True):
    """The root asks who is there."""

    program: str
    """Absolute path of the target."""


class RollCall(msgspec.Struct, frozen=True, tag=True):
    """A rank says who it is."""

    host: str
    pid: int
    version: str
    protocol: int
    python: str
    target: str
    """SHA-256 of the target on this host; empty when it cannot be read."""
    problem: str = ""
    """Why it cannot be read."""


@dataclass(frozen=True, slots=True)
class Roll:
    """Who is there."""

    answers: Mapping[int, RollCall]
    """By rank; the root's own is among them."""
    lost: Sequence[int]
    """Ranks that died before they answered."""

    def hosts(self) -> tuple[str, ...]:
        """Return the host of each rank; empty for one that died."""
        ranks = range(len(self.answers) + len(self.lost))
        return tuple(self.answers[r].host if r in self.answers else "" for r in ranks)


_answers: Final = msgspec.msgpack.Decoder(RollCall)


def present(program: str) -> RollCall:
    """Describe this process to the root."""
    problem = target = ""
    try:
        target = digest_of_file(Path(program))
    except SymfleetError as error:
        problem = f"{error.what}: {error.why}"
    return RollCall(
        host=socket.gethostname(),
        pid=os.getpid(),
        version=version(),
        protocol=PROTOCOL_VERSION,
        python=python_version(),
        target=target,
        problem=problem,
    )


def call_roll(transport: Transport, clock: Clock, program: str) -> Roll:
    """Ask every rank who it is, as the root; raise HostError when one does not answer in time."""
    answers, lost = {transport.rank: present(program)}, set[int]()
    waiting = set(range(transport.size)) - {transport.rank}
    for rank in waiting:
        transport.send(rank, msgspec.msgpack.encode(Call(program)))
    pace, deadline = Pace(), clock.monotonic() + ANSWER_S
    while waiting:
        for event in transport.receive(len(waiting), 1 << 20).events:
            match event:
                case FrameReceived(rank, data) if rank in waiting:
                    answers[rank] = _read(rank, data)
                    waiting.discard(rank)
                case RankLost(rank) if rank in waiting:
                    lost.add(rank)
                    waiting.discard(rank)
                case _:
                    continue
        if waiting and clock.monotonic() >= deadline:
            raise HostError(
                "a process of the job does not answer",
                where=", ".join(f"rank {rank}" for rank in sorted(waiting)),
                why=f"it said nothing for {ANSWER_S:g} s after it had started",
                hint="`symfleet doctor` checks MPI on a host; then give the same command again",
            )
        clock.sleep(pace.idle(0.0, None))
    return Roll(answers, sorted(lost))


def _read(rank: int, data: bytes) -> RollCall:
    try:
        return _answers.decode(data)
    except msgspec.MsgspecError as error:
        raise HostError(
            "a process of the job runs another symfleet",
            where=f"rank {rank}",
            why=f"its answer to the roll call cannot be read ({error})",
            hint="install the same symfleet on every host",
        ) from error


def strangers(roll: Roll) -> SymfleetError | None:
    """Return why the ranks cannot work together; None when they can."""
    root = roll.answers[ROOT_RANK]
    for rank, answer in sorted(roll.answers.items()):
        where = f"rank {rank}, process {answer.pid} on {answer.host}"
        for what, hint, theirs, ours in (
            ("symfleet", "install the same symfleet", answer.version, root.version),
            ("protocol", "install the same symfleet", str(answer.protocol), str(root.protocol)),
            ("Python", "use the same Python", answer.python, root.python),
        ):
            if theirs != ours:
                return HostError(
                    f"a host has another {what}",
                    where=where,
                    why=f"{what} {theirs} there, {ours} at the root on {root.host}",
                    hint=f"{hint} on every host",
                )
        if answer.problem:
            return HostError(
                "a host does not have the target",
                where=where,
                why=answer.problem,
                hint="copy the target to the same path on every host",
            )
        if answer.target != root.target:
            return HostError(
                "a host has another target",
                where=where,
                why=f"digest {answer.target} there, {root.target} at the root on {root.host}",
                hint="copy the same target to every host",
            )
    return None
