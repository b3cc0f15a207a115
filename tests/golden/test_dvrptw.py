"""Booking under time windows from the command line: the training command people know, and paired evaluation."""

import json
import pathlib
import re

import pytest

FAST = ["--set", "env.oracle=insertion", "--set", "run.eval_episodes=0", "--set", "ppo.policy_epochs=1", "--set",
        "ppo.value_epochs=2", "--threads", 1]


def test_the_command_people_know(penstock, tmp_path):
    done = penstock("train", "--recipe", "dvrptw", "--episodes", 150, "--customers", 30, "--num-envs", 64,
                    "--save-interval", 2, "--log-interval", 1, "--device", "cpu", "--seed", 42, "--async-embedding",
                    "--set", "env.embedding_interval=1920", "--run-dir", tmp_path / "run", *FAST)
    assert "2 epochs of 64 and a remainder of 22" in done.stderr and "192 episodes in all" in done.stderr
    assert "customers 30" in done.stderr and "embedding async" in done.stderr
    assert "device cpu" in done.stderr and f"run directory {tmp_path / 'run'}" in done.stderr
    assert "embedding learns every 1920 steps (async)" in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("epoch ")]
    assert [line.split()[1] for line in lines] == ["1/3", "2/3", "3/3"]
    for word in ("cost km", "failure rate", "policy loss", "value loss", "entropy", "steps"):
        assert all(word in line for line in lines)
    assert "epsilon" in done.stderr and "embedding: " in done.stderr
    cost = float(re.search(r"cost km ([0-9.]+)", lines[0])[1])
    assert 200 < cost < 290  # insertion alone gives about 245
    # What trackers are sent.
    metrics = {name for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines() for name in json.loads(line)}
    assert {"rollout/cost_km", "rollout/failure_rate", "rollout/acceptance", "rollout/shifted_minutes",
            "train/policy_gradient_loss", "train/value_loss", "train/entropy_loss", "beliefs/epsilon",
            "embedding/loss", "embedding/share_rigid"} <= metrics
    steps = {int(re.search(r"\d+", path.name)[0]) for path in (tmp_path / "run" / "ckpt").iterdir() if path.is_dir()}
    assert {2 * 1920, 3 * 1920} <= steps
    # A checkpoint knows its episode.
    states = {json.loads(path.read_text())["run"]["episodes"] for path in (tmp_path / "run" / "ckpt").glob("*/state.json")}
    assert {128, 192} <= states


def test_all_flags_at_once_are_understood(penstock):
    plan = penstock.json("train", "--recipe", "dvrptw", "--episodes", 1000, "--customers", 30, "--num-envs", 64,
                         "--save-interval", 10, "--log-interval", 1, "--device", "cpu", "--seed", 42, "--dry-run")
    assert plan["epochs"] == {"whole": 15, "remainder": 40} and plan["updates"] == 16
    assert plan["samples_per_update"] == 64 * 30 and plan["warnings"] == []


@pytest.mark.parametrize("vehicles,least,most", [(2, 0.005, 0.05), (3, 0.0001, 0.01), (5, 0, 0)])
def test_the_failure_rate_lives_where_vehicles_are_few(penstock, vehicles, least, most):
    args = ["dvrptw", "eval", "--policies", "null", "--episodes", 100, "--set", f"env.vehicles={vehicles}"]
    assert least <= penstock.json(*args)["policies"][0]["unserved"] <= most


def test_the_plan_says_epochs_memory_and_too_few_episodes(penstock):
    plan = penstock("train", "--recipe", "dvrptw", "--episodes", 1000, "--dry-run").stdout
    assert "# 1000 episodes: 15 epochs of 64 and a remainder of 40" in plan
    assert "# 16 updates, 1920 samples each" in plan
    assert re.search(r"# memory: [0-9.]+ MB = rollout [0-9.]+, weights", plan) and "warning" not in plan
    assert "# warning" in penstock("train", "--recipe", "dvrptw-256", "--episodes", 1000, "--dry-run").stdout
    large = penstock.json("train", "--recipe", "dvrptw-256", "--dry-run")
    assert large["warnings"] == [] and large["updates"] == 150
    # 30 steps of 256 envs and the row after them, 180 places each instead of 1,212 numbers: 6 MB, not 39.
    assert 31 * 256 * 180 * 4 <= large["memory"]["rollout"] < 31 * 256 * 300 * 4


@pytest.mark.parametrize("obs", ["hist", "list"])
def test_observations_that_are_looked_up_train_the_same_on_any_number_of_threads(penstock, tmp_path, obs):
    digests = {penstock.json("train", "--recipe", "dvrptw", "--num-envs", 12, "--episodes", 24, "--set",
                             "rollout.shards=4", "--set", f"env.obs={obs}", "--set", "env.belief=true", "--set",
                             "net.hidden=48,32", *FAST[:-2], "--threads", threads,
                             "--run-dir", tmp_path / str(threads))["digest"] for threads in (1, 2, 4)}
    assert len(digests) == 1


def policies(result):
    return {row["policy"]: row for row in result["policies"]}


def without_times(result):
    return [{key: value for key, value in row.items() if key != "decision_us"} for row in result["policies"]]


def test_policies_are_compared_on_the_same_days(penstock):
    args = ["dvrptw", "eval", "--episodes", 40, "--days", 4, "--set", "env.oracle=insertion"]
    one = penstock.json(*args, "--threads", 1)
    rows = policies(one)
    assert rows["null"]["difference"] == {"mean": 0.0, "ci95": [0.0, 0.0]} and rows["null"]["saving_per_served"] == 0
    assert rows["null"]["shifted_minutes"] == 0 and rows["max"]["acceptance"] == 1
    assert rows["random-masked"]["acceptance"] == 1 > rows["random"]["acceptance"]
    assert rows["myopic-known"]["reward"]["mean"] > rows["myopic"]["reward"]["mean"]
    assert rows["myopic-bayes"]["type_accuracy"] > 0.25
    assert without_times(penstock.json(*args, "--threads", 2)) == without_times(one)
    other = policies(penstock.json(*args, "--policies", "null,max", "--versus", "max"))
    assert other["max"]["difference"]["mean"] == 0 != other["null"]["difference"]["mean"]


@pytest.mark.parametrize("offer,least", [("shift", 0.04), ("widen", 0.10)])
def test_flexibility_saves_what_it_should(penstock, offer, least):
    result = penstock.json("dvrptw", "eval", "--policies", "null,max", "--episodes", 100, "--set", f"env.offer={offer}",
                           "--set", "env.rho=0", "--set", "env.rejection=0", "--set", "env.oracle=rr-50")
    assert policies(result)["max"]["saving_per_served"] >= least


def test_losing_customers_never_pays(penstock):
    savings = []
    for walk_away in (0, 0.5, 1):
        args = ["--policies", "null,random,max", "--episodes", 40, "--set", f"env.walk_away={walk_away}"]
        rows = policies(penstock.json("dvrptw", "eval", *args, "--set", "env.oracle=insertion", "--set", "env.offer=widen"))
        assert rows["null"]["lost"] == rows["max"]["lost"] == 0 and rows["max"]["difference"]["mean"] > 0
        assert (rows["random"]["lost"] > 0.2) == (walk_away > 0)
        assert rows["random"]["difference"]["ci95"][1] < -30 * 30 * rows["random"]["lost"]
        savings.append(rows["random"]["saving_per_served"])
    assert savings == sorted(savings, reverse=True)
    done = penstock("dvrptw", "eval", "--policies", "null", "--episodes", 1, "--set", "env.lost=10", code=2)
    assert "env.unserved" in done.stderr


def test_an_audit_finds_the_weak_planner_out(penstock):
    args = ["dvrptw", "eval", "--policies", "null", "--episodes", 4, "--audit", 0.05]
    gaps = [penstock.json(*args, "--set", f"env.oracle={oracle}")["policies"][0]["audit"]["gap"]
            for oracle in ("insertion", "rr-50")]
    assert gaps[0] > gaps[1] >= 0


def test_what_cannot_be_evaluated_is_told_with_the_remedy(penstock, tmp_path):
    assert "'myopic-bayes'" in penstock("dvrptw", "eval", "--policies", "myopic-bays", code=2).stderr
    assert "run directory" in penstock("dvrptw", "eval", "--policies", "ppo", code=2).stderr
    assert "--policies" in penstock("dvrptw", "eval", "--policies", "null", "--versus", "max", code=2).stderr
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\nexit 3\n")
    bare.chmod(0o755)
    done = penstock("dvrptw", "eval", "--policies", "null", "--episodes", 2, "--reference", "pyvrp", "--python", bare,
                    "--set", "env.oracle=insertion", code=2)
    assert "pip install pyvrp" in done.stderr


def test_the_policy_that_ships_earns_more_than_the_myopic_offers(penstock):
    run = pathlib.Path(__file__).parents[2] / "models" / "dvrptw-offer"
    rows = policies(penstock.json("dvrptw", "eval", run, "--policies", "myopic-bayes,ppo", "--versus", "myopic-bayes",
                                  "--episodes", 300, "--days", 100, "--set", "env.oracle=rr-50"))
    assert rows["ppo"]["difference"]["mean"] > 0  # over 1,000 days with its interval: bench/reports


def test_a_run_is_evaluated_under_other_conditions(penstock):
    run = pathlib.Path(__file__).parents[2] / "models" / "dvrptw-offer"
    args = ["dvrptw", "eval", run, "--policies", "null,ppo", "--episodes", 5, "--set", "env.oracle=insertion"]
    rows = policies(penstock.json(*args, "--set", "env.vehicles=2", "--set", "env.rejection=3", "--set", "env.window_minutes=20"))
    assert rows["null"]["vehicles"] <= 2 and rows["ppo"]["vehicles"] <= 2
    told = penstock(*args, "--set", "env.customers=60", code=2).stderr
    assert "env.customers=60" in told and "net.places=false" in told


def test_keys_are_options_of_eval_too(penstock, tmp_path):
    args = ["dvrptw", "eval", "--policies", "null", "--episodes", 3, "--set", "env.oracle=insertion"]
    assert without_times(penstock.json(*args, "--customers", 12)) == without_times(penstock.json(*args, "--set", "env.customers=12"))
    own = tmp_path / "own.csv"
    own.write_text("x,y,earliest,latest\n" + "".join(f"{700 * i},{300 * i},09:00,11:00\n" for i in range(8)))
    args += ["--generator", "csv", "--file", own, "--mode", "deliver", "--customers", 8]
    penstock(*args)
    assert "env.window_minutes" in penstock(*args, "--window-minutes", 10, code=2).stderr


def test_a_set_network_plays_days_of_any_number_of_customers(penstock, tmp_path):
    run = tmp_path / "run"
    penstock("train", "--recipe", "dvrptw-offer", "--num-envs", 4, "--customers", 6, "--total-timesteps", 48, "--run-dir", run,
             "--set", "net.kind=transformer", "--set", "net.places=false", "--set", "net.width=8", "--set", "net.layers=1",
             "--set", "ppo.minibatch=24", *FAST)
    rows = policies(penstock.json("dvrptw", "eval", run, "--policies", "null,ppo", "--episodes", 3, "--set", "env.customers=12",
                                  "--set", "env.oracle=insertion"))
    assert rows["ppo"]["unserved"] == 0


def test_a_trained_network_is_a_policy(penstock, tmp_path):
    run = tmp_path / "run"
    penstock("train", "--recipe", "dvrptw-offer", "--num-envs", 16, "--total-timesteps", 960, "--run-dir", run,
             "--set", "ppo.minibatch=240", *FAST)
    args = ["dvrptw", "eval", run, "--policies", "null,myopic-bayes,ppo", "--episodes", 30, "--versus", "null"]
    result = penstock.json(*args, "--threads", 2)
    rows = policies(result)
    assert rows["ppo"]["shifted_minutes"] > 0
    # It begins as the myopic policy and has learnt next to nothing yet.
    assert abs(rows["ppo"]["reward"]["mean"] - rows["myopic-bayes"]["reward"]["mean"]) < 3
    assert without_times(penstock.json(*args, "--threads", 1)) == without_times(result)
