"""A process that starts workers and sees to it that nothing of them stays behind. It has imported what an env takes and
forks workers from itself, so that a new one is there in milliseconds; or it runs a fresh interpreter for each."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from typing import Any

from penstock_worker import _runner, factory, process, trial

PAYLOAD, LIFELINE, LAST = 3, 4, 5  # descriptors of a program that the parent, or this one, runs
TICK_S = 1.0  # how long an ended worker may stay unburied
LOOK_S = 5.0  # between looks at what workers have started


class Server:
    def __init__(self, payload: str, channel: socket.socket, lifeline: int, spawns: bool = False):
        self.payload = payload
        self.channel = channel
        self.lifeline = lifeline
        self.spawns = spawns
        self.workers: set[int] = set()  # pids
        self.ended: dict[int, int] = {}  # pid -> status
        self.grandchildren = Grandchildren()

    def run(self) -> None:
        _runner.adopt_orphans()
        try:
            self.serve()
        finally:
            _runner.end_below_this_process()

    def serve(self) -> None:
        """Until the parent is done."""
        self.channel.settimeout(TICK_S)
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self.channel, 4096, 1)
            except TimeoutError:
                self.bury_ended()
                self.grandchildren.look(self.workers)
                continue
            except OSError:
                return
            if not data:
                return
            self.bury_ended()
            self.obey(json.loads(data), descriptors)

    def obey(self, request: dict[str, Any], descriptors: list[int]) -> None:
        if request["op"] == "start":
            self.start(request["worker"], descriptors[0])
        elif request["op"] == "describe":
            deadlines = trial.Deadlines(request["start_deadline_s"], request["step_deadline_s"])
            self.say(trial.describe(self.payload, deadlines, self.lifeline, self.channel))
            self.end_strangers()
        else:
            self.wait_for(request["pid"])
            self.say(json.dumps({"status": self.ended.pop(request["pid"], None)}))

    def start(self, worker: int, rows: int) -> None:
        pid = os.fork()
        if pid == 0:
            if self.spawns:
                spawn(rows, worker)
            process.be_child(self.lifeline, lambda: process.work(self.payload, rows, worker), self.channel)
        self.workers.add(pid)
        os.close(rows)
        pidfd = os.pidfd_open(pid)
        socket.send_fds(self.channel, [json.dumps({"pid": pid}).encode() + b"\n"], [pidfd])
        os.close(pidfd)

    def bury_ended(self) -> None:
        """Also orphans, which this process has adopted."""
        with contextlib.suppress(ChildProcessError):
            while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                self.bury(found.si_pid)

    def wait_for(self, pid: int) -> None:
        if pid in self.workers:
            self.bury(pid)

    def bury(self, pid: int) -> None:
        if pid not in self.workers:
            os.waitpid(pid, 0)
            return
        self.ended[pid] = process.bury(pid)
        self.workers.remove(pid)
        self.grandchildren.end_those_of(pid)
        self.end_strangers()

    def end_strangers(self) -> None:
        """Where there are no workers, all that lives below was left behind by some."""
        if not self.workers:
            _runner.end_below_this_process()

    def say(self, line: str) -> None:
        self.channel.sendall(line.encode() + b"\n")


class Grandchildren:
    """What workers have started. A process that has left its worker's group is a stranger once the worker is gone, unless
    it was seen below it before."""

    def __init__(self) -> None:
        self.worker_of: dict[tuple[int, int], int] = {}  # (pid, time of its start) -> pid
        self.next_look = 0.0

    def look(self, workers: set[int]) -> None:
        if time.monotonic() < self.next_look:
            return
        self.next_look = time.monotonic() + LOOK_S
        below: dict[int, int] = {}
        seen: dict[tuple[int, int], int] = {}
        for pid, parent, started in _runner.living_below(os.getpid()):
            worker = pid if pid in workers else below.get(parent) or self.worker_of.get((pid, started))
            if worker:
                below[pid] = seen[pid, started] = worker
        self.worker_of = seen

    def end_those_of(self, worker: int) -> None:
        for (pid, started), whose in self.worker_of.items():
            if whose == worker:
                _runner.kill_process(pid, started)


def spawn(rows: int, worker: int) -> None:
    """A fork becomes a fresh interpreter, run as this one was."""
    try:
        os.setpgid(0, 0)
        os.dup2(rows, LAST)
        for descriptor in (PAYLOAD, LIFELINE):
            os.set_inheritable(descriptor, True)
        options = sys.orig_argv[1:sys.orig_argv.index("penstock_worker") + 1]
        os.execv(sys.executable, [sys.executable, *options, "work", str(worker)])
    except BaseException:
        process.show_exception()
        os._exit(1)


def serve(payload: str, descriptor: int, lifeline: int, spawns: bool = False) -> None:
    if not spawns:
        with contextlib.suppress(Exception):  # a child meets the same error, and can say it
            factory.Maker(payload)  # imports, which workers then share
    Server(payload, socket.socket(fileno=descriptor), lifeline, spawns).run()


def fork_server(payload: str, descriptor: int, lifeline: int, held: int) -> tuple[int, int]:
    """Makes a server out of this very process; (pid, pidfd)."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # or the child would say it again
    pid = os.fork()
    if pid != 0:
        return pid, os.pidfd_open(pid)
    code = 1
    try:
        os.close(held)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr = open(2, "w", buffering=1, closefd=False)  # a notebook has streams of its own
        process.prepare(lifeline)
        serve(payload, descriptor, lifeline)
        code = 0
    except BaseException:
        process.show_exception()
    finally:
        os._exit(code)
