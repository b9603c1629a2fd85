"""`symfleet verify`: what it finds, what it puts right, and that it never changes the ledger."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from symfleet.cli.app import run
from symfleet.clock import SystemClock
from symfleet.corpus.layout import sink_folder
from symfleet.errors import ExitCode
from symfleet.ledger import opener
from symfleet.protocol.operations import StoreInputs
from symfleet.runtime.campaign_lock import CampaignLock
from symfleet.testing.ledgers import epoch_request
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.resting import DECIDED, make_resting
from symfleet.testing.stores.ledger_damage import flip_byte
from symfleet.types import SinkKind, input_id_of

PROGRAM = Path(__file__).parents[1] / "programs" / "none.py"
REQUEST = opener.OwnerRequest("here", os.getpid(), reserve_bytes=0)
Say = Callable[..., Any]
Damage = Callable[[Path], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProgramCampaign]:
    campaign = make_resting(tmp_path_factory.mktemp("resting"), PROGRAM)
    yield campaign
    campaign.close()


@pytest.fixture
def out(made: ProgramCampaign, tmp_path: Path) -> Path:
    """A copy of the campaign's folder."""
    copy = tmp_path / "out"
    shutil.copytree(made.out, copy, symlinks=True)
    return copy


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a verb; return its JSON."""

    def verb(*words: object, code: int = 0) -> Any:
        ended = run([*map(str, words), "--json"])
        text = capsys.readouterr().out
        assert ended == code, text
        return json.loads(text)

    return verb


def files_of(out: Path) -> dict[str, bytes]:
    """Return what stands in all files but locks and SQLite's side files, which hold nothing."""
    log = out / "ledger.db-wal"
    assert not log.exists() or log.stat().st_size == 0
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file() and path.suffix not in {".lock", ".db-shm", ".db-wal"}
    }


def named(verified: Any) -> dict[str, str]:
    return {finding["path"]: finding["problem"] for finding in verified["files"]}


def one(out: Path, pattern: str) -> Path:
    (found,) = out.glob(pattern)
    return found


def test_a_sound_campaign_is_said_to_be_sound_and_stays_as_it_is(out: Path, say: Say) -> None:
    before = files_of(out)
    verified = say("verify", out)
    assert verified["ok"]
    assert (verified["ledger"], verified["files"], verified["live"]) == ([], [], False)
    assert files_of(out) == before
    assert say("verify", out, "--repair")["repaired"] == 0
    assert files_of(out) == before


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def other_bytes(path: Path) -> None:
    path.write_bytes(b"other")


def other_number(text: str, other: str) -> Damage:
    def change(path: Path) -> None:
        assert text in path.read_text()
        path.write_text(path.read_text().replace(text, other))

    return change


def torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


DAMAGES: dict[str, dict[str, Damage]] = {
    "missing": dict.fromkeys(
        (
            *("corpus/*/*", "crashes/*/input", "hangs/*/reproduce.sh", "poison/*/input"),
            *("campaign.toml", "README.txt"),
            *("status.json", "fuzzer_stats", "fuzzer_setup", "plot_data"),
        ),
        Path.unlink,
    ),
    "wrong": {
        "corpus/*/*": other_bytes,
        "crashes/*/report.json": other_bytes,
        "crashes/*/input": replace_by_folder,
        "hangs/*/reproduce.sh": other_bytes,
        "poison/*/report.json": other_bytes,
        "campaign.toml": other_bytes,
        "status.json": other_number('"decisions": 1', '"decisions": 2'),
        "fuzzer_stats": other_number("saved_crashes     : 1", "saved_crashes     : 9"),
        "plot_data": torn,
    },
    "torn": {"status.json": torn, "fuzzer_stats": other_bytes},
    "a folder": dict.fromkeys(
        (
            *("corpus/*/*", "hangs/*/reproduce.sh", "poison/*/input", "campaign.toml"),
            *("README.txt", "status.json", "fuzzer_stats", "fuzzer_setup", "plot_data"),
        ),
        replace_by_folder,
    ),
}
DERIVED = ("status.json", "fuzzer_stats", "fuzzer_setup", "plot_data")
"""Files that tell of times, too: they are made again with other ones."""


@pytest.mark.guarantee("C5")
@pytest.mark.parametrize("name", DAMAGES)
def test_files_that_do_not_agree_are_named_and_made_again_from_the_ledger(
    out: Path, say: Say, name: str
) -> None:
    whole = files_of(out)
    damaged = {min(out.glob(pattern)): damage for pattern, damage in DAMAGES[name].items()}
    for path, damage in damaged.items():
        damage(path)
    before = files_of(out)
    problem = "missing" if name == "missing" else "wrong"
    expected = {str(path.relative_to(out)): problem for path in damaged}
    verified = say("verify", out, code=ExitCode.FINISHED_WITH_FAULTS)
    assert named(verified) == expected
    assert files_of(out) == before, "looking changes nothing"
    repaired = say("verify", out, "--repair")
    assert repaired["ok"]
    assert repaired["repaired"] == len(damaged)
    after = files_of(out)
    assert after["ledger.db"] == whole["ledger.db"], "never the other way"
    for where in whole.keys() - set(DERIVED):
        assert after[where] == whole[where]
    assert set(DERIVED) <= after.keys()
    kept = {path.name for path in (out / "lost+found").glob("*")}
    for path in damaged:
        was = str(path.relative_to(out))
        is_kept = was.startswith("corpus") or path.name in ("input", "campaign.toml")
        is_kept = name == "a folder" or (name == "wrong" and is_kept)
        assert (f"{was.replace('/', '-')}.1" in kept) == is_kept


@pytest.mark.guarantee("C5")
def test_a_moved_folder_is_compared_while_nothing_is_published_under_its_new_name(
    out: Path, say: Say
) -> None:
    """A launch that died there as soon as it had begun."""
    ledger = opener.open_owner(out, REQUEST, SystemClock())
    ledger.open_epoch(epoch_request())
    for kind in SinkKind:
        assert ledger.register_sink(kind, str(sink_folder(out, kind)), "here").published_upto == 0
    ledger.close()
    path = min(out.glob("corpus/*/*"))
    path.write_bytes(b"other")
    wrong = {str(path.relative_to(out)): "wrong"}
    assert named(say("verify", out, code=ExitCode.FINISHED_WITH_FAULTS)) == wrong
    assert say("verify", out, "--repair")["repaired"] == 1


def test_files_that_are_not_ours_are_named_and_left_alone(out: Path, say: Say) -> None:
    strangers = ["notes.txt", "corpus/ab/mine", "crashes/own", "poison/mine"]
    for name in strangers:
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(name)
    for words in ([], ["--repair"], ["--gc"]):
        verified = say("verify", out, *words)
        assert verified["ok"]
        assert named(verified) == dict.fromkeys(strangers, "unknown")
        assert [(out / name).read_text() for name in strangers] == strangers


def test_a_folder_that_is_a_link_elsewhere_is_not_followed(
    out: Path, say: Say, tmp_path: Path
) -> None:
    folder = min((out / "corpus").iterdir())
    elsewhere = tmp_path / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    assert set(named(say("verify", out, code=2)).values()) == {"wrong"}
    for path in elsewhere.iterdir():
        path.write_bytes(b"theirs")
    assert say("verify", out, "--repair")["ok"]
    assert {path.read_bytes() for path in elsewhere.iterdir()} == {b"theirs"}


@pytest.mark.guarantee("C9")
def test_nothing_is_made_from_a_damaged_ledger(out: Path, say: Say) -> None:
    path = out / "ledger.db"
    flip_byte(path, path.read_bytes().index(DECIDED) + 1)
    shutil.rmtree(out / "corpus")
    before = files_of(out)
    for words in ([], ["--repair"], ["--gc"]):
        verified = say("verify", out, *words, code=ExitCode.INTEGRITY)
        assert input_id_of(DECIDED) in str(verified["ledger"])
        assert not verified["ok"]
        assert files_of(out) == before


def test_an_older_copy_is_told_by_verify_and_refused_by_repair_and_status(
    out: Path, say: Say, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = json.loads((out / "highwater").read_text())
    (out / "highwater").write_text(json.dumps({**mark, "decision": 8}))
    verified = say("verify", out, code=ExitCode.INTEGRITY)
    assert "7 decisions are missing" in str(verified["ledger"])
    assert run(["verify", str(out)]) == ExitCode.INTEGRITY
    assert "the ledger is damaged" not in capsys.readouterr().out
    for words in (["verify", str(out), "--repair"], ["status", str(out)]):
        assert run(words) == ExitCode.INTEGRITY
        assert "--accept-older-ledger" in capsys.readouterr().err


def test_gc_drops_what_nothing_names_and_nothing_else(made: ProgramCampaign, say: Say) -> None:
    with made.owned() as opened:
        opened.ledger.run([StoreInputs((b"of a result that was never decided", b"another"))])
    before = say("verify", made.out, "--sets")
    assert say("verify", made.out, "--gc")["dropped"] == 2
    assert say("verify", made.out, "--gc")["dropped"] == 0
    assert say("verify", made.out, "--sets") == before


@pytest.mark.guarantee("L8")
def test_beside_a_live_job_it_looks_and_does_not_touch(out: Path, say: Say) -> None:
    owner = opener.open_owner(out, REQUEST, SystemClock())
    with contextlib.closing(owner):
        verified = say("verify", out)
        assert verified["ok"]
        assert verified["live"]
        for word in ("--repair", "--gc"):
            error = say("verify", out, word, code=ExitCode.BUSY)["error"]
            assert "owned by a live job" in error["what"]
            assert error["what_to_do"]
    assert say("verify", out, "--repair")["repaired"] == 0


@pytest.mark.guarantee("L8")
def test_a_job_between_two_epochs_is_live_too(out: Path, say: Say) -> None:
    lock = CampaignLock(out, SystemClock())
    lock.acquire(0.0)
    try:
        assert say("verify", out)["live"]
        say("verify", out, "--repair", code=ExitCode.BUSY)
    finally:
        lock.release()


def test_people_read_what_is_wrong_and_what_to_do(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one(out, "README.txt").unlink()
    assert run(["verify", str(out)]) == ExitCode.FINISHED_WITH_FAULTS
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "missing  README.txt"
    assert lines[-1] == (
        f"files are missing or wrong: `symfleet verify --repair {out}` writes them again"
    )


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize(
    "name", ["highwater", "ledger.db", "ledger.db-wal", "owner.lock", "job.lock", "status.json"]
)
def test_nothing_waits_for_a_pipe_or_a_device_under_a_name_of_the_campaign(
    out: Path, name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = out / name
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    for words in (["status"], ["verify"], ["verify", "--repair"]):
        code = run([words[0], str(out), *words[1:]])
        told = capsys.readouterr()
        if name == "status.json":
            assert code in (ExitCode.DONE, ExitCode.FINISHED_WITH_FAULTS)
        elif code == ExitCode.DONE:
            assert name.endswith(".lock"), (words, told.out)  # a lock that nobody can hold
        else:
            assert code == ExitCode.IO, (words, told.err)
            assert f"{name}\n" in told.err
            assert "no regular file" in told.err


def test_a_file_in_the_place_of_the_corpus_is_set_aside_by_repair(out: Path, say: Say) -> None:
    files = {path.name for path in (out / "corpus").rglob("*") if path.is_file()}
    shutil.rmtree(out / "corpus")
    (out / "corpus").write_bytes(b"somebody's")
    say("verify", out, code=ExitCode.FINISHED_WITH_FAULTS)
    say("verify", out, "--repair")
    assert {path.name for path in (out / "corpus").rglob("*") if path.is_file()} == files
    assert [path.read_bytes() for path in (out / "lost+found").glob("corpus*")] == [b"somebody's"]
