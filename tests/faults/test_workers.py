"""Envs and workers that misbehave: a run goes on or says why not, and leaves nothing running. Numbers of faults are those
of the table in docs/faults.md."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest
from processes import below, parents, wait_until

pytestmark = pytest.mark.usefixtures("python_env")

SEED = 3
KEYS = {"seed": SEED, "total_timesteps": 2048, "threads": 1, "env.num_envs": 4, "env.num_workers": 2, "rollout.steps": 32,
        "ppo.minibatch": 64, "run.eval_episodes": 0}


def command(env, kwargs, run, keys=None):
    given = KEYS | {"env.id": f"bad_envs:{env}", "env.kwargs": json.dumps(kwargs), "run.dir": run} | (keys or {})
    return ["train", "--json", *(word for key, value in given.items() for word in ("--set", f"{key}={value}"))]


def result_of(done):
    return json.loads(done.stdout.splitlines()[-1])


def train(penstock, env, kwargs, run, keys=None, code=0):
    """The result, and what was said."""
    done = penstock(*command(env, kwargs, run, keys), code=code)
    return result_of(done) if done.returncode == 0 else None, done.stderr


def finish(process):
    """Of one that was started; likewise."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1]), err


def announced(folder, count):
    """Processes that have written down their numbers."""
    wait_until(lambda: len(list(folder.iterdir())) >= count, 60)
    return [int(file.name) for file in folder.iterdir()]


def living(pids):
    now = parents()
    return [pid for pid in pids if pid in now and now[pid][1] != "Z"]


@pytest.fixture(scope="module")
def well(penstock, worker_path, tmp_path_factory):
    """The run in which nothing goes wrong."""
    done = penstock(*command("Plain", {}, tmp_path_factory.mktemp("well") / "run"), VIRTUAL_ENV=sys.prefix,
                    PYTHONPATH=worker_path)
    return result_of(done)


# Workers that are killed.


def test_fault_01_a_worker_killed_in_a_step_is_started_again(penstock, tmp_path):
    folder = tmp_path / "pids"
    folder.mkdir()
    process = penstock.start(*command("Bad", {"how": "wait", "at": [SEED], "folder": str(folder)}, tmp_path / "run"))
    victim, = announced(folder, 1)
    os.kill(victim, signal.SIGKILL)
    result, said = finish(process)
    assert f"env 0 (seed {SEED}, episode 0, step 3" in said and "killed by signal 9 (Killed); started again (1 of 10)" in said
    assert result["incidents"] == 1 and result["discarded"] == 2  # its worker had two envs
    assert result["total_timesteps"] == 2048


@pytest.mark.parametrize("server_too", [False, True], ids=["workers", "workers and their server"])
def test_fault_02_all_workers_killed_are_started_again(penstock, tmp_path, server_too):
    folder = tmp_path / "pids"
    folder.mkdir()
    kwargs = {"how": "wait", "at": [SEED, SEED + 2], "folder": str(folder)}  # an env of each worker
    process = penstock.start(*command("Bad", kwargs, tmp_path / "run"))
    victims = announced(folder, 2)
    server = parents()[victims[0]][0]
    assert parents()[server][0] == process.pid
    for pid in [server, *victims] if server_too else victims:
        os.kill(pid, signal.SIGKILL)
    result, _ = finish(process)
    assert result["incidents"] == 2 and result["discarded"] == 4 and result["total_timesteps"] == 2048


def test_fault_02_the_budget_of_restarts_ends_a_run_with_the_first_cause(penstock, tmp_path):
    seeds = list(range(SEED, SEED + 4))
    _, said = train(penstock, "Bad", {"how": "exit", "at": seeds}, tmp_path / "run", {"env.max_restarts": 1}, code=1)
    assert re.search("envs failed 2 times, more than env.max_restarts = 1 within env.restart_window_s = 3600; the first: env "
                     r"\d \(seed \d, episode 0, step 3.*ended with exit code 3", said)


def test_fault_02_failures_far_apart_do_not_spend_the_budget(penstock, tmp_path):
    alone = {"env.num_envs": 1, "env.num_workers": 1, "total_timesteps": 256, "env.max_restarts": 1}
    result, _ = train(penstock, "Sleepy", {}, tmp_path / "far", alone | {"env.restart_window_s": 0.01})
    assert result["incidents"] > 4
    _, said = train(penstock, "Sleepy", {}, tmp_path / "near", alone | {"env.restart_window_s": 0}, code=1)
    assert "envs failed 2 times, more than env.max_restarts = 1; the first" in said


# Envs that fail.


def test_fault_08_what_an_env_throws_is_reported_with_all_that_reproduces_it(penstock, tmp_path):
    result, said = train(penstock, "Bad", {"how": "exception", "at": [SEED]}, tmp_path / "run")
    assert result["incidents"] == result["discarded"] == 1
    assert re.search(rf"env 0 \(seed {SEED}, episode 0, step 3, last actions \[\[.\],\[.\],\[.\]\]\): ValueError: the valve is stuck "
                     r"\(.*bad_envs.py, line \d+\)", said)
    replay = json.loads((tmp_path / "run" / "replay" / "env-0-episode-0.json").read_text())
    assert replay["env"] == "bad_envs:Bad" and replay["seed"] == SEED and len(replay["actions"]) == 3
    assert f"penstock replay {tmp_path}/run/replay/env-0-episode-0.json" in said


@pytest.mark.parametrize("how,cause", [("segfault", "killed by signal 11 (Segmentation fault)"),
                                       ("exit", "ended with exit code 3")])
def test_fault_09_an_env_that_ends_its_process(penstock, tmp_path, how, cause):
    result, said = train(penstock, "Bad", {"how": how, "at": [SEED]}, tmp_path / "run")
    assert cause in said and result["incidents"] == 1 and result["discarded"] == 2


@pytest.mark.parametrize("how,cause", [("segfault", "was killed by signal 11 (Segmentation fault)"),
                                       ("exit", "ended with exit code 3")])
def test_fault_09_an_env_that_ends_its_process_in_the_trial(penstock, well, tmp_path, how, cause):
    result, said = train(penstock, "Bad", {"how": how, "at": [1]}, tmp_path / "run")
    assert f"its process {cause} in step 3 of a trial" in said
    assert result["digest"] == well["digest"] and result["incidents"] == 0


def test_fault_10_an_env_that_hangs_is_ended_and_says_where_it_was(penstock, tmp_path):
    result, said = train(penstock, "Bad", {"how": "hang", "at": [SEED]}, tmp_path / "run", {"env.step_deadline_s": 1})
    assert "no answer within 1 s: its worker was killed" in said and result["incidents"] == 1
    source = pathlib.Path(__file__).with_name("bad_envs.py").read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(source) if "the line where it hangs" in text)
    assert re.search(rf'bad_envs.py", line {line} in hang', said)


def test_fault_10_an_env_that_hangs_in_the_trial(penstock, well, tmp_path):
    result, said = train(penstock, "Bad", {"how": "hang", "at": [1]}, tmp_path / "run", {"env.step_deadline_s": 1})
    assert "no answer in step 3 of a trial within env.step_deadline_s = 1 s" in said
    assert result["digest"] == well["digest"]
    _, said = train(penstock, "HangsAtOnce", {}, tmp_path / "other", {"env.start_deadline_s": 1}, code=78)
    assert "no answer in reset() within env.start_deadline_s = 1 s" in said and not (tmp_path / "other").exists()


@pytest.mark.parametrize("how,cause", [("nan", "the observation is not finite"), ("infinite", "the reward is not finite"),
                                       ("shape", "has shape (5,)"), ("mask", "no action is legal")])
def test_fault_11_nonsense_does_not_reach_the_learner(penstock, tmp_path, how, cause):
    result, said = train(penstock, "Bad", {"how": how, "at": [SEED]}, tmp_path / "run")
    assert cause in said and result["incidents"] == result["discarded"] == 1
    assert "nan" not in (tmp_path / "run" / "metrics.jsonl").read_text().lower()


def test_fault_13_a_worker_that_is_stopped_is_late(penstock, tmp_path):
    folder = tmp_path / "pids"
    folder.mkdir()
    result, said = train(penstock, "Bad", {"how": "stop", "at": [SEED], "folder": str(folder)}, tmp_path / "run", {"env.step_deadline_s": 1})
    assert "no answer within 1 s: its worker was killed" in said
    assert result["incidents"] == 1 and result["discarded"] == 2 and not living(announced(folder, 1))


# Envs that fork, and that start programs.


@pytest.mark.parametrize("where", ["make", "reset", "step", "raise"])
def test_a_fork_that_comes_back_does_not_take_part(penstock, well, tmp_path, where):
    result, _ = train(penstock, "Forking", {"where": where}, tmp_path / "run")
    assert {key: result[key] for key in ("digest", "episodes", "incidents", "discarded")} == \
           {key: well[key] for key in ("digest", "episodes", "incidents", "discarded")}


@pytest.fixture
def programs(tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    return folder


@pytest.fixture
def bystander():
    """Nobody's business: it must live on."""
    process = subprocess.Popen(["sleep", "3600"], start_new_session=True)
    yield process
    assert process.poll() is None
    process.kill()
    process.wait()


METHODS = ["forkserver", "spawn"]
STARTS = ["child", "session", "orphan", "daemon"]
ENVS, TRIALS = 4, 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", STARTS)
def test_programs_end_with_the_run(penstock, bystander, programs, tmp_path, start, method):
    train(penstock, "Starting", {"programs": str(programs), "start": start}, tmp_path / "run", {"env.start_method": method})
    pids = announced(programs, ENVS + TRIALS)
    assert len(pids) == ENVS + TRIALS
    wait_until(lambda: not living(pids))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", STARTS)
def test_programs_end_with_a_killed_trainer(penstock, bystander, programs, tmp_path, start, method):
    process = penstock.start(*command("Starting", {"programs": str(programs), "start": start}, tmp_path / "run",
                                      {"total_timesteps": 10**9, "env.start_method": method}))
    pids = [*announced(programs, ENVS + TRIALS), *below(process.pid)]
    process.kill()
    process.communicate()
    wait_until(lambda: not living(pids))


@pytest.mark.parametrize("start", STARTS)
def test_programs_end_with_an_env_that_hangs(penstock, bystander, programs, tmp_path, start):
    """Its worker is the only one; what it had started is gone before the next one's envs are made."""
    kwargs = {"programs": str(programs), "start": start, "how": "hang", "at": [SEED]}
    result, _ = train(penstock, "Starting", kwargs, tmp_path / "run", {"env.step_deadline_s": 1, "env.num_workers": 1})
    assert result["incidents"] == 1
    pids = announced(programs, 2 * ENVS + TRIALS)
    wait_until(lambda: not living(pids))


@pytest.mark.parametrize("start", ["child", "orphan"])
def test_programs_end_with_their_worker_and_those_of_others_do_not(penstock, programs, tmp_path, start):
    folder = tmp_path / "pids"
    folder.mkdir()
    kwargs = {"programs": str(programs), "start": start, "how": "wait", "at": [SEED, SEED + 2], "folder": str(folder)}
    process = penstock.start(*command("Starting", kwargs, tmp_path / "run"))
    victim, other = announced(folder, 2)
    pids = living(announced(programs, ENVS + TRIALS))
    of_victim = [pid for pid in pids if os.getpgid(pid) == victim]
    assert len(pids) == ENVS and len(of_victim) == ENVS / 2
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: not living(of_victim))
    assert len(living(pids)) == ENVS / 2
    os.kill(other, signal.SIGKILL)
    process.communicate(timeout=120)
    assert process.returncode == 0


SERVER = """
import os, signal, subprocess, sys
from penstock_worker import _runner, server

def worker():
    pid = os.fork()
    if pid == 0:
        subprocess.Popen(["sleep", "3600"], start_new_session=True)
        signal.pause()
    return pid

def below():
    return [pid for pid, *_ in _runner.living_below(os.getpid())]

_runner.adopt_orphans()
first, second = worker(), worker()
while len(below()) < 4:
    pass
programs = server.Grandchildren()
programs.look({first, second})
os.kill(first, signal.SIGKILL)
os.waitpid(first, 0)
assert len(below()) == 3  # its program has become this process's child, and nobody's in particular
programs.end_those_of(first)
while len(below()) > 2:
    pass
assert second in below()
_runner.end_below_this_process()
assert below() == []
print("done")
"""


def test_a_program_that_left_the_group_of_a_worker_is_known_to_be_its_own():
    done = subprocess.run([sys.executable, "-c", SERVER], capture_output=True, text=True, timeout=60)
    assert done.stdout == "done\n", done.stderr


def test_an_env_can_end_its_program_by_sigterm(penstock, programs, tmp_path):
    _, said = train(penstock, "Closing", {"programs": str(programs), "start": "child"}, tmp_path / "run")
    assert said.count(f"closed, status -{int(signal.SIGTERM)}") == ENVS + TRIALS


def test_fault_29_workers_that_are_spawned_give_the_same_digest(penstock, well, tmp_path):
    result, _ = train(penstock, "Plain", {}, tmp_path / "run", {"env.start_method": "spawn"})
    assert result["digest"] == well["digest"]


# What others write, on a terminal.


def test_escape_sequences_of_others_do_not_reach_the_terminal(penstock, tmp_path):
    _, said = train(penstock, "Bad", {"how": "escapes", "at": [SEED]}, tmp_path / "run")
    assert r"ValueError: \x1b]0;owned\x07\x1b[2Jcleared \u009b31m" in said
    assert "\x1b" not in said and "\x9b" not in said and "\x07" not in said
    _, said = train(penstock, "Bad", {"how": "escapes", "at": [1]}, tmp_path / "trial")
    assert r"\x1b[2Jcleared" in said and "\x1b" not in said
    for words in (command("SaysEscapes", {}, tmp_path / "made"), ["doctor", "--env", "bad_envs:SaysEscapes"]):
        done = penstock(*words, code=None)
        assert done.returncode != 0 and r"\x1b[2Jcleared" in done.stderr + done.stdout
        assert "\x1b" not in done.stderr + done.stdout
