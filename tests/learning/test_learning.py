"""What must be learnt, within which budget. Evaluation is deterministic, over 20 episodes or more."""

import pytest


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_cartpole(penstock, tmp_path, seed):
    run = tmp_path / "run"
    result = penstock.json("train", "--env", "cartpole", "--num-envs", 64, "--total-timesteps", 400_000,
                           "--seed", seed, "--run-dir", run)
    assert result["total_timesteps"] <= 500_000
    assert penstock.json("eval", run, "--episodes", 100)["mean_reward"] >= 475


@pytest.mark.parametrize("seed", [1, 2])
def test_acrobot(penstock, tmp_path, seed):
    run = tmp_path / "run"
    penstock("train", "--recipe", "acrobot", "--seed", seed, "--run-dir", run, timeout=600)
    assert penstock.json("eval", run, "--episodes", 100)["mean_reward"] >= -100


@pytest.mark.parametrize("seed", [1, 2])
def test_pendulum(penstock, tmp_path, seed):
    run = tmp_path / "run"
    penstock("train", "--recipe", "pendulum", "--seed", seed, "--run-dir", run, timeout=600)
    assert penstock.json("eval", run, "--episodes", 100)["mean_reward"] >= -300


@pytest.mark.parametrize("env,goal", [("identity", 0.95), ("masked", 0.9), ("multi", 0.9)])
def test_toys(penstock, tmp_path, env, goal):
    run = tmp_path / "run"
    result = penstock.json("train", "--env", env, "--total-timesteps", 150_000, "--run-dir", run)
    best = {"identity": "max_steps", "masked": "max_steps", "multi": "length"}[env]
    config = (run / "config.toml").read_text()
    length = next(float(x.split("=")[1].split("#")[0]) for x in config.splitlines() if x.startswith(best))
    assert result["eval"]["mean_reward"] >= goal * length


@pytest.mark.parametrize("learner,seed", [("fused", 1), ("fused", 2), ("fused", 3), ("fused", 4), ("fused", 5), ("eager", 1)])
def test_a2c_learns_cartpole(penstock, tmp_path, learner, seed):
    run = tmp_path / "run"
    budget = 500_000 if learner == "fused" else 100_000
    penstock("train", "--recipe", "cartpole-a2c", "--total-timesteps", budget, "--seed", seed, "--learner", learner,
             "--run-dir", run)
    assert penstock.json("eval", run, "--episodes", 100)["mean_reward"] >= (475 if learner == "fused" else 200)
