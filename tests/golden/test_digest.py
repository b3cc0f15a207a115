"""The digest is a function of (config, seed). PENSTOCK_TEST_REPEATS repetitions of a short run."""

import itertools
import os

import pytest

REPEATS = int(os.environ.get("PENSTOCK_TEST_REPEATS", "50"))


@pytest.mark.parametrize("envs", [64, 37])
def test_threads_and_repetition_do_not_matter(penstock, tmp_path, envs):
    threads = itertools.cycle([1, 2, 4])
    digests = set()
    for i in range(REPEATS // 2):
        digests.add(penstock.json("train", "--env", "cartpole", "--num-envs", envs, "--total-timesteps", 8192,
                                  "--seed", 1, "--threads", next(threads), "--set", "rollout.shards=4",
                                  "--set", "run.eval_episodes=0", "--set", "normalise.obs=true",
                                  "--run-dir", tmp_path / str(i))["digest"])
    assert len(digests) == 1


def test_what_matters_matters(penstock, tmp_path):
    def digest(name, *args):
        return penstock.json("train", "--total-timesteps", 4096, "--set", "run.eval_episodes=0", *args,
                             "--run-dir", tmp_path / name)["digest"]

    base = digest("base")
    assert digest("seed", "--seed", 2) != base
    assert digest("lr", "--learning-rate", "1e-4") != base
    assert digest("pin", "--set", "pin_threads=true") == base
    assert digest("log", "--log-interval", 3, "--save-interval", 1) == base
