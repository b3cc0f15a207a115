"""Short benches with generous guards; the full ones are commands, their reports under bench/reports."""

import json
import pathlib
import re
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def test_env(penstock):
    result = penstock.json("bench", "env", "--env", "cartpole", "--num-envs", 1024, "--threads", 1,
                           "--round-seconds", 0.2, "--rounds", 15)
    assert result["high"] >= 1e6  # the fastest round, and a tenth of it: what others take of the machine is not ours to say


def test_ppo_beside_bare_libtorch(penstock):
    result = penstock.json("bench", "ppo", "--num-envs", 64, "--minibatch", 2048, "--threads", 1,
                           "--round-seconds", 0.5)
    assert result["samples_per_second"] > 0 and result["bare_samples_per_second"] > 0
    assert result["learner"] == "fused"
    assert result["ratio"] >= (1.5 if result["isa"] == "avx512" else 0.8)
    assert sum(result["perf"].values()) == pytest.approx(1)


@pytest.mark.parametrize("net", [["net.hidden=256,256"], ["net.kind=transformer", "net.layers=1"]])
def test_eager_beside_bare_libtorch(penstock, net):
    sets = [word for setting in net for word in ("--set", setting)]
    result = penstock.json("bench", "ppo", "--learner", "eager", "--num-envs", 16, "--minibatch", 2048, "--threads", 1,
                           "--round-seconds", 0.2, "--rounds", 3, *sets)
    assert result["learner"] == "eager"
    assert result["ratio"] >= 0.6


def test_scale_names_what_auto_picks(penstock):
    done = penstock("bench", "scale", "--sweep-envs", "16,256", "--rounds", 3, "--round-seconds", 0.2, "--json",
                    code=None)
    assert done.returncode in (0, 1)  # 1: a pick was slower than one thread, which a noisy machine can do
    cells = json.loads(done.stdout)["cells"]
    assert {cell["num_envs"] for cell in cells} == {16, 256}
    assert sum(cell["auto"] for cell in cells) == 2
    assert all(cell["vs_one_thread"] == 1 for cell in cells if cell["threads"] == 1)


def test_workers_of_an_env_that_waits(penstock, tmp_path):
    """Eight threads wait together, whatever else the machine does."""
    result = penstock.json("bench", "workers", "--env", "load", "--set", "env.wait_us=1000", "--sweep-workers", "0,8",
                           "--sweep-envs", 8, "--rounds", 3, "--round-seconds", 0.2, "--output-dir", tmp_path / "out")
    first, parallel, automatic = result["cells"]
    assert (first["num_workers"], first["threads"], first["vs_first"]) == ("0", 1, 1)
    assert (parallel["num_workers"], parallel["threads"]) == ("8", 8)
    assert parallel["vs_first"] > 1.2 and automatic["num_workers"] == "auto"
    assert json.loads((tmp_path / "out/workers.json").read_text())["cells"] == result["cells"]
    assert len((tmp_path / "out/workers.csv").read_text().splitlines()) == 4
    assert "<svg" in (tmp_path / "out/workers.html").read_text()


def test_duration_ends_in_time(penstock):
    begin = time.monotonic()
    penstock("bench", "ppo", "--no-bare", "--duration", 1, "--round-seconds", 0.1)
    assert 1 < time.monotonic() - begin < 120


def test_cartpole_is_solved_soon_after_the_start_of_the_process(penstock, tmp_path):
    begin = time.monotonic()
    result = penstock.json("train", "--recipe", "cartpole", "--set", "run.stop_at_reward=475", "--run-dir", tmp_path)
    assert time.monotonic() - begin < 120
    assert result["eval"]["mean_reward"] >= 475


def test_memory_of_cage2_costs_a_bounded_share(penstock):
    """Two million steps beside the ten or eleven without. The fastest rounds of turns: what else runs only slows."""
    def fastest(*words):
        return penstock.json("bench", "env", "--env", "cage2", "--num-envs", 1000, "--threads", 1, "--rounds", 8,
                             "--round-seconds", 0.05, *words)["high"]

    turns = [(fastest(), fastest("--set", "env.memory=true")) for _ in range(4)]
    plain, with_memory = (max(column) for column in zip(*turns))
    assert with_memory / plain >= 0.18


def test_every_env_can_be_measured(penstock):
    for env in penstock.json("envs"):
        result = penstock.json("bench", "env", "--env", env["name"], "--rounds", 1, "--round-seconds", 0.05)
        assert result["steps_per_second"] > 0


@pytest.mark.parametrize("oracle, least", [("insertion", 0.05e6), ("rr-50", 0.5e3)])  # a tenth of the bars
def test_booking_env(penstock, oracle, least):
    result = penstock.json("bench", "env", "--env", "dvrptw", "--set", f"env.oracle={oracle}", "--set", "env.obs=hist",
                           "--num-envs", 64, "--threads", 1, "--round-seconds", 0.2, "--rounds", 15)
    assert result["high"] >= least  # the fastest round, as above


def test_booking_is_learnt_faster_than_its_source_claims(penstock, tmp_path):
    out = tmp_path / "rates.json"
    subprocess.run([sys.executable, ROOT / "bench" / "booking" / "throughput", "--penstock", penstock.exe, "--envs", "64",
                    "--oracles", "insertion,rr-50,neural", "--epochs", "sane", "--threads", "2", "--rounds", "1",
                    "--updates", "8", "--json", out], check=True, capture_output=True, cwd=ROOT)
    ratio = {row["oracle"]: row["ratio"] for row in json.loads(out.read_text())}
    assert ratio["insertion"] >= 1 and ratio["rr-50"] >= 0.5 and ratio["neural"] >= 0.1  # a twentieth of the bars


def test_sixteen_offers_are_priced_in_milliseconds(penstock):
    program = pathlib.Path(penstock.exe).parent / "bench" / "offer_bench"
    if not program.exists():
        pytest.skip(f"no {program}")
    table = subprocess.run([program, "500"], check=True, capture_output=True, text=True).stdout
    p99 = float(re.search(r"pricing 16 offers, CPU \| \d+ \| (\d+)", table)[1])
    assert p99 < 10_000  # microseconds, ten times the bar, of a plan of 100 rides
