"""What the tests of the package share. PENSTOCK_TEST_EXE may name the executable, which is then compared too."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
from skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: E402, F401

# A shell that starts this in the background lets it ignore Ctrl-C, nohup a hang-up, and all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

COMMANDS = [[sys.executable, "-m", "penstock"]]
if "PENSTOCK_TEST_EXE" in os.environ:
    COMMANDS.append([os.environ["PENSTOCK_TEST_EXE"]])


class Cli:
    """Runs the command line as a user would, with no PENSTOCK_ variable of the surroundings."""

    def __init__(self, command):
        self.command = command
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}

    def __call__(self, *args, code=0):
        done = subprocess.run([*self.command, *map(str, args)], capture_output=True, text=True, timeout=300,
                              env=self.environment, stdin=subprocess.DEVNULL)
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *args):
        return json.loads(self(*args, "--json").stdout.splitlines()[-1])

    def start(self, *args):
        return subprocess.Popen([*self.command, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=self.environment, stdin=subprocess.DEVNULL)


@pytest.fixture(params=COMMANDS, ids=lambda command: command[-1].rsplit("/", 1)[-1])
def cli(request):
    return Cli(request.param)


LONGEST = ("test_ray.py", "test_docs.py")


def pytest_collection_modifyitems(items):
    """Of files that run side by side the longest come first, or the others wait for them in the end."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
