"""A run that is killed or preempted, however often, ends with the bits of one that was not.

PENSTOCK_TEST_KILLS sets how many kills (3; the long version is 50).
"""

import json
import os
import random
import shutil
import signal
import time

import pytest

KILLS = int(os.environ.get("PENSTOCK_TEST_KILLS", "3"))

# Normalisers on, an uneven number of envs and frequent saves: everything a checkpoint must hold.
RUN = ["--env", "acrobot", "--num-envs", 37, "--total-timesteps", 400_000, "--seed", 5, "--save-interval", 1,
       "--set", "normalise.obs=true", "--set", "normalise.reward=true", "--set", "run.eval_episodes=1"]

# Envs that learn together: an embedding is trained after every rollout, beside the next one.
LEARNING = ["--env", "dvrptw", "--num-envs", 16, "--total-timesteps", 15_000, "--seed", 5, "--save-interval", 1,
            "--set", "env.oracle=insertion", "--set", "env.mask=learnt", "--set", "env.answer=noisy",
            "--set", "env.embedding=async", "--set", "env.embedding_interval=480", "--set", "rollout.steps=30",
            "--set", "run.eval_episodes=1"]


def lines_in(run):
    metrics = run / "metrics.jsonl"
    return metrics.read_text().count("\n") if metrics.exists() else 0


def whole(penstock, args, run):
    """What a run that nothing happens to tells, and how many lines it logs."""
    return penstock.json("train", *args, "--run-dir", run), lines_in(run)


@pytest.fixture(scope="module")
def uninterrupted(penstock, tmp_path_factory):
    return whole(penstock, RUN, tmp_path_factory.mktemp("whole") / "run")


def steps_in(metrics):
    return [json.loads(line)["step"] for line in metrics.read_text().splitlines()]


def interrupt(process, run, lines, how):
    """Signals once a checkpoint is there and this many lines are logged; True when the run was still going."""
    while process.poll() is None and not ((run / "ckpt" / "LATEST").exists() and lines_in(run) >= lines):
        time.sleep(0.002)
    running = process.poll() is None
    if running:
        process.send_signal(how)
    return running


def kill_and_resume(penstock, args, run, expected, lines):
    rng = random.Random(1)
    verb = ["train", *args, "--run-dir", run]
    landed = 0
    for _ in range(KILLS):
        process = penstock.start(*verb)
        landed += interrupt(process, run, lines_in(run) + rng.uniform(0, 2 * lines / (KILLS + 1)), signal.SIGKILL)
        process.communicate(timeout=120)
        verb = ["resume", run]
    result = penstock.json("resume", run)
    assert landed > 0
    assert result["digest"] == expected["digest"]
    assert result["total_timesteps"] == expected["total_timesteps"]
    assert result["episodes"] == expected["episodes"]
    steps = steps_in(run / "metrics.jsonl")
    trained = steps[: steps.index(max(steps)) + 1]
    assert trained == sorted(set(trained)), "a step was logged twice or out of order"


def test_fault_03_kill_9_and_resume(penstock, uninterrupted, tmp_path):
    kill_and_resume(penstock, RUN, tmp_path / "run", *uninterrupted)


def test_fault_03_kill_9_while_an_embedding_learns(penstock, tmp_path):
    expected, lines = whole(penstock, LEARNING, tmp_path / "whole")
    metrics = (tmp_path / "whole" / "metrics.jsonl").read_text()
    assert metrics.count('"embedding/loss"') > 10
    kill_and_resume(penstock, LEARNING, tmp_path / "run", expected, lines)


def test_fault_03_before_the_first_checkpoint_train_starts_anew(penstock, tmp_path):
    run = tmp_path / "run"
    args = ["train", "--total-timesteps", 20_000, "--set", "run.eval_episodes=0", "--run-dir", run]
    expected = penstock.json(*args)["digest"]
    shutil.rmtree(run / "ckpt")
    for log in ("metrics.jsonl", *(path.name for path in run.glob("events.*"))):
        (run / log).unlink()
    for gone in (None, "manifest.json", "config.toml"):  # as far as the one that was killed had come
        if gone:
            (run / gone).unlink()
        refused = penstock("resume", run, code=65).stderr
        assert "nothing to resume yet" in refused and "penstock train" in refused
    (run / "config.toml").write_text("# torn")
    done = penstock(*args, "--json")
    assert "holds a run that ended before its first checkpoint: it starts anew" in done.stderr
    assert json.loads(done.stdout)["digest"] == expected
    penstock(*args, code=73)
    assert penstock.json("resume", run)["digest"] == expected


def test_fault_19_sigterm_saves_and_asks_to_be_run_again(penstock, uninterrupted, tmp_path):
    expected, lines = uninterrupted
    run = tmp_path / "run"
    process = penstock.start("train", *RUN, "--run-dir", run)
    assert interrupt(process, run, lines / 3, signal.SIGTERM)
    begin = time.monotonic()
    process.communicate(timeout=60)
    assert time.monotonic() - begin < 60
    assert process.returncode == 75
    assert penstock.json("resume", run)["digest"] == expected["digest"]


def test_fault_19_a_second_signal_ends_at_once(penstock, tmp_path):
    # An update far too long to wait for, so that the first signal is still pending.
    process = penstock.start("train", "--env", "cartpole", "--num-envs", 64, "--total-timesteps", 10_000_000,
                             "--set", "ppo.policy_epochs=1000", "--set", "ppo.minibatch=16",
                             "--run-dir", tmp_path / "run")
    while not (tmp_path / "run" / "ckpt" / "LATEST").exists():
        time.sleep(0.01)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 128 + signal.SIGINT


def test_resuming_a_finished_run_changes_nothing(penstock, tmp_path):
    first = penstock.json("train", "--total-timesteps", 20_000, "--run-dir", tmp_path / "run")
    logged = (tmp_path / "run/metrics.jsonl").read_text()
    again = penstock.json("resume", tmp_path / "run")
    assert again["digest"] == first["digest"]
    assert (tmp_path / "run/metrics.jsonl").read_text() == logged, "its evaluation is there once"
    longer = penstock.json("resume", tmp_path / "run", "--total-timesteps", 40_000)
    assert longer["total_timesteps"] == 40_960 and longer["digest"] != first["digest"]
