"""One round of each torment of scripts/chaos, seconds of scripts/soak. The long runs: scripts/chaos --minutes 60, scripts/soak."""

import json
import os
import pathlib
import subprocess
import sys

SCRIPTS = pathlib.Path(__file__).parents[2] / "scripts"


def test_a_round_of_everything(penstock, python_env, tmp_path):
    done = subprocess.run([sys.executable, SCRIPTS / "chaos", "--exe", penstock.exe, "--python", sys.executable, "--rounds", "1", "--seed", "1",
                           "--clock", os.environ["PENSTOCK_TEST_CLOCK"], "--report", tmp_path / "report.json"],
                          capture_output=True, text=True, timeout=540)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = json.loads((tmp_path / "report.json").read_text())["counts"]
    assert {name: counts[name]["rounds"] for name in counts} == dict.fromkeys(["learner", "disk", "workers", "search", "server"], 1)


def test_seconds_of_a_soak(penstock, python_env, tmp_path):
    """Too few for the comparison of memory; that everything is sampled and ends well."""
    subprocess.run([sys.executable, SCRIPTS / "soak", "--exe", penstock.exe, "--python", sys.executable, "--minutes", "0.1",
                    "--report", tmp_path / "soak.json"], capture_output=True, timeout=240)
    told = json.loads((tmp_path / "soak.json").read_text())
    assert told["exit_codes"] == [75, 0] and told["offers"] > 0 == told["offers_refused"]
    assert set(told["samples"]) == {"trainer", "worker server", "workers", "server"}
