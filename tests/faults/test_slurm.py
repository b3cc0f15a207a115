"""Runs as Slurm starts them, by real daemons: srun, and the scripts of deploy/slurm under sbatch, requeued in the middle.

PENSTOCK_TEST_FLEET=60 also runs a fleet of that many trials of some ten seconds and kills 30 of them and the fleet three times.
"""

import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import time

import pytest
from slurm_cluster import slurm_cluster

SCRIPTS = pathlib.Path(__file__).parents[2] / "deploy" / "slurm"

# Saves often, and takes some seconds.
RUN = ["--env", "acrobot", "--num-envs", 22, "--total-timesteps", 200_000, "--save-interval", 1, "--set", "rollout.shards=4",
       "--set", "run.eval_episodes=5"]

pytestmark = pytest.mark.skipif(not shutil.which("slurmctld", path=os.environ["PATH"] + ":/usr/sbin"),
                                reason="slurmctld is not installed; scripts/bootstrap does it")


@pytest.fixture(scope="module")
def cluster(penstock):
    folder = str(pathlib.Path(penstock.exe).resolve().parent)
    with contextlib.ExitStack() as stack:
        try:
            cluster = stack.enter_context(slurm_cluster(PATH=f"{folder}:{os.environ['PATH']}"))
        except RuntimeError as error:  # its daemons want more of a machine than we do
            pytest.skip(str(error))
        yield cluster


@pytest.fixture(scope="module")
def digest_of(penstock, tmp_path_factory):
    """The digest of the run of a seed that nothing happens to."""
    known = {}

    def digest(seed):
        if seed not in known:
            run = tmp_path_factory.mktemp("whole") / "run"
            known[seed] = penstock.json("train", *RUN, "--seed", seed, "--run-dir", run)["digest"]
        return known[seed]

    return digest


def told(text):
    """The lines of JSON in what a job has printed."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def await_checkpoints(run, over, seconds=300):
    """Until the run is in its middle; over() is a run that will never be."""
    latest = run / "ckpt" / "LATEST"
    end = time.monotonic() + seconds
    while not latest.exists() or int(latest.read_text()) < 20_000:
        assert time.monotonic() < end and not over(), run
        time.sleep(0.1)


def jobs(cluster, job):
    """What Slurm knows of the job, or of each task of an array."""
    lines = cluster.run("scontrol", "show", "job", "--oneliner", job).stdout.splitlines()
    return [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines]


def failed(cluster, job):
    return any(each["JobState"] == "FAILED" for each in jobs(cluster, job))


def submit(cluster, script, *args, options=(), **env):
    return cluster.run("sbatch", "--parsable", *options, SCRIPTS / script, *args, **env).stdout.strip()


def start_now(cluster, job):
    """Slurm lets a requeued job wait for two minutes. We do for two seconds: within one, its new credential would count as revoked."""
    time.sleep(2)
    name = f"{job['ArrayJobId']}_{job['ArrayTaskId']}" if "ArrayTaskId" in job else job["JobId"]
    cluster.run("scontrol", "update", f"JobId={name}", "StartTime=now", code=None)


def await_end(cluster, job, expected="COMPLETED", seconds=600):
    end = time.monotonic() + seconds
    while any(each["JobState"] in ("PENDING", "RUNNING", "COMPLETING") for each in jobs(cluster, job)):
        assert time.monotonic() < end, cluster.logs()
        for each in jobs(cluster, job):
            if each["JobState"] == "PENDING" and each["Restarts"] != "0":
                start_now(cluster, each)
        time.sleep(0.2)
    assert {each["JobState"] for each in jobs(cluster, job)} == {expected}, jobs(cluster, job)


@pytest.mark.parametrize("size, nodes", [(2, 1), (2, 2), (4, 2)])
def test_srun_gives_the_bits_of_one_process(penstock, cluster, tmp_path, size, nodes):
    args = ["train", "--env", "cartpole", "--num-envs", 16, "--total-timesteps", 20_000, "--seed", 3, "--set", "rollout.shards=4", "--json"]
    alone = penstock.json(*args, "--run-dir", tmp_path / "alone")
    done = cluster.run("srun", "-n", size, "-N", nodes, "penstock", *args, "--threads", 1, "--run-dir", tmp_path / "run")
    [result] = told(done.stdout)
    assert result["ranks"] == size
    assert (result["digest"], result["eval"]) == (alone["digest"], alone["eval"])


def kill_rank_1(cluster):
    [pid] = cluster.processes("SLURM_PROCID=1")
    os.kill(pid, signal.SIGKILL)


def test_a_rank_that_is_killed_ends_the_step_and_resume_goes_on(penstock, cluster, digest_of, tmp_path):
    """srun ends with the largest exit code: 137 of the killed one, beside 75 of the others."""
    run = tmp_path / "run"
    step = cluster.popen("srun", "-n", 2, "penstock", "train", *RUN, "--seed", 1, "--threads", 1, "--run-dir", run, "--json")
    try:
        await_checkpoints(run, lambda: step.poll() is not None)
        kill_rank_1(cluster)
        _, said = step.communicate(timeout=300)
    finally:
        step.kill()
        step.communicate()
    assert step.returncode == 128 + signal.SIGKILL, said
    assert "Exited with exit code 75" in said and "rank 1 is gone" in said
    done = cluster.run("srun", "-n", 2, "penstock", "resume", run, "--threads", 1, "--json")
    assert told(done.stdout)[0]["digest"] == digest_of(1)


def check_that_it_went_on(log, digest, ranks=1):
    text = log.read_text()
    [end] = [line for line in told(text) if not line["preempted"]]
    assert "resumed at step" in text
    assert (end.get("ranks", 1), end["digest"]) == (ranks, digest), text


@pytest.mark.parametrize("how", ["requeued", "asked to stop", "killed"])
def test_a_batch_job_goes_on_to_the_same_bits(cluster, digest_of, tmp_path, how):
    run, log = tmp_path / "run", tmp_path / "log"
    job = submit(cluster, "train.sbatch", run, *RUN, "--seed", 1, options=["--nodes=2", f"--output={log}"])
    await_checkpoints(run, lambda: failed(cluster, job))
    if how == "requeued":
        cluster.run("scontrol", "requeue", job)
    elif how == "asked to stop":  # as --signal does before the time limit
        cluster.run("scancel", "--signal=TERM", job)
    else:
        kill_rank_1(cluster)
    await_end(cluster, job)
    check_that_it_went_on(log, digest_of(1), ranks=2)


@pytest.mark.parametrize("first", ["", "trap : TERM\n"])
def test_a_batch_job_that_is_cancelled_stays_so(cluster, tmp_path, first):
    """Also where Slurm's signal reaches the script too late to end it, so that it sees exit code 75."""
    run, log, script = tmp_path / "run", tmp_path / "log", tmp_path / "train.sbatch"
    script.write_text((SCRIPTS / "train.sbatch").read_text().replace("set -uo", f"{first}set -uo"))
    job = submit(cluster, script, run, *RUN, options=[f"--output={log}"])
    await_checkpoints(run, lambda: failed(cluster, job))
    cluster.run("scancel", job)
    await_end(cluster, job, "CANCELLED")
    assert all(line["preempted"] for line in told(log.read_text()))


def test_a_batch_job_with_a_mistake_is_not_started_again(cluster, tmp_path):
    job = submit(cluster, "train.sbatch", tmp_path / "run", "--env", "cartpol", options=[f"--output={tmp_path}/log"])
    await_end(cluster, job, "FAILED")
    assert "cartpole" in (tmp_path / "log").read_text()


def test_a_batch_job_is_started_again_so_often_and_no_more(cluster, tmp_path):
    run, log = tmp_path / "run", tmp_path / "log"
    job = submit(cluster, "train.sbatch", run, *RUN, options=[f"--output={log}"], MAX_RESTARTS="0")
    await_checkpoints(run, lambda: failed(cluster, job))
    cluster.run("scancel", "--signal=TERM", job)
    await_end(cluster, job, "FAILED")
    assert "exit code 75 after 0 restarts: not again" in log.read_text()


def test_an_array_of_seeds_goes_on_to_the_same_bits(cluster, digest_of, tmp_path):
    """One is requeued, one asked to stop; the third waits for its turn and is left alone."""
    job = submit(cluster, "array.sbatch", tmp_path, *RUN, options=["--array=1-3%2", f"--output={tmp_path}/%a.log"])
    for seed, command in ((1, ["scontrol", "requeue"]), (2, ["scancel", "--signal=TERM"])):
        await_checkpoints(tmp_path / str(seed), lambda: failed(cluster, job))
        cluster.run(*command, f"{job}_{seed}")
    await_end(cluster, job)
    for seed in (1, 2):
        check_that_it_went_on(tmp_path / f"{seed}.log", digest_of(seed))
    assert told((tmp_path / "3.log").read_text())[-1]["digest"] == digest_of(3)


def test_a_fleet_of_array_tasks(penstock, cluster, digest_of, tmp_path):
    """A trial is killed, and so is the fleet's own process: each trial ends once, with the bits of a run of its own."""
    file, out = tmp_path / "fleet.toml", tmp_path / "out"
    file.write_text('executor = "slurm"\nseeds = [1, 2, 3]\n[set]\nenv.id = "acrobot"\nenv.num_envs = 22\ntotal_timesteps = 200_000\n'
                    "run.save_interval = 1\nrollout.shards = 4\nrun.eval_episodes = 5\n")
    fleet = cluster.popen("penstock", "fleet", file, "--out", out)
    try:
        await_checkpoints(out / "trials" / "0", lambda: fleet.poll() is not None)
        fleet.kill()
    finally:
        fleet.kill()
        fleet.communicate()
    [trial] = cluster.processes("SLURM_ARRAY_TASK_ID=0", "SLURM_JOB_NAME=penstock-fleet")
    os.kill(trial, signal.SIGKILL)
    done = cluster.run("penstock", "fleet", file, "--out", out, "--json")
    assert [row["seeds"] for row in json.loads(done.stdout)] == [3]
    entries = [json.loads(line) for line in (out / "ledger.jsonl").read_text().splitlines()]
    ends = sorted((entry["trial"], entry["digest"]) for entry in entries if "digest" in entry)
    assert ends == [(seed - 1, digest_of(seed)) for seed in (1, 2, 3)]
    assert len([entry for entry in entries if "job" in entry]) >= 2  # the killed one was handed in again


@pytest.mark.skipif("PENSTOCK_TEST_FLEET" not in os.environ, reason="half an hour; PENSTOCK_TEST_FLEET=60 asks for it")
def test_a_long_fleet_of_array_tasks(penstock, cluster, tmp_path):
    """The table is that of a fleet of processes here to which nothing happens."""
    seeds = list(range(1, int(os.environ["PENSTOCK_TEST_FLEET"]) // 2 + 1))
    text = f"seeds = {seeds}\n" + '[set]\nenv.id = "cartpole"\nenv.num_envs = 8\ntotal_timesteps = 1_500_000\n' \
                                  "run.save_every_s = 0.2\nrun.eval_episodes = 5\n[grid]\nppo.learning_rate = [1e-3, 1e-4]\n"
    here, there, out = tmp_path / "here.toml", tmp_path / "there.toml", tmp_path / "there"
    here.write_text(text)
    there.write_text('executor = "slurm"\n' + text)
    table = json.loads(penstock("fleet", here, "--out", tmp_path / "here", "--json", timeout=3600).stdout)

    rng = random.Random(5)
    fleet, kills, fleets = None, 0, 0
    while kills < 30:
        if fleet is None:
            fleet = cluster.popen("penstock", "fleet", there, "--out", out)
        time.sleep(rng.uniform(0, 8))
        assert fleet.poll() is None, (kills, fleets)
        if kills >= 8 * (fleets + 1) and fleets < 3:
            fleet.kill()
            fleet.communicate()
            fleet, fleets = None, fleets + 1
        elif trials := sorted(cluster.processes("SLURM_JOB_NAME=penstock-fleet")):
            with contextlib.suppress(ProcessLookupError):
                os.kill(rng.choice(trials), signal.SIGKILL)
                kills += 1
    fleet.communicate(timeout=3600)
    done = cluster.run("penstock", "fleet", there, "--out", out, "--json", timeout=3600)
    assert json.loads(done.stdout) == table

    def ends(folder):
        entries = [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]
        return sorted((entry["trial"], entry["digest"]) for entry in entries if "digest" in entry)

    assert ends(out) == ends(tmp_path / "here")
    print(f"{kills} trials and {fleets} fleets were killed")


def test_a_fleet_is_stopped_with_its_tasks(cluster, tmp_path):
    file, out = tmp_path / "fleet.toml", tmp_path / "out"
    file.write_text('executor = "slurm"\nseeds = [1, 2]\n[set]\ntotal_timesteps = 1_000_000_000\nrun.save_interval = 1\n')
    fleet = cluster.popen("penstock", "fleet", file, "--out", out)
    try:
        await_checkpoints(out / "trials" / "0", lambda: fleet.poll() is not None)
        cluster.run("penstock", "fleet", file, "--out", out, "--stop")
        fleet.communicate(timeout=120)
        assert fleet.returncode == 75
    finally:
        fleet.kill()
        fleet.communicate()
    end = time.monotonic() + 120
    while cluster.processes("SLURM_JOB_NAME=penstock-fleet"):
        assert time.monotonic() < end
        time.sleep(0.1)
    status = cluster.run("penstock", "fleet", file, "--out", out, "--status", "--json").stdout
    assert json.loads(status)["begun"] == 2
