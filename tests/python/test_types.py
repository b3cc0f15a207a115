"""What a type checker knows of the keys: python/penstock/_keys.pyi."""

import ast
import keyword
import pathlib
import subprocess
import sys

import pytest

import penstock

STUB = ast.parse((pathlib.Path(penstock.__file__).parent / "_keys.pyi").read_text())
SNIPPET = """\
import penstock

config = penstock.Config(seed=1, ppo={"clip": 0.1}, env={"id": "dvrptw", "customers": 6})
config.ppo.gamma = 0.98
config["rollout.steps"] = 32
clip: float = config.ppo.clip
config.threads = "auto"
model = penstock.PPO("cartpole", num_envs=8, seed=1, config=config, rollout={"steps": 32}, total_episodes=5)
model.learn(1000, progress_bar=True)
penstock.PPO.load("run", ppo={"learning_rate": 1e-4}).save("other")
print(penstock.check_env("CartPole-v1").ok)
config.ppo.clipp  # wrong
config.sead  # wrong
config.ppo.clip = "much"  # wrong
penstock.Config(sead=3)  # wrong
penstock.PPO("cartpole", num_env=8)  # wrong
penstock.PPO("cartpole", ppo={"clipp": 0.1})  # wrong
penstock.PPO("cartpole", device="tpu")  # wrong
penstock.PPO.load("run", clip=0.1)  # wrong
model.learn("10")  # wrong
"""


def test_a_checker_knows_keys_and_types(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "snippet.py").write_text(SNIPPET)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", "cache", "snippet.py"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=550)
    said = {int(line.split(":")[1]) for line in done.stdout.splitlines() if line.startswith("snippet.py:")}
    wrong = {number for number, line in enumerate(SNIPPET.splitlines(), 1) if line.endswith("# wrong")}
    assert said == wrong, done.stdout + done.stderr


def names_of(name):
    found = next(node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == name)
    return {line.target.id for line in found.body}


def sections_of(paths):
    """{"ppo": {"clip", ...}}, and "" for keys without a section."""
    found = {}
    for path in paths:
        section, _, name = path.rpartition(".")
        found.setdefault(section, set()).add(name)
    return found


def test_the_stub_has_the_programs_keys():
    """After a change of keys: scripts/gen-config-stubs build/ci/penstock."""
    envs = [*penstock.env_names(), "CartPole-v1"]
    configs = [penstock.Config(), penstock.Config(algo="a2c"), penstock.Config(algo="appo"), *[penstock.Config(env={"id": env}) for env in envs]]
    program = sections_of({path for config in configs for path in config.to_dict()})
    top = program.pop("")
    sections = {section + "_" * keyword.iskeyword(section) for section in program}
    assert names_of("Attributes") == top | sections
    assert names_of("Keys") | names_of("ConfigKeys") == top | sections | {"learning_rate", "minibatch"}
    for section, names in program.items():
        assert names_of(f"{section.capitalize()}Keys") == names_of(f"{section.capitalize()}Section") == names
