"""What the verbs of the domains refuse: each names the fault and the remedy, and leaves nothing behind."""

import json

import pytest

FEW = ["--set", "env.oracle=insertion", "--set", "env.customers=4", "--threads", 1]
TINY = ["--layers", 1, "--heads", 1, "--hidden", 16, "--batch-tokens", 16, "--samples", 2, "--threads", 1,
        "--mode", "deliver"]
SYNTHETIC = ["cage2", "search", "--evaluator", "synthetic", "--no-baselines"]


@pytest.mark.parametrize("args,code,words", [
    # A policy, an oracle or a key that is none.
    (["eval", "--policies", ","], 2, ["--policies", "myopic-bayes", "ppo"]),
    (["eval", "--policies", "null", "--set", "env.oracle=rr-"], 2, ["'rr-'", "insertion, relocate or rr-N"]),
    (["eval", "--policies", "null", "--set", "env.oracle=neural-3"], 2, ["'neural-3'", "neural-8"]),
    (["eval", "--policies", "null", "--set", "env.oracel=rr-5"], 78, ["env.oracel", "did you mean 'env.oracle'"]),
    (["eval", "--policies", "null", "--set", "env.eta=0.7"], 78, ["env.eta = 0.7", "0 to 0.5"]),
    (["eval", "--policies", "null", "--set", "env.generator=town"], 78, ["env.generator", "city", "csv"]),
    (["eval", "--policies", "null", "--set", "env.generator=csv"], 2, ["'csv' draws from a file"]),
    (["eval", "--policies", "null", "--set", "env.oracle"], 2, ["env.oracle", "="]),
    # Numbers out of their range.
    (["eval", "--episodes", "0"], 2, ["--episodes", "1"]),
    (["eval", "--threads", "0"], 2, ["--threads", "1024"]),
    (["eval", "--reference", "gurobi"], 2, ["--reference", "pyvrp"]),
    (["eval", "--reference-seconds", "0"], 2, ["--reference-seconds", "0.01"]),
    (["oracle", "eval", "--sizes", "20,1"], 2, ["--sizes", "2 to 1000"]),
    (["oracle", "eval", "--model", "absent.safetensors"], 1, ["absent.safetensors", "oracle train --out"]),
    (["oracle", "train"], 2, ["--out"]),
    (["oracle", "train", "--out", "m", "--samples", "1"], 2, ["--samples", "2 to 1024"]),
    (["oracle", "train", "--out", "m", "--mode", "fly"], 2, ["--mode", "ride", "deliver"]),
    (["oracle"], 2, ["required", "train", "eval"]),
    (["oracle", "eval", "--seed", "-1"], 2, ["--seed", "-1"]),
    (["eval", "--seed", "-1"], 2, ["--seed", "-1"]),
    (["offer", "--serve", "70000"], 2, ["--serve", "65535"]),
    (["offer", "absent.json"], 1, ["absent.json"]),
])
def test_booking_refuses(penstock, tmp_path, monkeypatch, args, code, words):
    monkeypatch.chdir(tmp_path)
    done = penstock("booking", *args, code=code, timeout=60)
    for word in words:
        assert word in done.stderr, done.stderr
    assert done.stdout == "" and not list(tmp_path.iterdir())


@pytest.mark.parametrize("args,code,words", [
    (["play", "--steps", "0"], 78, ["env.max_steps = 0", "--steps"]),
    (["play", "--wrapper", "v3"], 78, ["env.wrapper", "v1", "v2", "dbg"]),
    (["play", "--set", "env.geen=true"], 78, ["env.geen", "did you mean 'env.green'"]),
    (["play", "--seed", "1.5"], 2, ["--seed"]),
    (["replay", "absent"], 2, ["absent: not a folder"]),
    (["replay"], 2, ["folder"]),
    (["leaderboard", "absent"], 65, ["absent: not a run directory"]),
    (["workflow", "--order", "user,user,op_host,op_server,enterprise"], 78, ["user"]),
    (["workflow", "--order", "user"], 78, ["user"]),
    (["workflow", "--red", "nobody"], 78, ["env.red = nobody", "bline, meander, sleep, mix"]),
    (["workflow", "--n-envs", "0"], 78, ["env.num_envs = 0"]),
    (["workflow", "--compliance-rule", ""], 78, ["env.compliance_rule", "A, B"]),
    (["workflow", "--set", "ppo.clp=1"], 78, ["ppo.clp", "did you mean 'ppo.clip'"]),
    (["search", "--workers", "-5"], 78, ["workers = -5"]),
    (["search", "--workers", "1.5"], 2, ["--workers 1.5: expected a whole number or auto"]),
    (["search", "--workers", "nan"], 2, ["--workers nan: expected a number or auto"]),
    (["search", "--beta", "inf"], 2, ["--beta inf: expected a number or auto"]),
    (["search", "--seed", "-1"], 2, ["--seed", "-1"]),
    (["play", "--svg", "/proc/x"], 73, ["--svg /proc/x", "choose another folder"]),
    (["search", "--workers", "many"], 2, ["--workers many: expected a number or auto"]),
    (["search", "--beta", "-1"], 78, ["beta = -1"]),
    (["search", "--beta", "4x"], 2, ["--beta 4x: expected a number or auto"]),
    (["search", "--batch", "0"], 78, ["batch = 0"]),
    (["search", "--compliance-rule", "C"], 2, ["--compliance-rule", "A", "B"]),
    (["search", "--n-envs", "-2"], 2, ["--n-envs"]),
])
def test_cage2_refuses(penstock, tmp_path, monkeypatch, args, code, words):
    monkeypatch.chdir(tmp_path)
    done = penstock("cage2", *args, code=code, timeout=60)
    for word in words:
        assert word in done.stderr, done.stderr
    assert done.stdout == "" and not list(tmp_path.iterdir())


def test_a_run_of_another_env_is_no_run_of_booking(penstock, tmp_path):
    run = tmp_path / "run"
    penstock("train", "--env", "cartpole", "--num-envs", 4, "--total-timesteps", 1024, "--threads", 1,
             "--set", "run.eval_episodes=0", "--run-dir", run)
    assert "a run of cartpole, not of dvrptw" in penstock("booking", "eval", run, "--policies", "ppo", code=2).stderr


def test_days_of_an_evaluation_are_those_of_its_seed(penstock):
    def km(*args):
        found = penstock.json("booking", "eval", "--policies", "null", *FEW, *args)["policies"][0]["km"]
        return found["mean"], found["ci95"]

    assert km("--episodes", 6) == km("--episodes", 6, "--days", 2), "who books does not matter to null"
    assert km("--episodes", 6) != km("--episodes", 6, "--seed", 5)
    mean, (low, high) = km("--episodes", 1)
    assert low == mean == high, "one day has no spread"


def test_lessons_are_kept_and_a_damaged_file_of_them_is_told(penstock, tmp_path):
    lessons, models = tmp_path / "lessons.txt", [tmp_path / name for name in ("a", "b")]
    for model in models:
        done = penstock("booking", "oracle", "train", "--lessons", 6, "--lessons-file", lessons, "--steps", 2,
                        "--out", model, *TINY)
        assert done.stdout.strip() == str(model)
        assert ("lessons 6/6" in done.stderr) == (model is models[0]), "read the second time"
        assert not model.with_name(model.name + ".state").exists(), "gone at the end"
    assert models[0].read_bytes() == models[1].read_bytes()

    text = lessons.read_text()
    assert all(line.startswith("deliver ") for line in text.splitlines())
    lessons.write_text(text + "deliver five\n")
    told = penstock("booking", "oracle", "train", "--lessons-file", lessons, "--steps", 1, "--out", tmp_path / "c",
                    *TINY, code=65).stderr
    assert f"lessons.txt:{len(text.splitlines()) + 1}: not a lesson" in told
    assert not (tmp_path / "c").exists()
    lessons.write_text("ride 2 77 0 999 -7\n" * 3)
    told = penstock("booking", "oracle", "train", "--lessons-file", lessons, "--steps", 1, "--out", tmp_path / "c",
                    *TINY, code=65).stderr
    assert "lessons.txt:1: not a lesson" in told
    lessons.write_text(text.splitlines(keepends=True)[0])
    told = penstock("booking", "oracle", "train", "--lessons-file", lessons, "--steps", 1, "--out", tmp_path / "c",
                    *TINY, code=2).stderr
    assert "at least 2" in told
    lessons.write_text(text)
    told = penstock("booking", "oracle", "train", "--lessons-file", lessons, "--steps", 1, "--out", tmp_path / "c",
                    "--resume", *TINY, code=1).stderr
    assert "c.state" in told


def test_an_episode_adds_up_and_a_sleeping_red_costs_its_repairs_alone(penstock):
    played = penstock.json("cage2", "play", "--blue", "react", "--steps", 50, "--seed", 3)
    assert round(sum(step["reward"] for step in played["episode"]), 1) == played["return"] < 0
    assert [step["step"] for step in played["episode"]] == list(range(1, 51))
    quiet = penstock.json("cage2", "play", "--blue", "random", "--red", "sleep", "--steps", 100)
    restores = sum(step["blue"].startswith("Restore") for step in quiet["episode"])
    assert quiet["return"] == -restores < 0
    assert {step["red"] for step in quiet["episode"]} == {"Sleep"}
    assert penstock.json("cage2", "play", "--blue", "sleep", "--red", "sleep")["return"] == 0


def test_a_search_counts_what_it_was_asked_for(penstock, tmp_path):
    found = penstock.json(*SYNTHETIC, "--n-workflows", 9, "--initial", 4, "--batch", 3, "--all-orders", "--out", tmp_path / "a")
    whole = json.loads((tmp_path / "a" / "search.json").read_text())
    batches = [trial["batch"] for trial in whole["trials"]]
    assert batches == [0] * 4 + [1] * 3 + [2] * 2, "the last batch is what is left"
    assert found["evaluations"] == 9 and len(set(found["ranking"])) == 9
    counted = [trial for trial in whole["trials"] if trial["compliant"]]
    assert found["best"]["mean_return"] == max(trial["mean_return"] for trial in counted)
    any_run = penstock.json(*SYNTHETIC, "--n-workflows", 9, "--any-compliance", "--out", tmp_path / "b")
    assert any_run["evaluations"] == 9
    assert len(any_run["ranking"]) == len(set(any_run["ranking"])) <= 6, "one order of each game against B_line, some of them again"
