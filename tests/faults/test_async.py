"""Learning beside sampling: a run is a function of its config at any lag, also after kill -9.

PENSTOCK_TEST_KILLS sets how many kills (3; the long version is 50).
"""

import json
import time

import pytest
from ranks import Ranks
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


def test_what_waits_for_the_learner_is_told(penstock, tmp_path):
    penstock("train", "--total-timesteps", 20_000, *appo(1), "--run-dir", tmp_path / "run")
    last = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-2])  # the last one is the evaluation's
    assert last["async/lag"] == 1
    assert 0 < last["perf/learner_idle_frac"] < 1 and 0 <= last["perf/learn_frac"] < 1
