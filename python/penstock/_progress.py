"""How far a run is, on stderr: a line now and then, or a bar."""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

from penstock_worker.strangers import printable

if TYPE_CHECKING:
    from penstock._core import Progress

QUIET_SECONDS = 5.0  # between lines


class Lines:
    """A line every few seconds."""

    def __init__(self, every_s: float = QUIET_SECONDS):
        self._every_s, self._last = every_s, time.monotonic()

    def show(self, now: Progress) -> None:
        if time.monotonic() - self._last > self._every_s:
            self._last = time.monotonic()
            print(line_of(now), file=sys.stderr)

    def say(self, text: str) -> None:
        """A remark between them."""
        print(printable(text), file=sys.stderr)

    def close(self) -> None:
        """The run is over."""


class OneLine(Lines):
    """A line that is overwritten."""

    def __init__(self) -> None:
        super().__init__(every_s=0.1)
        self._text, self._width = "", 0

    def show(self, now: Progress) -> None:
        self._text = line_of(now) + (f"  {now.left_s:.0f} s left" if 0 < now.left_s < float("inf") else "")
        if time.monotonic() - self._last > self._every_s:
            self._last = time.monotonic()
            self._write(self._text)

    def say(self, text: str) -> None:
        self._write(printable(text))
        print(file=sys.stderr)
        self._width = 0

    def close(self) -> None:
        if self._text:
            self.say(self._text)

    def _write(self, text: str) -> None:
        print(f"\r{text:{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(text)


class Bar(Lines):
    """tqdm's, in a terminal or a notebook."""

    def __init__(self, tqdm: Any, begun: int):
        self._make = lambda total: tqdm(total=total, initial=begun, unit=" steps", unit_scale=True, dynamic_ncols=True)
        self._bar: Any = None

    def show(self, now: Progress) -> None:
        if self._bar is None:
            self._bar = self._make(now.total_timesteps or None)
        self._bar.set_postfix(reward=f"{now.ep_rew_mean:.2f}", refresh=False)
        self._bar.update(min(now.timesteps, self._bar.total or now.timesteps) - self._bar.n)  # updates are whole

    def say(self, text: str) -> None:
        if self._bar is None:
            super().say(text)
        else:
            self._bar.write(printable(text), file=sys.stderr)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def line_of(now: Progress) -> str:
    total = f"/{now.total_timesteps}" if now.total_timesteps else ""
    return f"step {now.timesteps}{total} ({now.done:.0%})  {now.fps:.0f} steps/s  reward {now.ep_rew_mean:.2f}"


def display(verbose: int, bar: bool, begun: int) -> Lines:
    """Of a learn() that goes on from `begun` steps."""
    if not bar:
        return Lines(QUIET_SECONDS if verbose else float("inf"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a notebook without ipywidgets: then it is text
            from tqdm.auto import tqdm
    except ImportError:
        return OneLine()
    return Bar(tqdm, begun)
