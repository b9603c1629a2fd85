"""What a soak explores: a finite graph whose nodes cost next to nothing to execute.

The engine is a shell script; it logs each of its runs by itself, so that the soak knows from
outside the ledger what was executed, how often, and when.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from symfleet.testing.kill_loop import Facts, collect_facts
from symfleet.testing.programs import ProgramCampaign
from symfleet.types import InputId

_UNDISTURBED_S: Final = 1800.0
_LINE_MAX: Final = 16


@dataclass(frozen=True, slots=True)
class Graph:
    """`nodes` executions of at least `pause_s` each; `program` is tests/programs/graph.sh."""

    program: Path
    nodes: int
    pause_s: float

    def lasting(self, seconds: float, slots: int) -> Graph:
        """Return it with pauses that make a campaign last so long at least."""
        return replace(self, pause_s=seconds * slots / self.nodes)

    def campaign(self, folder: Path, slots: int) -> ProgramCampaign:
        """Return a campaign that is not launched."""
        made = ProgramCampaign(
            folder,
            self.program,
            {"root": b"0"},
            slots=slots,
            env=(f"NODES={self.nodes}", f"PAUSE={self.pause_s:g}"),
        )
        made.interpreter = ("/bin/sh",)
        return made

    def undisturbed(self, folder: Path, slots: int) -> Facts:
        """Explore without a fault; whatever is not as it must be raises."""
        campaign = self.campaign(folder, slots)
        try:
            code = campaign.job().run(_UNDISTURBED_S)
        finally:
            campaign.close()
        assert code == 0, campaign.jobs[0].story.read_text()
        runs = RunLog(campaign.log)
        runs.read()
        assert runs.length == len(runs.starts) == self.nodes, "each item ran exactly once"
        campaign.status()
        with campaign.reader() as reader:
            facts = collect_facts(reader, campaign.out)
        assert len(facts.corpus) == facts.counters["decided"] == self.nodes
        return facts


def input_of(node: int) -> InputId:
    """Return the input of a node."""
    return InputId(hashlib.sha256(str(node).encode()).hexdigest())


@dataclass(slots=True)
class RunLog:
    """The engine's own log, read as it grows."""

    path: Path
    starts: dict[InputId, list[int]] = field(default_factory=dict)
    """Input -> places in the log of its runs, counted in runs from 0."""
    length: int = 0
    """How many runs were read."""
    _offset: int = 0

    def read(self) -> int:
        """Read what is new; return how many runs there are by now."""
        if not self.path.exists():
            return 0
        with self.path.open("rb") as stream:
            stream.seek(self._offset)
            data = stream.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.split():
            # A line that a kill cut off and another run went on with would show up as no node.
            assert line.isdigit(), line[:_LINE_MAX]
            self.starts.setdefault(input_of(int(line)), []).append(self.length)
            self.length += 1
        return self.length
