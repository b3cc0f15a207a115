"""Names that users of Stable-Baselines3 try first, and what is meant here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock import _core

KEYS = {
    "n_steps": 'rollout={"steps": ...}',
    "n_envs": "num_envs=...",
    "batch_size": 'ppo={"minibatch": ...}',
    "n_epochs": 'ppo={"policy_epochs": ..., "value_epochs": ...}',
    "learning_rate": 'ppo={"learning_rate": ...}',
    "gamma": 'ppo={"gamma": ...}',
    "gae_lambda": 'ppo={"gae_lambda": ...}',
    "clip_range": 'ppo={"clip": ...}',
    "clip_range_vf": 'ppo={"value_clip": ...}',
    "ent_coef": 'ppo={"entropy_weight": ...}',
    "vf_coef": 'ppo={"value_weight": ...}',
    "max_grad_norm": 'ppo={"max_grad_norm": ...}',
    "target_kl": 'ppo={"target_kl": ...}',
    "normalize_advantage": 'ppo={"normalise_advantage": ...}',
    "policy_kwargs": 'net={"hidden": [64, 64], "activation": "tanh"}, or policy=a torch.nn.Module',
    "tensorboard_log": "run_dir=...: curves for TensorBoard are in it",
}
LEARN = {
    "callback": "callbacks=...",
    "log_interval": 'run={"log_interval": ...} of the constructor',
    "tb_log_name": "run_dir=... of the constructor",
    "reset_num_timesteps": "a new PPO: learn() always goes on",
}


def with_our_name(error: _core.ConfigError, paths: Iterable[str]) -> _core.ConfigError:
    """The refusal of a key, with the key that is meant."""
    for path in paths:
        name = path.rpartition(".")[2]
        if name in KEYS and f"unknown key '{path}'" in str(error):
            told = _core.ConfigError(f"{error}; {name} of Stable-Baselines3 is here {KEYS[name]}")
            told.exit_code = error.exit_code
            return told
    return error


def refuse_learn_keys(keys: Mapping[str, Any]) -> None:
    for name in keys:
        known = f"here it is {LEARN[name]}" if name in LEARN else ""
        raise TypeError(f"learn() takes no argument '{name}'; "
                        f"{known or 'its arguments are total_timesteps, callbacks and progress_bar'}")


def refuse_function(path: str, value: Any) -> None:
    """A schedule as a function, where a number is expected."""
    if callable(value):
        key = "clip" if "clip" in path else "learning_rate"
        raise _core.ConfigError(f"{path} = {value!r}: expected a number; a schedule is no function here but a word, as "
                                f'ppo={{"{key}": 3e-4, "{key}_schedule": "linear"}}, or "constant"')
