"""What a worker does from its start to its end."""

from __future__ import annotations

import faulthandler
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from penstock_worker import factory


def prepare(lifeline: int) -> None:
    """Makes this process end with its parent, and leave signals of the terminal and of schedulers to it."""
    from penstock_worker import _runner  # here: the checker runs with interpreters that it was not built for

    _runner.end_with_parent(lifeline)
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # the parent asks a worker that hangs where it is


def be_child(lifeline: int, life: Callable[[], Any], held: socket.socket | None = None) -> NoReturn:
    """What a fork does: `life`, and then its end; `held` is the parent's."""
    code = 1
    try:
        if held is not None:
            held.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        prepare(lifeline)
        life()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)  # threads and exit handlers of the env's libraries have no say


def work(payload: str, rows: int, worker: int) -> None:
    """Serves the envs of shared rows until the parent wants an end."""
    from penstock_worker import _runner

    make = factory.Maker(payload)
    runner = _runner.Runner(rows, worker, make)
    runner.run()
    runner.close()


def said(error: BaseException) -> str:
    """The error with the place in the user's code that it came from."""
    text = str(error) if isinstance(error, factory.ContractError) else "".join(traceback.format_exception_only(error)).strip()
    frames = [f for f in traceback.extract_tb(error.__traceback__) if os.path.dirname(__file__) not in f.filename]
    return text + (f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else "")


def status_text(status: int) -> str:
    """"was killed by signal 11 (Segmentation fault)" or "ended with exit code 3", from a status of waitpid."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"was killed by signal {number} ({signal.strsignal(number)})"
    return f"ended with exit code {os.WEXITSTATUS(status)}"
