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
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from penstock._base import DataError
from penstock._values import flat

CHUNK = 1 << 20  # bytes read at once
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
        self.manifest = self._read("manifest.json", json.loads)

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def id(self) -> str:
        """The same for the same run, also after it was resumed or its parent folder moved; another for a copy under
        another name, which may go on differently."""
        machine = self.manifest.get("machine") or {}
        parts = [self.manifest.get(key) for key in ("created", "seed", "command")] + [machine.get("host"), self.name]
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
        return dict(flat(self._read("config.toml", tomllib.loads)))

    def params(self) -> dict[str, Any]:
        """What to record beside the curves: the config, and where the run comes from."""
        return self.config() | dict(flat({"manifest": self.manifest}))

    def is_locked(self) -> bool:
        """Whether a process is at work in it. The system gives the lock back however that process ends."""
        try:
            with open(self.path / ".lock", "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # and gives it back at once
        except BlockingIOError:
            return True
        except FileNotFoundError:
            pass
        return False

    def status(self) -> str:
        """running, finished, or stopped before its end: then it can be resumed."""
        if self.is_locked():
            return "running"
        config, state = self.config(), self._state().get("run", {})
        rewards = [reward for reward, *_ in state.get("window", [])]
        done = [
            self.saved_step() >= config.get("total_timesteps", math.inf),
            0 < config.get("total_episodes", 0) <= state.get("episodes", 0),
            len(rewards) == WINDOW and sum(rewards) / WINDOW >= config.get("run.stop_at_reward", math.inf),
        ]
        return "finished" if any(done) else "stopped"

    def summary(self) -> dict[str, Any]:
        """What the newest checkpoint says."""
        state = self._state()
        run, engine = state.get("run", {}), state.get("engine", {})
        return {"status": self.status(), "total_timesteps": self.saved_step(), "updates": engine.get("updates", 0),
                "episodes": run.get("episodes", 0)}

    def saved_step(self) -> int:
        """Env steps of the newest checkpoint; 0 when there is none."""
        try:
            return int((self.path / "ckpt" / "LATEST").read_text())
        except (OSError, ValueError):
            return 0

    def _state(self) -> dict[str, Any]:
        try:
            return json.loads((self.path / "ckpt" / str(self.saved_step()) / "state.json").read_text())
        except (OSError, ValueError):
            return {}

    def _read(self, name: str, parse: Any) -> dict[str, Any]:
        try:
            found = parse((self.path / name).read_text())
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
        with contextlib.suppress(FileNotFoundError), open(self._path, "rb", buffering=0) as file:
            self._rewind_if_replaced(os.fstat(file.fileno()))
            file.seek(self._at)
            while chunk := file.read(CHUNK):
                self._at += len(chunk)
                *lines, self._torn = (self._torn + chunk).split(b"\n")
                yield [row for line in lines if (row := self._row(line)) is not None]

    def _rewind_if_replaced(self, now: os.stat_result) -> None:
        if (now.st_dev, now.st_ino) != self._seen or now.st_size < self._at:
            self._seen, self._at, self._torn = (now.st_dev, now.st_ino), 0, b""
            self._before = self._elapsed = 0.0

    def _row(self, line: bytes) -> Row | None:
        """None of a line that a kill has torn."""
        try:
            values = json.loads(line)
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
