"""A private Slurm cluster for tests: Debian's packages on hosts that are namespaces.

The first host runs the controller and takes orders, each other host is a node with two processors.
Every host has a munged of its own with one key. All files lie in /run/slurm of the hosts, so that
nothing of the machine's own configuration is read or changed, and all daemons end with their hosts.

Times that a cluster counts in minutes are seconds here: how long a requeued job waits, how long a
node may be silent, how long a job has between SIGTERM and SIGKILL.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from symfleet.testing.hosts.namespaces import Host, Hosts, why_not

_FOLDER: Final = "run/slurm"
_PROGRAMS: Final = ("slurmctld", "slurmd", "sbatch", "munged")
CPUS: Final = 2
"""Of each node."""
REQUEUE_S: Final = 5
NODE_SILENCE_S: Final = 10
KILL_WAIT_S: Final = 10
_START_S: Final = 60.0
_LOOK_S: Final = 0.5
"""Each look is a program that asks the controller: no more often than that."""
_ENDED: Final = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")


@functools.cache
def why_no_slurm() -> str | None:
    """Return why there can be no cluster here, None when there can."""
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"{missing[0]} is not installed (apt-get install slurm-wlm munge)"
    return why_not()


class Slurm:
    """The cluster of some hosts, which must be up. It ends with them."""

    def __init__(self, hosts: Hosts, more: Sequence[str] = ()) -> None:
        """Start it. `more`: lines for slurm.conf."""
        self._head, *self.nodes = hosts.all
        self._key = os.urandom(128)
        self._settings = "\n".join([*self._lines(), *more]) + "\n"
        self._start(self._head, "slurmctld")
        for node in self.nodes:
            self.start_node(node)
        self.until_idle()

    def _lines(self) -> list[str]:
        folder = f"/{_FOLDER}"
        names = ",".join(node.name for node in self.nodes)
        return [
            "ClusterName=private",
            f"SlurmctldHost={self._head.name}({self._head.address})",
            "SlurmUser=root",
            f"AuthInfo=socket={folder}/munge.socket,cred_expire={REQUEUE_S}",
            f"StateSaveLocation={folder}/state",
            f"SlurmdSpoolDir={folder}/spool",
            f"SlurmctldPidFile={folder}/slurmctld.pid",
            f"SlurmdPidFile={folder}/slurmd.pid",
            f"SlurmctldLogFile={folder}/slurmctld.log",
            f"SlurmdLogFile={folder}/slurmd.log",
            "ProctrackType=proctrack/linuxproc",
            "JobAcctGatherType=jobacct_gather/none",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_CPU",
            "SlurmdParameters=config_overrides",
            "SchedulerParameters=batch_sched_delay=0,sched_interval=2",
            f"SlurmdTimeout={NODE_SILENCE_S}",
            f"KillWait={KILL_WAIT_S}",
            "ReturnToService=2",
            f"NodeName={names} CPUs={CPUS} State=UNKNOWN",
            f"PartitionName=all Nodes={names} Default=YES MaxTime=INFINITE State=UP",
        ]

    def start_node(self, node: Host) -> None:
        """Start the daemons of a node, which has just booted."""
        self._start(node, "slurmd", "-N", node.name)

    def _start(self, host: Host, daemon: str, *words: str) -> None:
        folder = host.path(_FOLDER)
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("state", "spool"):
            (folder / name).mkdir(parents=True, mode=0o755)
        (folder / "slurm.conf").write_text(self._settings)
        # Nothing uses control groups, but slurmd wants to know which ones it would use.
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        key = folder / "munge.key"
        key.write_bytes(self._key)
        key.chmod(0o600)
        inside = f"/{_FOLDER}"
        self._run(
            host, "munged", f"--key-file={inside}/munge.key", f"--socket={inside}/munge.socket",
            f"--pid-file={inside}/munged.pid", f"--log-file={inside}/munged.log",
            f"--seed-file={inside}/munged.seed",
        )  # fmt: skip
        self._run(host, daemon, *words)

    def _run(self, host: Host, *words: str) -> str:
        inherited = {
            "PATH": f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LANG": "C.UTF-8",
            "SLURM_CONF": f"/{_FOLDER}/slurm.conf",
        }
        environment = [f"{name}={value}" for name, value in inherited.items()]
        done = host.run("env", "-i", *environment, *words)
        assert done.returncode == 0, f"{words[0]}: {(done.stdout + done.stderr).decode()}"
        return done.stdout.decode()

    # ---- what a user does ---------------------------------------------------------------------

    def call(self, *words: str) -> str:
        """Run a command of Slurm on the first host; return what it printed."""
        return self._run(self._head, *words)

    def submit(self, script: Path, *options: str) -> str:
        """Give a job script to the cluster, from its own folder; return the job's number."""
        words = ["sbatch", "--parsable", f"--chdir={script.parent}", *options, str(script)]
        return self.call(*words).strip()

    def describe(self, job: str) -> dict[str, str]:
        """Return what the controller knows of a job."""
        words = self.call("scontrol", "--oneliner", "show", "job", job).split()
        return dict(word.partition("=")[::2] for word in words)

    def state(self, job: str) -> str:
        """Return the state of a job: PENDING, RUNNING, COMPLETED, ..."""
        return self.describe(job)["JobState"]

    def restarts(self, job: str) -> int:
        """Return how often a job was requeued."""
        return int(self.describe(job)["Restarts"])

    def wait(self, job: str, within_s: float) -> str:
        """Wait until a job will not run any more; return its last state."""
        return self.until_state(job, _ENDED, within_s)

    def until_state(self, job: str, states: Collection[str], within_s: float) -> str:
        """Wait until a job has one of these states; return it."""
        deadline = time.monotonic() + within_s
        while (state := self.state(job)) not in states:
            assert time.monotonic() < deadline, f"job {job} is {state} after {within_s:g} s"
            time.sleep(_LOOK_S)
        return state

    def until_idle(self) -> None:
        """Wait until every node takes jobs."""
        deadline = time.monotonic() + _START_S
        while set(states := self._node_states()) != {"idle"}:
            assert time.monotonic() < deadline, f"nodes are {states} after {_START_S:g} s"
            time.sleep(_LOOK_S)

    def _node_states(self) -> list[str]:
        return self.call("sinfo", "--noheader", "--Node", "--format=%T").split()
