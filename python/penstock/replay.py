"""Reproducing an env's failure, as `penstock replay` does, for envs that only a program can make."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from penstock_worker.strangers import parse_json, read_text

from penstock import _base
from penstock.envs import VectorEnv


def replay(path: str | os.PathLike[str], env: Any = None, *, trust: bool = False, **keys: Any) -> str | None:
    """Takes the recorded actions again, in a worker process; the failure's message, or None when it does not recur.
    `env` is needed where the recorded id is not that of an importable env, or where it is that of a module and `trust` does
    not let it run: replay files may be of others."""
    recorded = recording(path)
    if env is None and ":" in recorded["env"] and not trust:
        raise _base.DataError(f"{path}: it names the Python env {recorded['env']!r}, whose code would run. If you trust it, say "
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


def recording(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What the file says, with everything that replay() asks for."""
    try:
        told = parse_json(read_text(path))
        kinds = {"env": str, "kwargs": dict, "seed": int, "actions": list}
        if told["penstock_replay"] == 1 and all(isinstance(told[key], kind) for key, kind in kinds.items()):
            return told
    except OSError as error:
        raise _base.IoError(f"{path}: {error.strerror}") from error
    except (KeyError, TypeError, ValueError):
        pass
    raise _base.DataError(f"{path}: not a replay of an env's failure")
