"""Reproducing an env's failure, as `penstock replay` does, for envs that only a program can make."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import numpy as np

from penstock import _core
from penstock.envs import VectorEnv


def replay(path: str | os.PathLike[str], env: Any = None, **keys: Any) -> str | None:
    """Takes the recorded actions again, in a worker process; the failure's message, or None when it does not recur.
    `env` is needed where the recorded id is not that of an importable env."""
    try:
        recorded = json.loads(pathlib.Path(path).read_text())
    except ValueError as error:
        raise _core.DataError(f"{path}: not a replay of an env's failure") from error
    if not isinstance(recorded, dict) or recorded.get("penstock_replay") != 1:
        raise _core.DataError(f"{path}: not a replay of an env's failure")
    given = {"num_workers": 1, "max_restarts": 1_000_000, "kwargs": recorded["kwargs"]} | keys
    envs = VectorEnv(env or recorded["env"], 1, replay_dir=None, **given)
    try:
        envs.reset(seed=[recorded["seed"]])
        for action in recorded["actions"]:
            if envs.incidents:
                break
            envs.step(np.array(action).reshape(envs.action_space.shape))
        return envs.incidents[0] if envs.incidents else None
    finally:
        envs.close()
