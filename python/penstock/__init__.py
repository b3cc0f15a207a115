"""Penstock: parallel reinforcement learning, native and reproducible.

    import penstock

    model = penstock.PPO("cartpole", num_envs=64, seed=1).learn(400_000)
    print(model.evaluate(episodes=100).mean_reward)

Any Gymnasium env, in worker processes: penstock.PPO("my_pkg:MyEnv-v0") or penstock.PPO(lambda: MyEnv()).
Native envs for Gymnasium: gymnasium.make_vec("Penstock/CartPole-v1", num_envs=1024).
Acting with a trained policy: penstock.Policy.load("policy.safetensors").predict(obs).

torch is loaded when something that trains is used first; acting and envs need none.
"""

import importlib
import os
import pathlib
from typing import TYPE_CHECKING

from penstock._base import ConfigError, DataError, Error, IoError, UsageError, __version__
from penstock.callbacks import Callback, Checkpoint, Evaluate, StopAtReward, StopWhen
from penstock.check import check_env
from penstock.envs import Env, VectorEnv, env_names, register_envs
from penstock.policy import Policy
from penstock.replay import replay

__all__ = [
    "Callback", "Checkpoint", "Config", "ConfigError", "DataError", "Env", "Error", "EvalResult", "Evaluate", "IoError",
    "PPO", "Policy", "Progress", "StopAtReward", "StopWhen", "Summary", "UsageError", "VectorEnv", "__version__",
    "check_env", "env_names", "replay",
]

if TYPE_CHECKING:
    from penstock._core import EvalResult, Progress, Summary
    from penstock.config import Config
    from penstock.ppo import PPO
else:
    # What needs torch, and the module that has it.
    _TRAINING = {"PPO": "ppo", "Config": "config", "EvalResult": "_torch", "Progress": "_torch", "Summary": "_torch",
                 "_core": "_torch"}

    def __getattr__(name):
        if name not in _TRAINING:
            raise AttributeError(f"module 'penstock' has no attribute '{name}'")
        found = getattr(importlib.import_module(f"penstock.{_TRAINING[name]}"), name)
        globals()[name] = found
        return found

    def __dir__():
        return sorted({*globals(), *_TRAINING})


os.environ.setdefault("PENSTOCK_MODELS", str(pathlib.Path(__file__).parent / "models"))
register_envs()
