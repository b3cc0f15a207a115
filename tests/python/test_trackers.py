"""Trackers: each point of a run once, in the real wandb (offline) and mlflow (a database, a server on loopback)."""

import contextlib
import fcntl
import gc
import json
import math
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import types
import urllib.request

import pytest
from conftest import Cli

import penstock
from penstock import trackers
from penstock._follow import Run, Tail

pytest.importorskip("wandb")
pytest.importorskip("sqlalchemy")
pytest.importorskip("mlflow")

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SADeprecationWarning")  # of mlflow with sqlalchemy 2.1
SMALL = {"run.eval_episodes": 2, "run.save_every_s": 0.0}
penstock_cli = Cli([sys.executable, "-m", "penstock"])


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    """Nothing leaves this machine, nothing lands in anyone's home."""
    for name in list(os.environ):
        if name.startswith(("WANDB_", "MLFLOW_")):
            monkeypatch.delenv(name)
    values = {"MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_ERROR_REPORTING": "false", "WANDB_SILENT": "true",
              "WANDB_CONSOLE": "off"}  # its hooks outlive its runs
    values |= {f"WANDB_{kind}DIR": str(tmp_path / "wandb-home") for kind in ("CONFIG_", "CACHE_", "DATA_")}
    values |= {"WANDB_DIR": str(tmp_path), "no_proxy": "127.0.0.1"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(penstock_cli, "environment", {**os.environ})
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.chdir(tmp_path)
    yield
    if hasattr(sys.modules.get("wandb"), "teardown"):
        sys.modules["wandb"].teardown()  # it would keep the folders of its first use


@pytest.fixture
def start():
    """Starts `penstock ...` beside the test; nothing of it outlives the test."""
    processes = []

    def begin(*args):
        processes.append(penstock_cli.start(*args))
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.communicate()


def ppo(run_dir, **keys):
    return penstock.PPO("cartpole", 16, 3, verbose=0, run_dir=run_dir, **{**SMALL, **keys})


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    run = tmp_path_factory.mktemp("trained") / "first"
    ppo(run).learn(65_536)
    return run


@pytest.fixture
def run(trained, tmp_path):
    return pathlib.Path(shutil.copytree(trained, tmp_path / "runs" / "first"))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A database takes seconds to make: one for all."""
    return f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db"


def written(run):
    """{name: [(step, value)]} of a run directory."""
    points = {}
    for line in (run / "metrics.jsonl").read_text().splitlines():
        values = json.loads(line)
        step = values.pop("step")
        for name, value in values.items():
            points.setdefault(name, []).append((step, math.nan if value is None else value))
    return points


def same(found, expected):
    """As equal, but NaN is equal to NaN."""
    assert found.keys() == expected.keys()
    for name in expected:
        assert repr(sorted(found[name])) == repr(expected[name]), name


def wandb_records(kind):
    for path in sorted(pathlib.Path("wandb").glob("offline-run-*/*.wandb"), key=lambda path: path.stat().st_mtime_ns):
        for record in trackers.offline_records(path):
            if record.WhichOneof("record_type") == kind:
                yield getattr(record, kind)


def wandb_points():
    points = {}
    for history in wandb_records("history"):
        for item in history.item:
            name = item.key or "/".join(item.nested_key)
            if not name.startswith("_"):
                points.setdefault(name, []).append((history.step.num, float(json.loads(item.value_json))))
    return points


def wandb_dict(kind):
    updates = [item for record in wandb_records(kind) for item in record.update]
    if kind == "config":
        updates = [item for record in wandb_records("run") for item in record.config.update] + updates
    return {item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in updates}


def mlflow_run(uri, run, experiment="penstock"):
    import mlflow
    client = mlflow.MlflowClient(uri)
    found = client.search_runs([client.get_experiment_by_name(experiment).experiment_id],
                               f"tags.`penstock.run` = '{Run(run).id}'")
    assert len(found) == 1  # found again, not made again
    points = {name: [(point.step, point.value) for point in client.get_metric_history(found[0].info.run_id, name)]
              for name in found[0].data.metrics}
    return found[0], points


@contextlib.contextmanager
def locked(run):
    """As if a process were at work in it."""
    with open(run / ".lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def wait_until(condition, seconds=60):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


class Memory(trackers.Sink):
    """A tracker that can be away."""

    def __init__(self, last=None, first_step=0):
        self.rows, self.params, self.results, self.status, self.away = [], {}, {}, None, False
        self.last, self.first_step = last or {}, first_step

    def last_steps(self):
        return dict(self.last)

    def config(self, values):
        self.params |= values

    def metrics(self, rows):
        if self.away:
            raise trackers.PeerError("away")
        self.rows += rows

    def summary(self, values):
        self.results |= values

    def close(self, status):
        self.status = status

    def points(self):
        points = {}
        for row in self.rows:
            for name, value in row.values.items():
                points.setdefault(name, []).append((row.step, value))
        return points


class TestTail:
    @pytest.fixture
    def file(self, run):
        path = run / "metrics.jsonl"
        path.write_text("")
        return path

    def read(self, tail):
        return [row for rows in tail.batches() for row in rows]

    def append(self, file, text):
        with open(file, "a") as out:
            out.write(text)

    def test_a_line_counts_once_it_is_whole(self, run, file):
        tail = Tail(Run(run))
        self.append(file, '{"step":1,"a":1.5}\n{"step":2,')
        assert [(row.step, row.values) for row in self.read(tail)] == [(1, {"a": 1.5})]
        assert self.read(tail) == []
        self.append(file, '"a":2}\n')
        assert [(row.step, row.values) for row in self.read(tail)] == [(2, {"a": 2.0})]

    def test_lines_that_are_none_are_left_out(self, run, file):
        self.append(file, '{"step":1,"a":\n[]\n{"a":1}\n{"step":"x"}\n\xff\n{"step":2,"a":null,"b":"text"}\n')
        row, = self.read(Tail(Run(run)))
        assert row.step == 2 and list(row.values) == ["a"] and math.isnan(row.values["a"])

    @pytest.mark.parametrize("replaced", [True, False])
    def test_a_shorter_file_is_read_from_its_beginning(self, run, file, replaced):
        tail = Tail(Run(run))
        self.append(file, '{"step":1}\n{"step":2}\n{"step":3}\n{"st')
        assert len(self.read(tail)) == 3
        other = file.with_name(".tmp-metrics.jsonl") if replaced else file
        other.write_text('{"step":1}\n')
        os.replace(other, file)
        self.append(file, '{"step":2}\n{"step":3}\n{"step":4}\n{"step":5}\n' if replaced else "")
        assert [row.step for row in self.read(tail)] == ([1, 2, 3, 4, 5] if replaced else [1])

    def test_more_than_a_chunk(self, run, file, monkeypatch):
        monkeypatch.setattr("penstock._follow.CHUNK", 7)
        self.append(file, "".join(f'{{"step":{step}}}\n' for step in range(50)))
        assert [row.step for row in self.read(Tail(Run(run)))] == list(range(50))

    def test_time_goes_on_when_a_run_is_resumed(self, run, file):
        for step, elapsed in enumerate((10, 20, 5)):
            self.append(file, f'{{"step":{step},"time/time_elapsed":{elapsed}}}\n')
        self.append(file, '{"step":2,"eval/mean_reward":1}\n')
        created = Run(run).created
        assert [row.at - created for row in self.read(Tail(Run(run)))] == [10, 20, 25, 25]

    def test_no_file_yet(self, run, file):
        file.unlink()
        assert self.read(Tail(Run(run))) == []


class TestRun:
    def test_id(self, run, tmp_path):
        first = Run(run).id
        ppo_again = penstock.PPO.load(run, verbose=0)
        ppo_again.learn(1024)
        assert Run(run).id == first and len(first) == 16
        assert Run(shutil.copytree(run, tmp_path / "elsewhere" / "first")).id == first
        assert Run(shutil.copytree(run, tmp_path / "elsewhere" / "second")).id != first

    def test_status(self, run):
        assert Run(run).status() == "finished"
        with locked(run):
            assert Run(run).status() == "running"
        for line, status in (("total_timesteps = 400000", "stopped"), ("total_episodes = 10", "finished")):
            key = line.split()[0]
            text = (run / "config.toml").read_text()
            (run / "config.toml").write_text("\n".join(line if x.startswith(key) else x for x in text.splitlines()))
            assert Run(run).status() == status

    def test_status_by_reward(self, tmp_path):
        model = ppo(tmp_path / "run", **{"run.stop_at_reward": 30.0, "total_timesteps": 10_000_000})
        model.learn()
        assert not model.summary.preempted and model.num_timesteps < 10_000_000
        assert Run(tmp_path / "run").status() == "finished"

    def test_looking_at_the_lock_does_not_keep_it(self, run):
        assert not Run(run).is_locked()
        with locked(run):
            assert Run(run).is_locked()

    def test_params(self, run):
        params = Run(run).params()
        assert params["ppo.clip"] == 0.2 and params["net.hidden"] == [64, 64] and params["env.id"] == "cartpole"
        assert params["manifest.seed"] == 3 and params["manifest.machine.host"] == socket.gethostname()


class TestUpload:
    def test_a_rewound_run_has_each_point_once(self, run):
        file, sink = run / "metrics.jsonl", Memory()
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(lines[:40]))
        upload = trackers.Upload(Run(run), sink)
        upload.poll()
        assert len(sink.rows) == 40
        (run / "new").write_text("".join(lines[:20]))
        os.replace(run / "new", file)
        upload.poll()
        with open(file, "a") as out:
            out.writelines(lines[20:])
        upload.poll()
        same(sink.points(), written(run))
        assert upload.num_rows == len(sink.rows) == len(lines) and upload.last_step == 65_536

    def test_what_is_there_is_not_sent(self, run):
        sink = Memory(last={"rollout/ep_rew_mean": 30_000})
        trackers.Upload(Run(run), sink).poll()
        assert min(sink.points()["rollout/ep_rew_mean"])[0] == 30_720 and min(sink.points()["time/fps"])[0] == 1024
        sink = Memory(first_step=30_001)  # what wandb's server says of a resumed run
        trackers.Upload(Run(run), sink).poll()
        assert {name: min(points)[0] for name, points in sink.points().items() if name[:4] != "eval"} == dict.fromkeys(
            (name for name in written(run) if name[:4] != "eval"), 30_720)

    def test_a_tracker_that_was_away_gets_everything(self, run):
        sink = Memory()
        upload = trackers.Upload(Run(run), sink)
        sink.away = True
        for _ in range(2):
            with pytest.raises(trackers.PeerError):
                upload.poll()
        sink.away = False
        upload.poll()
        same(sink.points(), written(run))


class TestWandb:
    def test_upload(self, run, capsys):
        assert trackers.main([str(run), "--to", "wandb", "--offline", "--project", "mine", "--json"]) == 0
        done = json.loads(capsys.readouterr().out)
        assert done["rows"] == 65 and done["step"] == 65_536 and done["status"] == "finished"
        same(wandb_points(), written(run))
        about, = {(record.project, record.display_name, record.run_id) for record in wandb_records("run")}
        assert about == ("mine", "first", Run(run).id)
        config = wandb_dict("config")
        assert config["ppo.clip"] == 0.2 and config["net.hidden"] == [64, 64] and config["manifest.seed"] == 3
        assert wandb_dict("summary")["total_timesteps"] == 65_536

    def test_twice(self, run, capsys):
        for rows in (65, 0):
            assert trackers.main([str(run), "--to", "wandb", "--offline", "--json"]) == 0
            assert json.loads(capsys.readouterr().out)["rows"] == rows
        same(wandb_points(), written(run))

    def test_after_a_kill_the_rest_follows(self, run):
        assert trackers.main([str(run), "--to", "wandb", "--offline"]) == 0
        file, = pathlib.Path("wandb").glob("offline-run-*/*.wandb")
        os.truncate(file, file.stat().st_size // 2)
        assert 10 < len(wandb_points()["time/fps"]) < 60
        assert trackers.main([str(run), "--to", "wandb", "--offline"]) == 0
        same(wandb_points(), written(run))

    def test_callback(self, tmp_path):
        tracker = trackers.WandbTracker(project="mine", mode="offline", tags=["a"], every_s=0)
        model = ppo(tmp_path / "run")
        model.learn(4096, callbacks=tracker)
        same(wandb_points(), written(tmp_path / "run"))
        assert wandb_dict("summary")["digest"] == model.digest
        model.learn(4096, callbacks=tracker)
        same(wandb_points(), written(tmp_path / "run"))
        assert len(wandb_points()["time/fps"]) == 8 and wandb_dict("config")["total_timesteps"] == 8192
        assert list(next(wandb_records("run")).tags) == ["a"]

    def test_a_file_that_is_not_whole_yet_is_waited_for(self, run, monkeypatch):
        real, looks = trackers.offline_records, []
        monkeypatch.setattr(trackers, "offline_records", lambda path: looks.append(path) or real(path))
        monkeypatch.setattr("wandb.sdk.wandb_run.Run.finish", lambda self, exit_code: None)
        monkeypatch.setattr(trackers, "FLUSH_SECONDS", 0.2)
        trackers.WandbSink(Run(run), mode="offline").close("finished")
        assert len(looks) > 1

    def test_records_of_a_leveldb_log(self):
        def frame(kind, data):
            return struct.pack("<IHB", 0, len(data), kind) + data

        first = b"a" * ((1 << 15) - 7 - 7 - 3)  # leaves three bytes of the block, too few for a frame
        whole = b":W&B..." + frame(1, first) + bytes(3) + frame(2, b"b") + frame(3, b"c") + frame(4, b"d")
        assert list(trackers.leveldb_records(whole)) == [first, b"bcd"]
        assert list(trackers.leveldb_records(whole[:-1])) == [first]
        assert list(trackers.leveldb_records(whole + bytes(40))) == [first, b"bcd"]

    def test_no_key_is_told(self, run, monkeypatch, capsys):
        monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
        monkeypatch.setenv("NETRC", str(run / "none"))
        assert trackers.main([str(run), "--to", "wandb"]) == 69
        assert "--offline" in capsys.readouterr().err


class TestMlflow:
    def test_upload(self, run, store, capsys):
        file = run / "metrics.jsonl"
        file.write_text(file.read_text() + '{"step":70000,"train/loss":null,"time/time_elapsed":100.0}\n')
        arguments = [str(run), "--to", "mlflow", "--tracking-uri", store, "--name", "named", "--json"]
        for rows in (66, 0):
            assert trackers.main(arguments) == 0
            assert json.loads(capsys.readouterr().out)["rows"] == rows
        found, points = mlflow_run(store, run)
        same(points, written(run))
        assert found.info.status == "FINISHED" and found.info.run_name == "named"
        assert found.info.start_time == Run(run).created * 1000
        assert found.data.params["ppo.clip"] == "0.2" and found.data.params["net.hidden"] == "[64, 64]"
        assert found.data.params["normalise.obs"] == "false" and found.data.tags["summary.total_timesteps"] == "65536"

    def test_callback(self, tmp_path, store):
        tracker = trackers.MlflowTracker(store, experiment="mine", every_s=0)
        model = ppo(tmp_path / "run")
        model.learn(4096, callbacks=tracker)
        model.learn(4096, callbacks=tracker)
        found, points = mlflow_run(store, tmp_path / "run", "mine")
        same(points, written(tmp_path / "run"))
        assert found.info.status == "FINISHED" and found.data.tags["summary.digest"] == model.digest
        assert found.data.params["total_timesteps"] == "4096"  # for ever
        assert found.data.tags["resumed.total_timesteps"] == "8192"

    def test_a_learn_that_fails_is_told(self, tmp_path, store):
        def fail(model, progress, metrics):
            raise KeyError("mine")

        tracker, model = trackers.MlflowTracker(store), ppo(tmp_path / "run")
        with pytest.raises(KeyError):
            model.learn(4096, callbacks=[tracker, fail])
        assert mlflow_run(store, tmp_path / "run")[0].info.status == "RUNNING"
        del tracker
        gc.collect()
        assert mlflow_run(store, tmp_path / "run")[0].info.status == "FAILED"
        model.learn(4096, callbacks=trackers.MlflowTracker(store))
        found, points = mlflow_run(store, tmp_path / "run")
        assert found.info.status == "FINISHED"
        same(points, written(tmp_path / "run"))

    def test_no_server(self, run, capsys):
        with socket.socket() as taken:  # bound, not listening: refused
            taken.bind(("127.0.0.1", 0))
            uri = f"http://127.0.0.1:{taken.getsockname()[1]}"
            assert trackers.main([str(run), "--to", "mlflow", "--tracking-uri", uri]) == 69
            with pytest.raises(trackers.PeerError):
                ppo(run.parent / "other").learn(1024, callbacks=trackers.MlflowTracker(uri))
        assert "penstock: mlflow: " in capsys.readouterr().err

    def test_a_server(self, run, tmp_path):
        pytest.importorskip("flask", reason="mlflow-skinny has no server")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        uri = f"http://127.0.0.1:{port}"
        server = subprocess.Popen([sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port),
                                   "--workers", "1", "--backend-store-uri", f"sqlite:///{tmp_path}/server.db",
                                   "--artifacts-destination", str(tmp_path / "artifacts")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: server.poll() is not None or answers(uri + "/health"))
            for _ in range(2):
                assert trackers.main([str(run), "--to", "mlflow", "--tracking-uri", uri]) == 0
            found, points = mlflow_run(uri, run)
            same(points, written(run))
            assert found.info.status == "FINISHED"
        finally:
            server.terminate()
            server.wait(30)


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=1).status == 200
    except OSError:
        return False


class Watched(trackers.Tracker):
    def __init__(self, memory, **options):
        super().__init__(**options)
        self.memory = memory

    def sink(self, run):
        return self.memory


class TestCallback:
    def test_a_tracker_that_is_away_does_not_stop_the_run(self, tmp_path):
        memory = Memory()
        memory.away = True
        with pytest.warns(UserWarning, match="away; training goes on"):
            model = ppo(tmp_path / "run").learn(4096, callbacks=Watched(memory))
        assert model.summary.total_timesteps == 4096 and memory.rows == []

    def test_points_are_sent_while_it_runs(self, tmp_path):
        memory, seen = Memory(), []
        ppo(tmp_path / "run").learn(4096, callbacks=[
            Watched(memory, every_s=0), lambda model, progress, metrics: seen.append(memory.rows[-1].step)])
        assert seen == [1024, 2048, 3072, 4096, 4096]
        assert memory.status == "finished"

    def test_a_fast_run_is_not_slowed(self, tmp_path):
        memory, calls = Memory(), []
        memory.metrics = lambda rows: calls.append(len(rows))
        ppo(tmp_path / "run").learn(32_768, callbacks=Watched(memory, every_s=1000))
        assert calls == [1, 32]


class TestCommandLine:
    def test_following_a_run_that_is_killed_and_resumed(self, tmp_path, store, start, capsys):
        run = tmp_path / "run"
        follower = start("track", run, "--to", "mlflow", "--tracking-uri", store, "--follow", "--json")  # too early
        training = start("train", "--num-envs", 64, "--total-timesteps", 10**9, "--run-dir", run,
                         *("--set", "run.log_interval=5", "--set", "run.save_every_s=0"),
                         *("--set", "ppo.learning_rate_schedule=constant"))  # total_timesteps will change
        file = run / "metrics.jsonl"
        wait_until(lambda: file.exists() and file.read_text().count("\n") > 5)
        assert follower.poll() is None
        training.kill()
        training.communicate(timeout=20)
        out, err = follower.communicate(timeout=20)
        assert follower.returncode == 0 and json.loads(out)["status"] == "stopped", err
        found, points = mlflow_run(store, run)
        assert found.info.status == "KILLED"
        same(points, written(run))

        before = points["time/fps"][-1][0]  # it resumes from step 0, its one checkpoint: all is rewound
        penstock_cli("resume", run, "--total-timesteps", before + 200_000)
        assert trackers.main([str(run), "--to", "mlflow", "--tracking-uri", store, "--follow", "--json"]) == 0
        done = json.loads(capsys.readouterr().out)
        found, points = mlflow_run(store, run)
        assert done["status"] == "finished" and found.info.status == "FINISHED"
        steps = [step for step, _ in written(run)["train/loss"]]
        assert steps[-1] > before > steps[0] and 0 < done["rows"] < len(steps)
        assert {name: [step for step, _ in sorted(points[name])] for name in ("train/loss", "time/fps")} == {
            "train/loss": steps, "time/fps": steps}
        assert sorted(points["train/loss"]) == written(run)["train/loss"]  # resumed runs have the same bits

    def test_ctrl_c_ends_following_and_leaves_the_run_running(self, run, store, start):
        run = run.rename(run.with_name("interrupted"))
        with locked(run):
            follower = start("track", run, "--to", "mlflow", "--tracking-uri", store, "--follow")
            wait_until(lambda: follower.poll() is not None or mlflow_has(store, run))
            assert follower.poll() is None
            follower.send_signal(signal.SIGINT)
            out, err = follower.communicate(timeout=20)
        assert follower.returncode == 128 + signal.SIGINT and "65 new rows" in out, err
        assert mlflow_run(store, run)[0].info.status == "RUNNING"

    def test_a_run_that_is_about_to_begin_is_waited_for(self, run, monkeypatch):
        monkeypatch.setattr(trackers, "POLL_SECONDS", 0.01)
        late, stop = run.with_name("late"), trackers.Stop()
        timer = threading.Timer(0.2, lambda: run.rename(late))
        timer.start()
        assert trackers.find_run(str(late), 20, stop).name == "late"
        timer.join()
        stop.set()
        assert trackers.find_run(str(run), 20, stop) is None

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_signals(self, number):
        before = signal.getsignal(number)
        with trackers.Stop() as stop:
            assert not stop.wait(0)
            os.kill(os.getpid(), number)
            assert stop.wait(5) and stop.number == number
            assert signal.getsignal(number) == signal.SIG_DFL  # the second one ends it at once
        assert signal.getsignal(number) == before

    def test_exit_codes(self, run, tmp_path, capsys):
        def code(*arguments):
            try:
                return trackers.main([str(argument) for argument in arguments])
            except SystemExit as end:
                return end.code

        assert code(run) == code(run, "--to", "comet") == code(run, "--to", "wandb", "--offlin") == 2
        assert code(run, "--to", "mlflow", "--offline") == code(run, "--to", "wandb", "--tracking-uri", "x") == 2
        assert code("--help") == 0
        assert code(tmp_path / "none", "--to", "wandb", "--offline") == 65
        assert "not a run directory" in capsys.readouterr().err
        (run / "manifest.json").write_text("{")
        assert code(run, "--to", "wandb", "--offline") == 65

    @pytest.mark.parametrize("name", ["wandb", "mlflow"])
    def test_a_package_that_is_not_there(self, run, capsys, monkeypatch, name):
        folder = types.ModuleType(name)
        folder.__file__ = None
        for module in (None, folder):  # not there; a folder of that name, which looks like a package
            monkeypatch.setitem(sys.modules, name, module)
            assert trackers.main([str(run), "--to", name]) == 69
            assert f"pip install 'penstock[{name}]'" in capsys.readouterr().err
            with pytest.raises(ImportError, match="pip install"):
                {"wandb": trackers.WandbTracker, "mlflow": trackers.MlflowTracker}[name]()


def mlflow_has(uri, run):
    """Whether the last point has come."""
    import mlflow
    client = mlflow.MlflowClient(uri)
    group = client.get_experiment_by_name("penstock")
    found = client.search_runs([group.experiment_id], f"tags.`penstock.run` = '{Run(run).id}'") if group else []
    return bool(found) and "eval/mean_reward" in found[0].data.metrics
