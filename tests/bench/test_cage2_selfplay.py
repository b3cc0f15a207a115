"""bench/cage2/selfplay, two rounds of next to no training."""

import json
import pathlib
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench" / "cage2" / "selfplay"


def test_rounds_follow_each_other_and_are_played_once(penstock, tmp_path):
    words = [sys.executable, SCRIPT, penstock.exe, "--out", tmp_path / "out", "--seeds", 3, "--timesteps", 1600, "--episodes", 2,
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
