"""The commands of docs/from-your-scripts.md are understood as they stand, up to the training itself."""

import pathlib
import re
import sys

import pytest

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/from-your-scripts.md").read_text()
COMMANDS = [line.split("#")[0].split()[1:] for block in re.findall(r"```bash\n(.*?)```", PAGE, re.S)
            for line in block.splitlines() if line.startswith("penstock train")]
ENVS = {"--num-workers 4 --num-envs-per-worker 8": 32, "--num-workers 2 --num-envs-per-worker 32": 64,
        "--n-envs 8": 8, "--n-envs 16": 16}
MY_ENV = """
import gymnasium
gymnasium.register("MyEnv-v0", lambda: gymnasium.make("CartPole-v1"))
"""


def test_there_are_commands():
    assert len(COMMANDS) >= 7


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_command(cli, words, tmp_path, monkeypatch):
    (tmp_path / "my_pkg.py").write_text(MY_ENV)
    monkeypatch.setitem(cli.environment, "VIRTUAL_ENV", sys.prefix)
    monkeypatch.setitem(cli.environment, "PYTHONPATH", str(tmp_path))
    plan = cli(*words, "--dry-run").stdout
    for said, number in ENVS.items():
        if said in " ".join(words):
            assert f"num_envs = {number} " in plan
    if "--duration" in words:
        assert "updates for 36 s" in plan  # 0.01 hours
