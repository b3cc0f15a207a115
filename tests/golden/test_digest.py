"""The digest is a function of (config, seed). PENSTOCK_TEST_REPEATS repetitions of a short run."""

import itertools
import json
import os

import pytest

REPEATS = int(os.environ.get("PENSTOCK_TEST_REPEATS", "12"))


@pytest.mark.parametrize("learner", ["fused", "eager"])
@pytest.mark.parametrize("envs", [64, 37])
def test_threads_and_repetition_do_not_matter(penstock, tmp_path, envs, learner):
    threads = itertools.cycle([1, 2, 4])
    digests = set()
    for i in range(REPEATS // 4):
        digests.add(penstock.json("train", "--env", "cartpole", "--num-envs", envs, "--total-timesteps", 8192,
                                  "--seed", 1, "--threads", next(threads), "--set", "rollout.shards=4",
                                  "--learner", learner,
                                  "--set", "run.eval_episodes=0", "--set", "normalise.obs=true",
                                  "--run-dir", tmp_path / str(i))["digest"])
    assert len(digests) == 1


@pytest.mark.parametrize("embedding", ["sync", "async"])
def test_envs_that_learn_together_do_so_for_any_number_of_threads(penstock, tmp_path, embedding):
    digests = {penstock.json("train", "--env", "dvrptw", "--num-envs", 12, "--total-timesteps", 2880, "--seed", 1,
                             "--threads", threads, "--set", "rollout.shards=4", "--set", "rollout.steps=30",
                             "--set", "env.oracle=insertion", "--set", "env.mask=learnt",
                             "--set", "env.embedding_interval=360", "--set", f"env.embedding={embedding}",
                             "--set", "env.embedding_epochs=5", "--set", "run.eval_episodes=1",
                             "--run-dir", tmp_path / str(threads))["digest"] for threads in (1, 2, 4)}
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
    assert digest("block", "--set", "rollout.block=5") == base
    assert digest("auto", "--threads", "auto", "--num-envs", 64) == base
    assert digest("eager", "--learner", "eager") != base


def test_every_instruction_set_gives_its_own_bits_for_any_number_of_threads(penstock, tmp_path):
    there = penstock.json("doctor")
    isas = next(check["detail"] for check in there if check["check"] == "kernels").split(", ")
    assert "generic" in isas
    for isa in isas:
        digests = {penstock.json("train", "--total-timesteps", 4096, "--set", "run.eval_episodes=0", "--isa", isa,
                                 "--threads", threads, "--run-dir", tmp_path / f"{isa}-{threads}")["digest"]
                   for threads in (1, 2)}
        assert len(digests) == 1
        manifest = json.loads((tmp_path / f"{isa}-1" / "manifest.json").read_text())
        assert manifest["isa"] == isa


def test_a_resumed_run_keeps_its_instruction_set(penstock, tmp_path):
    def train(name, steps, *args):
        return penstock.json("train", "--total-timesteps", steps, "--set", "run.eval_episodes=0", "--set",
                             "ppo.learning_rate_schedule=constant", *args, "--run-dir", tmp_path / name)["digest"]

    whole = train("whole", 16384, "--isa", "generic")
    train("part", 8192, "--isa", "generic")
    config = tmp_path / "part" / "config.toml"
    config.write_text(config.read_text().replace('isa = "generic"', 'isa = "auto"'))
    assert penstock.json("resume", tmp_path / "part", "--total-timesteps", 16384)["digest"] == whole


def test_a_checkpoint_serves_both_learners(penstock, tmp_path):
    penstock("train", "--total-timesteps", 8192, "--learner", "fused", "--set", "run.eval_episodes=0",
             "--run-dir", tmp_path / "run")
    rewards = {penstock.json("eval", tmp_path / "run", "--episodes", 20, PENSTOCK_LEARNER=learner)["mean_reward"]
               for learner in ("fused", "eager")}
    assert max(rewards) - min(rewards) < 20  # the same policy but for rounding, in a chaotic env
    done = penstock.json("resume", tmp_path / "run", "--total-timesteps", 12288, PENSTOCK_LEARNER="eager")
    assert done["total_timesteps"] == 12288


@pytest.mark.parametrize("learner", ["fused", "eager"])
def test_a2c_has_one_digest_for_any_threads_and_for_a_run_that_was_interrupted(penstock, tmp_path, learner):
    def train(name, steps, *args):
        return penstock.json("train", "--recipe", "cartpole-a2c", "--total-timesteps", steps, "--learner", learner,
                             "--set", "rollout.shards=4", "--set", "a2c.learning_rate_schedule=constant",
                             "--set", "normalise.obs=true", "--set", "normalise.reward=true",
                             "--set", "run.eval_episodes=0", "--run-dir", tmp_path / name, *args)["digest"]

    whole = {train(str(threads), 16384, "--threads", threads) for threads in (1, 2, 4)}
    assert len(whole) == 1
    train("half", 8192)
    resumed = penstock.json("resume", tmp_path / "half", "--total-timesteps", 16384)["digest"]
    assert {resumed} == whole
