"""A policy that ships: one file, a program without libtorch, the actions of `penstock eval` to the bit."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

PLAYER = os.environ.get("PENSTOCK_ACT_PLAYER", "")
RUNS = {
    "cartpole": ["--env", "cartpole", "--total-timesteps", 40_000],
    "acrobot": ["--env", "acrobot", "--total-timesteps", 16_384, "--set", "normalise.obs=true"],
    "pendulum": ["--env", "pendulum", "--total-timesteps", 16_384, "--set", "net.squash=true"],
    "masked": ["--env", "masked", "--total-timesteps", 16_384, "--set", "net.shared_trunk=true"],
    "multi": ["--env", "multi", "--total-timesteps", 16_384, "--set", "net.hidden=[32]"],
}


def play(policy, env, episodes):
    done = subprocess.run([PLAYER, policy, env, str(episodes), "3"], capture_output=True, text=True, timeout=120,
                          env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("env", RUNS)
def test_a_policy_file_plays_the_episodes_of_eval(penstock, tmp_path, env):
    run, policy = tmp_path / "run", tmp_path / "policy.safetensors"
    penstock("train", *RUNS[env], "--isa", "auto", "--set", "run.eval_episodes=0", "--run-dir", run)
    told = penstock.json("export", run, "--out", policy)
    assert told["needs_torch"] is False and told["version"] > 0
    expected = penstock.json("eval", run, "--episodes", 30, "--seed", 3)
    found = play(policy, env, 30)
    for key in ("mean_reward", "std_reward", "mean_ep_length"):
        assert found[key] == expected[key]
    assert found["max_rss_kb"] <= 8 * 1024


def test_the_player_is_small_and_needs_no_torch(tmp_path):
    linked = subprocess.run(["ldd", PLAYER], capture_output=True, text=True, check=True).stdout
    assert "torch" not in linked and "c10" not in linked
    small = tmp_path / "player"
    shutil.copy(PLAYER, small)
    subprocess.run(["strip", small], check=True)
    assert small.stat().st_size <= 1_000_000


def test_eval_needs_neither_optimiser_nor_envs_nor_their_number(penstock, tmp_path):
    run = tmp_path / "run"
    penstock("train", "--env", "cartpole", "--num-envs", 16, "--total-timesteps", 16_384,
             "--set", "run.eval_episodes=0", "--run-dir", run)
    before = penstock.json("eval", run, "--episodes", 10)
    for file in run.glob("ckpt/*/*.safetensors"):
        if file.name != "model.safetensors":
            file.unlink()
    assert penstock.json("eval", run, "--episodes", 10) == before
    config = pathlib.Path(run / "config.toml")
    config.write_text(config.read_text().replace("num_envs = 16", "num_envs = 3"))
    assert penstock.json("eval", run, "--episodes", 10) == before
    assert "no checkpoint is whole" in penstock("resume", run, code=65).stderr


def test_what_is_not_a_policy_is_refused(tmp_path):
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"\x08\0\0\0\0\0\0\0{}      ")
    done = subprocess.run([PLAYER, bad, "cartpole", "1"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "not a policy file" in done.stderr
