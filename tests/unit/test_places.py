"""Where a rank keeps its files, on the root's host and on another one."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import pytest

from symfleet.runtime.places import Folders, rank_places


def test_on_the_roots_host_files_are_where_people_look(tmp_path: Path) -> None:
    run_dir = tmp_path / ".run" / "1"
    run_dir.mkdir(parents=True)
    folders = Folders(socket.gethostname(), str(tmp_path), str(run_dir))
    with rank_places(folders) as places:
        assert (places.out, places.work) == (tmp_path, run_dir / "work")
    assert run_dir.is_dir()


@pytest.mark.parametrize("host", ["elsewhere", socket.gethostname()])
def test_without_the_campaigns_folder_files_are_private_and_go_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folders = Folders(host, "/nowhere/out", "/nowhere/out/.run/1")

    def fail() -> None:
        with rank_places(folders) as places:
            assert places.out.parent == tmp_path
            assert places.out.stat().st_mode & 0o077 == 0
            (places.out / "logs").mkdir()
            places.work.mkdir()
            raise ValueError("a fault of the rank")

    with pytest.raises(ValueError, match="a fault of the rank"):
        fail()
    assert list(tmp_path.iterdir()) == []
