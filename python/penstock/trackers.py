"""Runs in Weights & Biases and MLflow: live as a callback of learn(), or of any run directory by `penstock track`.

    model.learn(400_000, callbacks=penstock.trackers.WandbTracker(project="cartpole"))

Both ways read metrics.jsonl, and both find a run again that they have seen before: a run that is killed, resumed and
tracked twice has each point once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import pathlib
import signal
import struct
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self

from penstock_worker.strangers import printable

from penstock._base import DataError, Error
from penstock._extras import package
from penstock._follow import Row, Run, Tail
from penstock._values import flat, text_of
from penstock.callbacks import Callback, Metrics

if TYPE_CHECKING:
    from penstock._core import Progress, Summary
    from penstock.ppo import PPO

POLL_SECONDS = 1.0  # between two looks at a run that goes on
RETRY_SECONDS = 30.0  # before a tracker that did not answer is asked again
PATIENCE_SECONDS = 600.0  # until `track --follow` gives up on it
FLUSH_SECONDS = 5.0  # that wandb may take to write its file
START_SECONDS = 60.0  # that `track --follow` waits for a run to begin


class PeerError(Error, ConnectionError):
    """A tracker does not answer or refuses us. What it lacks is in the run directory and can follow later."""

    exit_code = 69


class Sink:
    """A run in a tracker. Its points are those of `first_step` or later, and later than last_steps()."""

    first_step = 0

    def last_steps(self) -> dict[str, int]:
        """By metric, the last step that is there already."""
        return {}

    def config(self, values: dict[str, Any]) -> None:
        raise NotImplementedError

    def metrics(self, rows: list[Row]) -> None:
        raise NotImplementedError

    def summary(self, values: dict[str, Any]) -> None:
        raise NotImplementedError

    def close(self, status: str) -> None:
        """Status is finished, stopped, failed, or running when the run goes on without us."""
        raise NotImplementedError

    def where(self) -> str:
        """For people: where to look at it."""
        raise NotImplementedError


class WandbSink(Sink):
    """The run's id is a function of its manifest. The server tells how far it is; offline, earlier files do."""

    def __init__(self, run: Run, *, project: str | None = None, name: str | None = None, mode: str | None = None,
                 **init: Any):
        wandb = package("wandb")
        try:
            self._run = wandb.init(project=project or os.environ.get("WANDB_PROJECT", "penstock"),
                                   name=name or run.name, id=run.id, resume="allow", mode=mode, reinit="create_new",
                                   **init)
        except wandb.Error as error:
            raise PeerError(f"wandb: {error}; without a server: --offline, mode=\"offline\"") from error
        self.first_step = self._run.starting_step

    def last_steps(self) -> dict[str, int]:
        if not self._run.offline:
            return {}
        found: dict[str, int] = {}
        ours = pathlib.Path(self._run.settings.sync_file)
        for path in pathlib.Path(self._run.settings.wandb_dir).glob(f"*/run-{self._run.id}.wandb"):
            records = offline_records(path) if path.resolve() != ours.resolve() else iter(())
            for history in (record.history for record in records if record.HasField("history")):
                names = ["/".join(item.nested_key) or item.key for item in history.item]
                found |= {name: max(history.step.num, found.get(name, -1)) for name in names}
        return found

    def config(self, values: dict[str, Any]) -> None:
        self._run.config.update(values, allow_val_change=True)

    def metrics(self, rows: list[Row]) -> None:
        for row in rows:
            self._run.log(row.values, step=row.step)

    def summary(self, values: dict[str, Any]) -> None:
        self._run.summary.update(values)

    def close(self, status: str) -> None:
        self._run.finish(exit_code=1 if status == "failed" else 0)
        until = time.monotonic() + FLUSH_SECONDS
        while self._run.offline and time.monotonic() < until:  # finish() returns before the file is whole
            if any(record.HasField("exit") for record in offline_records(pathlib.Path(self._run.settings.sync_file))):
                break
            time.sleep(0.01)

    def where(self) -> str:
        if self._run.offline:
            return f"{self._run.settings.sync_dir}; upload it with: wandb sync"
        return self._run.url or self._run.settings.sync_dir


def offline_records(path: pathlib.Path) -> Iterator[Any]:
    """What is in a file of wandb, a LevelDB log of protobuf records. A torn end is left out."""
    from wandb.proto.wandb_internal_pb2 import Record  # type: ignore[attr-defined]

    return map(Record.FromString, leveldb_records(path.read_bytes()))


def leveldb_records(data: bytes, block: int = 1 << 15, head: int = 7) -> Iterator[bytes]:
    """Frames `u32 crc | u16 size | u8 type` never cross blocks; type 1 is whole, 2 3 4 begin, go on, end."""
    at, record = head, b""  # the file begins with 7 bytes of its own
    while at + head <= len(data):
        left = block - at % block
        if left < head:
            at += left
            continue
        _, size, kind = struct.unpack_from("<IHB", data, at)
        if kind == 0 or at + head + size > len(data):
            return
        record = data[at + head:at + head + size] if kind <= 2 else record + data[at + head:at + head + size]
        at += head + size
        if kind in (1, 4):
            yield record


class MlflowSink(Sink):
    """The run carries the tag penstock.run. Params are for ever in MLflow: what a resume changed becomes a tag."""

    STATUS: ClassVar = {"finished": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}
    MAX_METRICS, MAX_PARAMS, MAX_TEXT = 1000, 100, 5000  # of one request, and of one value

    def __init__(self, run: Run, *, experiment: str | None = None, name: str | None = None,
                 tracking_uri: str | None = None):
        # MLflow would try for minutes; we have an own way to try again, and training should not wait for it.
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
        os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")
        mlflow = package("mlflow")
        self._entities, self._error = mlflow.entities, mlflow.MlflowException
        with self._peer():
            self._client = mlflow.MlflowClient(tracking_uri)
            self._uri = self._client.tracking_uri
            group = self._experiment(experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME", "penstock"))
            found = self._client.search_runs([group], f"tags.`penstock.run` = '{run.id}'", max_results=1)
            self._run = found[0] if found else self._client.create_run(
                group, start_time=int(run.created * 1000), run_name=name or run.name, tags={"penstock.run": run.id})
            self._id = self._run.info.run_id
            if found:
                self._client.update_run(self._id, status="RUNNING", name=name)

    def _experiment(self, name: str) -> str:
        try:
            return self._client.create_experiment(name)
        except self._error:
            found = self._client.get_experiment_by_name(name)
            if found is None:
                raise
            return found.experiment_id

    def last_steps(self) -> dict[str, int]:
        with self._peer():
            return {name: max(point.step for point in self._client.get_metric_history(self._id, name))
                    for name in self._run.data.metrics}

    def config(self, values: dict[str, Any]) -> None:
        texts = {key: text_of(value)[:self.MAX_TEXT] for key, value in values.items()}
        there = self._run.data.params
        params = [self._entities.Param(key, text) for key, text in texts.items() if key not in there]
        changed = {f"resumed.{key}": text for key, text in texts.items() if there.get(key, text) != text}
        with self._peer():
            for at in range(0, len(params), self.MAX_PARAMS):
                self._client.log_batch(self._id, params=params[at:at + self.MAX_PARAMS])
            self._tags(changed)

    def metrics(self, rows: list[Row]) -> None:
        points = [self._entities.Metric(name, value, int(row.at * 1000), row.step)
                  for row in rows for name, value in row.values.items()]
        with self._peer():
            for at in range(0, len(points), self.MAX_METRICS):  # a point that is sent twice is there once
                self._client.log_batch(self._id, metrics=points[at:at + self.MAX_METRICS])

    def summary(self, values: dict[str, Any]) -> None:
        with self._peer():
            self._tags({f"summary.{key}": text_of(value) for key, value in values.items()})

    def close(self, status: str) -> None:
        with self._peer():
            if status in self.STATUS:
                self._client.set_terminated(self._id, self.STATUS[status])

    def where(self) -> str:
        return f"{self._uri}, run {self._id}"

    def _tags(self, texts: dict[str, str]) -> None:
        if texts:
            self._client.log_batch(self._id, tags=[self._entities.RunTag(key, text) for key, text in texts.items()])

    @contextlib.contextmanager
    def _peer(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            raise PeerError(f"mlflow: {error}") from error


class Upload:
    """Carries what a tracker lacks from a run directory to it."""

    def __init__(self, run: Run, sink: Sink):
        self.run, self.sink = run, sink
        self.num_rows, self.last_step = 0, sink.first_step - 1
        self._tail = Tail(run)
        self._last = sink.last_steps()
        self._pending: list[Row] = []
        sink.config(run.params())

    def poll(self) -> None:
        """Sends what is new. After a PeerError the next call sends it."""
        self._send()
        for rows in self._tail.batches():
            self._pending += [new for row in rows if (new := self._new(row)).values]
            self._send()

    def end(self, status: str, summary: dict[str, Any]) -> None:
        """The last points, the summary, and the end of it."""
        self._send()
        self.sink.summary(summary)
        self.sink.close(status)

    def _new(self, row: Row) -> Row:
        """What of it is not there yet. A step may have two lines: of training, and of an evaluation."""
        fresh = {name: value if math.isfinite(value) else math.nan for name, value in row.values.items()
                 if row.step > self._last.get(name, self.sink.first_step - 1)}
        self._last |= dict.fromkeys(fresh, row.step)
        self.last_step = max(self.last_step, row.step)
        return row._replace(values=fresh)

    def _send(self) -> None:
        if self._pending:
            self.sink.metrics(self._pending)
            self.num_rows += len(self._pending)
            self._pending = []


class Tracker(Callback):
    """Sends a run to a tracker while learn() is at work. One that stops to answer does not stop the run: its points
    follow when it is back, or by `penstock track`."""

    def __init__(self, every_s: float = POLL_SECONDS):
        self.every_s = every_s
        self._upload: Upload | None = None
        self._due = 0.0

    def sink(self, run: Run) -> Sink:
        """Where the run goes."""
        raise NotImplementedError

    def on_start(self, model: PPO) -> None:
        assert model.run_dir is not None
        self.close()  # a learn() before this one may have failed
        run = Run(model.run_dir)
        sink = self.sink(run)
        self._finalizer = weakref.finalize(self, sink.close, "failed")  # unless on_end comes first
        self._upload = Upload(run, sink)
        self._due = 0.0

    def on_log(self, model: PPO, progress: Progress, metrics: Metrics) -> bool | None:
        if self._upload is not None and time.monotonic() >= self._due:
            wait = self.every_s if self._try(self._upload.poll) else RETRY_SECONDS
            self._due = time.monotonic() + wait
        return False

    def on_end(self, model: PPO, summary: Summary) -> None:
        upload, self._upload = self._upload, None
        if upload is None:
            return
        self._finalizer.detach()
        results = dict(flat(json.loads(summary.line())))
        if self._try(upload.poll):
            self._try(lambda: upload.end("finished", results))

    def close(self) -> None:
        """Ends a run whose learn() raised, as failed; so does the end of the program. The next learn() goes on."""
        if self._upload is not None:
            self._upload = None
            self._try(self._finalizer)

    def _try(self, action: Any) -> bool:
        try:
            action()
        except PeerError as error:
            warnings.warn(f"{error}; training goes on, the points are in metrics.jsonl", stacklevel=3)
            return False
        return True


class WandbTracker(Tracker):
    """Weights & Biases. mode="offline" needs no server; other keywords are those of wandb.init: entity, tags, dir."""

    def __init__(self, project: str | None = None, name: str | None = None, mode: str | None = None, *,
                 every_s: float = POLL_SECONDS, **init: Any):
        package("wandb")
        super().__init__(every_s)
        self._options = {"project": project, "name": name, "mode": mode, **init}

    def sink(self, run: Run) -> Sink:
        return WandbSink(run, **self._options)


class MlflowTracker(Tracker):
    """MLflow, at a server or in a database: tracking_uri="http://host:5000" or "sqlite:///mlflow.db"."""

    def __init__(self, tracking_uri: str | None = None, experiment: str | None = None, name: str | None = None, *,
                 every_s: float = POLL_SECONDS):
        package("mlflow")
        super().__init__(every_s)
        self._options = {"tracking_uri": tracking_uri, "experiment": experiment, "name": name}

    def sink(self, run: Run) -> Sink:
        return MlflowSink(run, **self._options)


class Stop(threading.Event):
    """Set by the first SIGINT or SIGTERM; the second ends the process at once."""

    number = 0

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, _: object) -> None:
        self.number = number
        for each in self._before:
            signal.signal(each, signal.SIG_DFL)
        self.set()


def say(text: str) -> None:
    print(f"penstock: {printable(text)}", file=sys.stderr, flush=True)


def find_run(path: str, wait_s: float, stop: Stop) -> Run | None:
    """The run in a directory, which may be about to begin; None when we are to stop before."""
    until = time.monotonic() + wait_s
    manifest = pathlib.Path(path) / "manifest.json"  # the last file that a run begins with
    if wait_s > 0 and not manifest.exists():
        say(f"{path}: waiting for a run")
    while not manifest.exists() and time.monotonic() < until:
        if stop.wait(POLL_SECONDS):
            return None
    return Run(path)


def follow(upload: Upload, stop: Stop) -> None:
    """Until the run has ended or we are to stop."""
    answered = time.monotonic()
    while not stop.is_set():
        ended = not upload.run.is_locked()  # asked before reading: then nothing is written after it
        wait = POLL_SECONDS
        try:
            upload.poll()
            answered = time.monotonic()
            if ended:
                return
        except PeerError as error:
            if ended or time.monotonic() - answered > PATIENCE_SECONDS:
                raise
            wait = RETRY_SECONDS
            say(f"{error}; trying again in {wait:.0f} s")
        stop.wait(wait)


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="penstock track", allow_abbrev=False,
        description="Send a run to Weights & Biases or MLflow: what it lacks, and with --follow what comes.")
    parser.add_argument("run_dir", help="the run directory")
    parser.add_argument("--to", required=True, choices=["wandb", "mlflow"], help="the tracker")
    parser.add_argument("--follow", action="store_true", help="go on until the run ends")
    parser.add_argument("--project", help="wandb's project or mlflow's experiment; without it, penstock")
    parser.add_argument("--name", help="of the run in the tracker; without it, the directory's")
    parser.add_argument("--offline", action="store_true", help="wandb: into ./wandb, for `wandb sync`")
    parser.add_argument("--tracking-uri", help="mlflow: http://host:5000, sqlite:///mlflow.db")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON on stdout")
    args = parser.parse_args(argv)
    if args.offline and args.to == "mlflow":
        parser.error("--offline: mlflow needs no server with --tracking-uri sqlite:///mlflow.db")
    if args.tracking_uri and args.to == "wandb":
        parser.error("--tracking-uri: is for mlflow; wandb's server is set by WANDB_BASE_URL")
    return args


def make_sink(args: argparse.Namespace, run: Run) -> Sink:
    if args.to == "mlflow":
        return MlflowSink(run, experiment=args.project, name=args.name, tracking_uri=args.tracking_uri)
    settings = package("wandb").Settings(console="off", x_disable_stats=True)  # of this process, not the run's
    return WandbSink(run, project=args.project, name=args.name, mode="offline" if args.offline else None,
                     settings=settings)


def track(args: argparse.Namespace) -> int:
    package(args.to)
    with Stop() as stop:
        run = find_run(args.run_dir, START_SECONDS if args.follow else 0, stop)
        if run is None:
            return 128 + stop.number
        upload = Upload(run, make_sink(args, run))
        if args.follow:
            follow(upload, stop)
        else:
            upload.poll()
        where = upload.sink.where()
        summary = run.summary()
        upload.end(summary["status"], summary)
    done = {"to": args.to, "id": run.id, "rows": upload.num_rows, "step": upload.last_step, "status": summary["status"],
            "where": where}
    text = "{to}: {rows} new rows, up to step {step}; the run is {status}\n{where}".format(**done)
    print(json.dumps(done) if args.json else printable(text))
    return 128 + stop.number if stop.number else 0


def main(argv: list[str]) -> int:
    """penstock track RUN --to wandb|mlflow [--follow]; returns the exit code."""
    args = arguments(argv)
    try:
        return track(args)
    except Error as error:
        say(str(error))
        return 65 if isinstance(error, DataError) else error.exit_code
