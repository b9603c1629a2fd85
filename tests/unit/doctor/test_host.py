"""Checks of the host: every problem comes with its fix."""

from __future__ import annotations

import os
import resource
import stat
from pathlib import Path

import pytest

from symfleet.doctor import host
from symfleet.doctor.check import Check, Verdict


def fake_program(folder: Path, name: str, script: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def assert_problem(check: Check) -> None:
    assert check.verdict is Verdict.PROBLEM
    assert check.detail
    assert check.fix


def test_a_missing_clang_is_a_problem(tmp_path: Path) -> None:
    assert_problem(host.check_compiler(str(tmp_path)))
    fake_program(tmp_path, "clang-16", "exit 0")
    assert host.check_compiler(str(tmp_path)).detail == str(tmp_path / "clang-16")


def test_missing_native_parts_are_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYMFLEET_NATIVE_DIR", str(tmp_path))
    assert_problem(host.check_native())
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "symfleet-exec").touch()
    assert_problem(host.check_native())
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "symfleet-pass-19.so").touch()
    assert host.check_native().verdict is Verdict.OK


def test_mpi_that_is_missing_fails_or_hangs_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = dict(os.environ)
    assert_problem(host.check_mpi(None, environment))
    assert_problem(host.check_mpi(str(tmp_path / "nowhere"), environment))
    failing = fake_program(tmp_path, "failing", "echo 'not enough slots' >&2; exit 1")
    check = host.check_mpi(failing, environment)
    assert_problem(check)
    assert "not enough slots" in check.detail
    monkeypatch.setattr(host, "MPI_START_S", 0.2)
    assert_problem(host.check_mpi(fake_program(tmp_path, "hanging", "exec sleep 60"), environment))
    working = fake_program(tmp_path, "working", "exit 0")
    monkeypatch.setattr(host, "MPI_START_S", 30.0)
    assert host.check_mpi(working, environment).verdict is Verdict.OK


@pytest.mark.parametrize(
    ("limit", "verdict"),
    [(resource.RLIM_INFINITY, Verdict.OK), (2**30, Verdict.PROBLEM), (2**40, Verdict.OK)],
)
def test_an_address_space_limit_that_forbids_shadow_memory(
    limit: int, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, resource.RLIM_INFINITY))
    assert host.check_address_space().verdict is verdict


@pytest.mark.parametrize(
    ("text", "verdict"), [("0\n", Verdict.OK), ("1\n", Verdict.OK), ("2\n", Verdict.PROBLEM)]
)
def test_strict_overcommit_is_a_problem(tmp_path: Path, text: str, verdict: Verdict) -> None:
    (tmp_path / "mode").write_text(text)
    assert host.check_overcommit(tmp_path / "mode").verdict is verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("MemTotal: 9 kB\nMemAvailable: 8388608 kB\n", Verdict.OK),
        ("MemAvailable: 65536 kB\n", Verdict.WARNING),
        ("", Verdict.WARNING),
    ],
)
def test_little_memory_is_a_warning(tmp_path: Path, text: str, verdict: Verdict) -> None:
    (tmp_path / "meminfo").write_text(text)
    assert host.check_memory(tmp_path / "meminfo").verdict is verdict


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("ext4", Verdict.OK),
        ("overlay", Verdict.OK),
        ("tmpfs", Verdict.WARNING),
        ("nfs4", Verdict.PROBLEM),
        ("fuse.sshfs", Verdict.PROBLEM),
    ],
)
def test_the_place_of_a_ledger_is_judged(tmp_path: Path, kind: str, verdict: Verdict) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "21 1 8:1 / / rw - ext4 /dev/sda rw\n"
        f"22 21 0:5 / {tmp_path.resolve()} rw shared:1 - {kind} none rw\n"
    )
    check = host.check_ledger_place(tmp_path / "out", mounts)
    assert check.verdict is verdict
    assert bool(check.fix) is (verdict is not Verdict.OK)


def test_a_missing_shared_memory_folder_is_a_warning(tmp_path: Path) -> None:
    assert host.check_shared_memory(tmp_path / "nowhere").verdict is Verdict.WARNING
    assert host.check_shared_memory(tmp_path).verdict is Verdict.OK


def test_space_is_looked_at_where_the_folder_will_be(tmp_path: Path) -> None:
    assert "MiB free" in host.check_space(tmp_path / "not" / "yet").detail


def test_all_checks_of_this_host_can_be_made(tmp_path: Path) -> None:
    checks = list(host.check_host(tmp_path, None, dict(os.environ)))
    assert len({check.name for check in checks}) == len(checks) == 9
    assert all(check.fix for check in checks if check.verdict is not Verdict.OK)
