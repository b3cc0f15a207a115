"""Scripts of bench/cage2, with next to no training."""

import json
import pathlib
import subprocess
import sys

import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "cage2"


def test_rounds_follow_each_other_and_are_played_once(penstock, tmp_path):
    words = [sys.executable, SCRIPTS / "selfplay", penstock.exe, "--out", tmp_path / "out", "--seeds", 3, "--timesteps", 1600, "--episodes", 2,
             "--evaluations", 2]

    def play(rounds):
        done = subprocess.run([*map(str, words), "--rounds", str(rounds)], capture_output=True, text=True, env=penstock.environment())
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines(), json.loads((folder / "rounds.json").read_text())

    folder = tmp_path / "out" / "seed3"
    first = play(1)[1]
    lines, rows = play(2)  # goes on
    assert len(rows) == 2 and rows[0]["own"] == first[0]["own"]
    costs = json.loads((folder / "costs.json").read_text())
    made = {path: path.stat().st_mtime_ns for path in folder.glob("*/ckpt")}
    assert {path.parent.name for path in made} == {"red1", "red2", "blue1", "blue2"} and min(map(min, costs.values())) >= 0
    for number, row in enumerate(rows, 1):
        reds, blues = row["weights"]["red"], row["weights"]["blue"]
        assert sum(reds.values()) == sum(blues.values()) == 20
        # What each policy of the end costs against the round's mixtures.
        caused = {red: sum(n * costs[f"{red} {blue}"][1] for blue, n in blues.items()) / 20 for red in ("bline", "meander", "red1", "red2")}
        borne = {blue: sum(n * costs[f"{red} {blue}"][1] for red, n in reds.items()) / 20 for blue in ("react", "decoy_first", "blue1", "blue2")}
        assert row["own"][1] == pytest.approx(caused[f"red{number}"] - borne[f"blue{number}"])
        assert row["best"][1] == pytest.approx(max(caused.values()) - min(borne.values()))
        assert any(line.startswith(f"| {number} | {sum(row['red']) / 2:.1f} | {sum(row['blue']) / 2:.1f} |") for line in lines)
    # No member of either population gains against an equilibrium of them, but for what parts of a twentieth leave.
    reds, blues = rows[0]["weights"]["red"], rows[0]["weights"]["blue"]
    mean = {pair: sum(of) / 2 for pair, of in costs.items()}
    value = sum(m * n * mean[f"{red} {blue}"] for red, m in reds.items() for blue, n in blues.items()) / 400
    slack = (max(mean.values()) - min(mean.values())) / 10
    assert all(sum(n * mean[f"{red} {blue}"] for blue, n in blues.items()) / 20 <= value + slack for red in ("bline", "meander"))
    assert all(sum(m * mean[f"{red} {blue}"] for red, m in reds.items()) / 20 >= value - slack for blue in ("react", "decoy_first"))
    # The second red response met the weighted blues.
    config = (folder / "red2" / "config.toml").read_text()
    assert all(config.count(f"{blue}.safetensors" if blue == "blue1" else blue) == n for blue, n in rows[1]["weights"]["blue"].items())
    assert play(2)[1] == rows and {path: path.stat().st_mtime_ns for path in folder.glob("*/ckpt")} == made


def test_policies_meet_networks_of_other_sizes(penstock, tmp_path):
    words = [sys.executable, SCRIPTS / "generalisation", penstock.exe, "--out", tmp_path, "--seeds", 1, 2, "--timesteps", 6400, "--episodes", 3]

    def table():
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, env=penstock.environment())
        assert done.returncode == 0, done.stderr
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()]

    first = table()
    made = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/ckpt")}
    assert {path.parent.name for path in made} == {"asleep", "5-to-20-1", "5-to-20-2", "20-1", "20-2"}
    assert [row[0] for row in first[2:]] == ["nothing, sleeps", "5 to 20 hosts", "20 hosts"]
    cell = lambda run, hosts: penstock.json("eval", tmp_path / run, "--episodes", 3, "--seed", 1001, "--set", f"env.hosts={hosts}")["mean_reward"]
    values = [cell(f"5-to-20-{seed}", "[20, 20]") for seed in (1, 2)]
    assert first[3][2].startswith(f"{sum(values) / 2:.1f} ± ") and f"({values[0]:.1f}, {values[1]:.1f})" in first[3][2]
    assert first[2][2] == f"{cell('asleep', '[20, 20]'):.1f}"
    assert table() == first and {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/ckpt")} == made
