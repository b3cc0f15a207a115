"""Networks from files, random ones, and the attacker's side, as users meet them."""

import pathlib

import pytest

SCENARIO2 = pathlib.Path(__file__).parents[2] / "src/domains/cage2/sim/scenarios/scenario2.toml"


def train(penstock, run, *args, steps=1600, threads=1):
    return penstock.json("train", "--total-timesteps", steps, "--threads", threads, "--set", "env.num_envs=16",
                         "--set", "net.hidden=[16]", "--set", "run.eval_episodes=0", "--run-dir", run, *args)


def test_the_file_of_scenario_2_is_scenario_2(penstock, tmp_path):
    same = ("--env", "cage2", "--isa", "avx2", "--set", "env.red=mix")
    first = train(penstock, tmp_path / "constant", *same)
    second = train(penstock, tmp_path / "file", *same, "--set", f"env.scenario={SCENARIO2}")
    assert first["digest"] == second["digest"]


def test_a_scenario_that_cannot_be_is_refused(penstock, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(SCENARIO2.read_text().replace('goal = "Op_Server0"', 'goal = "Op_Server"'))
    told = penstock("train", "--env", "cage2", "--set", f"env.scenario={file}", "--run-dir", tmp_path / "run", code=78).stderr
    assert "red.goal" in told and "did you mean 'Op_Server0'" in told


@pytest.mark.parametrize("threads", [1, 2])
def test_random_networks_are_trained_on_and_resumed(penstock, tmp_path, threads):
    digests = {train(penstock, tmp_path / f"{threads}-{again}", "--env", "cage2", "--set", "env.scenario=random",
                     "--set", "env.hosts=[5, 20]", threads=threads)["digest"] for again in range(2)}
    assert len(digests) == 1


def test_each_side_learns_against_a_file_of_the_other(penstock, tmp_path):
    train(penstock, tmp_path / "red", "--recipe", "cage2-red", "--set", "ppo.minibatch=400")
    penstock("export", tmp_path / "red", "--out", tmp_path / "red.safetensors")
    blue = ("--recipe", "cage2-defender", "--set", "ppo.minibatch=400", "--set",
            f"env.red=meander,{tmp_path}/red.safetensors")
    one = train(penstock, tmp_path / "blue", *blue)
    assert one["digest"] == train(penstock, tmp_path / "blue2", *blue, threads=2)["digest"]
    penstock("export", tmp_path / "blue", "--out", tmp_path / "blue.safetensors")
    against = ("--sampled", "--episodes", 20, "--set", f"env.blue={tmp_path}/blue.safetensors")
    told = [penstock.json("eval", tmp_path / "red", *against, "--threads", threads) for threads in (1, 2)]
    assert told[0]["mean_reward"] == told[1]["mean_reward"] > 0
    wrong = penstock("train", "--recipe", "cage2-red", "--set", f"env.blue={tmp_path}/red.safetensors", "--run-dir",
                     tmp_path / "no", code=78).stderr
    assert "trained on cage2_defender or cage2" in wrong
