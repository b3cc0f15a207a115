"""Learning beside sampling: a run is a function of its config at any lag, also after kill -9.

PENSTOCK_TEST_KILLS sets how many kills (3; the long version is 50).
"""

import json
import time
import tomllib

import pytest
from ranks import Ranks, train
from test_kill import RUN, kill_and_resume

PYTHON = ["--env", "bad_envs:Plain", "--num-envs", 8, "--total-timesteps", 4_000, "--set", "env.num_workers=2",
          "--set", "rollout.shards=4", "--set", "run.eval_episodes=5"]


def appo(lag, *more):
    return ["--algo", "appo", "--set", f"async.max_lag={lag}", *more]


def test_envs_of_python_have_the_bits_of_ppo_without_a_lag_and_their_own_with_one(penstock, python_env, tmp_path):
    def digest(name, *words):
        return penstock.json("train", *PYTHON, *words, "--run-dir", tmp_path / name)["digest"]

    turns = digest("ppo")
    assert digest("0", *appo(0)) == turns
    beside = digest("1", *appo(1))
    assert beside != turns
    assert digest("1x1", *appo(1, "--threads", 1, "--set", "env.num_workers=1")) == beside


@pytest.mark.parametrize("lag", [1, 3])
def test_fault_03_kill_9_while_the_learner_is_behind(penstock, tmp_path, lag):
    args = [*RUN, *appo(lag)]
    begin = time.monotonic()
    expected = penstock.json("train", *args, "--run-dir", tmp_path / "whole")
    kill_and_resume(penstock, args, tmp_path / "run", expected, time.monotonic() - begin)


def test_several_processes_learn_in_step(penstock, tmp_path):
    with Ranks(penstock, 2, "train", *RUN, *appo(1), "--run-dir", tmp_path / "run", "--peer-timeout", 20) as ranks:
        for code, _, err in ranks.ends(60):
            assert code == 78, err
            assert "--algo ppo" in err


def recorded_lag(run_dir):
    return tomllib.loads((run_dir / "config.toml").read_text())["async"]["max_lag"]


def test_auto_is_a_number_from_the_first_checkpoint_on(penstock, python_env, tmp_path):
    told = penstock("train", *PYTHON, *appo("auto"), "--json", "--run-dir", tmp_path / "auto")
    lag = recorded_lag(tmp_path / "auto")
    assert lag in (0, 1) and f"async.max_lag = {lag} (0: " in told.stderr
    digest = json.loads(told.stdout.splitlines()[-1])["digest"]
    assert penstock.json("train", *PYTHON, *appo(lag), "--run-dir", tmp_path / "given")["digest"] == digest
    assert penstock.json("resume", tmp_path / "auto")["digest"] == digest and recorded_lag(tmp_path / "auto") == lag


def test_a_dry_run_measures_nothing_and_says_that_a_run_will(penstock, tmp_path):
    told = penstock("train", *appo("auto"), "--dry-run", "--run-dir", tmp_path / "run").stdout
    assert 'max_lag = "auto"' in told and "async.max_lag is measured when the run begins" in told
    assert not (tmp_path / "run").exists()


def test_auto_of_several_processes_is_learning_in_step(penstock, tmp_path):
    beside = train(penstock, 2, "train", *RUN, *appo("auto"), "--run-dir", tmp_path / "auto")
    assert recorded_lag(tmp_path / "auto") == 0
    assert beside["digest"] == penstock.json("train", *RUN, "--run-dir", tmp_path / "ppo")["digest"]


def test_what_waits_for_the_learner_is_told(penstock, tmp_path):
    penstock("train", "--total-timesteps", 20_000, *appo(1), "--run-dir", tmp_path / "run")
    last = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-2])  # the last one is the evaluation's
    assert last["async/lag"] == 1
    assert 0 < last["perf/learner_idle_frac"] < 1 and 0 <= last["perf/learn_frac"] < 1
