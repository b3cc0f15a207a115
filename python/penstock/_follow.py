"""Reading a run directory while it is written, as docs/formats.md describes it. Nothing here writes to it."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import hashlib
import json
import math
import os
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from penstock_worker.strangers import opened, parse_json, read_text

from penstock._base import DataError
from penstock._values import flat, parse_toml

CHUNK = 1 << 20  # bytes read at once
LONGEST = 1 << 20  # bytes, more than any line of a run has
WINDOW = 100  # episodes in the running mean that run.stop_at_reward looks at


class Row(NamedTuple):
    """A line of metrics.jsonl."""

    step: int
    at: float  # seconds since 1970: when the run was created, and the time spent training since
    values: dict[str, float]


class Run:
    """A run directory: what it is, and how far it has come."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = pathlib.Path(path)
        self.manifest = self._read("manifest.json", parse_json)

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def id(self) -> str:
        """The same for the same run, also after it was resumed or its parent folder moved; another for a copy under
        another name, which may go on differently."""
        parts = [self.manifest.get(key) for key in ("created", "seed", "command")] + [section(self.manifest, "machine").get("host"), self.name]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    @property
    def created(self) -> float:
        """Seconds since 1970."""
        try:
            return datetime.datetime.fromisoformat(self.manifest["created"]).timestamp()
        except (KeyError, TypeError, ValueError):
            return self.path.stat().st_mtime

    def config(self) -> dict[str, Any]:
        """Every key of the config as it is now, dotted."""
        return dict(flat(self._read("config.toml", lambda text: parse_toml(text, "config.toml"))))

    def params(self) -> dict[str, Any]:
        """What to record beside the curves: the config, and where the run comes from."""
        return self.config() | dict(flat({"manifest": self.manifest}))

    def is_locked(self) -> bool:
        """Whether a process is at work in it. The system gives the lock back however that process ends."""
        try:
            with opened(self.path / ".lock") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # and gives it back at once
        except BlockingIOError:
            return True
        except OSError:  # there is none, or what no run has made
            pass
        return False

    def status(self) -> str:
        """running, finished, or stopped before its end: then it can be resumed."""
        if self.is_locked():
            return "running"
        config, state = self.config(), section(self._state(), "run")
        try:
            rewards = [reward for reward, *_ in state.get("window", [])]
            done = [
                self.saved_step() >= config.get("total_timesteps", math.inf),
                0 < config.get("total_episodes", 0) <= state.get("episodes", 0),
                len(rewards) == WINDOW and sum(rewards) / WINDOW >= config.get("run.stop_at_reward", math.inf),
            ]
        except TypeError as error:
            raise DataError(f"{self.path}: the run's config or newest state: {error}") from error
        return "finished" if any(done) else "stopped"

    def summary(self) -> dict[str, Any]:
        """What the newest checkpoint says."""
        state = self._state()
        run, engine = section(state, "run"), section(state, "engine")
        return {"status": self.status(), "total_timesteps": self.saved_step(), "updates": engine.get("updates", 0),
                "episodes": run.get("episodes", 0)}

    def saved_step(self) -> int:
        """Env steps of the newest checkpoint; 0 when there is none."""
        try:
            return int(read_text(self.path / "ckpt" / "LATEST", 64))
        except (OSError, ValueError):
            return 0

    def _state(self) -> dict[str, Any]:
        try:
            state = parse_json(read_text(self.path / "ckpt" / str(self.saved_step()) / "state.json"))
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def _read(self, name: str, parse: Any) -> dict[str, Any]:
        try:
            found = parse(read_text(self.path / name))
        except OSError as error:
            raise DataError(f"{self.path}: not a run directory: {name}: {error.strerror}") from error
        except ValueError as error:
            raise DataError(f"{self.path / name}: {error}") from error
        if not isinstance(found, dict):
            raise DataError(f"{self.path / name}: expected an object")
        return found


class Tail:
    """The lines of metrics.jsonl as they come. A resumed run replaces the file by a shorter one: then all of it is
    read again, and rows come a second time."""

    def __init__(self, run: Run):
        self._path = run.path / "metrics.jsonl"
        self._created = run.created
        self._seen = (0, 0)  # device and number of the file
        self._at = 0  # bytes read
        self._torn = b""  # the beginning of a line whose end is not there yet
        self._before = self._elapsed = 0.0  # seconds of training, by former processes and by this one

    def batches(self) -> Iterator[list[Row]]:
        """What is new, some lines at a time."""
        with contextlib.suppress(FileNotFoundError), opened(self._path) as file:
            self._rewind_if_replaced(os.fstat(file.fileno()))
            file.seek(self._at)
            while chunk := file.read(CHUNK):
                self._at += len(chunk)
                *lines, self._torn = (self._torn + chunk).split(b"\n")
                if len(self._torn) > LONGEST:
                    self._torn = b"\0"  # so that what comes is no line of a run
                yield [row for line in lines if (row := self._row(line)) is not None]

    def _rewind_if_replaced(self, now: os.stat_result) -> None:
        if (now.st_dev, now.st_ino) != self._seen or now.st_size < self._at:
            self._seen, self._at, self._torn = (now.st_dev, now.st_ino), 0, b""
            self._before = self._elapsed = 0.0

    def _row(self, line: bytes) -> Row | None:
        """None of a line that a kill has torn."""
        try:
            values = parse_json(line, parse_int=whole)
        except ValueError:
            return None
        if not isinstance(values, dict) or not isinstance(step := values.pop("step", None), int):
            return None
        numbers = {name: math.nan if value is None else float(value) for name, value in values.items()
                   if value is None or isinstance(value, (int, float))}
        return Row(step, self._time(numbers), numbers)

    def _time(self, values: dict[str, float]) -> float:
        """time_elapsed begins at 0 again in a resumed run."""
        elapsed = values.get("time/time_elapsed", self._elapsed)
        if elapsed < self._elapsed:
            self._before += self._elapsed
        self._elapsed = elapsed if math.isfinite(elapsed) else self._elapsed
        return self._created + self._before + self._elapsed


def section(of: dict[str, Any], name: str) -> dict[str, Any]:
    """Of a file of JSON; {} where another kind of value has the name."""
    found = of.get(name)
    return found if isinstance(found, dict) else {}


def whole(digits: str) -> int:
    """ValueError of more than 64 bits: no run counts as far, and no double holds some of them."""
    if len(digits) > 20:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)
