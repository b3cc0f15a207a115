"""What the package does where torch is not installed: envs and acting work, training says what it lacks."""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import venv

import numpy as np
import pytest
import worker_envs
from gymnasium import spaces

import penstock

REMEDY = "pip install torch==2.13.*"
ENVS = ["cartpole", "pendulum", "masked", "multi", "cage2_defender", "dvrptw"]
POLICIES = {
    "cartpole": {},
    "pendulum": {"normalise": {"obs": True}, "net": {"squash": True}},
    "masked": {"net": {"shared_trunk": True}},
    "multi": {},
    "dvrptw": {"env.customers": 6, "env.oracle": "insertion", "env.obs": "hist"},
}
TRAJECTORY = """
import hashlib, json, sys
import numpy as np
import penstock

digests = {}
for name in json.loads(sys.argv[1]):
    envs = penstock.VectorEnv(name, 3, num_threads=2)
    envs.action_space.seed(1)
    seen = hashlib.sha256(str(envs.single_observation_space).encode())
    envs.reset(seed=5)
    for _ in range(120):
        envs.step(envs.action_space.sample())
        for array in ("obs", "reward", "terminated", "truncated"):
            seen.update(envs._arrays[array].tobytes())
    digests[name] = seen.hexdigest()
assert "torch" not in sys.modules
print(json.dumps(digests))
"""
NO_LIBTORCH = """
import pathlib
assert "libtorch" not in pathlib.Path("/proc/self/maps").read_text()
"""


def needed(name):
    """A distribution and all that it requires, but torch."""
    try:
        requirements = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return set()  # of another Python, or an extra
    names = {re.match(r"[\w.-]+", line)[0] for line in requirements if "extra ==" not in line} - {"torch"}
    return {name}.union(*map(needed, names))


class Python:
    """An interpreter to run code with, as a user does."""

    def __init__(self, executable):
        self.executable = executable
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("PENSTOCK_", "PYTHONPATH"))}

    def __call__(self, *words, code=0):
        done = subprocess.run([self.executable, *map(str, words)], capture_output=True, text=True, timeout=300,
                              env=self.environment, stdin=subprocess.DEVNULL)
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def error(self, code):
        """The last line that a failing program says."""
        return self("-c", code, code=1).splitlines()[-1]


@pytest.fixture(scope="module")
def free(tmp_path_factory):
    """An environment with the packages that pip installs for penstock, but torch; they are those of this one. Penstock is copied:
    the loader follows links, and would find the libtorch beside the original."""
    folder = tmp_path_factory.mktemp("free")
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib/python*/site-packages"))
    for name in needed("penstock"):
        package = importlib.metadata.distribution(name)
        for top in {file.parts[0] for file in package.files} - {"..", "__pycache__"}:
            if top == "penstock":
                shutil.copytree(package.locate_file(top), site / top)
            else:
                (site / top).symlink_to(package.locate_file(top))
    python = Python(folder / "bin" / "python")
    assert "No module named 'torch'" in python.error("import torch")
    return python


@pytest.mark.parametrize("env", POLICIES)
def test_a_policy_acts_as_its_trainer_does(free, tmp_path, env):
    model = penstock.PPO(env, 16, 3, verbose=0, rollout={"steps": 32}, **POLICIES[env]).learn(1024)
    model.export(tmp_path / "policy.safetensors")
    envs = penstock.VectorEnv(env, 16, **{key[4:]: value for key, value in POLICIES[env].items() if key[:4] == "env."})
    obs, infos = envs.reset(seed=0)
    masks = infos.get("action_mask")
    np.savez(tmp_path / "obs.npz", **(obs if isinstance(obs, dict) else {"obs": obs}))
    np.save(tmp_path / "masks.npy", np.array(masks))
    free("-c", f"""
import numpy as np
import penstock
obs, masks = dict(np.load("{tmp_path}/obs.npz")), np.load("{tmp_path}/masks.npy", allow_pickle=True)
obs, masks = obs.get("obs", obs) if len(obs) == 1 else obs, None if masks.ndim == 0 else masks
policy = penstock.Policy.load("{tmp_path}/policy.safetensors", seed=3)
first = {{name: part[0] for name, part in obs.items()}} if isinstance(obs, dict) else obs[0]
likeliest, state = policy.predict(obs, action_masks=masks)
assert state is None
np.savez("{tmp_path}/actions.npz", likeliest=likeliest, one=policy.predict(first)[0],
         drawn=[policy.predict(obs, False, masks)[0] for _ in range(3)])
{NO_LIBTORCH}""")
    with np.load(tmp_path / "actions.npz") as file:
        found = dict(file)
    first = {name: part[0] for name, part in obs.items()} if isinstance(obs, dict) else obs[0]
    assert np.array_equal(found["likeliest"], model.predict(obs, action_masks=masks)[0])
    assert np.array_equal(found["one"], model.predict(first)[0])
    assert np.array_equal(found["drawn"], [model.predict(obs, False, masks)[0] for _ in range(3)])
    assert found["likeliest"].dtype == model.action_space.dtype
    assert len({actions.tobytes() for actions in found["drawn"]}) == 3


def test_native_envs_go_the_same_way_with_and_without_torch(free):
    there = json.loads(free("-c", TRAJECTORY + NO_LIBTORCH, json.dumps(ENVS)))
    assert there == json.loads(Python(sys.executable)("-c", TRAJECTORY, json.dumps(ENVS)))
    assert len(set(there.values())) == len(ENVS)


def test_gymnasium_knows_the_native_envs(free):
    free("-c", "import gymnasium, penstock\n"
               "gymnasium.make_vec('Penstock/CartPole-v1', num_envs=2).reset(seed=0)\n"
               "gymnasium.make('Penstock/Pendulum-v1').reset(seed=0)\n"
               "assert 'dvrptw' in penstock.env_names()" + NO_LIBTORCH)


def test_python_envs_are_checked_and_stepped_in_workers(free):
    free("-c", "import penstock\n"
               "for env in ('CartPole-v1', 'cartpole'):\n"
               "    report = penstock.check_env(env, seconds=0.1)\n"
               "    assert report.ok, report\n"
               "envs = penstock.VectorEnv('CartPole-v1', 4, num_workers=2)\n"
               "envs.reset(seed=0)\n"
               "envs.step(envs.action_space.sample())\n"
               "envs.close()" + NO_LIBTORCH)


@pytest.mark.parametrize("code", ["penstock.PPO", "penstock.Config", "penstock.EvalResult", "from penstock import PPO",
                                  "import penstock.ppo", "import penstock.cage2"])
def test_what_trains_names_the_remedy(free, code):
    said = free.error(f"import penstock\n{code}")
    assert said.startswith("ImportError: ") and REMEDY in said and "No module named 'torch'" in said


def test_the_command_line_names_the_remedy(free):
    assert free("-m", "penstock", "train", code=1).startswith("penstock: ")
    assert REMEDY in free("-m", "penstock", "train", code=1)
    assert "--follow" in free("-m", "penstock", "track", "--help")


COMMAND = """
import sys
from penstock.__main__ import main
sys.argv = ["penstock", *sys.argv[1:]]
assert main() == 0
"""


def test_a_command_needs_libtorch_and_not_what_imports_it(free):
    """Where torch is beside the package; else torch is imported to find it."""
    Python(sys.executable)("-c", COMMAND + "assert 'torch' not in sys.modules", "envs")
    elsewhere = importlib.metadata.distribution("torch").locate_file("")
    free("-c", f"import sys\nsys.path.append({str(elsewhere)!r})" + COMMAND + "assert 'torch' in sys.modules", "envs")


def test_an_env_of_the_commands_process_may_import_torch(tmp_path):
    (tmp_path / "tensors.py").write_text("""
import gymnasium
import numpy as np
import torch

class Sum(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-9, 9, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = torch.zeros(2)
        return self.at.numpy(), {}

    def step(self, action):
        self.at = torch.nn.functional.relu(self.at + torch.tensor([1.0, float(action)]))
        return self.at.numpy(), float(action), bool(self.at.sum() > 8), False, {}
""")
    python = Python(sys.executable)
    python.environment |= {"PYTHONPATH": str(tmp_path)}
    words = ["train", "--env", "tensors:Sum", "--num-envs", "2", "--num-workers", "0", "--total-timesteps", "256"]
    python("-c", COMMAND + "assert 'torch' in sys.modules", *words, "--run-dir", tmp_path / "run")


def test_offers_are_priced(free, tmp_path):
    query = {"mode": "deliver", "vehicles": 1, "capacity": 9, "depot": {"x": 0, "y": 0}, "requests": [], "routes": [],
             "new": {"id": 7, "stop": {"x": 1000, "y": 0, "earliest": "09:00", "latest": "09:30"}}}
    file = tmp_path / "query.json"
    file.write_text(json.dumps(query))
    for python in (free, Python(sys.executable)):
        told = json.loads(python("-m", "penstock", "booking", "offer", str(file)))
        assert told["request"] == 7 and told["offers"][0]["added_km"] == 2.6
    assert "is the path right?" in free("-m", "penstock", "booking", "offer", "absent.json", code=1)


def test_a_name_that_is_wrong_is_just_that(free):
    for python in (free, Python(sys.executable)):
        said = python.error("import penstock\npenstock.PPOO")
        assert said.startswith("AttributeError: module 'penstock' has no attribute 'PPOO'")


def test_torch_is_loaded_by_what_trains_and_not_before():
    Python(sys.executable)("-c", "import sys, penstock\n"
                                 "assert 'PPO' in dir(penstock) and '_core' not in penstock.__all__\n"
                                 "penstock.VectorEnv('cartpole', 2).reset(seed=0)\n"
                                 "assert 'torch' not in sys.modules" + NO_LIBTORCH +
                                 "penstock.PPO\nassert 'torch' in sys.modules")


def cpu_seconds(python, module):
    """Processor time of an import, the least of three."""
    code = f"import time\nimport {module}\nprint(time.process_time())"
    return min(float(python("-c", code)) for _ in range(3))


def test_the_import_takes_a_part_of_torchs(free):
    ours, torchs = cpu_seconds(free, "penstock"), cpu_seconds(Python(sys.executable), "torch")
    assert ours < torchs / 2, (ours, torchs)


def test_threads_share_a_policy(tmp_path):
    import concurrent.futures
    penstock.PPO("cartpole", 16, 3, verbose=0).export(tmp_path / "policy")
    policy = penstock.Policy.load(tmp_path / "policy")
    rows = np.random.default_rng(0).normal(size=(8, 400, 4)).astype(np.float32)
    expected = [policy.predict(block)[0].tolist() for block in rows]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            assert [found[0].tolist() for found in pool.map(policy.predict, rows)] == expected


def test_the_spaces_of_an_env(tmp_path):
    obs = spaces.Dict(a=spaces.Discrete(3, start=1), b=spaces.Tuple((spaces.Box(-1, 1, (2,)), spaces.MultiBinary(2))))
    for action in (spaces.Discrete(4, start=-1), spaces.Box(-0.1, 0.1, (2, 2), np.float64)):
        model = penstock.PPO(lambda: worker_envs.Spaces(obs, action), 2, 3, num_workers=0, verbose=0)
        model.export(tmp_path / "policy")
        policy = penstock.Policy.load(tmp_path / "policy", observation_space=obs, action_space=action, seed=3)
        obs.seed(0)
        for _ in range(20):
            value = obs.sample()
            assert np.array_equal(policy.predict(value)[0], model.predict(value)[0])
            drawn = policy.predict(value, deterministic=False)[0]
            assert action.contains(drawn) and np.array_equal(drawn, model.predict(value, deterministic=False)[0])
        with pytest.raises(penstock.UsageError, match="observation_space: its rows are"):
            penstock.Policy.load(tmp_path / "policy", observation_space=spaces.Box(-1, 1, (7,)))
        with pytest.raises(penstock.UsageError, match="action_space: "):
            penstock.Policy.load(tmp_path / "policy", action_space=spaces.Discrete(5))


def test_a_mask_in_the_observation_is_obeyed(tmp_path):
    model = penstock.PPO(worker_envs.Guess, 2, 3, num_workers=0, verbose=0, env_kwargs={"mask": "obs"})
    model.export(tmp_path / "policy")
    policy = penstock.Policy.load(tmp_path / "policy", observation_space=model.observation_space,
                                  action_space=model.action_space)
    for only in range(6):
        assert policy.predict({"shown": 2, "action_mask": np.eye(6, dtype=np.int8)[only]})[0] == only
    with pytest.raises(penstock.UsageError, match="action_masks: 5 per row, expected 6"):
        policy.predict({"shown": 2}, action_masks=np.ones(5))


def test_what_is_not_a_policy_file(tmp_path, cli):
    penstock.PPO("cartpole", 16, 3, verbose=0, run_dir=tmp_path / "run", rollout={"steps": 32}).learn(512)
    with pytest.raises(penstock.UsageError, match="a folder, not a policy file; .* penstock export .*run --out"):
        penstock.Policy.load(tmp_path / "run")
    cli("export", tmp_path / "run", "--out", tmp_path / "policy.safetensors")
    assert penstock.Policy.load(tmp_path / "policy.safetensors").num_updates == 1
    with pytest.raises(penstock.IoError, match="missing"):
        penstock.Policy.load(tmp_path / "missing")
    (tmp_path / "text").write_text("not one, and long enough to be read")
    with pytest.raises(penstock.DataError, match="text"):
        penstock.Policy.load(tmp_path / "text")
    penstock.PPO("cartpole", 16, 3, verbose=0, net={"kind": "transformer"}).export(tmp_path / "transformer")
    with pytest.raises(penstock.DataError, match="needs libtorch"):
        penstock.Policy.load(tmp_path / "transformer")
