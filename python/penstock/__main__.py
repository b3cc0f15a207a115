"""`python -m penstock` and the script `penstock`: the command line of the executable."""

import os
import pathlib
import signal
import sys
from types import ModuleType

RECIPES = pathlib.Path(__file__).parent / "recipes"


def engine() -> ModuleType:
    """The extension, without torch's own Python where it can be: to import that takes most of a short command's time."""
    try:
        import penstock._core as _core  # finds libtorch where pip puts it, beside this package
    except ImportError:
        from penstock._torch import _core  # it lies elsewhere, or is missing, which this tells
    return _core


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
            run = engine().run_cli
        except ImportError as error:
            print(f"penstock: {error}", file=sys.stderr)
            return 1
    # Python's own answers to signals wait for the interpreter, which is away until the command ends.
    for name in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(name, signal.SIG_DFL)
    os.environ.setdefault("PENSTOCK_RECIPES", str(RECIPES))
    return run(["penstock", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
