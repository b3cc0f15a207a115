"""What a worker does from its start to its end."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import socket
import sys
import traceback

from penstock_worker import _runner, factory


def prepare(lifeline: int) -> None:
    """Makes this process end with its parent, and leave signals of the terminal and of schedulers to it."""
    _runner.end_with_parent(lifeline)
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # the parent asks a worker that hangs where it is


def work(payload: str, rows: int, worker: int) -> None:
    """Serves the envs of shared rows until the parent wants an end."""
    make = factory.Maker(payload)
    runner = _runner.Runner(rows, worker, make)
    runner.run()
    runner.close()


def description(payload: str) -> str:
    """What an env of this kind looks like, as a line of JSON."""
    try:
        from penstock_worker import describe

        return json.dumps(describe.describe(factory.Maker(payload)))
    except BaseException as error:  # whatever the env does, the parent hears of it
        return json.dumps({"error": said(error)})


def said(error: BaseException) -> str:
    """The error with the place in the user's code that it came from."""
    text = "".join(traceback.format_exception_only(error)).strip()
    frames = [f for f in traceback.extract_tb(error.__traceback__) if os.path.dirname(__file__) not in f.filename]
    return text + (f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else "")


def answer(descriptor: int, line: str) -> None:
    with socket.socket(fileno=descriptor) as channel:
        channel.sendall(line.encode() + b"\n")
    sys.stderr.flush()
    os._exit(0)  # threads and exit handlers of the env's libraries have no say
