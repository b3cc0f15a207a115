"""A disk that fills up: training goes on with an alarm, saves once there is room, and gives up after some tries.

The disk is a tmpfs of a few megabytes in a mount namespace of its own, which goes with its keeper. Where the system does
not allow that, the tests are skipped.
"""

import errno
import json
import os
import pathlib
import shutil
import subprocess

import pytest

RUN = ["--env", "cartpole", "--num-envs", 32, "--total-timesteps", 200_000, "--seed", 3, "--save-interval", 1,
       "--threads", 1, "--set", "run.eval_episodes=0", "--set", "run.keep=2"]


class Disk:
    """A small disk: `inside` is its path for those who run on it, `outside` the same place for us."""

    def __init__(self, place, size):
        self.inside = place
        script = f'mount --make-rprivate / && mount -t tmpfs -o size={size} tmpfs "$0" && echo ready && exec sleep 600'
        self.keeper = subprocess.Popen(["unshare", "-m", "sh", "-c", script, str(place)], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
        if self.keeper.stdout.readline().strip() != "ready":
            pytest.skip("no mount namespace of our own: " + self.keeper.communicate()[1].strip())
        self.outside = pathlib.Path(f"/proc/{self.keeper.pid}/root{place}")

    def close(self):
        self.keeper.kill()
        self.keeper.communicate()

    def command(self, penstock, *args):
        exe = os.path.abspath(shutil.which(penstock.exe))  # nsenter begins in another folder
        return ["nsenter", "-t", str(self.keeper.pid), "-m", exe, *map(str, args)]

    def run(self, penstock, *args, code=0):
        done = subprocess.run(self.command(penstock, *args), capture_output=True, text=True, timeout=300,
                              env=penstock.environment(), stdin=subprocess.DEVNULL)
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, penstock, *args):
        return subprocess.Popen(self.command(penstock, *args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=penstock.environment(), stdin=subprocess.DEVNULL)

    def fill(self):
        with (self.outside / "ballast").open("wb", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError as error:
                    assert error.errno == errno.ENOSPC

    def make_room(self):
        (self.outside / "ballast").unlink()


@pytest.fixture
def disk(tmp_path, request):
    place = tmp_path / "disk"
    place.mkdir()
    small = Disk(place, getattr(request, "param", "4m"))
    yield small
    small.close()


@pytest.fixture(scope="module")
def expected(penstock, tmp_path_factory):
    return penstock.json("train", *RUN, "--run-dir", tmp_path_factory.mktemp("whole") / "run")


def line_with(process, words):
    """The next line on stderr that has these words."""
    for line in process.stderr:
        if words in line:
            return line
    pytest.fail(f"the run has ended without saying '{words}'")


def latest(disk):
    return int((disk.outside / "run" / "ckpt" / "LATEST").read_text())


def test_fault_07_a_full_disk_is_survived(penstock, disk, expected):
    process = disk.start(penstock, "train", *RUN, "--run-dir", disk.inside / "run", "--json")
    line_with(process, "saved ckpt/")
    disk.fill()
    alarm = line_with(process, "cannot save")
    assert "No space left on device" in alarm and "next try in 1 s" in alarm
    before = latest(disk)
    disk.make_room()
    out, rest = process.communicate(timeout=120)
    assert process.returncode == 0, rest
    assert json.loads(out)["digest"] == expected["digest"]
    assert before < latest(disk) == expected["total_timesteps"]
    steps = [json.loads(line)["step"] for line in (disk.outside / "run" / "metrics.jsonl").read_text().splitlines()]
    assert len(steps) == expected["updates"] and steps == sorted(set(steps)), "lines of the full disk's time are there"
    assert not list((disk.outside / "run" / "ckpt").glob(".tmp*"))


def test_fault_07_a_disk_that_stays_full_ends_the_run_with_its_checkpoints_whole(penstock, disk, expected):
    process = disk.start(penstock, "train", *RUN, "--set", "run.save_tries=2", "--run-dir", disk.inside / "run")
    line_with(process, "saved ckpt/")
    disk.fill()
    _, rest = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "2 tries in a row have failed (run.save_tries)" in rest
    assert f"the newest checkpoint is ckpt/{latest(disk)}." in rest
    assert f"penstock resume {disk.inside}/run" in rest
    disk.run(penstock, "eval", disk.inside / "run", "--episodes", 2)  # while it is still full
    disk.make_room()
    done = disk.run(penstock, "resume", disk.inside / "run", "--json")
    assert json.loads(done.stdout)["digest"] == expected["digest"]


@pytest.mark.parametrize("disk", ["64k"], indirect=True)
def test_fault_07_a_disk_that_is_full_from_the_start_is_told_at_once(penstock, disk):
    done = disk.run(penstock, "train", *RUN, "--run-dir", disk.inside / "run", code=1)
    assert "the run cannot begin: " in done.stderr and "No space left on device" in done.stderr
    assert "another run.dir" in done.stderr
    again = disk.run(penstock, "train", *RUN, "--run-dir", disk.inside / "run", code=1)
    assert "starts anew" in again.stderr, "what is left of the first try is not in the way"
