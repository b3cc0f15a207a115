"""`python -m penstock` is the executable: output, exit codes and signals."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

TRAIN = ("train", "--env", "cartpole", "--total-timesteps", 200_000_000, "--set", "run.save_every_s=0.2")


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def test_output_and_exit_codes(cli, tmp_path):
    assert cli("--version").stdout.startswith("penstock 0.")
    assert "train" in cli("--help").stdout
    assert cli("envs").stdout.splitlines()[0].startswith("cartpole")
    assert "not one of train" in cli("trian", code=2).stderr
    assert "did you mean 'ppo.clip'" in cli("train", "--set", "ppo.clp=1", "--dry-run", code=78).stderr
    cli("eval", tmp_path, code=65)
    cli("train", "--total-timesteps", 4096, "--set", "run.eval_episodes=0", "--run-dir", tmp_path / "run")
    cli("train", "--total-timesteps", 4096, "--run-dir", tmp_path / "run", code=73)


def test_doctor_examines_an_env(cli):
    told = cli("doctor", "--env", "CartPole-v1", "--num-envs", 4, "--set", f"env.python={sys.executable}")
    assert "ok       determinism" in told.stderr and "step cost" in told.stderr
    found = {line.split()[1]: line for line in told.stdout.splitlines()}
    assert set(found) == {"env", "workers", "parallel", "memory"} and "BAD" not in told.stdout
    native = json.loads(cli("doctor", "--env", "pendulum", "--json").stdout)
    assert {each["check"] for each in native} == {"env", "parallel", "memory"} and all(each["ok"] for each in native)


def test_an_env_is_checked(cli):
    assert "BAD" not in cli("envs", "--check", "cartpole", "--set", "env.max_steps=50").stdout
    told = json.loads(cli("envs", "--check", "cartpole", "--json").stdout)
    assert told["kept"] and len(told["promises"]) == 19
    short = json.loads(cli("envs", "--check", "pendulum", "--steps", 10, "--json", code=1).stdout)
    assert ["episodes end"] == [each["promise"] for each in short["promises"] if not each["kept"]]
    assert "did you mean 'cartpole'" in cli("envs", "--check", "cartpol", code=78).stderr
    assert "env.max_steps" in cli("envs", "--check", "cartpole", "--set", "env.max_step=5", code=78).stderr


def test_recipes_come_with_it(cli):
    assert "cartpole" in cli("config", "--recipes").stdout.split()
    cli("train", "--recipe", "pendulum", "--dry-run")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_ends_with_75(cli, tmp_path, number):
    process = cli.start(*TRAIN, "--run-dir", tmp_path / "run")
    wait_for(tmp_path / "run" / "ckpt" / "LATEST", process)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 75, err
    assert "saved; continue with: penstock resume" in out


def test_the_second_signal_ends_at_once(cli, tmp_path):
    process = cli.start(*TRAIN, "--run-dir", tmp_path / "run", "--num-envs", 8192, "--set", "ppo.minibatch=8192",
                        "--learner", "eager", "--set", "rollout.steps=256")  # an update takes seconds
    wait_for(tmp_path / "run" / "ckpt" / "LATEST", process)
    time.sleep(2)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
    process.communicate(timeout=60)
    assert process.returncode in (128 + signal.SIGINT, 75)  # 75: it was quicker


def test_ctrl_c_ends_verbs_that_save_nothing(cli):
    process = cli.start("bench", "env", "--rounds", 100)
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT


def test_a_closed_pipe_ends_it_quietly(cli):
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen([*cli.command, "envs"], stdout=write, stderr=subprocess.PIPE, env=cli.environment)
    os.close(write)
    _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGPIPE and err == b""
