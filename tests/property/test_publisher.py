"""Publication: crash anywhere and redo, idempotence, wrong bytes, bounded steps."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from symfleet import crash
from symfleet.corpus import publish
from symfleet.corpus.audit import compare, rebuild
from symfleet.corpus.durable import make_folder
from symfleet.corpus.layout import LOST_AND_FOUND, Reproduction, corpus_path, project, sink_folder
from symfleet.corpus.publish import Publisher
from symfleet.corpus.reproductions import same_for_all
from symfleet.protocol.answers import Artefact, SinkRow
from symfleet.protocol.events import PublishFailed, SinkAdvanced
from symfleet.types import Epoch, Incarnation, InputId, Outcome, SinkKind, input_id_of

REPRODUCTION = Reproduction(("/bin/target", "-f", "@@"), "file")
WAYS = same_for_all(REPRODUCTION)
quick = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Crashed(BaseException):
    """The process dies here."""


class Outbox:
    """The artefacts of a ledger."""

    def __init__(self, artefacts: Sequence[Artefact]) -> None:
        self.rows = list(artefacts)
        self.bytes_asked: list[int] = []

    def artefacts(
        self, kind: SinkKind, after: int, limit: int, bytes_max: int
    ) -> Sequence[Artefact]:
        self.bytes_asked.append(bytes_max)
        return [row for row in self.rows if row.kind is kind and row.number > after][:limit]


def artefact(number: int, kind: SinkKind, data: bytes) -> Artefact:
    return Artefact(
        number=number,
        kind=kind,
        input_id=input_id_of(data),
        parent=None,
        outcome=Outcome.CRASH if kind is SinkKind.CRASHES else Outcome.OK,
        signal=11 if kind is SinkKind.CRASHES else 0,
        epoch=Epoch(1),
        decision=number,
        data=data,
    )


def outbox_of(kinds: Sequence[SinkKind]) -> Outbox:
    return Outbox([artefact(place + 1, kind, b"%d" % place) for place, kind in enumerate(kinds)])


def sink(out: Path, kind: SinkKind, mark: int = 0) -> SinkRow:
    return SinkRow(1, kind, "host", str(sink_folder(out, kind)), Incarnation(9), mark)


def files_below(out: Path, kind: SinkKind) -> dict[str, bytes]:
    folder = sink_folder(out, kind)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def expected(outbox: Outbox, kind: SinkKind, upto: int) -> dict[str, bytes]:
    return {
        file.path: file.data
        for row in outbox.rows
        if row.kind is kind and row.number <= upto
        for file in project(row, REPRODUCTION)
    }


def finish(out: Path, outbox: Outbox, kind: SinkKind, mark: int) -> tuple[int, int]:
    """Publish everything; return the mark and how many files were repaired."""
    publisher = Publisher(sink(out, kind, mark), out, outbox, REPRODUCTION)
    upto = len(outbox.rows)
    repaired = 0
    now = 0.0
    for _ in range(1000):
        for event in publisher.step(upto, now, flush=True):
            assert isinstance(event, SinkAdvanced), event
            assert event.published_from == mark
            assert event.published_upto > mark
            mark = event.published_upto
            repaired += event.repaired
        if mark >= upto:
            break
        now += 0.01
    assert publisher.step(upto, now, flush=True) == ()
    return mark, repaired


kinds = st.lists(st.sampled_from(SinkKind), max_size=40)


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    crash.arm("")


@pytest.mark.guarantee("C5")
@quick
@given(kinds=kinds, kind=st.sampled_from(SinkKind))
def test_exactly_the_declared_files_are_there(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[SinkKind], kind: SinkKind
) -> None:
    out = tmp_path_factory.mktemp("out")
    outbox = outbox_of(kinds)
    assert finish(out, outbox, kind, 0) == (len(kinds), 0)
    assert files_below(out, kind) == expected(outbox, kind, len(kinds))
    assert list(compare(outbox, out, WAYS, {kind: len(kinds)}, [kind])) == []


@pytest.mark.guarantee("C6")
@quick
@given(kinds=kinds, kind=st.sampled_from(SinkKind))
def test_publishing_again_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[SinkKind], kind: SinkKind
) -> None:
    out = tmp_path_factory.mktemp("out")
    outbox = outbox_of(kinds)
    finish(out, outbox, kind, 0)
    inodes = {path: path.stat().st_ino for path in out.rglob("*")}
    assert finish(out, outbox, kind, 0) == (len(kinds), 0)
    assert {path: path.stat().st_ino for path in out.rglob("*")} == inodes


@pytest.mark.guarantee("C5")
@pytest.mark.guarantee("C6")
@settings(parent=quick, max_examples=120)
@given(
    kinds=st.lists(st.sampled_from(SinkKind), min_size=1, max_size=12),
    kind=st.sampled_from(SinkKind),
    label=st.sampled_from(
        [
            *("file.write", "file.rename", "file.renamed"),
            *("filesystem.sync", "publish.synced", "publish.written"),
        ]
    ),
    occurrence=st.integers(1, 12),
    synced=st.booleans(),
)
def test_a_crash_anywhere_is_finished_by_the_next_publisher(
    tmp_path_factory: pytest.TempPathFactory,
    kinds: list[SinkKind],
    kind: SinkKind,
    label: str,
    occurrence: int,
    synced: bool,
) -> None:
    out = tmp_path_factory.mktemp("out")
    outbox = outbox_of(kinds)
    passed = 0

    def point(name: str) -> None:
        nonlocal passed
        passed += name == label
        if name == label and passed == occurrence:
            raise Crashed

    mark = 0
    publisher = Publisher(sink(out, kind), out, outbox, REPRODUCTION)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(crash, "point", point)
        try:
            for turn in range(10):
                for event in publisher.step(len(kinds), turn * 0.6, flush=synced):
                    assert isinstance(event, SinkAdvanced)
                    mark = event.published_upto
        except Crashed:
            pass
    assert files_below(out, kind).items() >= expected(outbox, kind, mark).items()
    assert finish(out, outbox, kind, mark) == (len(kinds), 0)
    assert files_below(out, kind) == expected(outbox, kind, len(kinds))
    assert not list((out / ".staging").iterdir())


@pytest.mark.guarantee("C5")
@pytest.mark.parametrize("wrong", [b"", b"x", b"other", b"0 and more"])
def test_wrong_bytes_under_a_digest_are_replaced_kept_aside_and_counted(
    tmp_path: Path, wrong: bytes
) -> None:
    outbox = outbox_of([SinkKind.CORPUS] * 3)
    victim = sink_folder(tmp_path, SinkKind.CORPUS) / corpus_path(outbox.rows[0].input_id)
    victim.parent.mkdir(parents=True)
    victim.write_bytes(wrong)
    assert finish(tmp_path, outbox, SinkKind.CORPUS, 0) == (3, 1)
    assert victim.read_bytes() == outbox.rows[0].data
    (aside,) = (tmp_path / "lost+found").iterdir()
    assert aside.read_bytes() == wrong


@pytest.mark.parametrize("kind_of_file", ["folder", "link", "dangling"])
def test_what_is_no_file_under_a_digest_is_set_aside(tmp_path: Path, kind_of_file: str) -> None:
    outbox = outbox_of([SinkKind.CORPUS])
    victim = sink_folder(tmp_path, SinkKind.CORPUS) / corpus_path(outbox.rows[0].input_id)
    victim.parent.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(outbox.rows[0].data)
    match kind_of_file:
        case "folder":
            victim.mkdir()
        case "link":
            victim.symlink_to(elsewhere)
        case _:
            victim.symlink_to("nowhere")
    assert finish(tmp_path, outbox, SinkKind.CORPUS, 0) == (1, 1)
    assert not victim.is_symlink()
    assert victim.read_bytes() == outbox.rows[0].data
    assert elsewhere.read_bytes() == outbox.rows[0].data


@pytest.mark.parametrize("is_link", [False, True])
def test_nothing_is_written_through_what_stands_in_the_place_of_a_folder(
    tmp_path: Path, is_link: bool
) -> None:
    outbox = outbox_of([SinkKind.CORPUS])
    folder = sink_folder(tmp_path, SinkKind.CORPUS)
    folder.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    victim = folder / outbox.rows[0].input_id[:2]
    victim.symlink_to(elsewhere) if is_link else victim.write_bytes(b"in the way")
    assert finish(tmp_path, outbox, SinkKind.CORPUS, 0) == (1, 1)
    assert files_below(tmp_path, SinkKind.CORPUS) == expected(outbox, SinkKind.CORPUS, 1)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.guarantee("A1")
def test_bytes_of_the_ledger_that_lost_their_digest_are_published_nowhere(tmp_path: Path) -> None:
    row = artefact(1, SinkKind.CORPUS, b"true")
    lie = Artefact(**{name: getattr(row, name) for name in row.__slots__} | {"data": b"false"})
    publisher = Publisher(sink(tmp_path, SinkKind.CORPUS), tmp_path, Outbox([lie]), REPRODUCTION)
    (event,) = publisher.step(1, 0.0, flush=True)
    assert isinstance(event, PublishFailed)
    assert event.exit_code == 70
    assert input_id_of(b"true") in event.message
    assert input_id_of(b"false") in event.message
    assert files_below(tmp_path, SinkKind.CORPUS) == {}
    assert publisher.step(1, 1.0, flush=True) == ()


@pytest.mark.guarantee("A2")
@pytest.mark.parametrize("label", ["file.write", "file.rename", "filesystem.sync"])
@pytest.mark.parametrize("action", ["eio", "enospc"])
def test_a_failed_write_never_moves_the_mark(tmp_path: Path, label: str, action: str) -> None:
    outbox = outbox_of([SinkKind.CORPUS] * 3)
    publisher = Publisher(sink(tmp_path, SinkKind.CORPUS), tmp_path, outbox, REPRODUCTION)
    crash.arm(f"{label}:1:{action}")
    (event,) = publisher.step(3, 0.0, flush=True)
    assert isinstance(event, PublishFailed)
    assert event.exit_code == 74
    assert os.strerror(errno.EIO if action == "eio" else errno.ENOSPC) in event.message
    assert publisher.published_upto == 0
    crash.arm("")
    assert finish(tmp_path, outbox, SinkKind.CORPUS, 0) == (3, 0)


def test_files_are_made_durable_together_and_in_time(tmp_path: Path) -> None:
    outbox = outbox_of([SinkKind.CORPUS] * 100)
    publisher = Publisher(sink(tmp_path, SinkKind.CORPUS), tmp_path, outbox, REPRODUCTION)
    assert publisher.step(100, 0.0) == ()
    (event,) = publisher.step(100, 0.1)
    assert isinstance(event, SinkAdvanced)
    assert event.published_upto == publish.SYNC_FILES_MAX
    assert publisher.step(100, 0.2) == ()
    assert publisher.step(100, 0.3) == ()
    assert publisher.step(100, 1.1) == ()
    (event,) = publisher.step(100, 0.2 + publish.SYNC_DELAY_S)
    assert isinstance(event, SinkAdvanced)
    assert (event.published_from, event.published_upto) == (64, 100)
    assert set(outbox.bytes_asked) == {publish.STEP_BYTES_MAX}


def test_the_mark_passes_artefacts_of_other_kinds(tmp_path: Path) -> None:
    outbox = outbox_of([SinkKind.CRASHES, SinkKind.CORPUS, SinkKind.CRASHES])
    for kind in SinkKind:
        assert finish(tmp_path, outbox, kind, 0) == (3, 0)
    assert len(files_below(tmp_path, SinkKind.CRASHES)) == 6
    assert files_below(tmp_path, SinkKind.HANGS) == {}


@pytest.mark.guarantee("C6")
@quick
@given(data=st.data())
def test_rebuilding_puts_any_damage_right(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    out = tmp_path_factory.mktemp("out")
    outbox = outbox_of([SinkKind.CORPUS, SinkKind.CRASHES, SinkKind.CORPUS, SinkKind.HANGS])
    marks = {kind: finish(out, outbox, kind, 0)[0] for kind in SinkKind}
    present = sorted(
        path for kind in SinkKind for path in sink_folder(out, kind).rglob("*") if path.is_file()
    )
    damaged = data.draw(st.lists(st.sampled_from(present), unique=True))
    for path in damaged:
        if data.draw(st.booleans()):
            path.unlink()
        else:
            path.write_bytes(path.read_bytes() + b"!")
    own = out / "corpus" / "people's own"
    own.write_bytes(b"x")
    found = list(compare(outbox, out, WAYS, marks))
    assert sum(finding.problem != "unknown" for finding in found) == len(damaged)
    assert rebuild(outbox, out, WAYS, marks) == len(damaged)
    (left,) = compare(outbox, out, WAYS, marks)
    assert left.problem == "unknown"
    assert own.read_bytes() == b"x"


def test_the_script_that_reproduces_quotes_whatever_an_argument_holds() -> None:
    reproduction = Reproduction(("/bin/my target", "it's", "--in=@@", ""), "file", ("A=b c",))
    row = artefact(1, SinkKind.CRASHES, b"x")
    script = {file.path: file for file in project(row, reproduction)}[
        f"{InputId(row.input_id)}/reproduce.sh"
    ]
    text = script.data.decode()
    assert text.startswith("#!/bin/sh\n")
    assert "export 'A=b c'\n" in text
    assert "exec '/bin/my target' 'it'\"'\"'s' --in=\"$input\" ''\n" in text
    assert script.mode == 0o755


@pytest.mark.guarantee("C6")
def test_a_wrong_file_that_somebody_takes_away_meanwhile_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E8: whoever finds the file gone accepts the right bytes only, and goes on."""
    outbox = outbox_of([SinkKind.CORPUS])
    path = sink_folder(tmp_path, SinkKind.CORPUS) / corpus_path(outbox.rows[0].input_id)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"wrong")

    def taken_away(folder: Path, *, durable: bool) -> None:
        make_folder(folder, durable=durable)
        if folder.name == LOST_AND_FOUND:
            path.unlink()

    monkeypatch.setattr(publish, "make_folder", taken_away)
    assert finish(tmp_path, outbox, SinkKind.CORPUS, 0) == (1, 0), "nothing was set aside"
    assert path.read_bytes() == outbox.rows[0].data
