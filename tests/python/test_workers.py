"""Any Gymnasium env in worker processes: spaces, seeds, returns, digests, start methods."""

import gc
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import worker_envs
from gymnasium.vector import AutoresetMode
from processes import below, wait_until

import penstock
from penstock import VectorEnv

HERE = os.path.dirname(__file__)


def train(env, steps=2048, **keys):
    given = {"num_envs": 8, "seed": 3, "verbose": 0, "rollout": {"steps": 32}, "run": {"eval_episodes": 0},
             "ppo": {"minibatch": 128}} | keys
    return penstock.PPO(env, **given).learn(steps)


def test_rows_of_nested_spaces():
    env = VectorEnv(worker_envs.Parts, 2, num_workers=1)
    space = env.single_observation_space
    assert {name: part.shape for name, part in space.items()} == {"pair.0": (3,), "pair.1": (2,), "table": (2, 2)}
    assert env.single_action_space.nvec.tolist() == [3, 4]
    obs, _ = env.reset(seed=1)
    truth = worker_envs.Parts()
    expected, _ = truth.reset(seed=1)
    assert obs["pair.0"][0].tolist() == np.eye(3)[expected["pair"][0]].tolist()
    assert obs["pair.1"][0].tolist() == expected["pair"][1].tolist()
    assert (obs["table"] == 0.5).all()
    env.close()


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("mask", ["info", "obs", "method"])
def test_masks_by_all_three_ways(mask, workers):
    env = VectorEnv(worker_envs.Guess, 3, num_workers=workers, kwargs={"mask": mask})
    assert list(env.single_observation_space.shape) == [6]  # one-hot; the mask is no part of it
    obs, infos = env.reset(seed=7)
    for _ in range(40):
        legal = infos["action_mask"]
        assert (legal.sum(1) == 2).all() and (legal[np.arange(3), obs.argmax(1)] == 1).all()
        obs, reward, _, _, infos = env.step(obs.argmax(1))
        assert (reward == 1).all()
    assert not env.incidents
    env.close()


def test_seed_plus_offset_and_one_seed_per_episode():
    env = VectorEnv(worker_envs.Counting, 4, num_workers=2)
    obs, _ = env.reset(seed=40)
    assert obs[:, 0].tolist() == [40, 41, 42, 43]
    seeds = {(i, *row) for i, row in enumerate(obs.tolist())}
    for _ in range(30):
        obs, *_ = env.step(np.zeros(4, dtype=np.int64))
        seeds |= {(i, *row[:2]) for i, row in enumerate(obs.tolist())}
    again, _ = env.reset(seed=40)
    assert again[:, 0].tolist() == [40, 41, 42, 43]
    assert len({seed for _, seed, *_ in seeds}) > 20  # later episodes have seeds of their own
    env.close()


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_returns_by_hand_in_every_autoreset_mode(mode, workers):
    """Episodes of the script: rewards 1, 2, 4 and a truncation; rewards 8, 16 and a termination."""
    env = VectorEnv(worker_envs.Counting, 2, num_workers=workers, autoreset_mode=mode)
    env.reset(seed=0)
    seen = []  # (reward, terminated, truncated, place in the script that the row shows)
    ends = []
    action = np.zeros(2, dtype=np.int64)
    for _ in range(8):
        obs, reward, terminated, truncated, infos = env.step(action)
        assert (reward[0], terminated[0], truncated[0]) == (reward[1], terminated[1], truncated[1])
        seen.append((reward[0], bool(terminated[0]), bool(truncated[0]), int(obs[0, 2])))
        if terminated[0] or truncated[0]:
            ends.append((infos["episode"]["r"][0], infos["episode"]["l"][0]))
            if mode is AutoresetMode.SAME_STEP:
                assert infos["final_obs"][0][2] == (3 if truncated[0] else 5)
            if mode is AutoresetMode.DISABLED:
                obs, _ = env.reset(options={"reset_mask": np.array([True, True])})
                assert obs[0, 2] in (0, 3)
    env.close()
    first = [(1, False, False, 1), (2, False, False, 2)]
    if mode is AutoresetMode.SAME_STEP:
        episodes = [*first, (4, False, True, 3), (8, False, False, 4), (16, True, False, 0)]  # rows of the next episode
        assert seen == (episodes * 2)[:8]
    elif mode is AutoresetMode.NEXT_STEP:
        episodes = [*first, (4, False, True, 3), (0, False, False, 3), (8, False, False, 4), (16, True, False, 5),
                    (0, False, False, 0)]
        assert seen == (episodes * 2)[:8]
    else:
        assert seen == ([*first, (4, False, True, 3), (8, False, False, 4), (16, True, False, 5)] * 2)[:8]
    assert ends == [(7, 3), (24, 2), (7, 3)][:len(ends)] and len(ends) >= 2


def test_fault_29_the_same_digest_however_envs_are_run():
    digests = {(workers, method): train("CartPole-v1", num_workers=workers, **{"env.start_method": method}).digest
               for workers, method in [(0, "auto"), (1, "auto"), (2, "auto"), (4, "forkserver"), (2, "spawn"),
                                       (2, "fork"), ("auto", "auto")]}
    digests["threads"] = train("CartPole-v1", num_workers=2, threads=1).digest
    digests["per worker"] = train("CartPole-v1", **{"env.envs_per_worker": 3}).digest
    assert len(set(digests.values())) == 1, digests


def test_other_seeds_have_other_digests():
    assert train("CartPole-v1", seed=3).digest != train("CartPole-v1", seed=4).digest


def test_the_command_line_gives_the_same_digest(cli, tmp_path, monkeypatch):
    monkeypatch.setitem(cli.environment, "VIRTUAL_ENV", sys.prefix)
    monkeypatch.setitem(cli.environment, "PYTHONPATH", HERE)
    digest = train("worker_envs:Guess-v0", env_kwargs={"mask": "info"}).digest
    for number, flags in enumerate([(), ("--num-workers", 2), ("--num-envs-per-worker", 4),
                                    ("--parallel-start-method", "spawn", "--num-workers", 1)]):
        told = cli.json("train", "--env", "worker_envs:Guess-v0", "--set", 'env.kwargs={"mask": "info"}', "--n-envs", 8,
                        "--seed", 3, "--total-timesteps", 2048, "--set", "rollout.steps=32", "--set",
                        "run.eval_episodes=0", "--set", "ppo.minibatch=128", "--run-dir", tmp_path / str(number), *flags)
        assert told["digest"] == digest and told["incidents"] == 0, flags


@pytest.mark.parametrize("env, kwargs, aim", [
    (worker_envs.Guess, {"mask": "info"}, 15), (worker_envs.Guess, {"mask": "obs"}, 15),
    (worker_envs.Parts, {}, 6), (worker_envs.Point, {}, 4)], ids=["masked", "dict-mask", "multi-discrete", "box"])
def test_it_learns(env, kwargs, aim):
    model = train(env, 40_000, num_envs=16, env_kwargs=kwargs, num_workers=2,
                  ppo={"learning_rate": 3e-3, "gamma": 0.5, "minibatch": 128}, net={"hidden": [32, 32]})
    result = model.evaluate(20)
    assert result.mean_reward > aim, result.mean_reward


def test_lambdas_and_classes_of_this_file():
    class Local(worker_envs.Guess):
        pass

    model = train(lambda: Local(mask="info"), num_workers=2)
    assert model.digest == train(worker_envs.Guess, env_kwargs={"mask": "info"}).digest


def test_save_load_and_go_on(tmp_path):
    model = train(worker_envs.Guess, 1024)
    model.save(tmp_path / "saved")
    loaded = penstock.PPO.load(tmp_path / "saved", verbose=0)
    assert loaded.learn(1024).digest == train(worker_envs.Guess, 1024).learn(1024).digest
    inner = train(lambda: worker_envs.Guess(), 1024)
    inner.save(tmp_path / "lambda")
    again = penstock.PPO.load(tmp_path / "lambda", env=lambda: worker_envs.Guess(), verbose=0)
    assert again.digest == inner.digest


def test_another_env_of_python_takes_the_place_of_a_runs(tmp_path):
    train(worker_envs.Guess, 1024).save(tmp_path / "saved")
    shorter = penstock.PPO.load(tmp_path / "saved", env=lambda: worker_envs.Guess(steps=4), verbose=0)
    assert shorter.evaluate(5).mean_ep_length == 4
    with pytest.raises(penstock.Error, match="does not fit"):
        penstock.PPO.load(tmp_path / "saved", env=worker_envs.Point)


def test_what_is_wrong_is_said():
    with pytest.raises(TypeError, match="a function that makes one"):
        penstock.PPO(worker_envs.Guess())
    with pytest.raises(penstock.ConfigError, match="no_such_package"):
        penstock.VectorEnv("no_such_package:Env-v0", 1)
    with pytest.raises(penstock.ConfigError, match="Environment `NoSuchEnv` doesn't exist"):
        penstock.VectorEnv("NoSuchEnv-v0", 1)
    with pytest.raises(penstock.ConfigError, match="unexpected keyword argument 'size'"):
        penstock.VectorEnv(worker_envs.Guess, 1, kwargs={"size": 3})
    with pytest.raises(penstock.ConfigError, match="no-such-python.*env.python"):
        penstock.VectorEnv("CartPole-v1", 1, python="no-such-python")
    with pytest.raises(penstock.ConfigError, match="old gym package"):
        penstock.VectorEnv(worker_envs.OldStyle, 1)


SCRIPT = """
import gymnasium, numpy as np, penstock
from gymnasium import spaces

class Mine(gymnasium.Env):
    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        print("an env that talks")
        return np.zeros(2, np.float32), {}
    def step(self, action):
        self.t += 1
        return np.zeros(2, np.float32), float(action), False, self.t == 5, {}

for method in ("forkserver", "spawn", "fork"):
    model = penstock.PPO(Mine, 4, 1, num_workers=2, verbose=0, rollout={"steps": 8}, **{"env.start_method": method})
    print("digest", model.learn(64).digest)
"""


@pytest.mark.parametrize("way", ["file", "stdin"])
def test_fault_29_without_a_main_guard(way, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "-W", "ignore", "script.py" if way == "file" else "-"], cwd=tmp_path,
                          input=None if way == "file" else SCRIPT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()  # what envs print is on stderr
    assert len(lines) == 3 and len(set(lines)) == 1 and "an env that talks" in done.stderr


def test_fault_29_in_jupyter(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(textwrap.dedent(SCRIPT))]
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = "".join(out.get("text", "") for out in notebook.cells[0].outputs if out.get("name") == "stdout")
    assert printed.count("digest") == 3


def test_nothing_is_left_behind():
    gc.collect()  # models of other tests
    VectorEnv("CartPole-v1", 4, num_workers=2).close()  # opens what stays open in the interpreter
    descriptors, others, shared = set(os.listdir("/proc/self/fd")), below(), set(os.listdir("/dev/shm"))
    for method in ("forkserver", "spawn", "fork"):
        env = VectorEnv("CartPole-v1", 4, num_workers=2, start_method=method)
        env.reset()
        assert len(below() - others) == 3  # two workers and their server
        env.close()
        del env
        wait_until(lambda: below() <= others)
    assert set(os.listdir("/proc/self/fd")) == descriptors
    assert set(os.listdir("/dev/shm")) <= shared


@pytest.mark.parametrize("workers", [0, 2])
def test_numbers_of_infos_are_averaged(workers):
    seen = {}
    model = penstock.PPO(worker_envs.Telling, 4, verbose=0, num_workers=workers, rollout={"steps": 30},
                         ppo={"minibatch": 120}, run={"eval_episodes": 4}, **{"env.info_keys": "km"})
    model.learn(2400, callbacks=lambda model, progress, metrics: seen.update(metrics))
    assert seen["rollout/km"] == pytest.approx(40)  # episodes end at places 3 and 5 in turns
    assert seen["eval/km"] == pytest.approx(30)  # each first episode
    assert model.evaluate(episodes=4).stats == {"km": pytest.approx(30)}


def test_a_key_that_no_info_has_is_named(capfd):
    with pytest.raises(penstock.Error, match="env.info_keys names 'kms'.*it has km, name"):
        train(worker_envs.Telling, num_workers=1, **{"env.info_keys": "kms"})
    with pytest.raises(penstock.ConfigError, match="at most 4"):
        train(worker_envs.Telling, num_workers=1, **{"env.info_keys": "a,b,c,d,e"})


def test_a_box_far_from_zero_leads_to_squash():
    with pytest.warns(UserWarning, match=r"action 0 lies between 2 and 3.*net.squash"):
        train(worker_envs.FarBox, steps=256, num_workers=0)
