"""Limits of the system, and clocks that jump. Numbers of faults are those of the table in docs/faults.md."""

import datetime
import json
import os
import resource
import subprocess

import pytest

SHORT = ["--total-timesteps", 4096, "--num-envs", 8, "--seed", 1, "--set", "run.eval_episodes=1"]
HUGE = ["--num-envs", 4096, "--set", "rollout.steps=16384"]
MB = 1 << 20


@pytest.fixture
def limited(penstock):
    """Runs the executable with a resource limit."""
    def run(limit, value, *args, code):
        done = subprocess.run([penstock.exe, *map(str, args)], capture_output=True, text=True, timeout=120,
                              env=penstock.environment(), stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: resource.setrlimit(limit, (value, value)))
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done
    return run


@pytest.mark.parametrize("limit,remedy", [(resource.RLIMIT_AS, "`ulimit -v unlimited`"),
                                          (resource.RLIMIT_DATA, "`ulimit -d unlimited`")])
def test_fault_20_what_does_not_fit_into_a_limit_of_memory_is_refused(limited, tmp_path, limit, remedy):
    done = limited(limit, 2000 * MB, "train", *HUGE, "--run-dir", tmp_path / "run", code=78)
    assert "MB are free under" in done.stderr and "rollout.steps" in done.stderr
    assert done.stderr.endswith(f"or raise the limit: {remedy}\n")
    assert not (tmp_path / "run").exists()


def test_fault_20_what_fits_is_not_refused(limited, tmp_path):
    limited(resource.RLIMIT_AS, 2000 * MB, "train", *SHORT, "--run-dir", tmp_path / "run", code=0)


def test_fault_20_memory_that_runs_out_later_is_told_without_a_stack(limited):
    """A benchmark is not refused beforehand."""
    done = limited(resource.RLIMIT_AS, 2000 * MB, "bench", "ppo", "--num-envs", 65536, "--set", "rollout.steps=16384", code=1)
    assert done.stderr.splitlines()[-1].startswith("penstock: out of memory; ") and "frame #" not in done.stderr


@pytest.mark.usefixtures("python_env")
def test_fault_21_few_open_files_are_refused_with_the_remedy(limited, tmp_path):
    for number in (5, 6):
        done = limited(resource.RLIMIT_NOFILE, number, "train", *SHORT, "--run-dir", tmp_path / "run", code=78)
        assert "open files and" in done.stderr and "raise the limit: `ulimit -n 4096`" in done.stderr
    workers = ["--env", "bad_envs:Plain", "--num-workers", 8, "--run-dir", tmp_path / "run"]
    done = limited(resource.RLIMIT_NOFILE, 20, "train", *SHORT, *workers, code=78)
    assert "use fewer workers (env.num_workers), or raise the limit: `ulimit -n 4096`" in done.stderr
    assert not (tmp_path / "run").exists()
    done = limited(resource.RLIMIT_NOFILE, 9, "train", *SHORT, *workers, code=1)  # too few to try the env out
    assert "Too many open files; raise the limit: `ulimit -n 4096`" in done.stderr
    limited(resource.RLIMIT_NOFILE, 64, "train", *SHORT, *workers, code=0)


@pytest.mark.usefixtures("python_env")
@pytest.mark.parametrize("options", ["ro", "size=4k"], ids=["read-only", "tiny"])
def test_fault_21_no_shared_memory_is_needed(penstock, tmp_path, options):
    """In a namespace of its own, where this process is root."""
    words = [penstock.exe, "train", *SHORT, "--env", "bad_envs:Plain", "--num-workers", 2, "--run-dir", tmp_path / "run"]
    done = subprocess.run(["unshare", "--map-root-user", "--mount", "sh", "-c",
                           f'mount -t tmpfs -o {options} tmpfs /dev/shm && exec "$0" "$@"', *map(str, words)], capture_output=True,
                          text=True, timeout=120, env=penstock.environment(), stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr


def jumped(created):
    """Whether a clock was hours off when it said this."""
    then = datetime.datetime.fromisoformat(created)
    return abs(datetime.datetime.now(datetime.timezone.utc) - then) > datetime.timedelta(hours=4)


@pytest.mark.usefixtures("python_env")
@pytest.mark.parametrize("env", [["--env", "acrobot"], ["--env", "bad_envs:Plain", "--num-workers", 2]],
                         ids=["threads", "workers"])
def test_fault_22_jumps_of_the_clock_change_nothing(penstock, tmp_path, env):
    results = {}
    for name, clock in (("steady", ""), ("jumping", os.environ["PENSTOCK_TEST_CLOCK"])):
        results[name] = penstock.json("train", *SHORT, *env, "--run-dir", tmp_path / name, LD_PRELOAD=clock)
        created = json.loads((tmp_path / name / "manifest.json").read_text())["created"]
        assert jumped(created) == (name == "jumping")
    for key in ("digest", "total_timesteps", "episodes"):
        assert results["steady"][key] == results["jumping"][key]
    assert 0 <= results["jumping"]["time"]["time_elapsed"] < 3600
    resumed = penstock.json("resume", tmp_path / "jumping", "--total-timesteps", 8192, LD_PRELOAD=os.environ["PENSTOCK_TEST_CLOCK"])
    assert resumed["digest"] == penstock.json("resume", tmp_path / "steady", "--total-timesteps", 8192)["digest"]
