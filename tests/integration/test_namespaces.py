"""The pretended hosts that tests of several hosts stand on are apart, and nothing of them stays."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from symfleet.testing.hosts.namespaces import SSH, Host, Hosts, why_not
from symfleet.testing.hosts.shell import UNREACHABLE
from symfleet.testing.jobs import until

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    with Hosts(tmp_path, ("alpha", "beta")) as made:
        yield made


def said(host: Host, *words: str) -> str:
    done = host.run(*words)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def test_hosts_have_names_networks_trees_and_processes_of_their_own(hosts: Hosts) -> None:
    alpha, beta = hosts.all
    assert said(alpha, "hostname") == "alpha\n"
    alpha.path("/srv/file").write_text("only here")
    assert said(alpha, "cat", "/srv/file") == "only here"
    assert beta.run("cat", "/srv/file").returncode == 1
    assert beta.address in said(beta, "ip", "address", "show", "eth0")
    assert said(beta, "sh", "-c", "echo /proc/[0-9]*").count("/proc/") < 5
    said(beta, "touch", "/tmp/left", "/dev/shm/left")
    assert beta.files() == ["/dev/shm/left", "/tmp/left"]
    assert alpha.files() == []


def test_the_shell_tells_output_and_exit_code_and_a_cut_cable(hosts: Hosts) -> None:
    alpha, beta = hosts.all
    done = alpha.run(*SSH, "-x", "beta", "hostname; echo why >&2; exit 3")
    assert (done.stdout, done.stderr, done.returncode) == (b"beta\n", b"why\n", 3)
    beta.cut()
    refused = alpha.run(*SSH, "-o", "ConnectTimeout=0.3", "beta", "hostname")
    assert refused.returncode == UNREACHABLE
    assert b"beta" in refused.stderr
    beta.mend()
    assert said(alpha, *SSH, "beta", "hostname") == "beta\n"


def test_a_host_that_lost_power_comes_back_with_its_files(hosts: Hosts) -> None:
    alpha, beta = hosts.all
    assert (
        alpha.run(*SSH, "beta", "setsid sleep 60 >/dev/null 2>&1 & echo >/root/kept").returncode
        == 0
    )
    until("it runs", lambda: [p for p in beta.processes() if p.is_program("sleep")] != [], 5)
    beta.power_off()
    assert not beta.is_up
    beta.boot()
    assert beta.processes() == []
    assert beta.path("/root/kept").exists()
    assert said(alpha, *SSH, "beta", "hostname") == "beta\n"


def test_hosts_end_also_in_a_process_that_adopts_orphans(tmp_path: Path) -> None:
    script = f"""
import os, pathlib
from symfleet.engine import processes
from symfleet.testing.hosts.namespaces import Hosts
processes.become_subreaper()
with Hosts(pathlib.Path({str(tmp_path)!r}), ("alpha",)) as hosts:
    hosts.all[0].run("true")
assert processes.children_of_self() == []
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=30)
