"""One run over several processes: the same bits for any number of them, and an end of all when one is lost.

PENSTOCK_TEST_RANK_KILLS sets how many kill -9 (2; the long version is 20), and half as many SIGTERM.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest
from processes import parents, wait_until
from ranks import Ranks, finish, free_port, train

KILLS = int(os.environ.get("PENSTOCK_TEST_RANK_KILLS", "2"))
BASE = ["--set", "rollout.shards=4", "--set", "run.eval_episodes=5", "--seed", 3]


def cartpole(*more, envs=16, steps=20_000, seed=3, shards=4):
    return ["--env", "cartpole", "--num-envs", envs, "--total-timesteps", steps, "--seed", seed, "--set", f"rollout.shards={shards}",
            "--set", "run.eval_episodes=5", *more]


RUNS = {
    "cartpole": cartpole(),
    "uneven shards": cartpole(envs=22),
    "eager": cartpole("--set", "learner=eager", steps=8_000),
    "normalised, target_kl": [*BASE, "--env", "pendulum", "--num-envs", 8, "--total-timesteps", 8_000, "--set", "normalise.obs=true",
                              "--set", "normalise.reward=true", "--set", "ppo.target_kl=0.01"],
    "a2c": cartpole("--set", "algo=a2c"),
    "cage2": [*BASE, "--env", "cage2", "--num-envs", 8, "--total-timesteps", 8_000],
    "dvrptw, learnt beliefs": [*BASE, "--env", "dvrptw", "--num-envs", 8, "--total-timesteps", 3_000, "--set", "env.oracle=insertion",
                               "--set", "env.mask=learnt", "--set", "env.answer=noisy", "--set", "env.embedding=async",
                               "--set", "env.embedding_interval=480", "--set", "rollout.steps=30"],
}

# Saves and logs often, and takes some seconds.
LONG = [*BASE, "--env", "acrobot", "--num-envs", 22, "--total-timesteps", 300_000, "--save-interval", 1, "--set", "normalise.obs=true",
        "--set", "normalise.reward=true"]


def files_of(run, step):
    folder = pathlib.Path(run) / "ckpt" / str(step)
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.name not in ("state.json", "MANIFEST.json")}


@pytest.mark.parametrize("name", RUNS)
def test_any_number_of_processes_gives_the_same_bits(penstock, tmp_path, name):
    alone = penstock.json("train", *RUNS[name], "--threads", 1, "--run-dir", tmp_path / "1")
    for size, threads in ((2, 1), (4, 1)) if name != "cartpole" else ((2, 1), (2, 2), (4, 1)):
        told = train(penstock, size, "train", *RUNS[name], "--threads", threads, "--run-dir", tmp_path / f"{size}x{threads}")
        assert told["ranks"] == size
        for key in ("digest", "episodes", "total_timesteps", "eval"):
            assert told[key] == alone[key], (size, threads, key)
        step = alone["total_timesteps"]
        assert files_of(tmp_path / f"{size}x{threads}", step) == files_of(tmp_path / "1", step)


def test_envs_of_python(penstock, python_env, tmp_path):
    args = ["train", *BASE, "--env", "bad_envs:Plain", "--num-envs", 8, "--total-timesteps", 4_000, "--set", "env.num_workers=2"]
    alone = penstock.json(*args, "--run-dir", tmp_path / "1")
    assert train(penstock, 2, *args, "--run-dir", tmp_path / "2")["digest"] == alone["digest"]


@pytest.fixture(scope="module")
def uninterrupted(penstock, tmp_path_factory):
    begin = time.monotonic()
    result = penstock.json("train", *LONG, "--run-dir", tmp_path_factory.mktemp("whole") / "run")
    return result, time.monotonic() - begin


def begun(run, ranks):
    wait_until(lambda: (run / "ckpt" / "LATEST").exists() or ranks[0].poll() is not None, 60)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_fault_17_a_rank_that_is_ended_ends_all_and_any_number_goes_on(penstock, uninterrupted, tmp_path, how):
    """Whichever rank it is, whenever; the run goes on with another number of processes."""
    expected, seconds = uninterrupted
    rng = random.Random(int(how))
    run = tmp_path / "run"
    verb = ["train", *LONG, "--run-dir", run]
    landed = 0
    for i in range(KILLS if how == signal.SIGKILL else max(1, KILLS // 2)):
        size = (4, 2)[i % 2]
        with Ranks(penstock, size, *verb, "--json", "--peer-timeout", 20) as ranks:
            begun(run, ranks)
            time.sleep(rng.uniform(0, seconds / 2))
            victim = rng.randrange(size)
            if ranks[victim].poll() is None:
                ranks[victim].send_signal(how)
                landed += 1
                codes = [end[0] for end in ranks.ends(60)]
                if how == signal.SIGKILL:
                    assert codes.pop(victim) == -signal.SIGKILL
                assert set(codes) <= {75, 69, 0}, codes  # 69: it was lost before all had met
        verb = ["resume", run]
    assert landed > 0
    result = train(penstock, 2, *verb) if how == signal.SIGTERM else penstock.json(*verb)
    assert result["digest"] == expected["digest"]
    assert result["episodes"] == expected["episodes"]


def test_a_run_of_one_process_goes_on_with_several(penstock, uninterrupted, tmp_path):
    """Also from the middle of a rollout, where a stop saves it."""
    expected, seconds = uninterrupted
    process = penstock.start("train", *LONG, "--run-dir", tmp_path / "run")
    begun(tmp_path / "run", [process])
    time.sleep(seconds / 3)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert train(penstock, 4, "resume", tmp_path / "run")["digest"] == expected["digest"]


def test_fault_17_a_lost_rank_is_told_in_one_line(penstock, tmp_path):
    with Ranks(penstock, 2, "train", *LONG, "--run-dir", tmp_path / "run") as ranks:
        begun(tmp_path / "run", ranks)
        ranks[1].kill()
        code, _, told = ranks.ends(60)[0]
    assert code == 75
    assert "rank 1 is gone" in told and "start all its processes again" in told
    assert "frame #" not in told and "Exception raised from" not in told


def test_fault_17_a_rank_that_hangs_is_waited_for_as_long_as_said(penstock, tmp_path):
    with Ranks(penstock, 2, "train", *LONG, "--run-dir", tmp_path / "run", "--peer-timeout", 2) as ranks:
        begun(tmp_path / "run", ranks)
        ranks[1].send_signal(signal.SIGSTOP)
        try:
            _, told = ranks[0].communicate(timeout=60)
        finally:
            ranks[1].send_signal(signal.SIGCONT)
        assert ranks[0].returncode == 75
        assert "rank 1 has not answered in time" in told or "rank 1 has not taken" in told
        assert ranks.ends(60)[1][0] == 75


def test_fault_18_ranks_of_different_configs_refuse_each_other(penstock, tmp_path):
    with Ranks(penstock, 2, "train", *cartpole(), "--run-dir", tmp_path / "run",
               each=lambda rank: ["--set", f"ppo.clip=0.{rank + 1}"]) as ranks:
        ends = ranks.ends(60)
    for code, _, told in ends:
        assert code == 78
        assert "hashes" in told and "ppo.clip = 0.2" in told and "ppo.clip = 0.1" in told
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("size, shards, wanted", [(4, 2, "as 4"), (2, 6, "as 8"), (3, 4, "as 6")])
def test_shards_that_do_not_fit_are_refused_with_those_that_do(penstock, tmp_path, size, shards, wanted):
    with Ranks(penstock, size, "train", "--env", "cartpole", "--num-envs", 16, "--set", f"rollout.shards={shards}",
               "--run-dir", tmp_path / "run") as ranks:
        for code, _, told in ranks.ends(60):
            assert code == 78 and f"rollout.shards must be {size} times a power of two, {wanted}" in told


def test_three_processes(penstock, tmp_path):
    args = cartpole(shards=6)
    alone = penstock.json("train", *args, "--run-dir", tmp_path / "1")
    assert train(penstock, 3, "train", *args, "--run-dir", tmp_path / "3")["digest"] == alone["digest"]


def test_a_directory_that_is_taken_ends_all(penstock, tmp_path):
    penstock("train", *cartpole(), "--run-dir", tmp_path / "run")
    with Ranks(penstock, 2, "train", *cartpole(), "--run-dir", tmp_path / "run") as ranks:
        (first, _, told), (second, _, other) = ranks.ends(60)
    assert (first, second) == (73, 73)
    assert "rank 0 has ended the run" in other and "rank 0 has" not in told


def test_a_policy_to_start_from_reaches_all(penstock, tmp_path):
    penstock("train", *cartpole(), "--run-dir", tmp_path / "first")
    args = ["train", *cartpole("--start-from", tmp_path / "first", seed=9)]
    alone = penstock.json(*args, "--run-dir", tmp_path / "1")
    assert train(penstock, 2, *args, "--run-dir", tmp_path / "2")["digest"] == alone["digest"]


def test_torchrun_starts_it_and_again_after_a_kill(penstock, uninterrupted, tmp_path):
    """With the launcher's own store; the second attempt resumes, as a script would."""
    script = f'test -e {tmp_path}/run/ckpt/LATEST && exec "$0" resume {tmp_path}/run --json || exec "$0" train "$@"'
    command = [sys.executable, "-m", "torch.distributed.run", "--no-python", "--nproc-per-node", "2", "--max-restarts", "1",
               "--master-addr", "127.0.0.1", "--master-port", str(free_port()), "sh", "-c", script, penstock.exe, *map(str, LONG),
               "--run-dir", str(tmp_path / "run"), "--json"]
    launcher = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                                env=penstock.environment(OMP_NUM_THREADS="1"))
    try:
        wait_until(lambda: (tmp_path / "run" / "ckpt" / "LATEST").exists() or launcher.poll() is not None, 120)
        ranks = [pid for pid, (parent, _, command) in parents().items() if parent == launcher.pid and penstock.exe in command]
        os.kill(ranks[-1], signal.SIGKILL)
        out, err = launcher.communicate(timeout=180)
    finally:
        launcher.kill()
        launcher.communicate()
    assert launcher.returncode == 0, err
    assert uninterrupted[0]["digest"] in out
