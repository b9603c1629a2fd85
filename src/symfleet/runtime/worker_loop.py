"""The worker's loop: S executors and one machine, no thread and no durable state.

It looks at three things: frames of the coordinator, the pipes of its executors (with `select`, so
that an executor's word is heard at once), and the machine's deadline. Everything below it dies with
it: executors have PDEATHSIG, and orphans of executors are adopted and ended here.
"""

from __future__ import annotations

import gc
import select
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, assert_never

from symfleet import crash
from symfleet.clock import Clock
from symfleet.engine import processes
from symfleet.engine.client import ExecutorClient
from symfleet.errors import ExitCode
from symfleet.protocol.events import (
    DrainRequested,
    ExecutionDone,
    KillExecutor,
    Leave,
    Note,
    RunItem,
    Send,
    StartExecutor,
    TellKnowledge,
    WorkerAction,
    WorkerEvent,
)
from symfleet.protocol.setup import Knobs
from symfleet.protocol.worker import Worker
from symfleet.runtime.notes import NoteLog
from symfleet.runtime.pace import Pace
from symfleet.transport.contract import NotSent, Transport

_LOOK_S: Final = 0.02
"""How often executors are looked at that say nothing, and orphans are ended."""
_COLLECT_S: Final = 20.0
"""How often Python is asked to give back the dead tuples that it keeps (2,000 of each length): only
a full collection does so, and a worker, which makes no cycles, would meet none for hours."""
_FLUSH_S: Final = 5.0
_FLUSH_LOST_S: Final = 0.5
"""Last words to a coordinator that does not answer, perhaps because this host is cut off."""


class Executor(Protocol):
    """One life of an executor, as the loop sees it (see `ExecutorClient`)."""

    slot: int

    @property
    def pid(self) -> int | None: ...

    @property
    def is_gone(self) -> bool: ...

    def filenos(self) -> list[int]: ...

    def run(self, item: RunItem) -> None: ...

    def tell(self, edges: bytes) -> None: ...

    def kill(self) -> None: ...

    def poll(self) -> list[WorkerEvent]: ...

    def close(self) -> None: ...


StartClient = Callable[[StartExecutor], Executor]


def start_clients(
    rank: int, work_dir: Path, log_dir: Path, env: Mapping[str, str], frame_bytes: int
) -> StartClient:
    """Return what starts the executors of a rank: their private folders below `work_dir`, their
    words in `log_dir`, their environment. `frame_bytes`: largest frame between ranks."""

    def start(action: StartExecutor) -> Executor:
        return ExecutorClient(
            action,
            work_dir=work_dir / f"{rank}-{action.slot}",
            log=log_dir / f"executor-{rank}-{action.slot}.log",
            env=env,
            frame_bytes=frame_bytes,
        )

    return start


class WorkerLoop:
    """Runs one worker rank until its machine leaves."""

    def __init__(
        self,
        machine: Worker,
        transport: Transport,
        clock: Clock,
        knobs: Knobs,
        start_client: StartClient,
        log: NoteLog,
    ) -> None:
        self._machine = machine
        self._transport = transport
        self._clock = clock
        self._knobs = knobs
        self._start_client = start_client
        self._log = log
        self._clients: dict[int, Executor] = {}
        self._events: list[WorkerEvent] = []
        self._pace = Pace()
        self._look_at = self._collect_at = 0.0
        self._serves = machine.coordinator

    def run(self) -> Leave:
        """Work until the machine leaves; nothing of it is running afterwards."""
        try:
            actions = self._machine.start(self._clock.monotonic())
            while True:
                leave = self._carry_out(actions)
                if leave is not None:
                    self._flush(_FLUSH_S if leave.exit_code == ExitCode.DONE else _FLUSH_LOST_S)
                    return leave
                actions = self._next()
        finally:
            for client in self._clients.values():
                client.close()
            while processes.end_adopted(()):
                pass

    def drain(self, reason: str) -> None:
        """Ask for the end of this rank: for signal handlers."""
        self._events.append(DrainRequested(reason))

    # ---- waiting -----------------------------------------------------------------------------

    def _next(self) -> Sequence[WorkerAction]:
        """Return the actions of the next event or deadline."""
        deadline = self._machine.next_deadline()
        while True:
            now = self._clock.monotonic()
            events = self._gather(now)
            if events:
                self._pace.busy()
                return self._handle(now, events)
            if deadline is not None and now >= deadline:
                return self._machine.handle(now, ())
            self._wait(self._pace.idle(now, deadline))

    def _handle(self, now: float, events: Sequence[WorkerEvent]) -> Sequence[WorkerAction]:
        actions = self._machine.handle(now, events)
        if self._machine.coordinator != self._serves:
            self._serves = self._machine.coordinator
            crash.point("worker.adopted")
        return actions

    def _gather(self, now: float) -> list[WorkerEvent]:
        arrivals = self._transport.receive(self._knobs.turn_results, self._knobs.turn_mib << 20)
        if arrivals.events:
            crash.point("worker.received")
        events: list[WorkerEvent] = [*arrivals.events, *self._events]
        self._events = []
        if now >= self._look_at:
            self._look_at = now + _LOOK_S
            processes.end_adopted(self._pids())
            for client in list(self._clients.values()):
                events += self._poll(client)
            if now >= self._collect_at:
                self._collect_at = now + _COLLECT_S
                gc.collect()
        return events

    def _wait(self, sleep_s: float) -> None:
        """Sleep, but wake up for an executor's word."""
        by_descriptor = {fd: c for c in self._clients.values() for fd in c.filenos()}
        if not by_descriptor:
            self._clock.sleep(sleep_s)
            return
        ready, _, _ = select.select(list(by_descriptor), [], [], sleep_s)
        for client in {id(by_descriptor[fd]): by_descriptor[fd] for fd in ready}.values():
            self._events += self._poll(client)

    def _poll(self, client: Executor) -> list[WorkerEvent]:
        events = client.poll()
        if crash.is_armed() and any(isinstance(event, ExecutionDone) for event in events):
            crash.point("worker.result")
        if client.is_gone:
            client.close()
            crash.point("executor.gone")
            if self._clients.get(client.slot) is client:
                del self._clients[client.slot]
        return events

    def _pids(self) -> set[int]:
        return {client.pid for client in self._clients.values() if client.pid is not None}

    # ---- actions -----------------------------------------------------------------------------

    def _carry_out(self, actions: Sequence[WorkerAction]) -> Leave | None:
        for action in actions:
            match action:
                case Send():
                    self._send(action)
                case StartExecutor():
                    self._start(action)
                case RunItem():
                    self._run(action)
                case TellKnowledge():
                    for client in self._clients.values():
                        client.tell(action.edges)
                case KillExecutor():
                    if action.slot in self._clients:
                        crash.point("executor.reset")
                        self._clients[action.slot].kill()
                case Note():
                    self._log.note(action)
                case Leave():
                    return action
                case _:
                    assert_never(action)
        return None

    def _send(self, action: Send) -> None:
        """A frame that cannot be sent is said again: the machine repeats until it is answered."""
        crash.point("worker.before_send")
        try:
            self._transport.send(action.rank, action.frame)
        except NotSent as error:
            self._log.note(Note("warning", "not_sent", {"error": str(error)}))
        crash.point("worker.sent")

    def _start(self, action: StartExecutor) -> None:
        older = self._clients.pop(action.slot, None)
        if older is not None:
            older.close()
        crash.point("worker.start_executor")
        self._clients[action.slot] = self._start_client(action)
        crash.point("executor.started")

    def _run(self, action: RunItem) -> None:
        crash.point("worker.run")
        client = self._clients.get(action.slot)
        if client is None or client.is_gone:
            # It died in this very turn; the machine hears of it before it acts again.
            return
        client.run(action)

    def _flush(self, seconds: float) -> None:
        deadline = self._clock.monotonic() + seconds
        while self._transport.unsent_bytes() and self._clock.monotonic() < deadline:
            self._transport.receive(1, 1)
            self._clock.sleep(self._pace.idle(0.0, None))
