"""What users of Stable-Baselines3 try first, and what is meant here. Keys are answered by the C++ side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock import _base

LEARN = {
    "callback": "callbacks=...",
    "log_interval": 'run={"log_interval": ...} of the constructor',
    "tb_log_name": "run_dir=... of the constructor",
    "reset_num_timesteps": "a new PPO: learn() always goes on",
}


def refuse_learn_keys(keys: Mapping[str, Any]) -> None:
    for name in keys:
        known = f"here it is {LEARN[name]}" if name in LEARN else ""
        raise TypeError(f"learn() takes no argument '{name}'; "
                        f"{known or 'its arguments are total_timesteps, callbacks and progress_bar'}")


def refuse_function(path: str, value: Any) -> None:
    """A schedule as a function, where a number is expected."""
    if callable(value):
        key = "clip" if "clip" in path else "learning_rate"
        raise _base.ConfigError(f"{path} = {value!r}: expected a number; a schedule is no function here but a word, as "
                                f'ppo={{"{key}": 3e-4, "{key}_schedule": "linear"}}, or "constant"')
