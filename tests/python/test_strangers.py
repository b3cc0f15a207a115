"""Runs and replays of others: the code that they name runs by the user's word alone, and nothing but classes of envs."""

import json
import pathlib
import shutil
import sys

import penstock
import pytest

HERE = str(pathlib.Path(__file__).parent)


@pytest.fixture
def cli(cli, monkeypatch, tmp_path):
    for name, value in {"VIRTUAL_ENV": sys.prefix, "PYTHONPATH": HERE, "XDG_STATE_HOME": str(tmp_path / "home")}.items():
        monkeypatch.setitem(cli.environment, name, value)
    return cli


def strange_replay(folder, env, **kwargs):
    path = folder / "replay.json"
    path.write_text(json.dumps({"penstock_replay": 1, "env": env, "complete": True, "seed": 0, "kwargs": kwargs,
                                "actions": [[0]]}))
    return path


def test_a_replay_names_no_function(cli, tmp_path):
    mark = tmp_path / "ran"
    path = strange_replay(tmp_path, "subprocess:check_output", args=f"touch {mark}", shell=True)
    cli("replay", path, code=65)
    told = cli("replay", path, "--trust", code=78).stderr
    assert "not a class of gymnasium.Env" in told and not mark.exists()
    with pytest.raises(penstock.DataError, match="trust=True"):
        penstock.replay(path)
    with pytest.raises(penstock.ConfigError, match="not a class of gymnasium.Env"):
        penstock.replay(path, trust=True)
    assert not mark.exists()


def test_a_function_that_the_user_names_is_called(cli, tmp_path):
    path = strange_replay(tmp_path, "worker_envs:kept_cartpole")
    assert "not reproduced" in cli("replay", path, "--env", "worker_envs:kept_cartpole", code=1).stdout


def test_a_run_of_ones_own_goes_on_and_that_of_another_asks(cli, tmp_path):
    run = tmp_path / "run"
    words = ["--num-envs", 2, "--num-workers", 1, "--set", "rollout.steps=32", "--set", "run.eval_episodes=1"]
    cli("train", "--env", "worker_envs:Guess", *words, "--total-timesteps", 64, "--run-dir", run)
    cli("resume", run, "--total-timesteps", 128)  # signed, again after this
    cli("eval", run, "--episodes", 1)
    shutil.rmtree(tmp_path / "home")  # another user, or another machine
    for verb in "eval", "resume", "export":
        assert "worker_envs:Guess" in cli(verb, run, code=65).stderr
    cli("eval", run, "--episodes", 1, "--env", "worker_envs:Guess")
    cli("resume", run, "--total-timesteps", 192, "--trust")  # and signed by this user from here on
    cli("resume", run, "--total-timesteps", 256)


def test_loading_asks_too(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    sys.path.append(HERE)
    try:
        model = penstock.PPO("worker_envs:Guess", 2, rollout={"steps": 32}, ppo={"minibatch": 64}, run={"eval_episodes": 0}, verbose=0)
        model.learn(64)
        model.save(tmp_path / "run")
        assert penstock.PPO.load(tmp_path / "run").num_timesteps == 64
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
        with pytest.raises(penstock.DataError, match="trust=True"):
            penstock.PPO.load(tmp_path / "run")
        assert penstock.PPO.load(tmp_path / "run", trust=True).num_timesteps == 64
        assert penstock.PPO.load(tmp_path / "run", env="worker_envs:Guess").num_timesteps == 64
    finally:
        sys.path.remove(HERE)


def test_a_module_of_the_current_folder_is_not_taken_for_numpy(cli, tmp_path, monkeypatch):
    (tmp_path / "numpy.py").write_text("raise SystemExit('this numpy ran')\n")
    monkeypatch.chdir(tmp_path)
    cli.environment.pop("PYTHONPATH")
    if cli.command[-1] == "penstock":  # `python -m` itself puts the folder first
        cli.command = [sys.executable, "-P", "-m", "penstock"]
    cli("train", "--env", "CartPole-v1", "--num-envs", 2, "--num-workers", 1, "--total-timesteps", 64, "--set",
        "rollout.steps=32", "--set", "run.eval_episodes=0", "--run-dir", tmp_path / "run")
