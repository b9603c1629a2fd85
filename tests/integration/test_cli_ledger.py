"""`symfleet ledger` on the command line, and resuming what an older symfleet or a move has left."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symfleet.cli import resume as resume_verb
from symfleet.cli.app import run
from symfleet.cli.campaign import stored_config
from symfleet.clock import SystemClock
from symfleet.config.model import CampaignConfig, Output, Resources, Target
from symfleet.config.project import render_toml
from symfleet.ledger import database, opener, places, postgres_opener
from symfleet.ledger.contract import CampaignRow
from symfleet.ledger.postgres_address import StoredAddress, write_address
from symfleet.ledger.postgres_statements import postgres_migrations
from symfleet.ledger.sqlite_tables import open_tables
from symfleet.ledger.statements import migrations
from symfleet.runtime.campaign_lock import CampaignLock
from symfleet.testing.jobs import Role
from symfleet.testing.ledgers import campaign_row
from symfleet.testing.programs import ProgramCampaign
from symfleet.testing.stores.postgres_cluster import Cluster
from symfleet.types import input_id_of

REQUEST = opener.OwnerRequest("here", os.getpid(), reserve_bytes=0)
Say = Callable[..., Any]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a verb; return its JSON."""

    def verb(*words: str, code: int = 0) -> Any:
        ended = run([*words, "--json"])
        text = capsys.readouterr().out
        assert ended == code, text
        return json.loads(text) if text else None

    return verb


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[CampaignConfig]:
    """See what `resume` would launch."""
    configs: list[CampaignConfig] = []

    def launch(config: CampaignConfig, *, as_json: bool, resumes: bool) -> int:
        assert resumes, "it makes no campaign where there is none"
        assert as_json
        configs.append(config)
        return 0

    monkeypatch.setattr(resume_verb, "launch", launch)
    return configs


def row(ledger: str = "") -> CampaignRow:
    """Return a campaign with a configuration that can be resumed."""
    config = CampaignConfig(
        target=Target(argv=("/bin/true",), seed_paths=("/s",)),
        resources=Resources(jobs=2),
        output=Output(ledger=ledger),
    )
    made = campaign_row(campaign=f"{random.Random(ledger).getrandbits(128):032x}")
    return CampaignRow(
        **{name: getattr(made, name) for name in made.__slots__ if name != "config_toml"},
        config_toml=render_toml(config),
    )


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A campaign that nothing was done in."""
    opener.create(tmp_path / "out", row(), REQUEST, SystemClock()).close()
    return tmp_path / "out"


def test_a_campaign_is_moved_shown_and_backed_up(out: Path, postgres: Cluster, say: Say) -> None:
    (out / "job.lock").touch()
    before = say("ledger", "show", str(out))
    assert (before["kind"], before["schema"]) == ("sqlite", len(migrations()))
    moved = say("ledger", "copy", str(out), "--to", postgres.url)
    assert moved["left"] == str(out / "ledger.db.retired-1")
    there = say("ledger", "show", str(out))
    assert there["kind"] == "postgresql"
    assert there["rows"] == before["rows"]
    made = say("ledger", "backup", str(out), str(out.parent / "backup.db"))
    assert (made["file"], made["decisions"]) == (str(out.parent / "backup.db"), 0)
    say("ledger", "copy", str(out), "--to", "sqlite")
    assert say("ledger", "show", str(out))["where"] == str(out / "ledger.db")
    assert say("verify", str(out))["ok"]


def test_people_are_told_where_the_campaign_lives(
    out: Path, postgres: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ledger", "copy", str(out), "--to", postgres.url]) == 0
    told = capsys.readouterr()
    assert f"the campaign lives in {postgres.url}" in told.out
    assert "checking the copy" in told.err
    assert run(["ledger", "show", str(out)]) == 0
    assert "left behind: ledger.db.retired-1" in capsys.readouterr().out
    assert run(["ledger", "copy", str(out), "--to", "sqlite"]) == 0


@pytest.mark.guarantee("L8")
def test_a_job_that_is_between_two_epochs_is_live(out: Path, postgres: Cluster, say: Say) -> None:
    lock = CampaignLock(out, SystemClock())
    lock.acquire(0.0)
    try:
        error = say("ledger", "copy", str(out), "--to", postgres.url, code=75)["error"]
        assert "process" in error["why"]
    finally:
        lock.release()
    assert (out / "ledger.db").exists()


def test_no_campaign_no_ledger(tmp_path: Path, say: Say) -> None:
    for words in (("show",), ("copy", "--to", "sqlite"), ("backup", "b.db")):
        verb, *rest = words
        say("ledger", verb, str(tmp_path), *rest, code=65)
        say("ledger", verb, str(tmp_path / "no"), *rest, code=64)


# ---- resume -------------------------------------------------------------------------------------


def newer(scripts: tuple[str, ...], script: str) -> Callable[[], tuple[str, ...]]:
    """Return what a symfleet with one migration more would know."""
    return lambda: (*scripts, script)


def test_resume_brings_an_older_file_up_to_date(
    out: Path, say: Say, launched: list[CampaignConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = migrations()
    known = newer(scripts, "CREATE TABLE later (later INTEGER PRIMARY KEY) STRICT;")
    monkeypatch.setattr(database, "migrations", known)
    error = say("status", str(out), code=65)["error"]
    assert "older version" in error["what"]
    assert "symfleet resume" in error["what_to_do"]
    assert say("ledger", "show", str(out))["schema"] == len(scripts), "any version can be shown"
    kept = out.parent / "kept.db"
    say("ledger", "backup", str(out), str(kept))
    say("resume", str(out))
    assert len(launched) == 1
    say("status", str(out))
    assert say("ledger", "show", str(out))["schema"] == len(scripts) + 1
    with contextlib.closing(open_tables(kept)) as older:
        assert older.version == len(scripts), "kept as it was"


def test_resume_brings_an_older_schema_on_a_server_up_to_date(
    tmp_path: Path,
    postgres: Cluster,
    say: Say,
    launched: list[CampaignConfig],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    postgres_opener.create(
        out, row("postgresql://u@older/db"), REQUEST, SystemClock(), postgres.url
    ).close()
    scripts = postgres_migrations()
    known = newer(scripts, "CREATE TABLE later (later bigint PRIMARY KEY);")
    monkeypatch.setattr(postgres_opener, "postgres_migrations", known)
    assert "older version" in say("status", str(out), code=65)["error"]["what"]
    say("resume", str(out))
    assert len(launched) == 1
    say("status", str(out))


def test_resume_does_not_touch_an_older_ledger_of_a_live_job(
    out: Path, say: Say, launched: list[CampaignConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = migrations()
    with contextlib.closing(places.own_ledger(out, REQUEST, SystemClock())):
        known = newer(scripts, "CREATE TABLE later (later INTEGER PRIMARY KEY) STRICT;")
        monkeypatch.setattr(database, "migrations", known)
        say("resume", str(out), code=75)
    assert say("ledger", "show", str(out))["schema"] == len(scripts)
    assert launched == []


def test_resume_takes_the_ledger_where_it_is_not_where_it_was_made(
    tmp_path: Path, postgres: Cluster, say: Say, launched: list[CampaignConfig]
) -> None:
    out = tmp_path / "out"
    asked = "postgresql://u@long-gone/db"
    postgres_opener.create(out, row(asked), REQUEST, SystemClock(), postgres.url).close()
    say("ledger", "copy", str(out), "--to", "sqlite")
    say("resume", str(out))
    say("resume", str(out), "--ledger", "sqlite")
    assert [config.output.ledger for config in launched] == ["", "sqlite"]


def test_own_connections_go_where_a_campaign_has_moved_to_a_file(
    out: Path, say: Say, launched: list[CampaignConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_connections(folder: Path) -> CampaignConfig:
        config = stored_config(folder)
        advanced = dataclasses.replace(config.advanced, own_connections=True)
        return dataclasses.replace(config, advanced=advanced)

    monkeypatch.setattr(resume_verb, "stored_config", with_connections)
    say("resume", str(out))
    say("resume", str(out), "--own-connections")
    assert [config.advanced.own_connections for config in launched] == [False, True]


def test_resume_follows_a_server_that_has_moved(
    tmp_path: Path,
    postgres: Cluster,
    say: Say,
    launched: list[CampaignConfig],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    made = row("postgresql://u@first/db")
    postgres_opener.create(out, made, REQUEST, SystemClock(), postgres.url).close()
    gone = f"postgresql://u@/db?host={tmp_path}"
    write_address(out, StoredAddress(gone, made.campaign))
    assert say("resume", str(out), code=69)["error"]["what"] == "PostgreSQL cannot be reached"
    say("resume", str(out), "--ledger", postgres.url)
    say("status", str(out))
    write_address(out, StoredAddress(gone, made.campaign))
    monkeypatch.setenv("SYMFLEET_LEDGER", postgres.url)
    say("resume", str(out))
    monkeypatch.delenv("SYMFLEET_LEDGER")
    say("resume", str(out))
    assert len(launched) == 3
    say("resume", str(out), "--ledger", gone, code=69)
    say("status", str(out))


@pytest.mark.parametrize("ledger", ["postgresql://u@/db?host=/nowhere", "sqlite"])
def test_resume_says_where_a_campaign_lives_that_is_looked_for_elsewhere(
    out: Path, postgres: Cluster, say: Say, launched: list[CampaignConfig], ledger: str
) -> None:
    if ledger == "sqlite":
        say("ledger", "copy", str(out), "--to", postgres.url)
    error = say("resume", str(out), "--ledger", ledger, code=64)["error"]
    assert error["why"] == f"it lives in {say('ledger', 'show', str(out))['where']}"
    assert "ledger copy" in error["what_to_do"]
    assert launched == []
    if ledger == "sqlite":
        say("ledger", "copy", str(out), "--to", "sqlite")


# ---- a real campaign ----------------------------------------------------------------------------


@pytest.mark.guarantee("C8")
@pytest.mark.guarantee("L6")
@pytest.mark.jobs
def test_a_killed_campaign_moves_to_a_server_ends_there_and_comes_back(
    make: Callable[..., ProgramCampaign], postgres: Cluster, say: Say
) -> None:
    campaign = make("two", one=b"1", two=b"2", three=b"3")
    campaign.seconds = 0.1
    job = campaign.job()
    job.start()
    campaign.wait_for_decision(job)
    say("ledger", "copy", str(campaign.out), "--to", postgres.url, code=75)
    (launcher,) = job.find(Role.LAUNCHER)
    assert job.kill(launcher)
    job.assert_nothing_left()
    say("ledger", "copy", str(campaign.out), "--to", postgres.url)
    again = campaign.job()
    assert again.run() == 0, again.story.read_text()
    say("ledger", "copy", str(campaign.out), "--to", "sqlite")
    status = campaign.status()
    inputs = {input_id_of(data) for data in (b"1", b"2", b"3", b"A", b"B")}
    assert status.epoch is not None
    assert (status.epoch.epoch, status.epoch.reason) == (2, "quiescent")
    assert status.total.executed == len(inputs)
    assert set(campaign.corpus_files()) == inputs
    assert say("verify", str(campaign.out))["ok"]
