"""Damaged checkpoints are named and stepped over, never silently replaced by a start from scratch."""

import json
import os
import random
import shutil

import pytest

RUN = ["--env", "cartpole", "--num-envs", 16, "--total-timesteps", 20_000, "--seed", 3,
       "--save-interval", 4096, "--set", "run.eval_episodes=1"]


@pytest.fixture(scope="module")
def finished(penstock, tmp_path_factory):
    run = tmp_path_factory.mktemp("good") / "run"
    return run, penstock.json("train", *RUN, "--run-dir", run)["digest"]


@pytest.fixture
def run(finished, tmp_path):
    shutil.copytree(finished[0], tmp_path / "run")
    return tmp_path / "run"


def newest(run):
    return run / "ckpt" / (run / "ckpt" / "LATEST").read_text().strip()


def flip(path, rng):
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


@pytest.mark.parametrize("name", ["model.safetensors", "optim.safetensors", "envs.safetensors", "state.json",
                                  "MANIFEST.json"])
@pytest.mark.parametrize("how", ["flip", "truncate", "remove", "fifo"])
def test_fault_06_the_previous_checkpoint_is_used_and_the_damage_named(penstock, finished, run, name, how):
    damaged = newest(run) / name
    if how == "flip":
        flip(damaged, random.Random(name))
    elif how == "truncate":
        damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])
    else:
        damaged.unlink()
    if how == "fifo":  # opens, but cannot be read
        os.mkfifo(damaged)
    done = penstock("resume", run, "--json")
    assert name in done.stderr
    assert "resumed at step 0" not in done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["digest"] == finished[1]


def test_fault_06_a_flipped_weight_is_named(penstock, run):
    path = newest(run) / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-4] ^= 1  # the last tensor's last number
    path.write_bytes(data)
    done = penstock("resume", run)
    assert "critic.2.bias" in done.stderr


def test_fault_06_no_good_checkpoint_left_is_exit_65(penstock, run):
    rng = random.Random(0)
    for step in (run / "ckpt").iterdir():
        if step.is_dir():
            flip(step / "model.safetensors", rng)
    done = penstock("resume", run, code=65)
    assert "model.safetensors" in done.stderr
    assert penstock("eval", run, code=65).stdout == ""


def test_a_directory_without_a_run_is_exit_65(penstock, tmp_path):
    penstock("resume", tmp_path, code=65)
    penstock("eval", tmp_path / "nothing", code=65)


def test_a_used_directory_is_refused(penstock, run):
    done = penstock("train", *RUN, "--run-dir", run, code=73)
    assert "resume" in done.stderr


def test_fault_23_a_second_process_is_refused(penstock, tmp_path):
    first = penstock.start("train", "--total-timesteps", 100_000_000, "--run-dir", tmp_path / "run")
    try:
        while not (tmp_path / "run" / "ckpt" / "LATEST").exists():
            assert first.poll() is None
        penstock("resume", tmp_path / "run", code=73)
    finally:
        first.kill()
        first.communicate()
