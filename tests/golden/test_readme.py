"""The README's block for the command line, as it stands there: a policy, in under a minute."""

import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_block_for_the_command_line(penstock, tmp_path):
    blocks = re.findall(r"```bash\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith(("penstock train", "penstock eval"))]
    assert [line.split()[1] for line in lines] == ["train", "eval"]
    begin = time.monotonic()
    for line in lines:
        done = subprocess.run([penstock.exe, *line.split()[1:]], cwd=tmp_path, capture_output=True, text=True,
                              check=True, env=penstock.environment(), stdin=subprocess.DEVNULL)
    assert time.monotonic() - begin < 300
    assert float(re.search(r"mean reward (-?[\d.]+)", done.stdout).group(1)) >= 475
    assert list((tmp_path / "runs" / "first").glob("events.out.tfevents.*"))
