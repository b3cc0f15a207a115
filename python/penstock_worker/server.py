"""A process that has imported what an env takes and forks workers from itself: a new one is there in milliseconds."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import traceback
from typing import Any

from penstock_worker import factory, process, trial

TICK_S = 1.0  # how long an ended worker may stay unburied


class Server:
    def __init__(self, payload: str, channel: socket.socket, lifeline: int):
        self.payload = payload
        self.channel = channel
        self.lifeline = lifeline
        self.ended: dict[int, int] = {}  # pid -> status

    def run(self) -> None:
        self.channel.settimeout(TICK_S)
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self.channel, 4096, 1)
            except TimeoutError:
                self.bury()
                continue
            except OSError:
                return
            if not data:
                return  # the parent is done
            self.bury()
            self.obey(json.loads(data), descriptors)

    def obey(self, request: dict[str, Any], descriptors: list[int]) -> None:
        if request["op"] == "start":
            self.start(request["worker"], descriptors[0])
        elif request["op"] == "describe":
            deadlines = trial.Deadlines(request["start_deadline_s"], request["step_deadline_s"])
            self.say(trial.describe(self.payload, deadlines, self.lifeline, self.channel))
        else:
            self.wait_for(request["pid"])
            self.say(json.dumps({"status": self.ended.pop(request["pid"], None)}))

    def start(self, worker: int, rows: int) -> None:
        pid = os.fork()
        if pid == 0:
            process.be_child(self.lifeline, lambda: process.work(self.payload, rows, worker), self.channel)
        os.close(rows)
        pidfd = os.pidfd_open(pid)
        socket.send_fds(self.channel, [json.dumps({"pid": pid}).encode() + b"\n"], [pidfd])
        os.close(pidfd)

    def bury(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
                self.ended[ended[0]] = ended[1]

    def wait_for(self, pid: int) -> None:
        if pid not in self.ended:
            with contextlib.suppress(ChildProcessError):
                self.ended[pid] = os.waitpid(pid, 0)[1]

    def say(self, line: str) -> None:
        self.channel.sendall(line.encode() + b"\n")


def serve(payload: str, descriptor: int, lifeline: int = 4) -> None:
    with contextlib.suppress(Exception):  # a child meets the same error, and can say it
        factory.Maker(payload)  # imports, which workers then share
    Server(payload, socket.socket(fileno=descriptor), lifeline).run()


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
        os.dup2(2, 1)
        sys.stdout = sys.stderr = open(2, "w", buffering=1, closefd=False)  # a notebook has streams of its own
        process.prepare(lifeline)
        serve(payload, descriptor, lifeline)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
