"""The settings' model: ranges, cross checks, what is derived from it."""

from __future__ import annotations

import dataclasses
import math

import msgspec
import pytest

from symfleet.config.catalogue import Setting, settings
from symfleet.config.knob import Kind
from symfleet.config.model import (
    Advanced,
    CampaignConfig,
    Limits,
    Output,
    Resources,
    Stop,
    Target,
)
from symfleet.errors import UserError

NUMBERS = [item for item in settings() if item.knob.kind in {Kind.COUNT, Kind.NUMBER}]


def build(setting: Setting, value: object) -> object:
    groups = {
        "target": Target,
        "limits": Limits,
        "resources": Resources,
        "stop": Stop,
        "output": Output,
        "advanced": Advanced,
    }
    return groups[setting.group](**{setting.name: value})


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda item: item.name)
@pytest.mark.parametrize("bad", [True, False, math.nan, math.inf, -math.inf, "7", -1, 10**30])
def test_constructors_refuse_what_is_no_number_in_range(setting: Setting, bad: object) -> None:
    with pytest.raises(UserError) as caught:
        build(setting, bad)
    assert setting.name in caught.value.what
    assert caught.value.why == f"it must be {setting.knob.allowed}"
    assert caught.value.hint


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda item: item.name)
def test_constructors_accept_both_ends_of_the_range(setting: Setting) -> None:
    whole = setting.knob.kind is Kind.COUNT
    for end in (setting.knob.low, setting.knob.high):
        build(setting, int(end) if whole else float(end))


def test_every_setting_has_a_sentence_a_group_and_names_of_its_own() -> None:
    found = list(settings())
    shown = [item for item in found if not item.knob.hidden]
    assert all(item.knob.text.endswith(".") for item in found)
    assert len({item.name for item in found}) == len(found)
    assert len({item.flag for item in shown}) == len(shown)
    assert len({item.variable for item in shown}) == len(shown)


@pytest.mark.parametrize("jobs", [0, -1, 100_000, True])
def test_absurd_numbers_of_jobs_are_refused(jobs: int) -> None:
    with pytest.raises(UserError, match="jobs cannot be"):
        Resources(jobs=jobs)


@pytest.mark.parametrize(
    ("jobs", "by_worker"),
    [(1, (1,)), (2, (1, 1)), (3, (2, 1)), (8, (4, 4)), (9, (5, 4)), (17, (6, 6, 5))],
)
def test_slots_are_shared_out_evenly(jobs: int, by_worker: tuple[int, ...]) -> None:
    assert Resources(jobs=jobs).slots_by_worker == by_worker


@pytest.mark.parametrize(
    ("jobs", "coordinators", "count", "by_worker"),
    [
        (6, 2, 2, (3, 3)),
        (9, 3, 3, (3, 3, 3)),
        (24, 2, 2, (6, 6, 6, 6)),
        (134, None, 1, (8,) * 15 + (7,) * 2),
        (136, None, 2, (8,) * 10 + (7,) * 8),
        (12, 4, 4, (3,) * 4),
    ],
)
def test_each_coordinator_has_as_many_workers(
    jobs: int, coordinators: int | None, count: int, by_worker: tuple[int, ...]
) -> None:
    resources = Resources(jobs=jobs, coordinators=coordinators)
    resources.require_slots()
    assert resources.coordinator_count == count
    assert resources.slots_by_worker == by_worker
    assert resources.ranks == count + len(by_worker)


@pytest.mark.parametrize("value", [0, -1, 65, True, 2.0, float("nan"), "two"])
def test_absurd_numbers_of_coordinators_are_refused(value: object) -> None:
    with pytest.raises(UserError, match="coordinators cannot be"):
        Resources(coordinators=value)  # type: ignore[arg-type]


@pytest.mark.parametrize(("jobs", "coordinators"), [(5, 2), (1, 2), (11, 4)])
def test_fewer_than_three_slots_for_each_coordinator_are_refused(
    jobs: int, coordinators: int
) -> None:
    with pytest.raises(UserError, match=f"coordinators cannot be {coordinators}") as caught:
        Resources(jobs=jobs, coordinators=coordinators).require_slots()
    error = caught.value
    assert error.where == "coordinators"
    assert f"there are {jobs}" in error.why
    assert f"--jobs to {3 * coordinators}" in error.hint


def test_a_silence_limit_below_the_longest_query_is_refused() -> None:
    with pytest.raises(UserError, match="delivery_silence_s cannot be 30"):
        CampaignConfig(limits=Limits(solver_ms=25_000))


def test_an_input_must_fit_into_a_frame() -> None:
    with pytest.raises(UserError, match="input_mib cannot be 4"):
        CampaignConfig(advanced=Advanced(input_mib=4, frame_mib=4))


def test_a_watched_campaign_cannot_run_until_it_is_quiescent() -> None:
    with pytest.raises(UserError, match="never becomes quiescent"):
        CampaignConfig(stop=Stop(until_quiescent=True, watch=True))


@pytest.mark.parametrize(
    ("argv", "mode"), [(("t", "@@"), "file"), (("t",), "stdin"), (("t", "--in=@@"), "file")]
)
def test_input_mode_follows_the_mark(argv: tuple[str, ...], mode: str) -> None:
    assert Target(argv=argv).effective_input_mode == mode


def test_file_mode_without_the_mark_is_refused() -> None:
    with pytest.raises(UserError, match="would never see its input"):
        Target(argv=("t",), input_mode="file")


def test_command_engine_needs_a_command() -> None:
    with pytest.raises(UserError, match="has no command"):
        Target(engine="command")


@pytest.mark.parametrize("pair", ["", "=x", "NAME"])
def test_variables_for_the_target_need_a_name_and_a_value(pair: str) -> None:
    with pytest.raises(UserError, match="env cannot hold"):
        Target(env=(pair,))


def test_texts_that_no_file_could_hold_are_refused() -> None:
    for word in ("a\0b", "\udcff"):
        with pytest.raises(UserError):
            Target(argv=(word,))


def test_a_plan_survives_json() -> None:
    config = CampaignConfig(target=Target(argv=("t", "@@")), stop=Stop(max_time_s=3))
    assert msgspec.json.decode(msgspec.json.encode(config), type=CampaignConfig) == config


def test_executor_limits_are_those_of_the_protocol() -> None:
    assert set(CampaignConfig().executor_limits()) == {
        *("wall_ms", "cpu_ms", "rss_mib", "output_kib", "open_files", "rows", "events"),
        *("solver_rlimit", "solver_ms", "goals", "execution_ms", "children", "result_mib"),
        "input_bytes",
    }


def test_result_limits_change_with_every_limit_and_with_the_seed() -> None:
    plain = CampaignConfig()
    for setting in settings():
        if setting.group == "limits":
            value = getattr(plain.limits, setting.name) + 1
            changed = dataclasses.replace(
                plain, limits=dataclasses.replace(plain.limits, **{setting.name: value})
            )
            assert changed.result_limits() != plain.result_limits()
    reseeded = dataclasses.replace(plain, advanced=Advanced(seed=2))
    assert reseeded.result_limits() != plain.result_limits()


def test_an_incomplete_configuration_says_what_is_missing() -> None:
    with pytest.raises(UserError, match="no target"):
        CampaignConfig().require_complete()
    with pytest.raises(UserError, match="no output folder"):
        CampaignConfig(target=Target(argv=("t",))).require_complete()
