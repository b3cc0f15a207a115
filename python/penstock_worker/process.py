"""What a worker does from its start to its end."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from penstock_worker import factory
from penstock_worker.strangers import printable

OF_THE_PARENT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # of the terminal and of schedulers


def prepare(lifeline: int) -> None:
    """Makes this process end with its parent, and leave signals of the terminal and of schedulers to it."""
    from penstock_worker import _runner  # here: the checker runs with interpreters that it was not built for

    _runner.end_with_parent(lifeline)
    for name in OF_THE_PARENT:
        # Not SIG_IGN, which programs that an env starts would inherit: they could not be terminated.
        signal.signal(name, do_nothing)
        signal.siginterrupt(name, False)
    os.register_at_fork(after_in_child=take_signals_back)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # the parent asks a worker that hangs where it is


def do_nothing(*_: Any) -> None:
    """As handler of a signal."""


def take_signals_back() -> None:
    """What an env forks can be terminated."""
    for name in OF_THE_PARENT:
        signal.signal(name, signal.default_int_handler if name == signal.SIGINT else signal.SIG_DFL)


def be_child(lifeline: int, life: Callable[[], Any], held: socket.socket | None = None) -> NoReturn:
    """What a fork does: `life`, and then its end; `held` is the parent's. It leads a group, to which what an env starts
    belongs unless it leaves it."""
    code = 1
    try:
        os.setpgid(0, 0)
        if held is not None:
            held.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        prepare(lifeline)
        life()
        code = 0
    except BaseException:
        show_exception()
    finally:
        sys.stderr.flush()
        os._exit(code)  # threads and exit handlers of the env's libraries have no say


def bury(pid: int) -> int:
    """Waits for the end of a child and of the group that it leads; its status."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # until it is reaped, its number is nobody else's
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def work(payload: str, rows: int, worker: int) -> None:
    """Serves the envs of shared rows until the parent wants an end."""
    from penstock_worker import _runner

    make = factory.Maker(payload)
    runner = _runner.Runner(rows, worker, make)
    runner.run()
    runner.close()


class OneProcess:
    """Ends a fork that an env has made and that comes back from the env's code: it would do all a second time."""

    def __init__(self) -> None:
        self.pid = os.getpid()

    def end_others(self) -> None:
        if os.getpid() != self.pid:
            os._exit(0)


def said(error: BaseException) -> str:
    """The error with the place in the user's code that it came from."""
    text = str(error) if isinstance(error, factory.ContractError) else "".join(traceback.format_exception_only(error)).strip()
    frames = [f for f in traceback.extract_tb(error.__traceback__) if os.path.dirname(__file__) not in f.filename]
    return text + (f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else "")


def show_exception() -> None:
    """On stderr, as Python shows one that nobody caught."""
    print(printable(traceback.format_exc()), end="", file=sys.stderr)


def status_text(status: int) -> str:
    """"was killed by signal 11 (Segmentation fault)" or "ended with exit code 3", from a status of waitpid."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"was killed by signal {number} ({signal.strsignal(number)})"
    return f"ended with exit code {os.WEXITSTATUS(status)}"
