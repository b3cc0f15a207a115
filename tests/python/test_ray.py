"""Samplers as actors of a real Ray, in a network and a tree of processes of their own.

PENSTOCK_TEST_LONG_RAY=1 kills 50 actors and 10 learners instead of some, stops one for a minute, and has a bad network (some 15 minutes).
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import processes
import pytest

import penstock
import penstock.ray

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import slow_link  # noqa: E402

LONG = os.environ.get("PENSTOCK_TEST_LONG_RAY") == "1"
# The shell is the first process of its tree, which a signal from inside would not reach.
ALONE = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh"]
DRIVER = pathlib.Path(__file__).parent / "ray_driver.py"


@pytest.fixture
def driver():
    """Runs ray_driver.py; its answer, or its exit code and what it said."""
    if subprocess.run([*ALONE, "true"], capture_output=True).returncode != 0:
        pytest.skip("no namespaces here: Ray's ports would be open to the network")
    temporary = tempfile.mkdtemp(prefix="r", dir="/tmp")  # short: the paths of sockets are

    def run(code=0, **wanted):
        done = subprocess.run([*ALONE, sys.executable, str(DRIVER), json.dumps({"temporary": temporary} | wanted)], timeout=1500 if LONG else 600,
                              capture_output=True, text=True)
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        answers = [line for line in done.stdout.splitlines() if line.startswith("{")]  # Ray has its say there too
        return json.loads(answers[-1]) if code == 0 else done.stderr

    run.temporary = temporary
    yield run
    shutil.rmtree(temporary, ignore_errors=True)


def arrivals(run):
    return [tuple(json.loads(line)) for line in (run / "arrivals.jsonl").read_text().splitlines()]


class TestDeaths:  # a class, and another process may run what comes after it meanwhile
    def test_actors_and_learner_die_and_the_order_of_arrivals_repeats_the_run(self, driver, tmp_path):
        """Killed anywhere it goes on, and the whole history has one digest."""
        run = tmp_path / "run"
        learners = 10 if LONG else 1
        each = 40_000 if LONG else 20_000  # steps between two deaths of the learner
        for sitting in range(learners):
            begin = {"resume": sitting > 0, "kill_actors": 4 if LONG else 0}
            driver(code=137, run=str(run), kill_here=each * (sitting + 1), **begin)
        ended = driver(run=str(run), resume=True, kill_actors=10 if LONG else 1, end_at=each * (learners + 1))
        assert ended["killed"] == (10 if LONG else 1)
        assert ended["lost"] >= 1  # who dies again before anything was asked of it is not missed

        order = arrivals(run)
        assert len({fragment[:3] for fragment in order}) == len(order)  # none twice
        assert max(epoch for _, epoch, _, _ in order) >= 1  # who came after a dead one began anew
        assert 0 <= ended["timesteps"] // (16 * 32) - max(version for *_, version in order) <= 1

        repeated = driver(run=str(tmp_path / "again"), replay=str(run / "arrivals.jsonl"), end_at=ended["timesteps"])
        assert repeated["digest"] == ended["digest"]
        assert repeated["lost"] == 0
        again = arrivals(tmp_path / "again")
        assert again == order[:len(again)]  # what arrived after the last update belongs to no run yet
        assert len(order) - len(again) <= 4  # two of each actor

        evaluated = penstock.PPO.load(run)
        assert evaluated.digest == ended["digest"]
        assert evaluated.num_timesteps == ended["timesteps"]
        with pytest.raises(penstock.DataError, match="penstock.ray.resume"):
            evaluated.learn(1000)


class TestStandstill:
    def test_envs_of_python_in_actors_and_who_stands_still(self, driver, tmp_path):
        """Of an actor, the others go on meanwhile, and what it brings too late is dropped; of the learner, no more is asked for."""
        run = tmp_path / "run"
        ended = driver(run=str(run), env="python", stop_actor=60 if LONG else 0.1, num_actors=2, rest=600 if LONG else 2,
                       config={"env.num_envs": 4, "rollout.shards": 2, "rollout.steps": 1024, "workers": 0,
                               "total_timesteps": 1_600_000 if LONG else 24_000})
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        lags = [line["async/lag"] for line in lines if "async/lag" in line]
        assert max(lags) <= 4
        assert min(line["async/seats"] for line in lines if "async/seats" in line) == 1  # one actor fed the learner alone
        assert ended["lost"] == 0
        assert max(ended["stored"]) < 5  # MB: two fragments of each actor, and versions


def test_an_env_that_fails_ends_the_run_and_is_told(driver, tmp_path):
    assert "the sensor is not there" in driver(code=1, run=str(tmp_path / "run"), env="failing", config={"workers": 0, "total_timesteps": 6_000})


TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "of-this-test"}
HEAD = """
set -e
ray start --head --node-ip-address $HERE --port 6380 --num-cpus 1 --include-dashboard false --temp-dir $TEMPORARY --object-store-memory 100000000 >&2
"$@"
"""
# Its files are its own, as on another machine.
FAR = """
set -e
mount -t tmpfs none $TEMPORARY
ray start --address $HEAD:6380 --node-ip-address $HERE --num-cpus 1 --object-store-memory 100000000 --block >&2
"""


@pytest.mark.skipif(not LONG, reason="minutes long: PENSTOCK_TEST_LONG_RAY=1")
def test_a_bad_network_and_a_node_that_is_lost(tmp_path, driver):
    """50 ms and 1 % of packets lost each way; the far node is killed three times, and cut off for a minute."""
    temporary = driver.temporary
    environment = os.environ | TOKEN | {"TEMPORARY": temporary, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    with slow_link.BadNetwork(2, delay_s=0.05, loss=0.01) as network, (tmp_path / "said").open("w") as said:
        here, far = network.address(0), network.address(1)
        wanted = {"run": str(tmp_path / "run"), "address": f"{here}:6380", "until": str(tmp_path / "enough")}
        tree = ["unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "sh", "-c"]
        learner = network.run(0, [*tree, HEAD, "sh", sys.executable, DRIVER, json.dumps(wanted)], env=environment | {"HERE": here},
                              stdout=subprocess.PIPE, stderr=said, text=True)

        def start_far():
            return network.run(1, [*tree, FAR], env=environment | {"HERE": far, "HEAD": here}, stdout=said, stderr=said)

        def seats():
            lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-3:]]
            return [line["async/seats"] for line in lines if "async/seats" in line]

        processes.wait_until(lambda: (tmp_path / "run" / "metrics.jsonl").exists() and seats(), 120)  # one actor has no room, the other feeds
        for _ in range(3):
            node = start_far()
            processes.wait_until(lambda: max(seats()) == 2, 120)
            node.kill()
            node.wait()
            processes.wait_until(lambda: max(seats()) == 1, 120)
        start_far()
        processes.wait_until(lambda: max(seats()) == 2, 120)
        network.cut(1)
        processes.wait_until(lambda: max(seats()) == 1, 120)
        time.sleep(60)
        before = len(arrivals(tmp_path / "run"))
        network.heal()
        start_far()  # Ray has given the old one up, which ends itself
        processes.wait_until(lambda: max(seats()) == 2, 240)
        assert len(arrivals(tmp_path / "run")) > before
        (tmp_path / "enough").touch()
        ended, _ = learner.communicate(timeout=120)
        assert learner.returncode == 0, (tmp_path / "said").read_text()[-4000:]
    answer = json.loads([line for line in ended.splitlines() if line.startswith("{")][-1])
    assert answer["lost"] >= 3
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert max(line["async/lag"] for line in lines if "async/lag" in line) <= 4
    order = arrivals(tmp_path / "run")
    assert len({fragment[:3] for fragment in order}) == len(order)


def test_the_job_of_the_examples(tmp_path, driver):
    """Started twice, as after a failure, it resumes what has ended."""
    job = pathlib.Path(__file__).parents[2] / "examples" / "ray" / "job.py"
    for _ in range(2):
        said = driver(job=str(job), run=str(tmp_path / "run"))
        assert said["total_timesteps"] >= 200_000
        assert said["eval"]["mean_reward"] > 100


@pytest.mark.parametrize("keys, num_actors, told", [
    ({"algo": "ppo"}, 2, "algo = ppo.*appo"),
    ({"algo": "appo", "async.max_lag": 0}, 2, "async.max_lag = 0"),
    ({"algo": "appo"}, 3, "cannot be dealt"),
    ({"algo": "appo"}, 0, "cannot be dealt"),
])
def test_what_cannot_be_is_said_before_anything_starts(keys, num_actors, told):
    config = penstock.Config(**{"env.id": "cartpole", "env.num_envs": 16} | keys)
    with pytest.raises(penstock.ConfigError, match=told):
        penstock.ray.train(config, num_actors)


def test_an_order_that_is_none(tmp_path):
    (tmp_path / "order").write_text("[1, 2]\n")
    config = penstock.Config(**{"env.id": "cartpole", "env.num_envs": 16, "algo": "appo"})
    with pytest.raises(penstock.DataError, match="not an order of arrivals"):
        penstock.ray.train(config, 2, replay_order=tmp_path / "order")
