"""Help, lazy loading, and what a process must not import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import symfleet
from symfleet.cli.app import run, split_target
from symfleet.cli.options import plain_switches
from symfleet.config.catalogue import settings

HEAVY = ("cyclopts", "rich", "structlog", "hypothesis", "symfleet.cli", "symfleet.doctor")


def modules_after(statement: str) -> set[str]:
    source = str(Path(symfleet.__file__).parents[1])
    ended = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    return set(ended.stdout.split())


def test_a_rank_loads_nothing_that_only_people_need() -> None:
    loaded = modules_after("import symfleet.runtime.rank, symfleet.runtime.worker_loop")
    assert not {name for name in loaded if name.startswith(HEAVY)}


def test_the_compiler_is_reached_before_anything_heavy_is_loaded() -> None:
    loaded = modules_after("import symfleet.cli.main, symfleet.compiler.main")
    ours = {name for name in loaded if name.startswith("symfleet.")}
    assert all(name.startswith(("symfleet.cli", "symfleet.compiler")) for name in ours), ours
    heavy = ("cyclopts", "rich", "msgspec", "structlog", "subprocess")
    assert not {name for name in loaded if name.startswith(heavy)}


def test_a_reader_that_has_gone_changes_no_exit_code(tmp_path: Path) -> None:
    source = str(Path(symfleet.__file__).parents[1])
    for words, code in ((["config", "show"], 0), (["status", "missing"], 64), (["-h"], 0)):
        reading, writing = os.pipe()
        os.close(reading)
        ended = subprocess.run(
            [sys.executable, "-m", "symfleet.cli.main", *words],
            stdout=writing,
            stderr=writing,
            cwd=tmp_path,
            timeout=60,
            check=False,
            env={**os.environ, "PYTHONPATH": source},
        )
        os.close(writing)
        assert ended.returncode == code, words


def test_the_launcher_loads_no_protocol_machine() -> None:
    loaded = modules_after("import symfleet.cli.explore, symfleet.runtime.launcher")
    assert "symfleet.protocol.coordinator" not in loaded
    assert "importlib.metadata" not in loaded - modules_after("import cyclopts")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["doctor", "--input-moode", "argv", "--", "x"], "did you mean --input-mode?"),
        (["doctor", "--input-moode=argv", "--", "x"], "there is no option --input-moode\n"),
        (["doctor", "--input-mode", "nope", "--", "x"], "one of auto, file, stdin"),
        (["doctor", "--input-mode", "argv"], "no target"),
        (["doctor", "--input-mode", "file", "--", "/bin/true"], "no argument holds @@"),
    ],
)
def test_how_the_target_gets_its_input_is_asked_for_as_explore_does(
    capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert run(words) == 64
    assert told in capsys.readouterr().err


def help_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run([*words]) == 0
    return capsys.readouterr().out


def test_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of(capsys, "-h")
    verbs = ("explore", "resume", "status", "top", "crashes", "corpus", "poison", "verify")
    for verb in (*verbs, "doctor", "config", "cc", "c++"):
        assert f" {verb} " in text
    assert help_of(capsys) == text


def test_short_help_is_short_and_all_is_all(capsys: pytest.CaptureFixture[str]) -> None:
    short, everything = help_of(capsys, "explore", "-h"), help_of(capsys, "explore", "--help-all")
    for setting in settings():
        if setting.knob.hidden:
            continue
        assert f"{setting.flag} " in everything, setting.flag
        assert (f"{setting.flag} " in short) == setting.knob.basic, setting.flag
    places = [everything.index(f"─ {group} ") for group in ("Target", "Limits", "Resources")]
    places += [everything.index(f"─ {group} ") for group in ("Stop", "Output", "Advanced")]
    assert places == sorted(places)
    assert len(short.splitlines()) < 60


def test_what_stands_after_the_mark_is_the_targets() -> None:
    assert split_target(["a", "--", "b", "--", "-h"]) == (["a"], ("b", "--", "-h"))
    assert split_target(["a", "b"]) == (["a", "b"], None)


def test_switches_can_be_switched_off() -> None:
    assert plain_switches(["--no-until-quiescent", "--no-such", "x"]) == [
        "--until-quiescent=false",
        "--no-such",
        "x",
    ]


def test_config_show_tells_origins(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYMFLEET_JOBS", "3")
    text = help_of(capsys, "config", "show")
    (line,) = [line for line in text.splitlines() if line.strip().startswith("jobs ")]
    assert line.split() == ["jobs", "3", "SYMFLEET_JOBS"]


def test_config_explain_tells_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of(capsys, "config", "explain", "wall_ms")
    for words in ("--wall-time", "SYMFLEET_WALL_TIME", "[limits] wall_ms", "1000 ms", "campaign"):
        assert words in text
