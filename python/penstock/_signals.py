"""Signals while a run is at work."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

NAMES = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Keeps the answers of Python to signals until the run asks for them. An answer raises KeyboardInterrupt, say:
    inside an env that lives in this process it would be taken for the env's failure, and leave an episode half done.
    The second signal of a kind is answered at once, for envs that hang."""

    def __init__(self) -> None:
        self._waiting: dict[int, FrameType | None] = {}
        self._answers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._at_once = False

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """While the run is at work. Only the main thread has signals."""
        if threading.current_thread() is threading.main_thread():
            self._answers = {number: answer for number in NAMES if callable(answer := signal.getsignal(number))}
        for number in self._answers:
            signal.signal(number, self._take)
        try:
            yield
        finally:
            for number, answer in self._answers.items():
                signal.signal(number, answer)
        self.answer()

    @contextlib.contextmanager
    def answered(self) -> Iterator[None]:
        """While code of the user runs that may be interrupted: callbacks."""
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def answer(self) -> None:
        """Calls what the program has for the signals that have come."""
        while self._waiting:
            number, frame = self._waiting.popitem()
            self._answers[number](number, frame)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self._at_once or number in self._waiting:
            self._waiting.pop(number, None)
            self._answers[number](number, frame)
        else:
            self._waiting[number] = frame
