"""Fifteen short runs of every env family whose bits survive restructuring: digests.json.

By two threads; test_digest.py and the contract of envs hold that their number does not matter.

A change that alters the mathematics of a run changes its digest: it says which and why in its commit.
"""
import json
import pathlib

import pytest

RUNS = json.loads((pathlib.Path(__file__).parent / "digests.json").read_text())


KERNELS = []  # of this machine, asked once


def has_avx2(penstock):
    if not KERNELS:
        KERNELS.append(next(check["detail"] for check in penstock.json("doctor") if check["check"] == "kernels"))
    return "avx2" in KERNELS[0]


@pytest.mark.parametrize("name", RUNS)
def test_bits(penstock, tmp_path, name):
    if not has_avx2(penstock):
        pytest.skip("the digests are those of AVX2")
    run = RUNS[name]

    def train(threads):
        told = penstock.json("train", *run["args"].split(), "--threads", threads, "--isa", "avx2",
                             "--set", "run.eval_episodes=0", "--run-dir", tmp_path / str(threads))
        return {"digest": told["digest"], "steps": told["total_timesteps"], "updates": told["updates"]}

    found = train(threads=2)
    expected = {key: run[key] for key in ("digest", "steps", "updates")}
    if run.get("eager") and found["digest"] != expected["digest"]:
        # libtorch chooses its kernels by the processor: what is ours to promise is that threads do not matter.
        expected["digest"] = train(threads=1)["digest"]
    assert found == expected
