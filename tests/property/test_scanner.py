"""Scanning against a small model: whatever happens to a folder, what can be admitted is, once."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from symfleet.corpus.admission import admission_of
from symfleet.corpus.scan import FolderScanner
from symfleet.protocol.events import ScanFinished, SourceBatch
from symfleet.types import GenerationId

GENERATION = GenerationId("0" * 64)
INPUT_MAX = 8
NAMES = st.sampled_from(["a", "b", "c", "deep/a", "deep/er/b"])
CONTENTS = st.binary(max_size=INPUT_MAX + 2)


class Scanning(RuleBasedStateMachine):
    """The model: which (path, bytes) are on disk, which are confirmed, which reasons were told."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="symfleet-scan-"))
        self.scanner = FolderScanner(
            1, self.root, lambda data, origin: admission_of(data, origin, GENERATION), INPUT_MAX
        )
        self.disk: dict[str, bytes] = {}
        self.confirmed: set[tuple[str, bytes]] = set()
        self.round = 0

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @rule(name=NAMES, data=CONTENTS)
    def write(self, name: str, data: bytes) -> None:
        if self.disk.get(name) == data:
            return
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # A new file in its place: what a writer that cares does, and sure to have another mark.
        path.with_suffix(".new").write_bytes(data)
        path.with_suffix(".new").replace(path)
        self.disk[name] = data
        self.confirmed = {pair for pair in self.confirmed if pair[0] != name}

    @precondition(lambda self: self.disk)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.disk)))
        (self.root / name).unlink()
        del self.disk[name]
        self.confirmed = {pair for pair in self.confirmed if pair[0] != name}

    @rule(confirm=st.booleans(), given_up=st.booleans())
    def scan(self, *, confirm: bool, given_up: bool) -> None:
        if given_up:
            self.scanner.start(self.round)
            self.scanner.step()
        self.round += 1
        self.scanner.start(self.round)
        offered: list[tuple[str, bytes]] = []
        ends: list[ScanFinished] = []
        for _ in range(100):
            if not self.scanner.active:
                break
            for event in self.scanner.step():
                match event:
                    case SourceBatch():
                        for entry in event.entries:
                            name = str(Path(entry.origin).relative_to(self.root))
                            offered.append((name, entry.data))
                            if confirm:
                                self.scanner.confirm([entry.origin])
                    case ScanFinished():
                        ends.append(event)
        assert [end.round for end in ends] == [self.round]
        wanted = {
            (name, data) for name, data in self.disk.items() if 0 < len(data) <= INPUT_MAX
        } - self.confirmed
        assert sorted(offered) == sorted(wanted), "all that can be admitted, each once (A3)"
        if confirm:
            self.confirmed |= set(offered)

    @invariant()
    def idle_scanner_says_nothing(self) -> None:
        if not self.scanner.active:
            assert self.scanner.step() == ()


Scanning.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestScanning = pytest.mark.guarantee("A3")(Scanning.TestCase)
