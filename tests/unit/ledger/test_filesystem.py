"""Which file systems a ledger may be on."""

from __future__ import annotations

from pathlib import Path

import pytest

from symfleet.errors import ExitCode, HostError
from symfleet.ledger.filesystem import check_filesystem, judge, kind_of

_MOUNTS = r"""
21 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda rw
22 21 0:5 / /dev/shm rw,nosuid - tmpfs tmpfs rw
30 21 0:40 / /home/data rw - nfs4 server:/data rw
31 30 0:41 / /home/data/local\040disk rw master:1 - xfs /dev/sdb rw
32 21 0:42 / /srv rw - ext4 /dev/sdc rw
33 21 0:43 / /srv rw - fuse.sshfs me@there:/ rw
broken line
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/nowhere/out", "ext4"),
        ("/dev/shm/out", "tmpfs"),
        ("/dev/shmx", "ext4"),
        ("/home/data", "nfs4"),
        ("/home/data/out", "nfs4"),
        ("/home/data/local disk/out", "xfs"),
        ("/srv/out", "fuse.sshfs"),
    ],
)
def test_the_innermost_and_latest_mount_tells_the_kind(folder: str, kind: str) -> None:
    assert kind_of(Path(folder), _MOUNTS) == kind


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "lustre", "9p", "ceph", "afs", "fuse.ceph", "fuse"]
)
def test_network_file_systems_are_refused(kind: str) -> None:
    with pytest.raises(HostError, match=kind) as caught:
        judge(Path("/out"), kind, allow_fuse=False)
    assert caught.value.exit_code is ExitCode.HOST
    assert caught.value.hint


def test_fuse_can_be_allowed_a_network_cannot() -> None:
    assert judge(Path("/out"), "fuse.ext4", allow_fuse=True) == ()
    with pytest.raises(HostError):
        judge(Path("/out"), "nfs", allow_fuse=True)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "overlay", "f2fs", "unknown"])
def test_local_disks_are_accepted(kind: str) -> None:
    assert judge(Path("/out"), kind, allow_fuse=False) == ()


def test_memory_is_accepted_with_a_warning() -> None:
    (warning,) = judge(Path("/out"), "tmpfs", allow_fuse=False)
    assert "lost when the machine restarts" in warning


def test_this_machine_can_be_judged(tmp_path: Path) -> None:
    assert isinstance(check_filesystem(tmp_path, allow_fuse=True), tuple)
