"""Where values come from: precedence, units, misspelt names, and the TOML projection."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symfleet.config.model import CampaignConfig, Output, Stop, Target
from symfleet.config.project import render_toml
from symfleet.config.resolve import SETTINGS, find_setting, parse_toml, resolve
from symfleet.errors import DataError, UserError


def test_flag_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[resources]\njobs = 1\n[limits]\nwall_ms = 11\ncpu_ms = 12\n")
    resolved = resolve({"jobs": "3"}, {"SYMFLEET_JOBS": "2", "SYMFLEET_WALL_TIME": "22"}, file)
    assert resolved.config.resources.jobs == 3
    assert resolved.config.limits.wall_ms == 22
    assert resolved.config.limits.cpu_ms == 12
    assert resolved.origins["jobs"] == "--jobs"
    assert resolved.origins["wall_ms"] == "SYMFLEET_WALL_TIME"
    assert resolved.origins["cpu_ms"] == str(file)
    assert resolved.origins["rss_mib"] == "default"


def test_what_is_said_now_beats_the_campaign() -> None:
    base = CampaignConfig(target=Target(argv=("t",)), stop=Stop(max_executions=5))
    resolved = resolve({"max_executions": "9"}, {}, base=base)
    assert resolved.config.stop.max_executions == 9
    assert resolved.config.target.argv == ("t",)
    assert resolved.origins["argv"] == "campaign"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_time_s", "90", 90.0),
        ("max_time_s", "5m", 300.0),
        ("max_time_s", "1.5h", 5400.0),
        ("max_time_s", "none", None),
        ("wall_ms", "2s", 2000),
        ("wall_ms", "250ms", 250),
        ("rss_mib", "2GiB", 2048),
        ("output_kib", "1M", 1024),
        ("jobs", "auto", None),
        ("goals", "1_000", 1000),
    ],
)
def test_quantities_carry_their_unit(name: str, text: str, value: object) -> None:
    config = resolve({name: text}, {}).config
    assert getattr(getattr(config, SETTINGS[name].group), name) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("jobs", bad) for bad in ("0", "-1", "2.5", "1e3", "", "many", "999999", "nan", "true")),
        *(("max_time_s", bad) for bad in ("nan", "inf", "-5", "0", "5 parsecs", "1e400")),
        ("keep", "al"),
        ("until_quiescent", "perhaps"),
        ("engine_command", "'unfinished"),
    ],
)
def test_bad_values_are_refused_with_name_range_and_place(name: str, text: str) -> None:
    setting = SETTINGS[name]
    with pytest.raises(UserError) as caught:
        resolve({}, {setting.variable: text})
    error = caught.value
    assert name in error.what
    assert error.where == setting.variable
    assert error.why
    assert error.hint


@pytest.mark.parametrize("name", ["hosts", "hostfile", "ledger"])
def test_an_empty_text_of_a_script_is_refused_and_a_projection_is_not(
    tmp_path: Path, name: str
) -> None:
    setting = SETTINGS[name]
    for flags, variables in (({name: ""}, {}), ({}, {setting.variable: ""})):
        with pytest.raises(UserError, match=f"{setting.flag} is empty") as caught:
            resolve(flags, variables)
        assert caught.value.where == (setting.flag if flags else setting.variable)
        assert caught.value.exit_code == 64
    file = tmp_path / "campaign.toml"
    file.write_text(render_toml(CampaignConfig()))
    assert resolve({}, {}, file).config == CampaignConfig()


def test_a_command_that_the_engine_would_not_run_is_refused() -> None:
    with pytest.raises(UserError, match="would not be used") as caught:
        resolve({"engine_command": "mine @@"}, {})
    assert caught.value.why == "the engine is embedded"
    resolve({"engine_command": "mine @@", "engine": "command"}, {})
    resolve({}, {"SYMFLEET_ENGINE_COMMAND": "mine @@"})


def test_misspelt_keys_name_the_nearest(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    for text, nearest in (("[resources]\njosb = 1\n", "jobs"), ("[resorces]\n", "resources")):
        file.write_text(text)
        with pytest.raises(UserError) as caught:
            resolve({}, {}, file)
        assert caught.value.hint == f"did you mean {nearest}?"
    with pytest.raises(UserError, match="SYMFLEET_JOB") as caught:
        resolve({}, {"SYMFLEET_JOB": "1"})
    assert caught.value.hint == "did you mean SYMFLEET_JOBS?"


def test_variables_of_other_parts_are_left_alone() -> None:
    assert resolve({}, {"SYMFLEET_CRASH": "", "SYMFLEET_CHANNEL": "3"}).config == CampaignConfig()


@pytest.mark.parametrize("text", ["not toml", "[limits\n"])
def test_a_file_that_cannot_be_read_is_bad_data(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(text)
    with pytest.raises(DataError) as caught:
        resolve({}, {}, file)
    assert caught.value.where == str(file)
    with pytest.raises(DataError):
        resolve({}, {}, tmp_path / "missing.toml")


@pytest.mark.parametrize("word", ["jobs", "-j", "--jobs", "SYMFLEET_JOBS", "resources.jobs"])
def test_a_setting_is_found_by_any_of_its_names(word: str) -> None:
    assert find_setting(word).name == "jobs"


def test_an_unknown_setting_suggests_the_nearest() -> None:
    with pytest.raises(UserError) as caught:
        find_setting("protocol_retrys")
    assert caught.value.hint == "did you mean protocol_retries?"


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@given(argv=st.lists(words, max_size=4), out=words, seconds=st.floats(0.1, 1e6))
def test_the_projection_reads_back_as_the_same_configuration(
    argv: list[str], out: str, seconds: float
) -> None:
    config = CampaignConfig(
        target=Target(argv=tuple(argv)),
        stop=Stop(max_time_s=seconds, exit_on_crash=True),
        output=Output(out_dir=out),
    )
    assert parse_toml(render_toml(config)) == config


def test_the_projection_tells_origins() -> None:
    resolved = resolve({"jobs": "3"}, {})
    text = render_toml(resolved.config, resolved.origins)
    assert "jobs = 3  # from --jobs" in text
    assert "# max_time_s is not set: no limit" in text
