"""`penstock fleet`: every trial once, with the bits of a run of its own, whatever is killed meanwhile.

PENSTOCK_TEST_FLEET=60 runs that many trials of some ten seconds and kills 30 of them and the fleet three times.
"""

import json
import os
import random
import signal
import time

import pytest

from processes import below

TRIALS = int(os.environ.get("PENSTOCK_TEST_FLEET", "6"))
LONG = TRIALS > 6
STEPS = 1_500_000 if LONG else 60_000
TEXT = """
seeds = {seeds}
{more}
[set]
env.id = "cartpole"
env.num_envs = 8
total_timesteps = {steps}
run.save_every_s = 0.2
run.eval_episodes = 5
[grid]
ppo.learning_rate = [1e-3, 1e-4]
"""


def write(folder, more="", seeds=TRIALS // 2, steps=STEPS, name="fleet.toml"):
    file = folder / name
    file.write_text(TEXT.format(seeds=list(range(1, seeds + 1)), more=more, steps=steps))
    return file


def ledger(out):
    lines = (out / "ledger.jsonl").read_text().splitlines()[1:] if (out / "ledger.jsonl").exists() else []
    return [json.loads(line) for line in lines]


def digests(out):
    ends = [entry for entry in ledger(out) if "digest" in entry]
    assert len({entry["trial"] for entry in ends}) == len(ends), "a trial was entered twice"
    return {entry["trial"]: entry["digest"] for entry in ends}


@pytest.fixture(scope="module")
def untouched(penstock, tmp_path_factory):
    """The file of a fleet that nothing happened to, and its folder."""
    folder = tmp_path_factory.mktemp("untouched")
    file = write(folder)
    done = penstock("fleet", file, "--out", folder / "out", "--json", timeout=3600)
    return file, folder / "out", json.loads(done.stdout)


def test_trials_are_the_runs_that_train_makes(penstock, untouched, tmp_path):
    file, out, table = untouched
    assert sorted(digests(out)) == list(range(TRIALS))
    alone = penstock.json("train", "--env", "cartpole", "--num-envs", 8, "--total-timesteps", STEPS, "--seed", 2, "--set",
                          "ppo.learning_rate=1e-4", "--set", "run.eval_episodes=5", "--run-dir", tmp_path / "run")
    assert digests(out)[TRIALS // 2 + 1] == alone["digest"]
    scores = [entry["score"] for entry in ledger(out) if entry["trial"] >= TRIALS // 2]
    assert table[1]["cell"] == "ppo.learning_rate=0.0001"
    assert table[1]["seeds"] == TRIALS // 2
    assert table[1]["mean"] == pytest.approx(sum(scores) / len(scores), rel=1e-12)
    # Each is an ordinary run directory.
    assert penstock.json("eval", out / "trials" / "0", "--episodes", 1)["episodes"] == 1
    assert f"{TRIALS} ended, 0 begun" in penstock("fleet", file, "--out", out, "--status").stdout
    # Over: nothing is run again.
    before = (out / "ledger.jsonl").read_bytes()
    assert json.loads(penstock("fleet", file, "--out", out, "--json").stdout) == table
    assert (out / "ledger.jsonl").read_bytes() == before


def test_killed_trials_and_a_killed_fleet(penstock, untouched, tmp_path):
    _, expected, table = untouched
    file, out = write(tmp_path), tmp_path / "out"
    rng = random.Random(5)
    kills, fleets, pause = (30, 3, 8.0) if LONG else (3, 1, 0.6)
    killed = 0
    process = None
    while killed < kills:
        if process is None:
            process = penstock.start("fleet", file, "--out", out)
        time.sleep(rng.uniform(0, pause))
        trials = sorted(below(process.pid))
        if process.poll() is not None:
            break  # over: a fast machine
        if fleets > 0 and killed * 4 >= kills * (4 - fleets):
            process.send_signal(signal.SIGKILL)  # its trials are asked to end by the kernel
            process.communicate()
            process = None
            fleets -= 1
        elif trials:
            try:
                os.kill(rng.choice(trials), signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
    if process is not None:
        process.communicate(timeout=3600)
    assert killed > 0
    done = penstock("fleet", file, "--out", out, "--json", timeout=3600)
    assert digests(out) == digests(expected)
    assert json.loads(done.stdout) == table


def test_stopped_and_gone_on(penstock, untouched, tmp_path):
    _, expected, table = untouched
    file, out = write(tmp_path), tmp_path / "out"
    process = penstock.start("fleet", file, "--out", out)
    while not (out / "trials").exists() and process.poll() is None:
        time.sleep(0.01)
    assert "another process runs this fleet" in penstock("fleet", file, "--out", out, code=73).stderr
    penstock("fleet", file, "--out", out, "--stop")
    process.communicate(timeout=60)
    assert process.returncode == 75
    assert not below(process.pid)
    assert json.loads(penstock("fleet", file, "--out", out, "--status", "--json").stdout)["ended"] < TRIALS
    assert json.loads(penstock("fleet", file, "--out", out, "--json", timeout=3600).stdout) == table
    assert digests(out) == digests(expected)
    assert "does not run" in penstock("fleet", file, "--out", out, "--stop").stderr


def test_rungs_drop_the_worse_settings(penstock, tmp_path):
    file = write(tmp_path, "rungs = [20_000]", seeds=2, steps=60_000)
    out = tmp_path / "out"
    table = json.loads(penstock("fleet", file, "--out", out, "--json").stdout)
    assert [row["seeds"] for row in table] in ([2, 0], [0, 2])
    kept = 0 if table[0]["seeds"] else 1
    rungs = {entry["trial"]: entry["score"] for entry in ledger(out) if entry["stage"] == 0}
    means = [(rungs[0] + rungs[1]) / 2, (rungs[2] + rungs[3]) / 2]
    assert means[kept] > means[1 - kept]
    # Those that went on are the runs of a fleet without rungs.
    plain = write(tmp_path, seeds=2, steps=60_000, name="plain.toml")
    penstock("fleet", plain, "--out", tmp_path / "plain")
    assert digests(out).items() <= digests(tmp_path / "plain").items()
    assert len(digests(out)) == 2


def test_a_trial_that_fails_is_told_and_left(penstock, tmp_path):
    # The second of the two settings asks for a policy that is not there.
    file = tmp_path / "fleet.toml"
    file.write_text('seeds = [1]\n[set]\ntotal_timesteps = 2000\nrun.eval_episodes = 0\n'
                    f'[grid]\nrun.start_from = "{tmp_path}/none | {tmp_path}/policy"\n')
    penstock("train", "--total-timesteps", 1000, "--run-dir", tmp_path / "policy", "--set", "run.eval_episodes=0")
    done = penstock("fleet", file, "--out", tmp_path / "out", "--json", code=1)
    assert [row["failed"] for row in json.loads(done.stdout)] == [1, 0]
    assert "trial 0 of 2" in done.stderr and "failed with" in done.stderr
    status = penstock("fleet", file, "--out", tmp_path / "out", "--status").stdout
    assert "1 failed" in status and "none" in status
    (tmp_path / "policy").rename(tmp_path / "none")
    again = penstock("fleet", file, "--out", tmp_path / "out", "--retry-failed", "--json")
    assert [row["seeds"] for row in json.loads(again.stdout)] == [1, 1]


def test_mistakes_are_told(penstock, tmp_path):
    file = write(tmp_path)
    out = tmp_path / "out"
    assert "no fleet has run there" in penstock("fleet", file, "--out", out, "--table", code=65).stderr
    assert len(penstock("fleet", file, "--dry-run").stdout.splitlines()) == TRIALS
    file.write_text(file.read_text() + "ppo.clipp = [1, 2]\n")
    assert "did you mean 'ppo.clip'" in penstock("fleet", file, "--out", out, code=78).stderr
    assert not out.exists()
    crowd = write(tmp_path, "jobs = 4096")
    assert "a trial takes a core" in penstock("fleet", crowd, "--out", out, code=78).stderr
    penstock("fleet", crowd, "--out", out, "--trial", 4096, code=2)
    cluster = write(tmp_path, 'executor = "kubernetes"\nimage = "penstock:1"\nclaim = "runs"')
    assert "kubectl apply" in penstock("fleet", cluster, "--out", tmp_path / "k").stdout
    assert f"completions: {TRIALS}" in (tmp_path / "k" / "job.yaml").read_text()
