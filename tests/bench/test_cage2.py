"""Scripts of bench/cage2, with next to no training."""

import json
import pathlib
import subprocess
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "cage2"


def test_rounds_follow_each_other_and_are_played_once(penstock, tmp_path):
    words = [sys.executable, SCRIPTS / "selfplay", penstock.exe, "--out", tmp_path / "out", "--seeds", 3, "--timesteps", 1600, "--episodes", 2,
             "--evaluations", 2, "--rounds"]

    def play(rounds):
        done = subprocess.run([*map(str, words), str(rounds)], capture_output=True, text=True, env=penstock.environment())
        assert done.returncode == 0, done.stderr
        rows = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
        return done.stdout.splitlines(), rows

    first = play(1)[1]
    table, rows = play(2)  # goes on
    assert [(row["seed"], row["round"]) for row in rows] == [(3, 1), (3, 2)] and rows[:1] == first
    for row, line in zip(rows, table[-2:], strict=True):
        red, blue = (sum(row[key]) / 2 for key in ("red_costs", "blue_costs"))
        assert red >= 0 and blue >= 0  # costs to Blue, of either side's games
        assert line.startswith(f"| {row['round']} | {red:.1f} | {blue:.1f} | {red - blue:.1f} |")
    folder = tmp_path / "out" / "seed3"
    # The second red response met the first blue one.
    assert str(folder / "blue1.safetensors") in (folder / "red2" / "config.toml").read_text()
    assert play(2)[1] == rows


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
