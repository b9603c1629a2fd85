"""Can the other hosts be reached, and is the same symfleet there?

Asked over the same ssh command that mpirun uses: when a start has failed, to say why in words that
name the host; before an epoch that follows a crash, to leave out a host that is down; and now and
then while one is left out, to bring it back.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from symfleet.clock import Clock
from symfleet.engine import processes
from symfleet.errors import HostError
from symfleet.runtime.identity import python_version, version

SSH: Final = ("ssh", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
"""Never asks anything, and gives up in time."""
ANSWER_S: Final = 20.0
_POLL_S: Final = 0.05
_SAID_BYTES_MAX: Final = 2000
_SSH_FAILED: Final = 255
_NOT_FOUND: Final = (126, 127)
_QUESTION: Final = (
    "import sys, symfleet; print('symfleet', symfleet.__version__, '.'.join(map(str, "
    "sys.version_info[:3])))"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host said: exit code of ssh (None: nothing in time) and its last words."""

    host: str
    code: int | None
    said: str

    @property
    def is_up(self) -> bool:
        """Whether something answered, whatever it said."""
        return self.code is not None and self.code != _SSH_FAILED


class Question:
    """One host that was asked and has perhaps not answered yet."""

    def __init__(self, ssh: Sequence[str], host: str, now: float) -> None:
        """Ask; nothing waits. Raises OSError when ssh itself cannot be started."""
        self.host = host
        self._until = now + ANSWER_S
        # A file and no pipe: ssh must never wait for us to read.
        self._said = os.memfd_create("answer", os.MFD_CLOEXEC)
        try:
            self._child = processes.start_child(
                [*ssh, host, f"exec {shlex.quote(sys.executable)} -c {shlex.quote(_QUESTION)}"],
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
            )
        except BaseException:
            os.close(self._said)
            raise

    @property
    def pid(self) -> int:
        """The process that asks."""
        return self._child.pid

    def poll(self, now: float) -> Answer | None:
        """Return the answer when there is one, or when its time is over; then it is the last."""
        ended = processes.has_ended(self._child)
        if not ended and now < self._until:
            return None
        processes.kill_group(self._child)
        code, _ = processes.reap(self._child)
        size = os.fstat(self._said).st_size
        said = os.pread(self._said, _SAID_BYTES_MAX, max(0, size - _SAID_BYTES_MAX))
        os.close(self._said)
        text = said.decode("utf-8", "replace").strip()
        return Answer(self.host, code if ended else None, text)

    def drop(self) -> None:
        """Do not wait for the answer any more."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)
        self.poll(float("inf"))


def ask_hosts(ssh: Sequence[str], hosts: Sequence[str], clock: Clock) -> tuple[Answer, ...]:
    """Ask all hosts at the same time; raise HostError when ssh itself cannot be started."""
    questions: dict[str, Question] = {}
    answers: dict[str, Answer] = {}
    try:
        for host in hosts:
            questions[host] = Question(ssh, host, clock.monotonic())
        while len(answers) < len(hosts):
            for host in [name for name in hosts if name not in answers]:
                answer = questions[host].poll(clock.monotonic())
                if answer is not None:
                    answers[host] = answer
            if len(answers) < len(hosts):
                clock.sleep(_POLL_S)
    except OSError as error:
        raise HostError(
            "the program that reaches other hosts cannot be started",
            where=ssh[0],
            why=error.strerror or str(error),
            hint="install an ssh client, or name another program with --ssh",
        ) from error
    finally:
        for host, question in questions.items():
            if host not in answers:
                question.drop()
    return tuple(answers[host] for host in hosts)


def problem_of(answer: Answer) -> HostError | None:
    """Return why no job can run on this host, None when one can."""
    last = answer.said.splitlines()[-1] if answer.said else "it said nothing"
    match answer.code:
        case None:
            return HostError(
                "a host cannot be reached",
                where=answer.host,
                why=f"ssh did not come to an end within {ANSWER_S:g} s",
                hint="check the host and the network between the hosts",
            )
        case 255:
            return HostError(
                "a host cannot be reached",
                where=answer.host,
                why=last,
                hint=f"`ssh {answer.host} true` must work without a question, for instance with a"
                " key",
            )
        case code if code in _NOT_FOUND:
            return HostError(
                "symfleet is missing on a host",
                where=answer.host,
                why=f"there is no {sys.executable}: {last}",
                hint="install the same environment at the same path on every host",
            )
        case 0 if answer.said:
            return _difference(answer, last.split())
        case _:
            return HostError(
                "symfleet is missing on a host",
                where=answer.host,
                why=last,
                hint=f"`{sys.executable} -c 'import symfleet'` must work on every host",
            )


def _difference(answer: Answer, words: list[str]) -> HostError | None:
    """Compare what a host runs with what this one does."""
    ours = ["symfleet", version(), python_version()]
    if len(words) != len(ours):
        return HostError(
            "a host answers something else than was asked",
            where=answer.host,
            why=answer.said[:200],
            hint="its shell must print nothing of its own when it is not used by a person",
        )
    for what, theirs, our in zip(("", "symfleet", "Python"), words, ours, strict=True):
        if theirs != our:
            return HostError(
                f"a host has another {what}",
                where=answer.host,
                why=f"{what} {theirs} there, {our} here",
                hint="install the same environment on every host",
            )
    return None
