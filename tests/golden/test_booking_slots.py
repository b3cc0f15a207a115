"""`penstock booking slots` and the script of the benchmark's table, on a few episodes."""

import html as html_module
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SELLERS = ["null", "static", "incentive", "myopic", "myopic-bayes", "blend", "programme", "foresight-2", "rollout-1", "hindsight"]


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_sellers_meet_the_same_callers_and_threads_do_not_matter(penstock):
    common = ["booking", "slots", "--families", "city,delivery", "--sizes", "10:2,15:3", "--episodes", 2, "--json",
              "--sellers", ",".join(SELLERS), "--set", "env.rounds=5"]
    one = lines(penstock(*common).stdout)
    two = lines(penstock(*common, "--threads", 2).stdout)
    assert [(x["family"], x["customers"], x["vehicles"]) for x in one] == [
        ("city", 10, 2), ("city", 15, 3), ("delivery", 10, 2), ("delivery", 15, 3)]
    for a, b in zip(one, two):
        assert [x["seller"] for x in a["sellers"]] == SELLERS
        for x, y in zip(a["sellers"], b["sellers"]):
            assert {**x, "ms": 0} == {**y, "ms": 0}
            assert x["profit"]["low"] <= x["profit"]["mean"] <= x["profit"]["high"]
            versus = a["sellers"][0]["profit"]["mean"]
            assert abs(x["difference"]["mean"] - (x["profit"]["mean"] - versus)) < 1e-6


def test_the_table_of_the_benchmark_is_one_command(penstock):
    environment = {**os.environ, "PENSTOCK": str(penstock.exe)}
    run = subprocess.run([ROOT / "scripts" / "slots-table", "--episodes", "1", "--sizes", "20:3", "--sellers", "null,blend", "--json"],
                         env=environment, capture_output=True, text=True, check=True)
    assert [x["family"] for x in lines(run.stdout)] == ["city", "delivery", "csv"]


def test_the_published_tables_are_one_command(penstock):
    environment = {**os.environ, "PENSTOCK": str(penstock.exe)}
    told = subprocess.run([ROOT / "scripts" / "slots-table", "--published", "--episodes", "2", "--sizes", "20:3"],
                          env=environment, capture_output=True, text=True, check=True).stdout
    tables = [block.splitlines() for block in told.split("\n\n") if block.startswith("| family")]
    assert [len(table) for table in tables] == [5, 5, 6]
    profit, differences, _ = ([[cell.strip() for cell in line.split("|")[1:-1]] for line in table] for table in tables)
    number = lambda text: float(text.split(" ±")[0].replace("\u2212", "-").replace(",", ""))
    for money, less in zip(profit[2:], differences[2:]):
        trained = number(money[profit[0].index("trained")])
        assert abs(trained - sum(map(number, money[-1].split(" / "))) / 3) < 0.11
        for name, told_as in zip(differences[0][2:], less[2:]):
            assert abs(number(told_as) - (trained - number(money[profit[0].index(name[2:])]))) < 0.11


def test_training_in_two_runs_makes_the_same_file_again(penstock, tmp_path):
    made = [tmp_path / name for name in ("one.safetensors", "two.safetensors", "other.safetensors")]
    for out, seed in zip(made, ["1", "1", "2"]):
        subprocess.run([sys.executable, ROOT / "scripts" / "train-slots-seller", penstock.exe, out, seed, "4096"], capture_output=True, check=True)
    assert made[0].read_bytes() == made[1].read_bytes() != made[2].read_bytes()


def test_the_page_tells_what_the_command_tells(penstock, tmp_path):
    page = tmp_path / "page.html"
    told = lines(penstock("booking", "slots", "--families", "city,delivery", "--sizes", "10:2", "--episodes", 4, "--sellers",
                          "null,blend,programme", "--set", "env.days=2", "--set", "env.slots=3", "--json", "--report", page).stdout)
    html = page.read_text()
    text = html_module.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<style>.*?</style>", "", html, flags=re.S))).replace("\u2212", "-")
    for market in told:
        assert f"{market['family']}, 10 customers, 2 vehicles" in text
        for seller in market["sellers"]:
            profit = seller["profit"]
            assert f"{profit['mean']:.1f} ({profit['low']:.1f} to {profit['high']:.1f})" in text.replace("-0.0", "0.0")
            assert f"{seller['km']:.1f}" in text and f"{seller['lost']:.1f}" in text
    tables = html.split("<table")[1:]
    calls = [re.findall(r'data-name="([^"]*)">(.*?)</td>', row) for row in tables[-1].split("<tr")[2:]]
    assert len(calls) > 3 and all(len(call) == 5 + 6 for call in calls)
    assert [name for name, _ in calls[0]][5].startswith("day 1, 08:00") and "under programme" in text
    # The fee of the slot that was bought is in its column, beside what the sale was taken to cost.
    bought = [(dict(call)["bought"], dict(call)) for call in calls if dict(call)["bought"] != "nothing"]
    assert bought and all("cost" in cells[slot] for slot, cells in bought)
    assert not re.search(r"(src|href)=\"http|@import|url\(", html)


def test_profits_of_episodes_make_the_mean(penstock):
    told = lines(penstock("booking", "slots", "--episodes", 3, "--sizes", "8:2", "--sellers", "null", "--json", "--profits").stdout)
    seller = told[0]["sellers"][0]
    assert len(seller["profits"]) == 3
    assert abs(sum(seller["profits"]) / 3 - seller["profit"]["mean"]) < 1e-9


def test_a_trained_policy_sells_at_other_sizes_than_its_own(penstock, tmp_path):
    penstock("train", "--recipe", "slots", "--set", "env.num_envs=8", "--set", "total_timesteps=1024", "--set", "env.customers=20",
             "--set", "run.eval_episodes=1", "--run-dir", tmp_path / "run")
    policy = tmp_path / "policy.safetensors"
    penstock("export", tmp_path / "run", "--out", policy)
    told = lines(penstock("booking", "slots", "--policy", policy, "--sellers", "null,trained", "--episodes", 1, "--sizes", "5:1,40:4",
                          "--set", "env.days=3", "--set", "env.slots=5", "--json").stdout)
    assert [x["sellers"][1]["seller"] for x in told] == ["trained", "trained"]


def test_the_seller_that_ships_earns_more_than_insertion_pricing(penstock):
    told = lines(penstock("booking", "slots", "--policy", ROOT / "models/slots-seller/policy.safetensors", "--sellers", "myopic-bayes,trained",
                          "--families", "city,delivery", "--sizes", "20:3", "--episodes", 80, "--seed", 3, "--json").stdout)
    assert all(x["sellers"][1]["difference"]["low"] > 0 for x in told)


def test_faults_name_the_remedy(penstock):
    common = ["booking", "slots", "--episodes", 1]
    assert "did you mean 'myopic'" in penstock(*common, "--sellers", "myopc", code=2).stderr
    assert "60:6" in penstock(*common, "--sizes", "60", code=2).stderr
    assert "penstock export" in penstock(*common, "--sellers", "trained", code=2).stderr
    assert "at most 16" in penstock(*common, "--set", "env.days=4", code=2).stderr
