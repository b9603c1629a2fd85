"""What every test folder shares: the option for tests that take too long for each change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from symfleet.testing.small_disk import SmallDisk
from symfleet.testing.stores.postgres_cluster import Cluster, programs


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests marked long, too")


def pytest_configure(config: pytest.Config) -> None:
    """Let a change be judged by the same examples every time; the long tests draw new ones. How
    long an example takes on a busy machine says nothing."""
    patient = hypothesis.settings(
        deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    hypothesis.settings.register_profile("long", patient)
    hypothesis.settings.register_profile("change", patient, derandomize=True, database=None)
    hypothesis.settings.load_profile("long" if config.getoption("--long") else "change")


def _starts_jobs(item: pytest.Item) -> bool:
    return item.path.parent.name == "e2e" or item.path.name.startswith("test_mpi_")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if _starts_jobs(item) and item.get_closest_marker("alone") is None:
            item.add_marker("jobs")
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="long: run with --long")
    for item in items:
        if item.get_closest_marker("long") is not None:
            item.add_marker(skip)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much was done by tests that count it with `record_property`."""
    sums: Counter[str] = Counter()
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, amount in report.user_properties:
            if isinstance(amount, int):
                sums[name] += amount
    for name, amount in sums.items():
        terminalreporter.write_line(f"{name}: {amount}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], SmallDisk]]:
    """A maker of one small file system, of a size as `mount` takes it."""
    made: list[SmallDisk] = []

    def make(size: str) -> SmallDisk:
        try:
            made.append(SmallDisk(tmp_path / "disk", size))
        except OSError as error:
            pytest.skip(str(error))
        return made[-1]

    yield make
    for disk in made:
        disk.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """A PostgreSQL server that this run of pytest has for itself."""
    folder = programs()
    if folder is None:
        pytest.skip("no PostgreSQL server is installed (`./symfleet.sh test` installs one)")
    cluster = Cluster(folder)
    yield cluster
    cluster.stop()
