"""What a worker asks the kernel about processes, many times for each item."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from symfleet.engine import processes


def test_children_and_parents_are_those_of_the_kernel() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        assert child.pid in processes.children_of(os.getpid())
        assert processes.parent_of(child.pid) == os.getpid()
        assert os.getpid() in processes.ancestors_of(child.pid)
        assert processes.children_of(child.pid) == []
    assert child.pid not in processes.children_of_self()


def test_processes_that_are_gone_have_no_relatives() -> None:
    with subprocess.Popen(["true"]) as child:
        child.wait()
    assert processes.parent_of(child.pid) == 0
    assert processes.children_of(child.pid) == []


def test_asking_leaves_no_strings_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interned names of what is asked for fill a table of the interpreter with dead entries."""
    interned: list[str] = []

    def intern(text: str) -> str:
        interned.append(text)
        return text

    monkeypatch.setattr(sys, "intern", intern)
    assert processes.oom_kills() >= 0
    processes.children_of_self()
    assert processes.parent_of(os.getpid()) == os.getppid()
    assert interned == []
