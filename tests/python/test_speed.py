"""Stepping from Python costs little beside the C++ bench. With EnvPool, see bench/python/env_throughput."""

import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench" / "python" / "env_throughput"


def test_at_least_half_of_the_rate_of_cpp():
    done = subprocess.run([sys.executable, BENCH, "--rounds", "3", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
