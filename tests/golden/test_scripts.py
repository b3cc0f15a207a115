"""The commands of docs/from-your-scripts.md are understood as they stand; nothing is trained."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/from-your-scripts.md").read_text()
COMMANDS = [line.split("#")[0].strip() for block in re.findall(r"```bash\n(.*?)```", PAGE, re.S)
            for line in block.splitlines() if line.startswith("penstock train")]


def test_there_are_commands():
    assert len(COMMANDS) >= 7


# A Python env is not made: its numbers are those of a native one with the same options.
@pytest.mark.parametrize("command", COMMANDS)
def test_command(penstock, command, tmp_path):
    words = command.split()[1:]
    if any(word in ("CartPole-v1", "my_pkg:MyEnv-v0") for word in words):
        words = ["config", *words[1:]]
        for option in ("--duration", "--num-episodes"):
            if option in words:
                at = words.index(option)
                del words[at:at + 2]
    else:
        words.append("--dry-run")
    done = subprocess.run([penstock.exe, *words], cwd=tmp_path, capture_output=True, text=True,
                          env=penstock.environment(), stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    envs = {"--num-workers 4 --num-envs-per-worker 8": 32, "--num-workers 2 --num-envs-per-worker 32": 64,
            "--n-envs 8": 8, "--n-envs 16": 16}
    for said, number in envs.items():
        if said in command:
            assert f"num_envs = {number} " in done.stdout
