"""The state of envs that can tell it, by get_state() and set_state(state), in a file. The file ends up in checkpoints,
which run no code when they are read: so it is JSON, not a pickle."""

from __future__ import annotations

import base64
import json
import pathlib
from typing import Any

import gymnasium
import numpy as np

from penstock_worker.factory import ContractError

ARRAY = "__array__"


def layers(env: Any) -> list[Any]:
    """The env and its wrappers, as far as they have both methods; innermost first."""
    found: list[Any] = []
    while True:
        if all(callable(getattr(type(env), name, None)) for name in ("get_state", "set_state")):
            found.insert(0, env)
        if not isinstance(env, gymnasium.Wrapper):
            return found
        env = env.env


def keep(env: Any, path: str) -> None:
    states = [layer.get_state() for layer in layers(env)]
    pathlib.Path(path).write_text(json.dumps(states, default=plain))


def bring_back(env: Any, path: str) -> None:
    states = json.loads(pathlib.Path(path).read_text(), object_hook=as_array)
    for layer, state in zip(layers(env), states, strict=True):
        layer.set_state(state)


def plain(value: Any) -> Any:
    """What JSON does not know."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufSU":
        array = np.asarray(value)
        return {ARRAY: [array.dtype.str, array.shape, base64.b64encode(array.tobytes()).decode()]}
    raise ContractError(f"get_state() returned {type(value).__name__}; a state is of numbers, text, None, lists, dicts and "
                        "numpy arrays of these")


def as_array(value: dict[str, Any]) -> Any:
    if value.keys() != {ARRAY}:
        return value
    kind, shape, data = value[ARRAY]
    return np.frombuffer(base64.b64decode(data), dtype=kind).reshape(shape).copy()
