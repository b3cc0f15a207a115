"""The containers of deploy/kubernetes, started as a kubelet would: their command, arguments of ours, and what a Job puts into the
environment. No cluster is here; tests/lint/deploy.py holds the files against the API's schemas."""

import json
import os
import pathlib
import signal
import subprocess

import pytest
import yaml
from processes import wait_until
from ranks import free_port

FOLDER = pathlib.Path(__file__).parents[2] / "deploy" / "kubernetes"

# Saves often, and takes some seconds.
RUN = ["--env", "acrobot", "--num-envs", 22, "--total-timesteps", 200_000, "--save-interval", 1, "--set", "rollout.shards=4",
       "--set", "run.eval_episodes=5"]


def container_of(job):
    [container] = job["spec"]["template"]["spec"]["containers"]
    return container


@pytest.fixture
def start(penstock, tmp_path):
    """start(container, index, args, **env): one pod's process; all are over after the test."""
    running = []

    def start(container, index, *args, **env):
        told = {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}
        told |= {"THREADS": "1", "RUNS": str(tmp_path), "JOB_COMPLETION_INDEX": str(index), **env}
        path = f"{pathlib.Path(penstock.exe).resolve().parent}:{os.environ['PATH']}"
        running.append(subprocess.Popen([*container["command"], *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        stdin=subprocess.DEVNULL, env=penstock.environment(PATH=path, **told)))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.communicate()


def under_way(run):
    latest = run / "ckpt" / "LATEST"
    return latest.exists() and int(latest.read_text()) >= 20_000


def end(process, code=0):
    out, said = process.communicate(timeout=300)
    assert process.returncode == code, said
    return json.loads(out.splitlines()[-1]) if out else None


def test_an_index_is_a_seed_and_its_pod_goes_on(penstock, start, tmp_path):
    container = container_of(yaml.safe_load((FOLDER / "seeds.yaml").read_text()))
    expected = penstock.json("train", *RUN, "--seed", 3, "--run-dir", tmp_path / "alone")["digest"]
    evicted = start(container, 3, *RUN)
    wait_until(lambda: under_way(tmp_path / "seeds" / "3") or evicted.poll() is not None, 120)
    evicted.send_signal(signal.SIGTERM)
    assert end(evicted, 75)["preempted"]
    assert end(start(container, 3, *RUN))["digest"] == expected


def test_a_wrong_option_is_one_of_the_codes_that_fail_an_index(start):
    job = yaml.safe_load((FOLDER / "seeds.yaml").read_text())
    [final] = [rule for rule in job["spec"]["podFailurePolicy"]["rules"] if rule["action"] == "FailIndex"]
    process = start(container_of(job), 0, "--env", "cartpol")
    process.communicate(timeout=60)
    assert process.returncode in final["onExitCodes"]["values"]


def test_the_pods_of_a_jobset_go_on_when_one_is_lost(penstock, start, tmp_path):
    jobset = next(yaml.safe_load_all((FOLDER / "jobset.yaml").read_text()))
    [job] = [each["template"] for each in jobset["spec"]["replicatedJobs"]]
    container, size = container_of(job), job["spec"]["completions"]
    expected = penstock.json("train", *RUN, "--run-dir", tmp_path / "alone")["digest"]

    def all_ranks():
        here = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        return [start(container, index, *RUN, **here) for index in range(size)]

    ranks = all_ranks()
    wait_until(lambda: under_way(tmp_path / "one") or ranks[0].poll() is not None, 120)
    ranks[-1].kill()
    [restart, *_] = job["spec"]["podFailurePolicy"]["rules"]
    for rank in ranks[:-1]:
        rank.communicate(timeout=120)
        assert rank.returncode in restart["onExitCodes"]["values"]
    result, *others = [end(rank) for rank in all_ranks()]
    assert (result["ranks"], result["digest"]) == (size, expected)
    assert others == [None] * (size - 1)
