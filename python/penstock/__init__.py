"""Penstock: parallel reinforcement learning, native and reproducible.

    import penstock

    model = penstock.PPO("cartpole", num_envs=64, seed=1).learn(400_000)
    print(model.evaluate(episodes=100).mean_reward)

Any Gymnasium env, in worker processes: penstock.PPO("my_pkg:MyEnv-v0") or penstock.PPO(lambda: MyEnv()).
Native envs for Gymnasium: gymnasium.make_vec("Penstock/CartPole-v1", num_envs=1024).
"""

import os
import pathlib

import torch  # noqa: F401  first: the extension uses the libtorch that this loads

from penstock._core import ConfigError, DataError, Error, EvalResult, IoError, Progress, Summary, UsageError
from penstock._core import __version__
from penstock.callbacks import Callback, Checkpoint, Evaluate, StopAtReward, StopWhen
from penstock.check import check_env
from penstock.config import Config
from penstock.envs import Env, VectorEnv, env_names, register_envs
from penstock.ppo import PPO
from penstock.replay import replay

__all__ = [
    "Callback", "Checkpoint", "Config", "ConfigError", "DataError", "Env", "Error", "EvalResult", "Evaluate", "IoError",
    "PPO", "Progress", "StopAtReward", "StopWhen", "Summary", "UsageError", "VectorEnv", "__version__", "check_env",
    "env_names", "replay",
]

os.environ.setdefault("PENSTOCK_MODELS", str(pathlib.Path(__file__).parent / "models"))
register_envs()
