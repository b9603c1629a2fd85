"""One campaign of a soak: launched, struck, watched, started again, and judged in the end."""

from __future__ import annotations

import dataclasses
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from symfleet.config.model import Resources
from symfleet.errors import ExitCode, SymfleetError
from symfleet.runtime.restarts import EPOCHS_WITHOUT_DECISION_MAX
from symfleet.testing.jobs import DeadlineMissed
from symfleet.testing.kills.layout_faults import verify
from symfleet.testing.kills.loop import Facts, collect_facts
from symfleet.testing.programs import ProgramCampaign, faults_of
from symfleet.testing.soak.graph import RunLog
from symfleet.testing.soak.oracle import (
    DecidedOnce,
    Standing,
    differences,
    harm_of,
    rows_at_risk,
    standing_of,
    too_many_losses,
    unexplained_faults,
)
from symfleet.testing.soak.record import CampaignRecord, FaultRecord, Story
from symfleet.testing.soak.strikes import Striker, Struck
from symfleet.testing.soak.watch import Life, Watch

_TICK_S: Final = 0.02
_LOOK_S: Final = 0.5
_MARK_SHARE: Final = 0.03
"""Of the time may go into reading all decisions."""
_MARK_S: Final = 1.0
_GAP_SHARE: Final = 0.2
"""Of the time between two faults is left between them at least, when some have waited."""
_LEFT_S: Final = 30.0
"""How long a zombie may stay, whose parent may be stopped now, and what a dead epoch has left."""
_AGAIN_S: Final = 0.1
"""Between two looks for a victim that is not there."""
_VERIFY_S: Final = 900.0
_STUCK_S: Final = 120.0
"""Without a decision for so long, since its epoch was last struck, a campaign is stuck."""
_SLOTS_OF_WORKER: Final = 2
_NEW: Final = Standing(decided=0, open=1, suspects=0, reason=None, epochs=0)
_CODES: Final = (0, 2)
"""2: a worker that was killed in the last epoch has not acknowledged its end."""


class SoakCampaign:
    """See the module's text."""

    def __init__(
        self,
        campaign: ProgramCampaign,
        runs: RunLog,
        striker: Striker,
        story: Story,
        every_s: float,
    ) -> None:
        """`every_s`: seconds between two faults."""
        self._campaign = campaign
        self._striker = striker
        self._story = story
        self._every_s = every_s
        campaign.resources = Resources(
            jobs=campaign.slots,
            coordinators=campaign.coordinators,
            slots_per_worker=_SLOTS_OF_WORKER,
        )
        self._job = campaign.job()
        self._watch = Watch(self._job, campaign.tmp, left_s=_LEFT_S, clock=story.clock)
        self._once = DecidedOnce(runs)
        self._began = time.monotonic()
        self._mark_at = self._look_at = 0.0
        self._gap_until = 0.0
        self._standing = _NEW
        self._progress = (0, self._began)
        self._struck = list(story.mine)
        self._waited: set[int] = set()
        self._spared = self._suspects_max = 0
        self._launches = 0
        self._code = -1
        self.wrong: list[str] = []
        """What makes going on pointless."""

    @property
    def lives(self) -> list[Life]:
        """What was seen of each process."""
        return self._watch.lives

    # ---- running -----------------------------------------------------------------------------

    def run(self, ends_at_s: float, tick: Callable[[], None]) -> None:
        """Run until the campaign is complete; strike it until `ends_at_s` of
        the soak. Stops early when
        something is wrong that makes going on pointless."""
        self._start()
        while not self.wrong and not self._watch.violations:
            now = time.monotonic()
            self._striker.continue_due()
            if now >= self._look_at:
                self._look_at = now + _LOOK_S
                self._look()
            if now >= self._mark_at:
                self._mark()
            if not self._job.is_running:
                if self._has_ended():
                    break
                continue
            due_s = self._every_s * (self._story.before + len(self._struck) + 1)
            if due_s <= self._story.clock() < ends_at_s and now >= self._gap_until:
                self._strike()
            tick()
            time.sleep(_TICK_S)
        self._striker.continue_due(everyone=True)
        if not self._standing.complete:
            self._job.end()

    def _start(self) -> None:
        self._launches += 1
        self._job.start()
        self._striker.started(self._job)

    def _has_ended(self) -> bool:
        """The launcher has ended: start it again unless the campaign is complete."""
        striker, self._code = self._striker, self._job.exit_code
        self._mark()
        allowed = {0, 2} if striker.asked or striker.killed or self._standing.complete else set()
        if striker.killed:
            allowed.add(-signal.SIGKILL)
        if striker.asked:  # before the launcher could listen, or when it had nothing left to do
            allowed.add(-signal.SIGTERM)
        if striker.dear >= EPOCHS_WITHOUT_DECISION_MAX:
            allowed.add(int(ExitCode.INTEGRITY))
        if self._code not in allowed:
            self.wrong.append(f"the launcher ended by itself with {self._code}")
            return True
        if self._standing.complete and self._code in _CODES:
            return True
        self._start()
        return False

    def _look(self) -> None:
        self._watch.look(self._standing.decided)
        decided, since = self._progress
        if self._standing.decided > decided:
            self._progress = (self._standing.decided, time.monotonic())
            self._striker.forget()
        elif time.monotonic() - since > _STUCK_S:
            self.wrong.append(f"no decision for {_STUCK_S:g} s")

    def _mark(self) -> None:
        """Read what is decided, and whether what was decided before has run since."""
        began = time.monotonic()
        try:
            with self._campaign.reader() as reader:
                self._standing = standing_of(reader.status())
                self._once.mark(reader)
                rows = rows_at_risk(reader)
        except (SymfleetError, FileNotFoundError):  # not made yet
            self._mark_at = began + _MARK_S
            return
        at_most = sum(one.card.losses_max(_SLOTS_OF_WORKER) for one in self._struck)
        self.wrong += too_many_losses(rows, at_most)
        self._suspects_max = max(self._suspects_max, self._standing.suspects)
        now = time.monotonic()
        self._mark_at = now + max(_MARK_S, (now - began) / _MARK_SHARE)

    # ---- striking ----------------------------------------------------------------------------

    def _strike(self) -> None:
        self._look_at_standing()
        sparing = self._standing.only_suspects
        if sparing:
            self._spared += 1
        struck = self._striker.strike(sparing=sparing)
        if struck is None:
            self._waited.add(len(self._struck))
            self._gap_until = time.monotonic() + _AGAIN_S
        else:
            self._note(struck)

    def _look_at_standing(self) -> None:
        try:
            with self._campaign.reader() as reader:
                self._standing = standing_of(reader.status())
        except (SymfleetError, FileNotFoundError):
            pass

    def _note(self, struck: Struck) -> None:
        story, card = self._story, struck.card
        self._gap_until = time.monotonic() + self._every_s * _GAP_SHARE
        record = FaultRecord(
            number=story.before + len(self._struck) + 1,
            at_s=round(story.clock(), 3),
            wall_s=round(time.time(), 3),
            campaign=story.campaign,
            act=card.act,
            role=card.role,
            pid=struck.pid,
            seconds=struck.seconds,
            decided=self._standing.decided,
            runs=self._once.runs.read(),
        )
        story.recorder.fault(record)
        self._struck.append(record)
        if card.ends_epoch:
            self._progress = (self._progress[0], time.monotonic())

    # ---- judging -----------------------------------------------------------------------------

    def judge(self, expected: Facts, *, root_lives: bool) -> CampaignRecord:
        """Compare what came out with what must come out."""
        wrong = list(self.wrong)
        try:
            self._job.assert_nothing_left()
        except DeadlineMissed as error:
            wrong.append(str(error))
        wrong += self._watch.finish()
        with self._campaign.reader() as reader:
            self._once.mark(reader)
            status = reader.status()
            wrong += [f"audit: {found}" for found in reader.audit()]
            facts = collect_facts(reader, self._campaign.out)
        faults = faults_of(status)
        run_again = self._once.run_again()
        wrong += run_again
        if self._standing.complete:
            wrong += differences(facts, expected, self._once.runs, status.decisions)
        wrong += unexplained_faults(faults, Counter())
        wrong += self._wrong_code(status.epoch.opened_wall if status.epoch else 0.0)
        if said := verify(self._campaign.out, _VERIFY_S):
            wrong.append(said)
        return CampaignRecord(
            campaign=self._story.campaign,
            root_lives=root_lives,
            exit_code=self._code,
            wall_s=round(time.monotonic() - self._began, 1),
            decided=status.decisions,
            runs=self._once.runs.length,
            epochs=status.epochs,
            launches=self._launches,
            faults=dict(Counter(str(one.card) for one in self._struck)),
            waited=len(self._waited),
            spared=self._spared,
            suspects_max=self._suspects_max,
            counters=faults,
            peaks=dataclasses.asdict(self._watch.peaks),
            harm=harm_of(facts, expected, status.decisions, len(run_again)),
            wrong=tuple(wrong),
        )

    def _wrong_code(self, opened_wall: float) -> list[str]:
        """0, unless the last epoch itself was struck: then a worker may be missing in its end."""
        struck = any(one.wall_s >= opened_wall for one in self._struck)
        right = self._code in (_CODES if struck else (0,))
        return [] if right else [f"exit code {self._code}"]

    # ---- ending ------------------------------------------------------------------------------

    def close(self) -> None:
        """End what runs."""
        self._striker.continue_due(everyone=True)
        self._campaign.close()

    def remove(self) -> None:
        """Remove the folder of a campaign that was sound."""
        shutil.rmtree(self._campaign.folder)
