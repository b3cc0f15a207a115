"""`penstock cage2 search` as users meet it, with results made up instead of trained."""

import json
import random
import signal
import time

FAST = ["cage2", "search", "--evaluator", "synthetic"]


def test_a_search_with_everything(penstock, tmp_path):
    out = tmp_path / "out"
    result = penstock.json(*FAST, "--n-envs", 25, "--n-workflows", 20, "--train-episodes-per-env", 50,
                           "--compliance-threshold", 0.95, "--update-every-steps", 100, "--red", "meander",
                           "--workers", "auto", "--exhaustive", "--batch", 2, "--out", out)
    assert result["evaluations"] == 20
    assert sorted(result["best"]["order"]) == ["defender", "enterprise", "op_host", "op_server", "user"]
    assert len(result["best"]["runs"]) % 3 == 0 and result["noise"]["freedom"] == 60 - len(result["ranking"])
    assert set(result["ranking"]) < set(range(120)) and len(set(result["ranking"])) == len(result["ranking"]) <= 24
    assert 1 <= result["exhaustive"]["rank_of_best"] <= 24
    assert result["exhaustive"]["regret"]["repetitions"] == 10
    names = {path.name for path in out.iterdir()}
    assert {"journal.jsonl", "search.json", "orders.csv", "curves.csv", "regret.csv", "report.html"} <= names
    lines = (out / "journal.jsonl").read_text().splitlines()
    assert len(lines) > 1 + 60 + 24 * 10 + 3  # the search, the ground truth, PPO without an order
    assert json.loads(lines[0])["options"]["red"] == "meander"


def test_killed_and_resumed(penstock, tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    args = ["--synthetic-delay", 0.02, "--workers", 2]
    expected = penstock.json(*FAST, *args, "--out", whole)
    rng = random.Random(3)
    journal = cut / "journal.jsonl"
    landed = 0
    for _ in range(3):
        size = journal.stat().st_size if journal.exists() else 0
        process = penstock.start(*FAST, *args, "--out", cut)
        while process.poll() is None and not (journal.exists() and journal.stat().st_size > size):
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.1))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            landed += 1
        process.communicate()
    assert landed > 0
    result = penstock.json(*FAST, "--workers", 1, "--out", cut)
    assert {**result, "out": ""} == {**expected, "out": ""}
    for name in ("journal.jsonl", "search.json", "orders.csv", "report.html"):
        assert (cut / name).read_bytes() == (whole / name).read_bytes(), name


def test_mistakes_are_told(penstock, tmp_path):
    penstock(*FAST, "--no-baselines", "--out", tmp_path)
    done = penstock(*FAST, "--red", "meander", "--out", tmp_path, code=78)
    assert 'red = "bline", not "meander"' in done.stderr
    assert "--out" in done.stderr
    assert "n_workflows = 500" in penstock(*FAST, "--n-workflows", 500, "--out", tmp_path / "b", code=78).stderr
    assert "--beta x" in penstock(*FAST, "--beta", "x", "--out", tmp_path / "b", code=2).stderr
    penstock("cage2", "search", "--compliance-threshold", 2, code=2)
    assert "set = null" in penstock(*FAST, "--set", "env.macro=true", "--out", tmp_path, code=78).stderr
    for key, remedy in {"env.order=random": "chooses orders", "env.red=mix": "--red", "seed=3": "--seed"}.items():
        assert remedy in penstock(*FAST, "--set", key, "--out", tmp_path / "b", code=2).stderr
    (tmp_path / "journal.jsonl").write_text("not a journal\n")
    assert "not a journal of a search" in penstock(*FAST, "--out", tmp_path, code=65).stderr


def test_settings_reach_the_trainings_and_each_seed_is_a_run(penstock, tmp_path):
    small = ("cage2", "search", "--n-workflows", 2, "--initial", 2, "--seeds", 2, "--n-envs", 4, "--train-episodes-per-env", 2,
             "--eval-episodes", 4, "--any-compliance", "--no-baselines", "--out", tmp_path)
    told = penstock.json(*small, "--set", "env.macro=true", "--set", "env.memory=true")
    assert told["evaluations"] == 2 and told["noise"]["freedom"] == 4 - len(told["ranking"])
    runs = sorted((tmp_path / "runs").iterdir())
    assert len(runs) == len(told["best"]["runs"]) == 2
    for run in runs:
        assert "macro = true" in (run / "config.toml").read_text()
    header = json.loads((tmp_path / "journal.jsonl").read_text().splitlines()[0])
    assert header["options"]["set"] == ["env.macro=true", "env.memory=true"]
    assert "env.macro=true" in (tmp_path / "report.html").read_text()
