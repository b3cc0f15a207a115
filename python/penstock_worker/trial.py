"""Asking a child what an env looks like. The child makes an env and tries some steps: it may hang, or die."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from penstock_worker import _runner, factory, process
from penstock_worker.strangers import printable

LAST_WORDS_S = 0.2
DEADLY_S = 1.0  # as if a step took so long: such an env is to live in workers, which may die


class Deadlines(NamedTuple):
    start_s: float  # for making and resetting an env
    step_s: float


class Heard:
    """What the child has said so far."""

    def __init__(self, deadlines: Deadlines):
        self.deadlines = deadlines
        self.known: dict[str, Any] = {}
        self.error = ""
        self.doing, self.stepping = "while it was made", False
        self.done = False

    def take(self, line: dict[str, Any]) -> None:
        self.known |= line.get("known", {}) | {key: line[key] for key in line if key in ("step_s", "step_cpu_s")}
        self.error = line.get("error", "")
        self.doing, self.stepping = line.get("doing", self.doing), line.get("stepping", self.stepping)
        self.done = "step_s" in line or "error" in line

    @property
    def limit_s(self) -> float:
        return self.deadlines.step_s if self.stepping else self.deadlines.start_s

    def late(self) -> str:
        key = "env.step_deadline_s" if self.stepping else "env.start_deadline_s"
        return f"no answer {self.doing} within {key} = {self.limit_s:g} s; it hangs, or needs a larger {key}"

    def answer(self, trouble: str) -> str:
        """Troubles of a step are survived later on: they are no reason not to begin."""
        if trouble and self.stepping:
            print(f"penstock: warning: the env failed when it was tried: {printable(trouble)}", file=sys.stderr)
            return json.dumps(self.known | {"step_s": DEADLY_S})
        error = self.error or trouble
        return json.dumps({"error": error} if error else self.known)


def describe(payload: str, deadlines: Deadlines, lifeline: int, held: socket.socket | None = None) -> str:
    """The description, or {"error": ...}, as a line of JSON. By a child: making an env may leave threads behind that
    no fork survives. `held` is closed in the child."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        process.be_child(lifeline, lambda: tell_of_env(payload, theirs), held)
    theirs.close()
    heard = Heard(deadlines)
    with ours:
        late = listen(ours, heard)
    if late:
        os.kill(pid, signal.SIGUSR1)  # it says on stderr where it is
        time.sleep(LAST_WORDS_S)
    if late or heard.done:
        _runner.end_tree(pid)  # what its libraries still do has no say
    status = process.bury(pid)
    trouble = heard.late() if late else "" if heard.done else f"its process {process.status_text(status)} {heard.doing}"
    return heard.answer(trouble)


def listen(channel: socket.socket, heard: Heard) -> bool:
    """Until it has said all, or has ended, or (True) is late."""
    lines = lines_of(channel)
    while not heard.done:
        channel.settimeout(heard.limit_s)
        try:
            heard.take(next(lines))
        except StopIteration:
            return False
        except TimeoutError:
            return True
    return False


def lines_of(channel: socket.socket) -> Iterator[dict[str, Any]]:
    text = b""
    while data := channel.recv(1 << 16):
        *lines, text = (text + data).split(b"\n")
        yield from map(json.loads, lines)


def tell_of_env(payload: str, channel: socket.socket) -> None:
    """The child's part."""
    this = process.OneProcess()

    def tell(line: dict[str, Any]) -> None:
        this.end_others()
        channel.sendall(json.dumps(line).encode() + b"\n")

    try:
        from penstock_worker import describe as about

        about.describe(factory.Maker(payload), tell)
    except BaseException as error:  # whatever the env does, the parent hears of it
        tell({"error": process.said(error)})
