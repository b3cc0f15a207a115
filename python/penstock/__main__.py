"""`python -m penstock` and the script `penstock`: the command line of the executable."""

import os
import pathlib
import signal
import sys

import penstock  # noqa: F401  loads torch
from penstock import _core

RECIPES = pathlib.Path(__file__).parent / "recipes"


def main() -> int:
    if sys.argv[1:2] == ["track"]:  # a verb of the Python package only
        from penstock.trackers import main as track

        return track(sys.argv[2:])
    # Python's own answers to signals wait for the interpreter, which is away until the command ends.
    for name in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(name, signal.SIG_DFL)
    os.environ.setdefault("PENSTOCK_RECIPES", str(RECIPES))
    return _core.run_cli(["penstock", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
