"""Running tests of this repository with mutants planted.

    python -m symfleet.testing.mutants.trial NAME...    (in the repository's folder)

prints a line of JSON for each name: which test failed first, and how many had run until then. The
name `nothing` plants nothing and runs the tests that the others begin with: none may fail.

Tests are collected once; then each trial is a fork of that session, so that nothing of a mutant
stays behind.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Final

import msgspec
import pytest

from symfleet.testing.mutants.catalogue import by_name
from symfleet.testing.mutants.planting import InSimulation, InTests, Mutant

NOTHING: Final = "nothing"
_OPTIONS: Final = ("-q", "--timeout=60", "-p", "no:cacheprovider")


class Trial(msgspec.Struct, frozen=True):
    """What came of one. `failed`: node id of the first test that failed, empty when none did."""

    mutant: str
    failed: str
    said: str
    tests: int
    seconds: float


class _Trials:
    """A plugin that runs the collected tests once for each mutant. `told`: where results go."""

    def __init__(self, mutants: Mapping[str, Mutant | None], told: int) -> None:
        self._mutants = mutants
        self._told = told
        self._failed = self._said = ""

    def pytest_sessionstart(self) -> None:
        """That a test fails is enough; nobody looks for the smallest example."""
        import hypothesis  # not before pytest has prepared it

        usual = hypothesis.settings()
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile(
            "trial", usual, phases=phases, report_multiple_bugs=False
        )
        hypothesis.settings.load_profile("trial")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for name, mutant in self._mutants.items():
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    trial = self._run(name, mutant, session)
                    os.write(self._told, msgspec.json.encode(trial) + b"\n")
                    code = 0
                finally:
                    os._exit(code)
            _, status = os.waitpid(child, 0)
            if status != 0:
                lost = Trial(name, "", f"the trial itself ended with {status}", 0, 0.0)
                os.write(self._told, msgspec.json.encode(lost) + b"\n")
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self._failed:
            self._failed = report.nodeid
            crash = getattr(report.longrepr, "reprcrash", None)
            words = str(getattr(crash, "message", report.longrepr)).strip().splitlines()
            self._said = words[0][:160] if words else ""

    def _run(self, name: str, mutant: Mutant | None, session: pytest.Session) -> Trial:
        began, tests = time.perf_counter(), 0
        with mutant.planted() if mutant is not None else nullcontext():
            for item in self._order(mutant, session.items):
                if self._failed:
                    break
                tests += 1
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        took = round(time.perf_counter() - began, 3)
        return Trial(name, self._failed, self._said, tests, took)

    def _order(self, mutant: Mutant | None, items: Sequence[pytest.Item]) -> Sequence[pytest.Item]:
        """Return what is to be run: what is likely to fail first."""
        if mutant is None:
            planted = [one.seen for one in self._mutants.values() if one is not None]
            return [item for item in items if any(_is_likely(seen, item) for seen in planted)]
        assert isinstance(mutant.seen, InTests)
        chosen = [item for item in items if item.nodeid.startswith(mutant.seen.targets)]
        return sorted(chosen, key=lambda item: not _is_likely(mutant.seen, item))


def _is_likely(seen: InSimulation | InTests, item: pytest.Item) -> bool:
    """Whether a test is expected to fail with a mutant that is seen so."""
    if not isinstance(seen, InTests):
        return False
    return item.nodeid.startswith(seen.targets) and seen.likely in item.nodeid


@contextmanager
def _silent() -> Iterator[int]:
    """Have what is printed go nowhere; yield where it would have gone."""
    told = os.dup(sys.stdout.fileno())
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    yield told
    os.close(told)


def main(names: Sequence[str]) -> int:
    """Try each; the results go to standard output."""
    mutants = {name: None if name == NOTHING else by_name()[name] for name in names}
    seen = [mutant.seen for mutant in mutants.values() if mutant is not None]
    targets = {target: None for one in seen if isinstance(one, InTests) for target in one.targets}
    with _silent() as told:
        return int(pytest.main([*_OPTIONS, *targets], plugins=[_Trials(mutants, told)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
