"""What a soak explores: a finite graph whose nodes cost next to nothing to execute.

The engine is a shell script; it logs each of its runs by itself, so that the soak knows from
outside the ledger what was executed, how often, and when. What must come out is computed, and a
small graph that nobody disturbs shows that it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from symfleet.ledger.manifest import manifest_digest, manifest_of
from symfleet.protocol.item_results import Flips
from symfleet.protocol.operations import Child, Decide
from symfleet.protocol.work import WorkItem, encode_item, state_id_of, work_id_of
from symfleet.testing.kills.loop import Facts, collect_facts
from symfleet.testing.programs import ProgramCampaign
from symfleet.types import (
    Epoch,
    Fence,
    FencingToken,
    GenerationId,
    Incarnation,
    InputId,
    Keep,
    Outcome,
    input_id_of,
)

_UNDISTURBED_S: Final = 1800.0
_LINE_MAX: Final = 16
_PADDING: Final = "x"
_ANY_TOKEN: Final = FencingToken(Epoch(1), Fence(1))
_ANY_LIFE: Final = Incarnation(1)


@dataclass(frozen=True, slots=True)
class Graph:
    """`nodes` executions of at least `pause_s` each; `program` is tests/programs/graph.sh. `bulk`
    bytes pad each input."""

    program: Path
    nodes: int
    pause_s: float
    bulk: int = 0

    def campaign(self, folder: Path, slots: int) -> ProgramCampaign:
        """Return a campaign that is not launched."""
        made = ProgramCampaign(
            folder,
            self.program,
            {"root": data_of(0, self.bulk)},
            slots=slots,
            env=(
                f"NODES={self.nodes}",
                f"PAUSE={self.pause_s:g}",
                f"PADDING={_PADDING * self.bulk}",
            ),
        )
        made.interpreter = ("/bin/sh",)
        return made

    def children(self, node: int) -> Sequence[int]:
        """Return a node's children."""
        tree = {2 * node + 1, 2 * node + 2, (7 * node + 3) % self.nodes}
        return [child for child in tree if child < self.nodes]

    def expected(self, generation: GenerationId) -> Facts:
        """Return what a campaign of this generation must come to."""
        names = [input_of(node, self.bulk) for node in range(self.nodes)]
        kids = [[names[child] for child in self.children(node)] for node in range(self.nodes)]
        generated = sum(map(len, kids))
        return Facts(
            corpus=frozenset(names),
            files=frozenset(names),
            manifests=frozenset(
                _manifest(generation, name, those) for name, those in zip(names, kids, strict=True)
            ),
            counters={
                "decided": self.nodes,
                "generated": generated,
                "unique_children": self.nodes - 1,
                "kept": generated,
                "crashes": 0,
                "hangs": 0,
            },
            poisoned=0,
        )

    def undisturbed(self, folder: Path, slots: int) -> GenerationId:
        """Explore without a fault; return the generation. Whatever is not as expected raises."""
        campaign = self.campaign(folder, slots)
        try:
            code = campaign.job().run(_UNDISTURBED_S)
        finally:
            campaign.close()
        assert code == 0, campaign.jobs[0].story.read_text()
        runs = RunLog(campaign.log, self.bulk)
        runs.read()
        assert runs.length == len(runs.starts) == self.nodes, "each item ran exactly once"
        generation = campaign.status().campaign.generation
        with campaign.reader() as reader:
            assert collect_facts(reader, campaign.out) == self.expected(generation)
        return generation


def data_of(node: int, bulk: int = 0) -> bytes:
    """Return the bytes of a node's input."""
    return f"{node}\n{_PADDING * bulk}".encode()


def input_of(node: int, bulk: int = 0) -> InputId:
    """Return the input of a node."""
    return input_id_of(data_of(node, bulk))


def _manifest(generation: GenerationId, name: InputId, kids: Sequence[InputId]) -> tuple[str, str]:
    """Return the (work id, manifest digest) of a node's decision."""
    children = tuple(_child(generation, kid) for kid in sorted(kids))
    item = WorkItem(generation, name)
    decide = Decide(
        work_id=work_id_of(item),
        token=_ANY_TOKEN,
        input_id=name,
        keep=Keep.ALL,
        outcome=Outcome.OK,
        exit_code=0,
        signal=0,
        edges=b"",
        unstable=0,
        generated=len(children),
        dropped=0,
        children=children,
        flips=Flips(),
        solved={},
        executions=1,
        solver_us=0,
        wall_us=0,
        cpu_us=0,
        degraded=(),
        reason=None,
    )
    manifest, _ = manifest_of(decide, children, _ANY_LIFE)
    return decide.work_id, manifest_digest(manifest)


def _child(generation: GenerationId, name: InputId) -> Child:
    item = WorkItem(generation, name)
    return Child(
        input_id=name,
        data=None,
        work_id=work_id_of(item),
        state_id=state_id_of(item),
        payload=encode_item(item),
        how="engine",
        site=0,
        direction=0,
        outcome=Outcome.OK,
        signal=0,
        edges=b"",
    )


@dataclass(slots=True)
class RunLog:
    """The engine's own log, read as it grows."""

    path: Path
    bulk: int = 0
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
            self.starts.setdefault(input_of(int(line), self.bulk), []).append(self.length)
            self.length += 1
        return self.length
