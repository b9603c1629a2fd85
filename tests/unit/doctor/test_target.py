"""Checks of a target and of seeds before anything is started."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from symfleet.config.model import CampaignConfig, Target
from symfleet.config.target import INPUT_MODES
from symfleet.doctor import target as checks
from symfleet.doctor.check import Verdict
from symfleet.doctor.trial import try_target
from symfleet.errors import DataError, UserError


def program(path: Path, content: bytes = b"#!/bin/sh\n") -> Path:
    path.write_bytes(content)
    path.chmod(0o755)
    return path


def test_a_target_is_found_on_path_by_name_and_here_by_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = program(tmp_path / "tool")
    assert checks.find_target("tool", str(tmp_path)) == found
    monkeypatch.chdir(tmp_path)
    assert checks.find_target("./tool", "/nowhere") == found
    with pytest.raises(UserError, match="missing"):
        checks.find_target("other", str(tmp_path))


@pytest.mark.parametrize("padding", [0, 7, 2**20 - 5, 2**20])
def test_the_mark_of_instrumentation_is_found_across_blocks(tmp_path: Path, padding: int) -> None:
    path = tmp_path / "target"
    path.write_bytes(b"\0" * padding + checks.INSTRUMENTATION_MARK + b"\0")
    assert checks.is_instrumented(path)
    path.write_bytes(b"\0" * padding + checks.INSTRUMENTATION_MARK[:-1])
    assert not checks.is_instrumented(path)


def test_other_engines_take_any_program(tmp_path: Path) -> None:
    path = program(tmp_path / "target")
    plain = Target(argv=(str(path),))
    with pytest.raises(DataError, match="not instrumented"):
        checks.check_target(CampaignConfig(target=plain), "")
    other = Target(argv=(str(path),), engine="symcc")
    assert checks.check_target(CampaignConfig(target=other), "") == path


@pytest.mark.parametrize("word", ["tool", "@target", "{tmp}/tool"])
def test_an_engine_is_found_where_its_server_looks(tmp_path: Path, word: str) -> None:
    program(tmp_path / "tool")
    words = (word.format(tmp=tmp_path), "@@")
    given = Target(engine="command", engine_command=words, env=(f"PATH={tmp_path}",))
    checks.check_engine(CampaignConfig(target=given), "/nowhere")


def seeds(*paths: Path) -> CampaignConfig:
    return CampaignConfig(target=Target(seed_paths=tuple(str(path) for path in paths)))


def test_one_file_anywhere_is_enough(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    with pytest.raises(DataError, match="no seeds"):
        checks.check_seeds(seeds(tmp_path))
    (deep / "empty").touch()
    with pytest.raises(DataError, match="no seeds"):
        checks.check_seeds(seeds(tmp_path))
    (deep / "seed").write_bytes(b"x")
    checks.check_seeds(seeds(tmp_path))
    checks.check_seeds(seeds(deep / "seed"))


def done(
    outcome: str, generated: int, *, reason: str | None = None, opened: tuple[str, ...] = ()
) -> str:
    """A shell command that prints a `done` line."""
    line = {"t": "done", "outcome": outcome, "generated": generated, "more": 1, "events": 5}
    return f"echo '{json.dumps(line | {'reason': reason, 'opened': opened})}'"


@pytest.mark.parametrize(
    ("script", "verdict", "words"),
    [
        (done("ok", 2), Verdict.OK, "2 new inputs from one"),
        (done("ok", 0, reason="all_unsat"), Verdict.WARNING, "all_unsat"),
        (done("ok", 0, reason="unheard_of"), Verdict.WARNING, "unheard_of"),
        (done("flood", 2, reason="output_limit"), Verdict.WARNING, "output"),
        (done("refused", 0, opened=("/etc/x",)), Verdict.WARNING, "/etc/x"),
        ("echo '{}'; echo rubbish", Verdict.PROBLEM, "said nothing"),
        ("echo 'reads no input' >&2; exit 65", Verdict.PROBLEM, "reads no input"),
    ],
)
def test_a_trial_says_what_the_executor_said(
    tmp_path: Path, script: str, verdict: Verdict, words: str
) -> None:
    executor = program(tmp_path / "exec", f"#!/bin/sh\n{script}\n".encode())
    (check,) = try_target(executor, ("/bin/true", "@@"))
    assert check.verdict is verdict
    assert words in check.detail
    assert bool(check.fix) is (verdict is not Verdict.OK)


@pytest.mark.parametrize("mode", INPUT_MODES)
def test_a_trial_gives_the_input_as_a_campaign_would(tmp_path: Path, mode: str) -> None:
    said = tmp_path / "said"
    executor = program(tmp_path / "exec", f'#!/bin/sh\necho "$@" >{said}\n'.encode())
    list(try_target(executor, ("/bin/true", "@@"), mode))
    assert f"--input-mode {mode} -- /bin/true @@" in said.read_text()


def test_an_executor_that_cannot_be_started_is_a_problem(tmp_path: Path) -> None:
    (check,) = try_target(tmp_path / "nowhere", ("x",))
    assert check.verdict is Verdict.PROBLEM


def test_a_trial_runs_on_the_seed_that_is_given(tmp_path: Path) -> None:
    said = tmp_path / "said"
    executor = program(tmp_path / "exec", f'#!/bin/sh\necho "$@" >{said}\n'.encode())
    list(try_target(executor, ("/bin/true", "@@"), seed=tmp_path / "seed"))
    assert f"-i {tmp_path / 'seed'} -o" in said.read_text()


def test_a_trial_tells_what_was_handed_to_functions_without_labels(tmp_path: Path) -> None:
    losses = [
        {"where": "fadd a.c:1 main", "count": 1},
        {"where": "call seldom a.c:2 main", "count": 2},
        {"where": "call often a.c:3 main", "count": 30},
    ]
    done = {"t": "done", "outcome": "ok", "generated": 1, "events": 2, "losses": losses}
    executor = program(tmp_path / "exec", f"#!/bin/sh\necho '{json.dumps(done)}'\n".encode())
    trial, handed = try_target(executor, ("/bin/true", "@@"))
    assert "fadd a.c:1 main (1 times)" in trial.detail
    assert "seldom" not in trial.detail
    assert handed.verdict is Verdict.WARNING
    assert "often a.c:3 main (30 times), seldom a.c:2 main (2 times)" in handed.detail


def test_of_a_long_list_the_first_are_shown_and_all_are_told(tmp_path: Path) -> None:
    calls = [f"call f{n} a.c:{n} main" for n in range(20)]
    losses = [{"where": where, "count": 1} for where in calls]
    done = {"t": "done", "outcome": "ok", "generated": 1, "events": 2, "losses": losses}
    executor = program(tmp_path / "exec", f"#!/bin/sh\necho '{json.dumps(done)}'\n".encode())
    _, handed = try_target(executor, ("/bin/true", "@@"))
    assert "f7 " in handed.detail
    assert "f8 " not in handed.detail
    assert "and 12 more (all of them with --json)" in handed.detail
    assert handed.listed == tuple(f"f{n} a.c:{n} main (1 times)" for n in range(20))
