"""docs/howto/recover.md: each section's commands, in order, on a campaign broken as it says.

What is broken stands in a comment above a section's first block; `BREAKAGES` does it. Output is
compared as in the tutorial's test.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from symfleet.ledger import opener
from symfleet.ledger.contract import EpochRequest
from symfleet.protocol.answers import Claimed
from symfleet.protocol.operations import Blame, Claim
from symfleet.testing.ledgers import ManualClock, campaign_row, epoch_request
from symfleet.testing.small_disk import SmallDisk
from symfleet.testing.stores.ledger_damage import flip_byte, unguarded
from symfleet.types import Incarnation

if TYPE_CHECKING:
    from tests.e2e import test_tutorial as tutorial
else:
    # Test modules are imported one by one, without a package around them.
    _SPEC = importlib.util.spec_from_file_location(
        "tutorial_steps", Path(__file__).with_name("test_tutorial.py")
    )
    tutorial = importlib.util.module_from_spec(_SPEC)
    sys.modules["tutorial_steps"] = tutorial
    _SPEC.loader.exec_module(tutorial)

PAGE = Path(__file__).parents[2] / "docs/howto/recover.md"
TREE = Path(__file__).parents[1] / "programs" / "tree.py"
REQUEST = opener.OwnerRequest("here", os.getpid(), reserve_bytes=0)
Undo = Callable[[], object]


def sections() -> dict[str, tuple[str, str]]:
    """Return title -> what is broken, and the text, of the sections that have commands."""
    parts = re.split(r"^## (?=\d+\. )", PAGE.read_text(), flags=re.MULTILINE)[1:]
    found = {}
    for part in parts:
        broken = re.search(r"<!-- broken: ([\w-]+) -->", part)
        assert broken, part[:40]
        found[part.partition("\n")[0]] = (broken[1], part)
    return found


SECTIONS = sections()
EVERY_CHANGE = {"killed", "files", "rescued", "damaged", "full", "owned"}
"""What is tried with every change; the rest with --long."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a campaign that was stopped in the middle, in `out`, and its backup."""
    place = tmp_path_factory.mktemp("campaign")
    (place / "seeds").mkdir()
    (place / "seeds" / "root").write_bytes(b"0")
    shutil.copy("/bin/true", place / "target")
    engine = shlex.join([sys.executable, "-S", "-E", str(TREE), "@@", "@out"])
    command = [sys.executable, "-m", "symfleet.cli.main", "explore", "-i", "seeds", "-o", "out"]
    command += ["-j", "1", "--keep", "all", "--max-executions", "4", "--screen", "none"]
    for variable in (f"RUNS={place / 'runs'}", "SECONDS=0", "NODES=60"):
        command += ["--env", variable]
    command += ["--engine", "command", "--engine-command", engine, "--", "./target", "@@"]
    done = subprocess.run(command, cwd=place, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


# ---- what is broken -----------------------------------------------------------------------------


def nothing(_: Path) -> None:
    pass


def killed(folder: Path) -> None:
    with unguarded(folder / "out" / "ledger.db") as connection:
        connection.execute("UPDATE epochs SET reason = NULL, exit_code = NULL, closed_wall = NULL")


def files(folder: Path) -> None:
    (folder / "out" / "README.txt").unlink()
    min((folder / "out" / "corpus").glob("*/*")).unlink()


def poisoned(folder: Path) -> None:
    ledger = opener.open_owner(folder / "out", REQUEST, ManualClock())
    config = ledger.status().campaign.config_toml
    request = epoch_request(9)
    ledger.open_epoch(
        EpochRequest("here", 1, "", "", request.coordinator, request.now_wall, config)
    )
    held: tuple[str, ...] = ()
    for executor in (1, 2, 3):
        (claimed,) = ledger.run([Claim(0, 1)]).answers
        assert isinstance(claimed, Claimed)
        (lease,) = claimed.leases
        ledger.run([Blame(lease.work_id, lease.token, Incarnation(executor), "SIGSEGV")])
        held += (lease.work_id,)
    assert len(set(held)) == 1
    ledger.close()


def target(folder: Path) -> Undo:
    told = re.search(r'"(/[^"]*/target)"', (folder / "out" / "campaign.toml").read_text())
    assert told
    program = Path(told[1])
    before = program.read_bytes()
    program.write_bytes(before + b"built anew")
    return lambda: program.write_bytes(before)


def newer(folder: Path) -> None:
    with contextlib.closing(sqlite3.connect(folder / "out" / "ledger.db")) as connection:
        connection.execute("PRAGMA user_version=99")


def rescued(folder: Path) -> None:
    ledger = opener.open_owner(folder / "out", REQUEST, ManualClock())
    (folder / "out" / "ledger.db").unlink()
    with contextlib.suppress(Exception):
        ledger.checkpoint()
    ledger.close()
    for path in (folder / "out").glob("ledger.db-*"):
        path.unlink()


def older(folder: Path) -> None:
    mark = folder / "out" / "highwater"
    told = json.loads(mark.read_bytes())
    mark.write_text(json.dumps({**told, "decision": told["decision"] + 9}))


def foreign_log(folder: Path) -> None:
    other = opener.create(
        folder / "other", campaign_row(campaign="d2" * 16), REQUEST, ManualClock()
    )
    other.open_epoch(epoch_request())
    shutil.copy(folder / "other" / "ledger.db-wal", folder / "out" / "ledger.db-wal")
    other.close()
    shutil.rmtree(folder / "other")


def damaged(folder: Path) -> None:
    path = folder / "out" / "ledger.db"
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        rows = "SELECT i.data FROM inputs i JOIN work w ON w.input = i.input WHERE w.state = 'done'"
        data = connection.execute(f"{rows} ORDER BY length(i.data) DESC LIMIT 1").fetchone()[0]
        digest = connection.execute("SELECT digest FROM inputs WHERE data = ?", (data,)).fetchone()[
            0
        ]
    whole = path.read_bytes()
    # A row of `inputs` holds its digest, then its bytes.
    flip_byte(path, whole.index(digest + data) + len(digest))


def highwater(folder: Path) -> None:
    (folder / "out" / "highwater").write_bytes(b"{}")


def read_only(folder: Path) -> Undo:
    out = str(folder / "out")
    if os.geteuid() != 0:
        pytest.skip("a read-only mount needs root")
    for words in (["--bind", out, out], ["-o", "remount,bind,ro", out]):
        if subprocess.run(["mount", *words], capture_output=True, check=False).returncode:
            pytest.skip("a folder cannot be mounted here")
    return lambda: subprocess.run(["umount", "-l", out], check=True)


def owned(folder: Path) -> Undo:
    """A process that holds the campaign, as a launcher does."""
    program = (
        "import sys, signal, pathlib\n"
        "from symfleet.clock import SystemClock\n"
        "from symfleet.runtime.campaign_lock import CampaignLock\n"
        "CampaignLock(pathlib.Path(sys.argv[1]), SystemClock()).acquire(0)\n"
        "print('held', flush=True)\n"
        "signal.pause()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(folder / "out")], stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"

    def end() -> None:
        with contextlib.suppress(ProcessLookupError):
            holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert holder.stdout is not None
        holder.stdout.close()

    return end


BREAKAGES: dict[str, Callable[[Path], Undo | None]] = {
    "nothing": nothing,
    "killed": killed,
    "files": files,
    "poisoned": poisoned,
    "target": target,
    "newer": newer,
    "rescued": rescued,
    "older": older,
    "foreign-log": foreign_log,
    "damaged": damaged,
    "highwater": highwater,
    "read-only": read_only,
    "owned": owned,
    "full": nothing,
}


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path, place: Path) -> Iterator[Path]:
    """A folder of its own for each section, broken as the section says."""
    broken, _ = SECTIONS[request.param]
    disk: SmallDisk | None = None
    folder = tmp_path / "here"
    if broken == "full":
        try:
            disk = SmallDisk(folder, "112m")
        except OSError as error:
            pytest.skip(str(error))
    shutil.copytree(place, folder, dirs_exist_ok=True, symlinks=True)
    settings = folder / "out" / "campaign.toml"
    for path in (folder / "out" / "ledger.db", settings):
        assert path.exists()
    if broken == "damaged":
        shutil.copy(folder / "out" / "ledger.db", folder / "backup.db")
    undo = BREAKAGES[broken](folder)
    if disk is not None:
        disk.fill()
        (folder / "ballast").rename(folder / "big-file-that-nobody-needs")
    yield folder
    if undo is not None:
        undo()
    if disk is not None:
        disk.close()


def expected_of(step: Any) -> tuple[str, ...]:
    """`#` on the page stands for any digest or number; a line may end with `...`."""
    return tuple(line.removesuffix("...") for line in step.expected)


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(title, marks=[] if broken in EVERY_CHANGE else [pytest.mark.long])
        for title, (broken, _) in SECTIONS.items()
    ],
    indirect=True,
)
def test_what_the_page_says_helps(folder: Path, request: pytest.FixtureRequest) -> None:
    title = request.node.callspec.params["folder"]
    todo = list(tutorial.steps(SECTIONS[title][1]))
    assert todo
    done = tutorial.run_in_one_shell([step.command for step in todo], folder)
    for step, (_, output) in zip(todo, done, strict=True):
        absent = tutorial.missing_line(expected_of(step), output)
        assert absent is None, f"$ {step.command}\nlacks: {absent}\n{output}"
    if SECTIONS[title][0] not in ("newer", "older"):
        copy = folder / "moved-to-a-good-disk"
        out = copy if copy.exists() else folder / "out"
        reader = opener.open_reader(out)
        try:
            assert list(reader.audit()) == [], "what helps leaves a sound ledger"
        finally:
            reader.close()


def test_the_table_leads_to_every_section_and_each_is_broken_in_a_way_of_its_own() -> None:
    text = PAGE.read_text()
    anchors = re.findall(r"^\((\S+)\)=$", text, re.MULTILINE)
    table = text[text.index("## Which section") : text.index("(killed)=")]
    assert re.findall(r"\[\d+\]\(#(\S+?)\)", table) == anchors
    assert len(SECTIONS) == len(anchors)
    assert {broken for broken, _ in SECTIONS.values()} == BREAKAGES.keys()
