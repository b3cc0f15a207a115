"""`python -m penstock` and the script `penstock`: the command line of the executable."""

import os
import pathlib
import signal
import sys

RECIPES = pathlib.Path(__file__).parent / "recipes"


def main() -> int:
    # Verbs of the Python package only.
    if sys.argv[1:2] == ["track"]:
        from penstock.trackers import main as track

        return track(sys.argv[2:])
    if sys.argv[1:2] == ["optuna"]:
        from penstock.optuna import main as search

        return search(sys.argv[2:])
    if sys.argv[1:3] in (["booking", "offer"], ["dvrptw", "offer"]):  # the one verb that needs no torch
        from penstock._base import run_offer_command as run
    else:
        try:
            from penstock._torch import _core
        except ImportError as error:
            print(f"penstock: {error}", file=sys.stderr)
            return 1
        run = _core.run_cli
    # Python's own answers to signals wait for the interpreter, which is away until the command ends.
    for name in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(name, signal.SIG_DFL)
    os.environ.setdefault("PENSTOCK_RECIPES", str(RECIPES))
    return run(["penstock", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
