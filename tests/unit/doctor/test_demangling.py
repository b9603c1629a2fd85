"""Names of C++ are shown as their source has them."""

from __future__ import annotations

import ctypes

import pytest

from symfleet.doctor import demangling
from symfleet.doctor.demangling import demangled

PLACE = "_ZN4text6digestEPKcm parse.cpp:12 _ZN4textL4readEi.cold"


@pytest.fixture(autouse=True)
def unread() -> None:
    demangling._demangler.cache_clear()
    demangling._demangled_name.cache_clear()


def test_each_name_in_a_place_is_made_readable() -> None:
    assert demangled(PLACE) == (
        "text::digest(char const*, unsigned long) parse.cpp:12 text::read(int) [clone .cold]"
    )


@pytest.mark.parametrize("text", ["", "digest main.c:12 main", "x_Z3foov", "_Zebra", "lib/_Z1.c:3"])
def test_what_is_no_such_name_stays(text: str) -> None:
    assert demangled(text) == text


def test_names_stay_without_the_demangler(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> ctypes.CDLL:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert demangled(PLACE) == PLACE
    demangling._demangler.cache_clear()
