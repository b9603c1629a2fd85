"""Scanning seeds: reasons, retries, bounds."""

from __future__ import annotations

import errno
import os
import socket
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from symfleet.corpus import scan
from symfleet.corpus.admission import admission_of
from symfleet.corpus.layout import CAMPAIGN_MARKS
from symfleet.corpus.scan import FolderScanner, Reading, Skip, judge, read_input
from symfleet.ledger.database import LEDGER_NAME
from symfleet.ledger.postgres_address import ADDRESS_NAME
from symfleet.protocol.events import ScanFinished, SourceBatch
from symfleet.protocol.operations import Admission
from symfleet.runtime.campaign_lock import LOCK_NAME as JOB_LOCK_NAME
from symfleet.types import GenerationId, input_id_of

GENERATION = GenerationId("0" * 64)
INPUT_MAX = 1000


def admit(data: bytes, origin: str) -> Admission:
    return admission_of(data, origin, GENERATION)


def scanner(root: Path, **more: object) -> FolderScanner:
    return FolderScanner(7, root, admit, INPUT_MAX, **more)  # type: ignore[arg-type]


def run(source: FolderScanner, *, confirm: bool = True) -> tuple[list[bytes], Counter[str]]:
    """Do one scan; return the inputs that it offers and the reasons that it counts."""
    source.start(3)
    found: list[bytes] = []
    skips: Counter[str] = Counter()
    ends = 0
    while source.active:
        for event in source.step():
            match event:
                case SourceBatch():
                    assert event.source == 7
                    assert len(event.entries) <= scan.BATCH_ENTRIES_MAX
                    found += [entry.data for entry in event.entries]
                    skips.update(dict(event.skips))
                    if confirm:
                        source.confirm([entry.origin for entry in event.entries])
                case ScanFinished():
                    assert event.round == 3
                    ends += 1
    assert ends == 1
    assert source.step() == ()
    return found, skips


def offers(root: Path) -> list[bytes]:
    return run(scanner(root))[0]


def test_a_folder_is_offered_in_order_and_once(tmp_path: Path) -> None:
    for name in ("c", "a", "b"):
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "d").write_bytes(b"d")
    source = scanner(tmp_path)
    assert run(source) == ([b"a", b"b", b"c", b"d"], {})
    assert run(source) == ([], {})


def test_a_single_file_is_a_source_too(tmp_path: Path) -> None:
    file = tmp_path / "seed"
    file.write_bytes(b"x")
    assert offers(file) == [b"x"]


@pytest.mark.parametrize("mark", CAMPAIGN_MARKS)
def test_a_campaign_below_the_seeds_is_not_entered(tmp_path: Path, mark: str) -> None:
    seeds, out = tmp_path / "project", tmp_path / "project" / "deep" / "out"
    (out / "corpus" / "ab").mkdir(parents=True)
    (seeds / "a").write_bytes(b"a")
    (out / mark).touch()
    (out / "status.json").write_bytes(b"changes each second")
    (out / "corpus" / "ab" / "x").write_bytes(b"x")
    (tmp_path / "link").symlink_to(seeds)
    (seeds / "again").symlink_to(out)
    (seeds / "status").symlink_to(out / "status.json")
    (seeds / "chosen").symlink_to(out / "corpus" / "ab" / "x")
    source = scanner(tmp_path / "link")
    assert run(source) == ([b"a", b"x"], {"campaign": 2, "special": 1})
    (out / "status.json").write_bytes(b"has changed")
    assert run(source) == ([], {}), "a reason is counted once"
    assert run(scanner(out)) == ([], {"campaign": 1})
    assert run(scanner(out / "status.json")) == ([], {"campaign": 1})
    assert run(scanner(out / "corpus")) == ([b"x"], {})


def test_settings_beside_the_seeds_make_no_campaign_of_them(tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_bytes(b"t")
    assert offers(tmp_path) == [b"t"]


def test_the_marks_of_a_campaign_are_the_names_that_it_uses() -> None:
    assert CAMPAIGN_MARKS == (LEDGER_NAME, ADDRESS_NAME, JOB_LOCK_NAME)


@pytest.mark.guarantee("A3")
def test_only_confirmed_inputs_count_as_seen(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    source = scanner(tmp_path)
    assert run(source, confirm=False)[0] == [b"a"]
    assert run(source)[0] == [b"a"]
    assert run(source)[0] == []


def test_every_kind_of_file_that_is_no_input_has_its_reason(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "large").write_bytes(b"x" * (INPUT_MAX + 1))
    (tmp_path / "exact").write_bytes(b"x" * INPUT_MAX)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link-to-folder").symlink_to("folder")
    (tmp_path / ("ab" * 32)).write_bytes(b"not what the name says")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        source = scanner(tmp_path)
        found, skips = run(source)
    assert found == [b"x" * INPUT_MAX]
    assert skips == {"empty": 1, "too_large": 1, "special": 5, "misnamed": 1}
    assert run(source) == ([], {}), "a reason is counted once for as long as it stays"


@pytest.mark.guarantee("A1")
def test_a_name_that_is_the_digest_is_accepted(tmp_path: Path) -> None:
    (tmp_path / input_id_of(b"true")).write_bytes(b"true")
    assert offers(tmp_path) == [b"true"]


def test_a_missing_folder_is_a_counted_reason_until_it_appears(tmp_path: Path) -> None:
    root = tmp_path / "later"
    source = scanner(root)
    assert run(source) == ([], {"vanished": 1})
    root.mkdir()
    (root / "a").write_bytes(b"a")
    assert run(source)[0] == [b"a"]


@pytest.mark.guarantee("A3")
def test_an_unreadable_file_is_offered_by_the_first_scan_that_can_read_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    locked = {str(tmp_path / "b")}

    def read(path: str, input_bytes_max: int) -> Reading:
        if path in locked:
            return Reading(None, None, b"", errno.EACCES)
        return read_input(path, input_bytes_max)

    source = scanner(tmp_path, read=read)
    assert run(source) == ([b"a"], {"unreadable": 1})
    assert run(source) == ([], {})
    locked.clear()
    assert run(source) == ([b"b"], {})
    assert run(source) == ([], {})


@pytest.mark.guarantee("A3")
def test_a_file_that_changes_while_it_is_read_is_tried_again(tmp_path: Path) -> None:
    growing = tmp_path / "growing"
    growing.write_bytes(b"begin")
    rounds = 0

    def read(path: str, input_bytes_max: int) -> Reading:
        nonlocal rounds
        rounds += 1
        reading = read_input(path, input_bytes_max)
        if rounds == 1:
            with growing.open("ab") as stream:
                stream.write(b" and end")
            after = scan.mark_of(growing.stat())
            return Reading(reading.before, after, reading.data)
        return reading

    source = scanner(tmp_path, read=read)
    assert run(source) == ([], {"growing": 1})
    assert run(source) == ([b"begin and end"], {})


def test_a_changed_file_is_offered_again(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"one")
    source = scanner(tmp_path)
    run(source)
    file.write_bytes(b"two")
    assert run(source)[0] == [b"two"]


def test_a_vanished_file_is_skipped_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")

    def read(path: str, input_bytes_max: int) -> Reading:
        Path(path).unlink() if path.endswith("a") else None
        return read_input(path, input_bytes_max)

    assert run(scanner(tmp_path, read=read)) == ([b"b"], {"vanished": 1})


def test_batches_are_bounded_in_entries_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "BATCH_BYTES_MAX", 500)
    for number in range(300):
        (tmp_path / f"{number:03d}").write_bytes(b"%03d" % number * 33)
    source = scanner(tmp_path)
    source.start()
    sizes: list[int] = []
    while source.active:
        batches = [event for event in source.step() if isinstance(event, SourceBatch)]
        sizes += [sum(len(entry.data) for entry in batch.entries) for batch in batches]
    assert sum(sizes) == 300 * 99
    assert max(sizes) < 500 + 99


def test_a_consuming_scanner_removes_what_is_durable_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    source = scanner(tmp_path, consume=True)
    source.start()
    origins: Sequence[str] = ()
    for event in source.step():
        if isinstance(event, SourceBatch):
            origins = [entry.origin for entry in event.entries]
    (tmp_path / "b").write_bytes(b"changed meanwhile")
    source.confirm(origins)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_file_name_of_any_bytes_has_a_printable_origin(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff\xfe"
    with open(path, "wb") as stream:  # noqa: PTH123 (a Path of bytes there is none)
        stream.write(b"x")
    source = scanner(tmp_path)
    source.start()
    batches = [event for event in source.step() if isinstance(event, SourceBatch)]
    origin = batches[0].entries[0].origin
    assert origin.endswith("\\xff\\xfe")
    origin.encode()
    source.confirm([origin])
    assert run(source)[0] == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (errno.EACCES, Skip.UNREADABLE),
        (errno.EIO, Skip.UNREADABLE),
        (errno.ENOENT, Skip.VANISHED),
        (errno.ELOOP, Skip.SPECIAL),
        (errno.ENXIO, Skip.SPECIAL),
    ],
)
def test_errors_of_the_system_have_their_reasons(error: int, reason: Skip) -> None:
    assert judge("name", Reading(None, None, b"", error), INPUT_MAX) is reason
