"""Envs that throw, hang, hand over nonsense or lose their process: training goes on, and a file reproduces it."""

import gc
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import worker_envs
from processes import below, servers, wait_until, workers

import penstock
from penstock import VectorEnv

HERE = os.path.dirname(__file__)
CAUSES = {"exception": "ValueError: the valve is stuck", "obs": "the observation is not finite",
          "reward": "the reward is not finite", "mask": "no action is legal", "shape": "has shape (5,)",
          "exit": "ended with exit code 3", "kill": "killed by signal 9", "segfault": "killed by signal 11",
          "hang": "no answer within 0.4 s"}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Failures of runs without a directory are kept in the working directory."""
    monkeypatch.chdir(tmp_path)


def train(env, steps=2048, **keys):
    given = {"num_envs": 8, "seed": 3, "verbose": 0, "rollout": {"steps": 32}, "run": {"eval_episodes": 0},
             "ppo": {"minibatch": 128}} | keys
    return penstock.PPO(env, **given).learn(steps)


@pytest.mark.parametrize("how", CAUSES)
def test_fault_08_a_failure_is_survived_and_reproduced(how, cli, tmp_path, monkeypatch):
    """Env 0's first episode has seed 0, which is bad; the third step fails."""
    env = VectorEnv(worker_envs.Failing, 4, num_workers=2, kwargs={"how": how, "every": 1000}, step_deadline_s=0.4 if how == "hang" else 60,
                    replay_dir=tmp_path)
    obs, _ = env.reset(seed=0)
    actions = np.array([1, 0, 1, 0])
    for _ in range(2):
        obs, _, terminated, truncated, infos = env.step(actions)
        assert not truncated.any()
    begun = time.monotonic()
    with pytest.warns(RuntimeWarning, match=r"penstock replay \S+ --env worker_envs:Failing"):
        obs, reward, terminated, truncated, infos = env.step(actions)
    assert time.monotonic() - begun < 30  # the deadline of a step is not what noticed it, unless it hung
    process_died = how in ("exit", "kill", "segfault", "hang")
    lost = [True, process_died, False, False]  # a process takes its other env along
    assert truncated.tolist() == lost and not terminated.any()
    assert reward.tolist() == [0, 0, 1, 0] and np.isfinite(obs).all() and np.isfinite(reward).all()
    assert infos["final_obs"][0].tolist() == pytest.approx([0.2, 0])  # the last row that was seen
    assert obs[:, 0].tolist() == pytest.approx([0, 0 if process_died else 0.3, 0.3, 0.3])
    assert not infos["_episode"].any()  # counted nowhere

    message, = env.incidents
    assert message.startswith("env 0 (seed 0, episode 0, step 3, last actions [[1],[1],[1]])"), message
    assert CAUSES[how] in message
    for _ in range(3):  # the others go on to their ends
        obs, _, _, truncated, infos = env.step(actions)
    assert truncated.tolist() == [False, not process_died, True, True]
    env.close()

    path, = tmp_path.glob("env-0-episode-0.json")
    recorded = json.loads(path.read_text())
    assert recorded["seed"] == 0 and recorded["actions"] == [[1]] * 3 and CAUSES[how] in recorded["cause"]
    monkeypatch.setitem(cli.environment, "VIRTUAL_ENV", sys.prefix)
    monkeypatch.setitem(cli.environment, "PYTHONPATH", HERE)
    assert "--trust" in cli("replay", path, code=65).stderr
    again = cli("replay", path, "--env", recorded["env"], "--step-deadline", 0.4).stdout
    assert again.startswith("reproduced after 3 actions: env 0") and CAUSES[how] in again


def test_a_replay_from_python(tmp_path):
    env = VectorEnv(lambda: worker_envs.Failing(every=1000), 1, num_workers=1, replay_dir=tmp_path)
    env.reset(seed=0)
    with pytest.warns(RuntimeWarning, match="valve"):
        for _ in range(3):
            env.step(np.array([0]))
    env.close()
    path = tmp_path / "env-0-episode-0.json"
    with pytest.warns(RuntimeWarning, match="valve"):
        assert "valve" in penstock.replay(path, env=lambda: worker_envs.Failing(every=1000))
    assert penstock.replay(path, env=lambda: worker_envs.Failing(every=999_999, how="none")) is None
    with pytest.raises(penstock.DataError):
        penstock.replay(__file__)


def test_what_envs_throw_changes_no_digest():
    """Only the env that threw is made again, so neighbours in its worker do not tell how many workers there are."""
    models = [train(worker_envs.Failing, num_workers=n, env_kwargs={"every": 5}, **{"env.max_restarts": 1000})
              for n in (0, 1, 2, 4)]
    assert len({model.digest for model in models}) == 1
    assert len({(model.summary.incidents, model.summary.discarded, model.summary.episodes) for model in models}) == 1
    assert models[0].summary.incidents == models[0].summary.discarded > 20


def test_fault_02_the_budget(cli, tmp_path, monkeypatch):
    monkeypatch.setitem(cli.environment, "VIRTUAL_ENV", sys.prefix)
    monkeypatch.setitem(cli.environment, "PYTHONPATH", HERE)
    done = cli("train", "--env", "worker_envs:Failing", "--set", 'env.kwargs={"every": 2}', "--num-envs", 4,
               "--num-workers", 2, "--set", "env.max_restarts=3", "--run-dir", tmp_path / "run", code=1)
    assert "envs failed 4 times, more than env.max_restarts = 3 within env.restart_window_s = 3600; the first: env " in done.stderr
    assert "ValueError: the valve is stuck" in done.stderr
    assert len(list((tmp_path / "run" / "replay").glob("*.json"))) >= 3


def test_a_failure_that_no_env_gets_beyond_ends_the_run_early(capfd):
    with pytest.raises(penstock.Error, match="envs failed 3 times at step 3 in the same way, and none got beyond it: env "
                                             "0 .*ValueError: the valve is stuck"):
        train(worker_envs.Failing, num_workers=2, env_kwargs={"every": 1})
    assert capfd.readouterr().err.count("penstock replay") == 3  # of eight envs


def test_the_command_of_a_replay_works(capfd, tmp_path):
    """The file outlives the run's temporary folder, and the interpreter is named where it was chosen."""
    model = train(worker_envs.Failing, 256, num_workers=1, env_kwargs={"every": 6}, **{"env.python": sys.executable})
    folder = model.run_dir
    del model
    told = re.findall(r"reproduce it with: penstock replay (\S+) --env worker_envs:Failing( --python \S+)?\n", capfd.readouterr().err)
    assert told and not folder.exists()
    for path, python in told:
        assert path.startswith("replays/") and (tmp_path / path).exists() and python == f" --python {sys.executable}"
    kept = train(worker_envs.Failing, 256, num_workers=1, env_kwargs={"every": 6}, run_dir=tmp_path / "run")
    told = re.findall(r"penstock replay (\S+) --env worker_envs:Failing\n", capfd.readouterr().err)
    assert told and all(path.startswith(str(kept.run_dir)) for path in told)


def test_a_wrapper_that_keeps_state_over_episodes_is_named_at_resuming(capfd, tmp_path):
    cases = [("worker_envs:normalised_cartpole", "of its observation is"), ("CartPole-v1", None),
             ("worker_envs:rewarded_cartpole", "its rewards add up to")]
    for number, (env, difference) in enumerate(cases):
        run = tmp_path / str(number)
        train(env, 1024, num_workers=2, run_dir=run)
        capfd.readouterr()
        penstock.PPO.load(run, verbose=0).learn(256)
        told = re.findall(f"of {env} is not where it was: after its .*actions were taken again, (.*)", capfd.readouterr().err)
        assert len(told) == (difference is not None) and all(difference in words for words in told)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_wrapper_that_tells_its_state_is_resumed_exactly(workers, capfd, tmp_path):
    keys = {"num_workers": workers, "ppo": {"minibatch": 128, "learning_rate_schedule": "constant"}}
    whole = train(worker_envs.kept_cartpole, 1024, **keys)
    train(worker_envs.kept_cartpole, 512, run_dir=tmp_path / "run", **keys)
    loaded = penstock.PPO.load(tmp_path / "run", verbose=0).learn(512)
    assert loaded.digest == whole.digest and loaded.summary.incidents == 0
    assert "not where it was" not in capfd.readouterr().err


def test_fault_01_killed_workers(tmp_path):
    """PENSTOCK_TEST_KILLS=200 for the long version."""
    kills = int(os.environ.get("PENSTOCK_TEST_KILLS", "20"))
    gc.collect()  # models of other tests
    others = below()
    log = tmp_path / "log"
    restarted = []  # seconds
    stop = threading.Event()

    def kill(pids):
        victim = random.Random(len(restarted)).choice(pids)
        os.kill(victim, signal.SIGKILL)
        begun = time.monotonic()
        wait_until(lambda: len(set(workers()) - {victim}) == 2)
        restarted.append(time.monotonic() - begun)

    def killer():
        wait_until(lambda: len(workers()) == 2)
        while len(restarted) < kills and not stop.is_set():
            kill(workers())
            time.sleep(0.03)

    model = penstock.PPO(worker_envs.Logged, 8, 1, num_workers=2, env_kwargs={"log": str(log)}, verbose=0,
                         rollout={"steps": 32}, run={"eval_episodes": 0}, ppo={"minibatch": 128},
                         **{"env.max_restarts": 10 * kills})
    log.write_text("")  # the env was tried out before
    thread = threading.Thread(target=killer)
    thread.start()
    try:
        model.learn(10**9, callbacks=lambda model, progress, metrics: len(restarted) == kills)
    finally:
        stop.set()
        thread.join()
    summary = model.summary
    assert len(restarted) == kills
    assert np.median(restarted) < 0.5 and max(restarted) < 2  # noticed and there again; the second is a busy machine's
    assert summary.incidents == kills  # none unnoticed, none twice
    assert kills <= summary.discarded <= 4 * kills  # a worker holds four envs
    # Every episode that ever began has ended, was discarded or is in progress.
    begun = len(set(log.read_text().split()))
    assert begun == summary.episodes + summary.discarded + 8
    assert summary.total_timesteps == model.num_timesteps and summary.total_timesteps % (8 * 32) == 0
    del model
    wait_until(lambda: below() <= others)


def test_fault_02_the_server_may_die_too():
    """Workers live on without their server; when they die too, there is a new one of each."""
    gc.collect()
    env = VectorEnv(worker_envs.Worker, 4, num_workers=2)
    env.reset()
    server, = servers()
    for pid in [server, *workers()]:
        os.kill(pid, signal.SIGKILL)
    with pytest.warns(RuntimeWarning):
        for _ in range(2):
            env.step(np.zeros(4, dtype=np.int64))
    assert len(env.incidents) == 2 and servers() != [server] and len(workers()) == 2
    env.close()


SCRIPT = """
import sys, time
import penstock, worker_envs
env = penstock.VectorEnv(worker_envs.Failing, 4, num_workers=2, start_method=sys.argv[1],
                         kwargs={"how": "hang", "every": 1000}, step_deadline_s=1000)
env.reset(seed=0)
print("ready", flush=True)
import numpy as np
for _ in range(3):
    env.step(np.zeros(4, dtype=np.int64))
"""


@pytest.mark.parametrize("method", ["forkserver", "spawn", "fork"])
def test_workers_end_with_a_killed_parent(method):
    """Also those that are stuck in an env's code."""
    parent = subprocess.Popen([sys.executable, "-c", SCRIPT, method], cwd=HERE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout.readline() == "ready\n"
    time.sleep(0.3)
    pids = below(parent.pid)
    assert len(pids) >= 2
    parent.kill()
    parent.wait()
    wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in pids), 5)
    parent.stdout.close()


def test_resumed_after_a_kill_with_the_same_digest(cli, tmp_path, monkeypatch):
    """An episode in progress is brought back by its seed and actions."""
    monkeypatch.setitem(cli.environment, "VIRTUAL_ENV", sys.prefix)
    monkeypatch.setitem(cli.environment, "PYTHONPATH", HERE)
    args = ["train", "--env", "CartPole-v1", "--num-envs", 4, "--num-workers", 2, "--seed", 5, "--total-timesteps", 40_000,
            "--set", "rollout.steps=37", "--set", "run.save_every_s=0.05", "--set", "run.eval_episodes=0"]
    whole = cli.json(*args, "--run-dir", tmp_path / "whole")
    process = cli.start(*args, "--run-dir", tmp_path / "killed")
    wait_until(lambda: (tmp_path / "killed" / "ckpt" / "LATEST").exists()
               and int((tmp_path / "killed" / "ckpt" / "LATEST").read_text() or 0) > 1000, 60)
    process.kill()
    process.communicate()
    time.sleep(0.2)
    told = cli.json("resume", tmp_path / "killed", "--num-workers", 1)
    assert told["digest"] == whole["digest"] and told["episodes"] == whole["episodes"]
    assert told["discarded"] == told["incidents"] == 0
