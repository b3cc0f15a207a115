"""The Python blocks of the README and of some pages run as they stand."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ("README.md", "docs/python.md", "docs/trackers.md", "docs/from-your-scripts.md")
BLOCKS = [(name, number, block) for name in FILES
          for number, block in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.S))]


def test_there_are_blocks():
    assert {name for name, _, _ in BLOCKS} == set(FILES)


@pytest.mark.parametrize("block", [b for _, _, b in BLOCKS], ids=[f"{name}-{number}" for name, number, _ in BLOCKS])
def test_block(block, tmp_path):
    # One thread: networks this small are slower with more, above all on a busy machine.
    done = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
