"""Which hosts take part in the epochs of a launch.

A first start takes all of them, and one that cannot be used is refused by name. After a crash each
is asked first, and a host that does not answer is left out: the others go on without it. While so
many slots are missing that a new epoch is worth its start, the absent hosts are asked now and then,
and the launch goes over to a new epoch when one of them is back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from symfleet.clock import Clock
from symfleet.config.model import Resources
from symfleet.errors import HostError
from symfleet.runtime.placement import Placement, place_ranks
from symfleet.runtime.reach import SSH, Question, ask_hosts, problem_of

LIVE_SHARE_MIN: Final = 0.75
"""With fewer of its slots a launch is worth a new epoch."""


class Roster:
    """The hosts of one launch."""

    def __init__(
        self,
        resources: Resources,
        clock: Clock,
        tell: Callable[[str], None],
    ) -> None:
        """`tell`: says a line to people."""
        self._resources = resources
        self._clock = clock
        self._tell = tell
        self._absent: tuple[str, ...] = ()
        self._questions: list[Question] = []
        self._ask_at = 0.0
        self.placement = place_ranks(resources)
        """That of the current epoch; None when there is only this host."""

    @property
    def ssh(self) -> tuple[str, ...]:
        """The command that reaches another host."""
        return self._resources.ssh or SSH

    @property
    def slots(self) -> int:
        """Slots of the current epoch."""
        return self._resources.slots if self.placement is None else self.placement.slots

    def call_again(self) -> Placement | None:
        """Place the ranks of another epoch on the hosts that answer. Raises HostError when nobody
        is left."""
        whole = place_ranks(self._resources)
        if whole is None or not whole.remote:
            return self.placement
        answers = ask_hosts(self.ssh, whole.remote, self._clock)
        problems = {answer.host: problem_of(answer) for answer in answers}
        bad = {host: problem for host, problem in problems.items() if problem is not None}
        for host, problem in bad.items():
            if host not in self._absent:
                self._tell(f"{host}: {problem.what} ({problem.why}); going on without it")
        for host in self._absent:
            if host not in bad:
                self._tell(f"{host}: it is back")
        self._absent = tuple(bad)
        self._ask_at = self._clock.monotonic() + self._resources.host_retry_s
        self.placement = place_ranks(self._resources, absent=self._absent)
        if self.slots == 0:
            raise next(iter(bad.values()))
        return self.placement

    def problem(self) -> HostError | None:
        """Ask each host of the epoch why it may not have started; None when all is well there."""
        if self.placement is None or not self.placement.remote:
            return None
        answers = ask_hosts(self.ssh, self.placement.remote, self._clock)
        return next((bad for bad in map(problem_of, answers) if bad is not None), None)

    # ---- while an epoch runs -----------------------------------------------------------------

    def is_worth_renewal(self, now: float) -> bool:
        """Whether a host that is missed is back. Asks now and then; nothing waits."""
        back = False
        for question in list(self._questions):
            answer = question.poll(now)
            if answer is not None:
                self._questions.remove(question)
                back = back or problem_of(answer) is None
        if not back and not self._questions and self._is_missing_many() and now >= self._ask_at:
            self._ask_at = now + self._resources.host_retry_s
            self._questions = [Question(self.ssh, host, now) for host in self._absent]
        return back

    def _is_missing_many(self) -> bool:
        return bool(self._absent) and self.slots < LIVE_SHARE_MIN * self._resources.slots

    def rest(self) -> None:
        """Drop the questions that are open."""
        for question in self._questions:
            question.drop()
        self._questions.clear()
