"""When a launcher opens the next epoch, and when it believes the root to be stuck."""

from __future__ import annotations

from symfleet.runtime.plan import OPENING
from symfleet.runtime.restarts import OPENING_S, SILENCE_S, BeatWatch, RestartPolicy


def test_a_crash_after_a_decision_is_followed_at_once_for_ever() -> None:
    policy = RestartPolicy()
    assert [policy.delay_after_crash(decided=True) for _ in range(50)] == [0.0] * 50


def test_fruitless_epochs_wait_longer_and_the_fifth_is_the_last() -> None:
    policy = RestartPolicy()
    delays = [policy.delay_after_crash(decided=False) for _ in range(5)]
    assert delays == [1.0, 2.0, 4.0, 8.0, None]


def test_a_decision_forgives_what_came_before() -> None:
    policy = RestartPolicy()
    for _ in range(4):
        policy.delay_after_crash(decided=False)
    assert policy.delay_after_crash(decided=True) == 0.0
    assert policy.delay_after_crash(decided=False) == 1.0


def test_silence_counts_from_the_last_new_beat() -> None:
    watch = BeatWatch(100.0)
    assert not watch.is_silent(b"", 100.0 + SILENCE_S - 1)
    before = watch.heard
    assert not watch.is_silent(b"1", 100.0 + SILENCE_S)
    assert (before, watch.heard) == (False, True)
    assert not watch.is_silent(b"1", 100.0 + 2 * SILENCE_S - 1)
    assert watch.is_silent(b"1", 100.0 + 2 * SILENCE_S)
    assert not watch.is_silent(b"2", 100.0 + 2 * SILENCE_S)


def test_opening_a_ledger_may_take_longer_than_a_turn() -> None:
    watch = BeatWatch(100.0)
    assert not watch.is_silent(OPENING, 101.0)
    assert not watch.is_silent(OPENING, 101.0 + OPENING_S - 1)
    assert watch.is_silent(OPENING, 101.0 + OPENING_S)
