"""How far the run is: a bar on a terminal, plain lines elsewhere."""
import sys
import time

import summary

BAR = 24


class Progress:
    def __init__(self, stream=sys.stderr):
        self._total = self._done = 0
        self._stream = stream
        self._bar = stream.isatty()
        self._start = time.monotonic()

    def say(self, message):
        """A line that stays."""
        clear = "\r\033[K" if self._bar else ""
        print(f"{clear}compare: {message}", file=self._stream, flush=True)

    def turn(self, system, where, round_number, rounds, rate):
        self._done += 1
        what = f"{where}, round {round_number}/{rounds}: {system}"
        if rate is None:
            self.say(f"{what} failed and is left out")
        elif not self._bar:
            self.say(f"{what} {summary.rate_text(rate)}/s")
        if self._bar:
            self._draw(what)

    def plan(self, total_turns):
        """The estimate of what is left counts from here."""
        self._total = total_turns
        self._start = time.monotonic()

    def end(self):
        if self._bar:
            print(file=self._stream)

    def _draw(self, what):
        share = min(1.0, self._done / self._total)
        left = (time.monotonic() - self._start) * (1 - share) / share
        full = round(BAR * share)
        bar = "#" * full + "." * (BAR - full)
        eta = f"{left / 60:.0f} min" if left >= 90 else f"{left:.0f} s"
        print(f"\r\033[K[{bar}] {what}, ETA {eta}", end="", file=self._stream, flush=True)
