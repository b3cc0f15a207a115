"""Reproducing an env's failure, as `penstock replay` does, for envs that only a program can make."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import numpy as np

from penstock import _base
from penstock.envs import VectorEnv


def replay(path: str | os.PathLike[str], env: Any = None, *, trust: bool = False, **keys: Any) -> str | None:
    """Takes the recorded actions again, in a worker process; the failure's message, or None when it does not recur.
    `env` is needed where the recorded id is not that of an importable env, or where it is that of a module and `trust` does
    not let it run: replay files may be of others."""
    try:
        recorded = json.loads(pathlib.Path(path).read_text())
    except ValueError as error:
        raise _base.DataError(f"{path}: not a replay of an env's failure") from error
    if not isinstance(recorded, dict) or recorded.get("penstock_replay") != 1:
        raise _base.DataError(f"{path}: not a replay of an env's failure")
    if env is None and ":" in recorded["env"] and not trust:
        raise _base.DataError(f"{path}: it names the Python env {recorded['env']}, whose code would run. If you trust it, say "
                              f"trust=True or env={recorded['env']!r}")
    given = {"num_workers": 1, "max_restarts": 1_000_000, "kwargs": recorded["kwargs"], "only_classes": env is None} | keys
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
