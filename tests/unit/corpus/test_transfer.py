"""Inputs in and out by hand, and the poison folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet.corpus.inbox import inputs_folder, inputs_waiting
from symfleet.corpus.poison import project_poison
from symfleet.corpus.scan import Skip
from symfleet.corpus.transfer import add_files, export_corpus
from symfleet.ledger.contract import WorkRow
from symfleet.types import InputId, WorkId, WorkState, input_id_of


class Inputs:
    """The inputs of a ledger."""

    def __init__(self, *inputs: bytes) -> None:
        self._inputs = {input_id_of(data): data for data in inputs}

    def corpus(self) -> Iterator[InputId]:
        yield from self._inputs

    def input_bytes(self, input_id: InputId) -> bytes:
        return self._inputs[input_id]


@pytest.mark.guarantee("A1")
def test_files_are_handed_over_one_by_one_and_bad_ones_do_not_stop_the_rest(
    tmp_path: Path,
) -> None:
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "a").write_bytes(b"a")
    (source / ("ab" * 32)).write_bytes(b"a lie")
    (source / "empty").touch()
    (source / "large").write_bytes(b"x" * 11)
    (source / "deep" / "b").write_bytes(b"b")
    (source / "dangling").symlink_to("nowhere")
    out = source / "out"
    assert inputs_waiting(out) == 0
    (out / "corpus").mkdir(parents=True)
    (out / "ledger.db").write_bytes(b"rows")
    taken = list(add_files(out, [source, source / "a"], 10))
    reasons = {Path(entry.path).name: entry.skip for entry in taken if entry.skip}
    assert reasons == {
        "ab" * 32: Skip.MISNAMED,
        "empty": Skip.EMPTY,
        "large": Skip.TOO_LARGE,
        "dangling": Skip.SPECIAL,
        "out": Skip.CAMPAIGN,
    }
    assert inputs_waiting(out) == 2, "one came twice"
    added = [entry.input_id for entry in taken if entry.input_id]
    assert added == [input_id_of(b"a"), input_id_of(b"b"), input_id_of(b"a")]
    assert {path.name: path.read_bytes() for path in inputs_folder(out).iterdir()} == {
        input_id_of(b"a"): b"a",
        input_id_of(b"b"): b"b",
    }


def test_what_a_killed_export_left_unfinished_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / ".staging-4711-3").write_bytes(b"half")
    exported = export_corpus(Inputs(b"a"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == exported


def test_an_export_holds_the_corpus_and_keeps_what_is_right(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    exported = export_corpus(Inputs(b"a", b"b"), folder)
    assert exported == [input_id_of(b"a"), input_id_of(b"b")]
    kept = (folder / exported[0]).stat().st_ino
    (folder / exported[1]).write_bytes(b"wrong")
    (folder / "own").write_bytes(b"mine")
    export_corpus(Inputs(b"a", b"b", b"c"), folder)
    assert (folder / exported[0]).stat().st_ino == kept
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        input_id_of(b"a"): b"a",
        input_id_of(b"b"): b"b",
        input_id_of(b"c"): b"c",
        "own": b"mine",
    }


def poisoned(number: int, data: bytes) -> WorkRow:
    return WorkRow(
        work_id=WorkId(f"{number:064x}"),
        input_id=input_id_of(data),
        state=WorkState.POISONED,
        deliveries=3,
        blames=3,
        losses=0,
        detail="SIGSEGV",
    )


def test_the_poison_folder_shows_exactly_the_poisoned_work(tmp_path: Path) -> None:
    inputs = Inputs(b"a", b"b")
    first, second = poisoned(1, b"a"), poisoned(2, b"b")
    project_poison(tmp_path, [first, second], inputs)
    (tmp_path / "poison" / "notes.txt").write_text("mine")
    project_poison(tmp_path, [second], inputs)
    names = sorted(path.name for path in (tmp_path / "poison").iterdir())
    assert names == [second.work_id, "notes.txt"]
    place = tmp_path / "poison" / second.work_id
    assert (place / "input").read_bytes() == b"b"
    assert json.loads((place / "report.json").read_bytes())["blames"] == 3
