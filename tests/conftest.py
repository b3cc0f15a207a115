"""What tests that run the executable share. PENSTOCK_TEST_EXE names it."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parent / "support"))
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401


class Penstock:
    """Runs the executable as a user would, with no PENSTOCK_ variable of the surroundings."""

    exe = os.environ.get("PENSTOCK_TEST_EXE", "penstock")

    def environment(self, **extra):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
        return {**clean, **extra}

    def __call__(self, *args, code=0, timeout=300, **env):
        done = subprocess.run(
            [self.exe, *map(str, args)],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=self.environment(**env),
            stdin=subprocess.DEVNULL,
        )
        assert code is None or done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *args, **kwargs):
        return json.loads(self(*args, "--json", **kwargs).stdout.splitlines()[-1])

    def start(self, *args):
        return subprocess.Popen(
            [self.exe, *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
        )


@pytest.fixture(scope="session")
def penstock():
    return Penstock()
