"""Small pieces of the runtime that decide something: each by itself."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from symfleet import crash
from symfleet.clock import SystemClock
from symfleet.config.model import CampaignConfig, Output, Resources, Stop, Target
from symfleet.errors import (
    BusyError,
    ExitCode,
    HostError,
    IntegrityError,
    IOFailure,
    SymfleetError,
    UserError,
    parts_of,
)
from symfleet.ledger.memory import MemoryLedger
from symfleet.ledger.owner_lock import Holder, acquire
from symfleet.protocol.answers import Claimed, Failed
from symfleet.protocol.events import StopRequested
from symfleet.protocol.operations import Admit, Claim
from symfleet.runtime import plan as plans
from symfleet.runtime.campaign_lock import LOCK_NAME, CampaignLock
from symfleet.runtime.engines import engine_setup, find_program, knobs_of
from symfleet.runtime.mpirun import remove_run_dirs, short_path
from symfleet.runtime.pace import LONGEST_S, SHORTEST_S, Pace
from symfleet.runtime.stop_rules import StopRules
from symfleet.testing.ledgers import (
    ManualClock,
    admission,
    campaign_row,
    decision,
    epoch_request,
    packed,
)
from symfleet.testing.small_disk import SmallDisk
from symfleet.types import Outcome


def config(tmp_path: Path, **stop: float) -> CampaignConfig:
    return CampaignConfig(
        target=Target(argv=("/bin/true", "@@"), keep="all", engine="symcc", env=("A=b",)),
        resources=Resources(jobs=3),
        stop=Stop(**stop),  # type: ignore[arg-type]
        output=Output(out_dir=str(tmp_path)),
    )


# ---- plan and outcome ---------------------------------------------------------------------------


def test_a_plan_comes_back_as_it_was_written(tmp_path: Path) -> None:
    plan = plans.EpochPlan(config(tmp_path), "/bin/true", str(tmp_path), 7, "symfleet x", 1.5, 3)
    assert plans.read_plan(plans.write_plan(plan)) == plan


def test_an_error_reaches_the_launcher_in_its_four_parts(tmp_path: Path) -> None:
    error = IntegrityError("damaged", where="row 7", why="a byte flipped", hint="restore")
    path = tmp_path / plans.OUTCOME
    plans.write_outcome(path, plans.outcome_of_error(error))
    outcome = plans.read_outcome(path)
    assert outcome is not None
    again = plans.error_of_outcome(outcome, tmp_path)
    assert type(again) is IntegrityError
    assert str(again) == str(error)


@pytest.mark.parametrize(
    ("error", "slots", "hint"),
    [
        (
            HostError("gone", hint="start it"),
            ["3/3"],
            "start it; then `symfleet resume '/a b'` goes on",
        ),
        (HostError("gone"), ["3/3"], "`symfleet resume '/a b'` goes on"),
        (HostError("no mpirun", hint="install it"), [], "install it"),
        (
            IOFailure("full", hint="`symfleet resume` goes on"),
            [],
            "`symfleet resume '/a b'` goes on",
        ),
        (
            IntegrityError("damaged", hint="run `symfleet verify`, then restore a backup"),
            ["3/3"],
            "run `symfleet verify '/a b'`, then restore a backup",
        ),
    ],
)
def test_the_error_of_an_epoch_names_the_way_on(
    error: SymfleetError, slots: list[str], hint: str
) -> None:
    outcome = msgspec.structs.replace(plans.outcome_of_error(error), slots=slots)
    assert plans.error_of_outcome(outcome, Path("/a b")).hint == hint


@pytest.mark.parametrize("content", [b"", b"{", b'{"exit_code": 0}'])
def test_a_torn_outcome_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / plans.OUTCOME
    assert plans.read_outcome(path) is None
    path.write_bytes(content)
    assert plans.read_outcome(path) is None


def test_a_request_is_heard_once_and_a_stronger_one_again(tmp_path: Path) -> None:
    requests = plans.Requests(tmp_path)
    assert requests.poll() is None
    plans.write_visible(tmp_path / plans.REQUEST, b"drain")
    assert [requests.poll(), requests.poll()] == ["drain", None]
    plans.write_visible(tmp_path / plans.REQUEST, b"stop")
    assert requests.poll() == "stop"


def test_every_beat_differs_from_the_one_before(tmp_path: Path) -> None:
    beats = plans.Beats(tmp_path)
    seen = [plans.read_beat(tmp_path)]
    for _ in range(3):
        beats.beat()
        seen.append(plans.read_beat(tmp_path))
    assert len(set(seen)) == 4


@pytest.mark.guarantee("A2")
def test_a_root_is_heard_on_a_full_disk(small_disk: Callable[[str], SmallDisk]) -> None:
    disk = small_disk("1m")
    beats = plans.Beats(disk.folder)
    beats.opening()
    disk.fill()
    assert plans.read_beat(disk.folder) == plans.OPENING
    beats.beat()
    assert plans.read_beat(disk.folder) != plans.OPENING


# ---- lock ---------------------------------------------------------------------------------------


@pytest.mark.guarantee("L8")
def test_a_held_lock_names_its_holder_and_is_never_broken_by_age(tmp_path: Path) -> None:
    holder = CampaignLock(tmp_path, SystemClock())
    holder.acquire(0.0)
    path = tmp_path / LOCK_NAME
    os.utime(path, (0, 0))  # 1970
    before = path.read_bytes()
    with pytest.raises(BusyError) as caught:
        CampaignLock(tmp_path, SystemClock()).acquire(0.1)
    assert f"process {os.getpid()} on " in caught.value.why
    assert path.read_bytes() == before
    holder.release()
    CampaignLock(tmp_path, SystemClock()).acquire(0.0)


def test_a_lock_file_that_was_removed_under_a_live_job_lets_nobody_in(
    tmp_path: Path,
) -> None:
    clock = SystemClock()
    owner = acquire(tmp_path, Holder("here", os.getpid(), 7, clock.wall()), clock, 0.0)
    for _ in range(2):
        lock = CampaignLock(tmp_path, clock)
        with pytest.raises(BusyError, match="owned by a live job") as caught:
            lock.acquire(0.1)
        assert f"process {os.getpid()} on here, epoch 7" in caught.value.why
        (tmp_path / LOCK_NAME).unlink()
    owner.close()
    lock.acquire(0.0)


def test_a_lock_dies_with_its_holder(tmp_path: Path) -> None:
    program = (
        "import sys, signal, os\n"
        "from pathlib import Path\n"
        "from symfleet.clock import SystemClock\n"
        "from symfleet.runtime.campaign_lock import CampaignLock\n"
        "CampaignLock(Path(sys.argv[1]), SystemClock()).acquire(0)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    CampaignLock(tmp_path, SystemClock()).acquire(0.0)


# ---- crash points -------------------------------------------------------------------------------


def test_a_point_acts_at_its_occurrence_only() -> None:
    crash.arm("file.write:2:eio,file.sync:1:enospc")
    try:
        crash.point("file.write")
        with pytest.raises(OSError, match=r"file\.write") as caught:
            crash.point("file.write")
        assert caught.value.errno == errno.EIO
        crash.point("file.write")
        with pytest.raises(OSError, match=r"file\.sync") as caught:
            crash.point("file.sync")
        assert caught.value.errno == errno.ENOSPC
    finally:
        crash.arm("")
    crash.point("file.sync")


@pytest.mark.parametrize("spec", ["here", "file.write:x:kill", "file.write:1:explode", ":1:kill"])
def test_a_wrong_crash_point_is_refused(spec: str) -> None:
    with pytest.raises(UserError):
        crash.arm(spec)


# ---- stop rules and pace ------------------------------------------------------------------------


def test_a_time_limit_counts_what_earlier_epochs_used(tmp_path: Path) -> None:
    rules = StopRules(config(tmp_path, max_time_s=10).stop, 100.0, elapsed_s=4.0, executed=0)
    assert rules.due(105.9) is None
    assert rules.due(106.0) == StopRequested("max_time", 0, 10.0)
    assert rules.due(107.0) is None, "it asks once"


def test_a_ledger_that_takes_nothing_new_ends_the_epoch_with_the_code_of_a_full_disk(
    tmp_path: Path,
) -> None:
    rules = StopRules(config(tmp_path, max_time_s=10).stop, 100.0, elapsed_s=0.0, executed=0)
    claims = (Claim(0, 1), Claim(0, 1))
    rules.note(claims, (Failed("refused"), Failed("the disk is full", disk_full=True)), 100.0)
    stop = rules.due(110.0)
    assert stop is not None
    assert stop.exit_code == int(ExitCode.IO), "a frontier that takes nothing is not at its end"
    assert stop.drain_s > 0, "what runs is decided from the reserve"
    what, _, why, hint = parts_of(stop.reason)
    assert what == "the disk is full"
    assert "stored" in why
    assert "free some space" in hint
    assert rules.due(111.0) is None


def test_decisions_that_the_root_hears_nothing_of_count_for_the_limits(tmp_path: Path) -> None:
    ledger = MemoryLedger(campaign_row(), ManualClock())
    ledger.open_epoch(epoch_request())
    ledger.register_source("seeds", "/s", "here")
    _, answer = ledger.run([Admit(1, (admission(b"a"), admission(b"b"))), Claim(1, 2)]).answers
    assert isinstance(answer, Claimed)
    first, second = answer.leases

    def rules(**stop: float) -> StopRules:
        return StopRules(config(tmp_path, **stop).stop, 100.0, elapsed_s=0.0, executed=5)

    limit, crashes = rules(max_executions=6), rules(exit_on_crash=True)
    quiet = rules(no_new_coverage_for_s=10)
    ledger.run([decision(first, edges=packed(8))])
    for watching in (limit, crashes, quiet):
        watching.look(ledger.status(), 104.0)
    assert limit.due(104.0) == StopRequested("max_executions", 0, 10.0)
    assert crashes.due(104.0) is None
    ledger.run([decision(second, outcome=Outcome.CRASH, edges=packed(8))])
    for watching in (crashes, quiet):
        watching.look(ledger.status(), 108.0)
    assert crashes.due(108.0) == StopRequested("crash_found", 0, 10.0)
    assert quiet.due(113.9) is None
    assert quiet.due(114.0) == StopRequested("no_new_coverage", 0, 10.0)


def test_a_sleep_grows_while_nothing_happens_and_never_passes_a_deadline() -> None:
    pace = Pace()
    sleeps = [pace.idle(0.0, None) for _ in range(50)]
    assert sleeps == sorted(sleeps)
    assert (sleeps[0], sleeps[-1]) == (SHORTEST_S, LONGEST_S)
    assert pace.idle(5.0, 5.0001) <= 0.0002
    assert pace.idle(6.0, 5.0) == 0.0
    pace.busy()
    assert pace.idle(0.0, None) == SHORTEST_S


# ---- engines ------------------------------------------------------------------------------------


def test_the_configuration_becomes_an_engine_setup(tmp_path: Path) -> None:
    setup = engine_setup(config(tmp_path), "/bin/true")
    assert setup.engine[-2:] == ("symfleet.engine.serve", "symcc")
    assert setup.argv == ("/bin/true", "@@")
    assert setup.input_mode == "file"
    assert setup.env == {"A": "b"}
    assert knobs_of(config(tmp_path)).prefetch == 1


def test_an_engine_without_coverage_must_keep_all(tmp_path: Path) -> None:
    novel = CampaignConfig(
        target=Target(argv=("/bin/true",), engine="symcc"), output=Output(out_dir=str(tmp_path))
    )
    with pytest.raises(UserError, match="novel"):
        engine_setup(novel, "/bin/true")


def test_a_missing_executor_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMFLEET_NATIVE_DIR", str(tmp_path))
    embedded = CampaignConfig(
        target=Target(argv=("/bin/true",)), output=Output(out_dir=str(tmp_path))
    )
    with pytest.raises(HostError, match="executor"):
        engine_setup(embedded, "/bin/true")


def test_a_target_is_found_like_a_shell_would(tmp_path: Path) -> None:
    assert find_program(config(tmp_path), "") == Path("/bin/true")
    by_name = CampaignConfig(target=Target(argv=("true",)), output=Output(out_dir="o"))
    assert find_program(by_name, "/nonexistent:/bin") == Path("/bin/true")
    with pytest.raises(UserError, match="does not exist"):
        find_program(by_name, "/nonexistent")
    script = tmp_path / "script"
    script.write_text("")
    plain = CampaignConfig(target=Target(argv=(str(script),)), output=Output(out_dir="o"))
    with pytest.raises(UserError, match="not executable"):
        find_program(plain, "")


# ---- run folders --------------------------------------------------------------------------------


@pytest.fixture
def deep_run_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run folder whose path is too long, beside a temporary folder of its own."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    run_dir = tmp_path / ("deep" * 20) / ".run" / "1"
    run_dir.mkdir(parents=True)
    return run_dir


def test_a_deep_output_folder_gets_a_short_link_that_is_removed_with_it(
    tmp_path: Path, deep_run_dir: Path
) -> None:
    run_dir = deep_run_dir
    link = short_path(run_dir)
    assert link.resolve() == run_dir.resolve()
    assert len(str(link)) < len(str(run_dir))
    remove_run_dirs(run_dir.parent)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not run_dir.exists()


@pytest.mark.parametrize("is_made", [True, False])
def test_a_link_of_which_a_kill_left_only_the_folder_or_nothing_is_removed(
    tmp_path: Path, deep_run_dir: Path, is_made: bool
) -> None:
    run_dir = deep_run_dir
    link = short_path(run_dir)
    link.unlink()
    if not is_made:
        link.parent.rmdir()
    remove_run_dirs(run_dir.parent)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not run_dir.exists()


def test_the_place_of_a_link_is_noted_before_anything_is_there(
    tmp_path: Path, deep_run_dir: Path
) -> None:
    (tmp_path / "tmp").rmdir()
    with pytest.raises(FileNotFoundError):
        short_path(deep_run_dir)
    assert (deep_run_dir / "link").read_text().startswith(str(tmp_path / "tmp"))


def test_a_link_that_leads_elsewhere_is_left_alone(tmp_path: Path) -> None:
    run_dir = tmp_path / ".run" / "1"
    run_dir.mkdir(parents=True)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "run").symlink_to(tmp_path)
    (run_dir / "link").write_text(str(foreign))
    remove_run_dirs(run_dir.parent)
    assert (foreign / "run").is_symlink()
