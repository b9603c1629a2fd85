"""The launcher against programs that play mpirun: what it does about every kind of end."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from symfleet.clock import SystemClock
from symfleet.config.model import Advanced, CampaignConfig, Output, Resources, Stop, Target
from symfleet.errors import (
    BusyError,
    ExitCode,
    HostError,
    IntegrityError,
    InternalError,
    IOFailure,
    SymfleetError,
    UserError,
)
from symfleet.runtime import launcher, plan
from symfleet.runtime.campaign_lock import CampaignLock
from symfleet.runtime.mpirun import mpirun_environment, short_path
from symfleet.runtime.plan import EpochOutcome, outcome_line
from symfleet.runtime.stores import EpochSummary

pytestmark = pytest.mark.jobs

PRELUDE = "import json, os, signal, subprocess, sys, time\nfrom pathlib import Path\n"
BEAT = "Path(run_dir, 'beat').write_text('1')\n"


class Skipping(SystemClock):
    """Waits for nobody: sleeping moves its own time."""

    def __init__(self) -> None:
        self.skipped_s = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.skipped_s

    def sleep(self, seconds: float) -> None:
        self.skipped_s += seconds


class Listener:
    """Remembers what was told; `on_tick` is called while mpirun runs."""

    def __init__(self, on_tick: Callable[[], None] = lambda: None) -> None:
        self.lines: list[str] = []
        self._on_tick = on_tick

    def ticked(self, now: float) -> None:
        self._on_tick()

    def told(self, line: str) -> None:
        self.lines.append(line)


class Stage:
    """Runs a launcher whose mpirun is `body`."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.out = tmp_path / "out"
        self.stop = Stop()
        self.clock = Skipping()
        self.listener = Listener()
        self._monkeypatch = monkeypatch
        self.starts = tmp_path / "starts"
        monkeypatch.setattr(launcher, "mpi_world_size", lambda: None)

    def play(self, body: str, *, must_exist: bool = False) -> ExitCode:
        record = f"open({str(self.starts)!r}, 'a').write('x')\n"
        script = f"{PRELUDE}run_dir = sys.argv[1]\n{record}{body}"

        def command(mpirun: str, ranks: int, files: Path, plan: Path, others: object) -> list[str]:
            return [sys.executable, "-c", script, str(plan.parent)]

        self._monkeypatch.setattr(launcher, "mpirun_command", command)
        config = CampaignConfig(
            target=Target(argv=("/bin/true",), keep="all", engine="symcc"),
            resources=Resources(jobs=2),
            stop=self.stop,
            output=Output(out_dir=str(self.out)),
        )
        return launcher.run_campaign(
            config, must_exist=must_exist, observer=self.listener, clock=self.clock
        )

    @property
    def launches(self) -> int:
        return len(self.starts.read_text())


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


def test_a_job_that_dies_again_and_again_is_given_up_with_its_story(stage: Stage) -> None:
    with pytest.raises(InternalError) as caught:
        stage.play(BEAT + "print('the story', flush=True); os.kill(os.getpid(), signal.SIGKILL)")
    assert stage.launches == 5
    assert stage.clock.skipped_s == pytest.approx(1 + 2 + 4 + 8, abs=1)
    assert not (stage.out / ".run").exists()
    assert "the story" in caught.value.why


@pytest.mark.parametrize("leaves", ["nothing", "another folder"])
def test_a_folder_that_is_renamed_under_its_job_is_not_made_again(
    stage: Stage, leaves: str
) -> None:
    """Its root dies as well: nobody but the launcher can know that this was another folder."""
    away = stage.out.with_name("away")
    remake = "" if leaves == "nothing" else f"os.mkdir({str(stage.out)!r}); "
    with pytest.raises(IntegrityError, match="moved, unmounted or emptied") as caught:
        stage.play(
            BEAT + f"os.rename({str(stage.out)!r}, {str(away)!r}); {remake}"
            "os.kill(os.getpid(), signal.SIGKILL)"
        )
    assert stage.launches == 1
    assert caught.value.where == str(stage.out)
    assert (away / "job.lock").exists()
    assert not stage.out.exists() or not list(stage.out.iterdir())


def test_a_folder_that_is_emptied_between_two_epochs_gets_no_new_ledger(stage: Stage) -> None:
    """The next root is told that there was one, whatever the folder holds by then."""
    ledger, told = stage.out / "ledger.db", stage.out.with_name("told")
    with pytest.raises(InternalError):
        stage.play(
            f"ledger, told = Path({str(ledger)!r}), Path({str(told)!r})\n"
            "plan = json.loads(Path(run_dir, 'plan.json').read_text())\n"
            "with told.open('a') as file: file.write(f\"{plan['has_ledger']} \")\n"
            "ledger.write_text(''); time.sleep(0.5); ledger.unlink()\n"
            + BEAT
            + "os.kill(os.getpid(), signal.SIGKILL)"
        )
    assert told.read_text().split() == ["False", *["True"] * 4]


def test_a_campaign_that_was_just_read_is_not_made_anew(stage: Stage) -> None:
    """Its folder was moved away between the command's look and the job."""
    for why in ("nothing has this name", "holds no campaign"):
        with pytest.raises(IntegrityError, match="moved, unmounted or emptied") as caught:
            stage.play(BEAT, must_exist=True)
        assert why in caught.value.why
        stage.out.mkdir(exist_ok=True)
    assert not stage.starts.exists()


def test_an_mpirun_that_cannot_start_is_an_error_of_the_host(stage: Stage) -> None:
    with pytest.raises(HostError, match="mpirun cannot start") as caught:
        stage.play("sys.exit('no such option')")
    assert "no such option" in caught.value.why
    assert stage.launches == 2


def test_an_error_of_a_root_whose_disk_takes_nothing_is_heard(stage: Stage) -> None:
    outcome = EpochOutcome(74, "IOFailure", "it broke", "row 7", "x" * 3000, "y")
    said = f"sys.stdout.write({outcome_line(outcome)!r}); print('mpirun: ' + 'z' * 1000)\n"
    with pytest.raises(IOFailure, match="it broke") as caught:
        stage.play(BEAT + said + "sys.stdout.flush(); os.kill(os.getpid(), signal.SIGKILL)")
    assert caught.value.where == "row 7"
    assert stage.launches == 1


@pytest.mark.parametrize("family", [IntegrityError, HostError])
def test_an_error_of_the_root_is_told_and_not_tried_again(
    stage: Stage, family: type[SymfleetError]
) -> None:
    code = int(family.exit_code)
    outcome = (
        f"outcome = dict(exit_code={code}, reason={family.__name__!r}, what='it broke',"
        " where='row 7', why='x', hint='y', workers=3, missing=[2])\n"
        "Path(run_dir, 'outcome.json').write_text(json.dumps(outcome))\n"
    )
    with pytest.raises(family, match="it broke") as caught:
        stage.play(BEAT + outcome + "os.kill(os.getpid(), signal.SIGKILL)")
    assert caught.value.where == "row 7"
    assert stage.launches == 1
    assert stage.listener.lines == ["2/3 processes acknowledged the end; not heard of: rank 2"]


@pytest.mark.guarantee("Q4")
def test_an_epoch_that_failed_says_who_acknowledged(stage: Stage) -> None:
    outcome = EpochOutcome(
        69, "HostError", "it went away", slots=("3/3", "2/3"), unacknowledged=("worker 4",)
    )
    said = f"Path(run_dir, 'outcome.json').write_text({msgspec.json.encode(outcome).decode()!r})\n"
    with pytest.raises(HostError, match="it went away") as caught:
        stage.play(BEAT + said + "os.kill(os.getpid(), signal.SIGKILL)")
    assert stage.listener.lines == ["slots 3/3, 2/3 acknowledged; not acknowledged: worker 4"]
    assert caught.value.hint == f"`symfleet resume {stage.out}` goes on"


def test_own_connections_to_a_file_are_refused_before_anything_is_made(stage: Stage) -> None:
    config = CampaignConfig(
        target=Target(argv=("/bin/true",), keep="all", engine="symcc"),
        output=Output(out_dir=str(stage.out)),
        advanced=Advanced(own_connections=True),
    )
    with pytest.raises(UserError, match="own connections are for a ledger on PostgreSQL"):
        launcher.run_campaign(config, clock=stage.clock)
    assert not stage.out.exists()


def test_a_root_that_falls_silent_is_ended(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symfleet.runtime.restarts.SILENCE_S", 0.3)
    with pytest.raises(InternalError):
        stage.play(BEAT + "time.sleep(600)")
    assert stage.listener.lines.count("the root is silent: the job is ended and started again") == 5


def test_what_mpirun_leaves_running_is_ended(stage: Stage, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    orphan = (
        "child = subprocess.Popen(['sleep', '600'], start_new_session=True,"
        " stdout=subprocess.DEVNULL)\n"
        f"open({str(pids)!r}, 'a').write(f'{{child.pid}}\\n')\nos._exit(1)\n"
    )
    with pytest.raises(HostError):
        stage.play(orphan)
    left = pids.read_text().split()
    assert len(left) == 2
    assert not [pid for pid in left if Path("/proc", pid, "exe").exists()]


def test_signals_become_requests_and_a_second_one_is_final(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "_HARD_STOP_S", 0.3)
    ready = stage.out / "ready"
    sent: list[str] = []

    def on_tick() -> None:
        heard = stage.listener.lines
        if ready.exists() and len(sent) == 0:
            sent.append("first")
            os.kill(os.getpid(), signal.SIGTERM)
        elif len(sent) == 1 and heard and requests() == "drain":
            sent.append("second")
            os.kill(os.getpid(), signal.SIGTERM)

    def requests() -> str:
        (run_dir,) = (stage.out / ".run").iterdir()
        return (run_dir / "request").read_text()

    stage.listener = Listener(on_tick)
    began = time.monotonic()
    assert stage.play(f"open({str(ready)!r}, 'w')\ntime.sleep(600)") is ExitCode.DONE
    assert time.monotonic() - began < 10
    assert sent == ["first", "second"]
    assert stage.launches == 1


@pytest.mark.parametrize(("crashes", "wanted"), [(0, ExitCode.DONE), (3, ExitCode.CRASHES_FOUND)])
def test_crashes_fail_a_launch_that_asks_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, crashes: int, wanted: ExitCode
) -> None:
    stage = Stage(tmp_path, monkeypatch)
    summaries = iter([None, EpochSummary(1, "quiescent", 0, 5, crashes)])
    monkeypatch.setattr(launcher, "read_summary", lambda out: next(summaries))
    stage.stop = Stop(fail_on_crash=True)
    assert stage.play(BEAT) is wanted


def test_a_rank_that_dies_in_the_start_is_not_waited_for(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher, "_TICK_S", 0.02)
    ranks = (
        "ranks = [subprocess.Popen(['sleep', '600']) for _ in range(3)]\n"
        "time.sleep(0.3); ranks[1].kill(); ranks[1].wait(); time.sleep(600)\n"
    )
    with pytest.raises(InternalError):
        stage.play(ranks)
    assert stage.listener.lines.count("a process died while the job was starting") == 5


def fill_disk_for(monkeypatch: pytest.MonkeyPatch, victim: str) -> None:
    """Let no file of this name be written."""
    write = plan.write_visible

    def refusing(path: Path, data: bytes) -> None:
        if path.name == victim:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, data)

    monkeypatch.setattr(plan, "write_visible", refusing)


def test_a_disk_that_is_full_at_the_start_is_named(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk_for(monkeypatch, "plan.json")
    with pytest.raises(IOFailure) as caught:
        stage.play(BEAT)
    assert caught.value.why == os.strerror(errno.ENOSPC)
    assert not stage.starts.exists()
    assert not (stage.out / ".run").exists()


@pytest.mark.parametrize("beat", ["", BEAT])
@pytest.mark.parametrize(
    "words",
    [
        "It appears as if there is not enough space for /out/sm_segment.0 (the shared-memory",
        "OSError: [Errno 28] No space left on device: '/out/x'",
        "mkdir: Disk quota exceeded",
    ],
)
def test_a_job_that_dies_with_words_about_space_is_not_started_again(
    stage: Stage, words: str, beat: str
) -> None:
    long_after = "print('x' * 9000, flush=True); sys.exit(1)"
    with pytest.raises(IOFailure, match="there was no space") as caught:
        stage.play(f"{beat}print({words!r}, flush=True); {long_after}")
    assert caught.value.why == words
    assert "nothing is lost" in caught.value.hint
    assert stage.launches == 1


def test_a_disk_that_filled_up_meanwhile_is_named_when_the_job_has_died(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    allocate = os.posix_fallocate

    def refusing(descriptor: int, offset: int, size: int) -> None:
        if stage.starts.exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        allocate(descriptor, offset, size)

    monkeypatch.setattr(os, "posix_fallocate", refusing)
    with pytest.raises(IOFailure, match="died and cannot start again: the disk is full"):
        stage.play(BEAT + "os.kill(os.getpid(), signal.SIGBUS)")
    assert stage.launches == 1
    assert stage.listener.lines == []
    assert not (stage.out / ".run").exists()


def test_a_stop_that_cannot_be_written_ends_the_job(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk_for(monkeypatch, "request")
    sent: list[int] = []

    def on_tick() -> None:
        if stage.starts.exists() and not sent:
            sent.append(os.getpid())
            os.kill(os.getpid(), signal.SIGTERM)

    stage.listener = Listener(on_tick)
    began = time.monotonic()
    assert stage.play("time.sleep(600)") is ExitCode.DONE
    assert time.monotonic() - began < 10
    assert any("cannot be asked to stop" in line for line in stage.listener.lines)


def test_a_full_disk_keeps_nobody_from_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("symfleet.runtime.campaign_lock.os.pwrite", full)
    lock = CampaignLock(tmp_path, SystemClock())
    lock.acquire(0.0)
    with pytest.raises(BusyError) as caught:
        CampaignLock(tmp_path, SystemClock()).acquire(0.0)
    assert "has not said who it is" in caught.value.why
    lock.release()


def test_mpirun_gets_a_home_when_there_is_none() -> None:
    files = Path("/run/folder")
    assert mpirun_environment({"PATH": "/bin"}, files) == {"PATH": "/bin", "HOME": "/run/folder"}
    assert mpirun_environment({"HOME": "/root"}, files)["HOME"] == "/root"


def test_a_link_whose_folder_is_gone_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    dead, live = (tmp_path / ("deep" * 20) / name for name in ("dead", "live"))
    for run_dir in (dead, live):
        run_dir.mkdir(parents=True)
        assert short_path(run_dir).exists()
    shutil.rmtree(dead)
    other = short_path(live)
    assert {link.readlink() for link in (tmp_path / "tmp").glob("*/run")} == {live}
    assert other.readlink() == live
    assert len(list((tmp_path / "tmp").iterdir())) == 2


def test_an_error_of_a_family_reaches_the_launcher_as_one(tmp_path: Path) -> None:
    class Particular(IOFailure):
        """As the ledger has them."""

    outcome = plan.outcome_of_error(Particular("full", where="w", why="y", hint="h"))
    assert type(plan.error_of_outcome(outcome, tmp_path)) is IOFailure
