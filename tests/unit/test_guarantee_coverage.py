"""Every named guarantee is promised to readers, asserted in the code, and exercised by a test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNTS = {"D": 8, "J": 11, "L": 8, "A": 6, "C": 10, "Q": 4}
GUARANTEES = [f"{family}{n}" for family, last in COUNTS.items() for n in range(1, last + 1)]


def names_in(text: str) -> set[str]:
    """Return the guarantees that a text names, alone or as a span such as D1-D8."""
    names = set(re.findall(r"\b[DJLACQ]\d{1,2}\b", text))
    for family, first, last in re.findall(r"\b([DJLACQ])(\d+)(?:-|\.\.|\s?to\s?)\1(\d+)\b", text):
        names |= {f"{family}{n}" for n in range(int(first), int(last) + 1)}
    return names


def markers(tree: ast.Module) -> Iterator[str]:
    """Yield the arguments of every `pytest.mark.guarantee(...)`, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.guarantee"):
            for argument in node.args:
                assert isinstance(argument, ast.Constant), ast.dump(argument)
                assert isinstance(argument.value, str), ast.dump(argument)
                yield argument.value


@pytest.fixture(scope="module")
def tested() -> set[str]:
    files = sorted((ROOT / "tests").rglob("*.py"))
    return {name for file in files for name in markers(ast.parse(file.read_text(), str(file)))}


@pytest.fixture(scope="module")
def asserted() -> set[str]:
    files = [
        file
        for suffix in ("*.py", "*.sql")
        for file in (ROOT / "src").rglob(suffix)
        if "native" not in file.relative_to(ROOT / "src").parts
    ]
    return {name for file in files for name in names_in(file.read_text())}


@pytest.fixture(scope="module")
def promised() -> set[str]:
    return names_in((ROOT / "docs/explanation/guarantees.md").read_text())


def test_all_are_promised_to_readers(promised: set[str]) -> None:
    assert [name for name in GUARANTEES if name not in promised] == []


def test_all_are_named_where_the_code_keeps_them(asserted: set[str]) -> None:
    assert [name for name in GUARANTEES if name not in asserted] == []


def test_all_are_exercised(tested: set[str]) -> None:
    assert [name for name in GUARANTEES if name not in tested] == []


def test_no_test_names_a_guarantee_that_does_not_exist(tested: set[str]) -> None:
    assert sorted(tested - set(GUARANTEES)) == []


def test_spans_are_understood() -> None:
    assert names_in("D1-D3 and L4, C9; not D1x or 4D1") == {"D1", "D2", "D3", "L4", "C9"}
