"""Folders that go with the object that they were made for, also when a signal ends the program."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import weakref
from types import FrameType
from typing import Any

ENDS = (signal.SIGTERM, signal.SIGHUP)  # by default they end a program before it can tidy up

_folders: list[weakref.finalize[Any, Any]] = []


def folder_of(owner: Any) -> str:
    folder = tempfile.mkdtemp(prefix="penstock-")
    _folders[:] = [each for each in _folders if each.alive]
    _folders.append(weakref.finalize(owner, remove, folder, os.getpid()))
    if threading.current_thread() is threading.main_thread():
        for number in ENDS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _tidy_and_end)
    return folder


def remove(folder: str, pid: int) -> None:
    """A fork has the object too, but the folder is not its own."""
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)


def _tidy_and_end(number: int, frame: FrameType | None) -> None:
    for folder in _folders:
        folder()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
