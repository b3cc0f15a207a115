"""A Slurm cluster of two nodes on this machine: real daemons, one temporary folder, nothing left when it is over."""

import contextlib
import os
import pathlib
import pwd
import signal
import socket
import subprocess
import tempfile
import time

from processes import wait_until
from ranks import free_port

# Named by addresses, so that the first name of a step's node list is one that processes can meet at.
NODES = ("127.0.0.1", "127.0.0.2")

# config_overrides: nodes have the CPUs that are written here, whatever the machine has. linuxproc and task/none need no cgroup.
CONF = """
ClusterName=throwaway
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmctldTimeout=300
SlurmdTimeout=300
KillWait=60
JobRequeue=1
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 Sockets=1 CoresPerSocket=2 ThreadsPerCore=1 State=UNKNOWN\n"


class SlurmCluster:
    def __init__(self, folder, **env):
        self.folder = pathlib.Path(folder)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "PENSTOCK_"))}
        # What carries this SLURM_CONF is ours: daemons, steps and their tasks.
        self.environment = {**clean, **env, "SLURM_CONF": f"{folder}/slurm.conf"}
        self.environment["PATH"] += ":/usr/sbin"  # daemons are not in the path of every user
        self.daemons = []

    def start(self):
        host = socket.gethostname()
        short = host.split(".")[0]
        conf = CONF.format(folder=self.folder, host=short, user=pwd.getpwuid(os.getuid()).pw_name, port=free_port())
        conf += "".join(NODE.format(name=name, host=short, port=free_port()) for name in NODES)
        # Slurm listens where the host's name leads, or everywhere. Where that is not loopback, the key keeps strangers out.
        if address_of(host) == "127.0.0.1":
            conf += "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n"
        (self.folder / "slurm.conf").write_text(conf)
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(64))
        # --force: it warns instead of refusing a folder below one that others write to, as /tmp is.
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                    f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
        self.await_or_tell((self.folder / "munge.socket").exists)
        self.daemon("slurmctld", "-D")
        for name in NODES:
            self.daemon("slurmd", "-D", "-N", name)
        self.await_or_tell(lambda: self.states() == ["idle"] * len(NODES))

    def daemon(self, *command):
        with (self.folder / f"{len(self.daemons)}-{command[0]}.out").open("wb") as out:
            self.daemons.append(subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=self.environment,
                                                 cwd=self.folder))

    def states(self):
        return self.run("sinfo", "-h", "-N", "-o", "%T", code=None).stdout.split()

    def await_or_tell(self, condition, seconds=120):
        """Until it holds; a daemon that has ended does not come back."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end or any(daemon.poll() is not None for daemon in self.daemons):
                raise RuntimeError("the Slurm cluster does not start:\n" + self.logs())
            time.sleep(0.1)

    def logs(self):
        files = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        return "\n".join(f"== {file.name}\n" + "\n".join(file.read_text(errors="replace").splitlines()[-30:]) for file in files)

    def popen(self, *command, **env):
        return subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                stdin=subprocess.DEVNULL, env={**self.environment, **env})

    def run(self, *command, code=0, timeout=600, **env):
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
                              env={**self.environment, **env})
        assert code is None or done.returncode == code, f"{command[0]}: exit {done.returncode}\n{done.stdout}\n{done.stderr}\n{self.logs()}"
        return done

    def processes(self, *variables):
        """Pids of daemons, steps and tasks of this cluster that have these variables, wherever they were reparented to."""
        marks = {mark.encode() for mark in (f"SLURM_CONF={self.folder}/slurm.conf", *variables)}
        found = set()
        for folder in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                if marks <= set((folder / "environ").read_bytes().split(b"\0")):
                    found.add(int(folder.name))
        return found

    def stop(self):
        """Jobs first, while somebody can end them in order; then daemons; then what is left, by its pid."""
        with contextlib.suppress(subprocess.TimeoutExpired, FileNotFoundError):
            self.run("scancel", "--signal=KILL", "--full", "--me", code=None, timeout=30)
            self.run("scancel", "--me", code=None, timeout=30)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                daemon.wait(15)
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for daemon in self.daemons:
            daemon.wait(15)
        wait_until(lambda: not self.processes())


def address_of(host):
    try:
        return socket.gethostbyname(host)
    except OSError:
        return None


@contextlib.contextmanager
def slurm_cluster(**env):
    """`env` is what jobs and steps see beside the surroundings."""
    # In a folder of its own: a socket's path has at most 107 characters, and pytest's are long.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        cluster = SlurmCluster(folder, **env)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
