"""Envs that users bring: a name, a class or a function that makes one."""

from __future__ import annotations

import base64
import importlib
from typing import Any

import cloudpickle
import gymnasium

from penstock import _core

NATIVE_PREFIX = "Penstock/"


def named(env: Any) -> tuple[str, str]:
    """The id under which a config knows an env, and its pickled factory where the id alone does not lead to it."""
    if isinstance(env, str):
        return native_name(env), ""
    if isinstance(env, gymnasium.Env):
        raise TypeError(f"env = {env!r}: one env is not enough, many are made from it; give its id, its class or a "
                        "function that makes one: PPO(lambda: MyEnv(size=3), ...)")
    if not callable(env):
        raise TypeError(f"env = {env!r}: expected an id, or a class or function that makes a gymnasium.Env; "
                        f"native envs are {', '.join(name for name, _ in _core.envs())}")
    name = f"{getattr(env, '__module__', '?')}:{getattr(env, '__qualname__', type(env).__name__)}"
    return name, "" if leads_to(name, env) else base64.b64encode(cloudpickle.dumps(env)).decode()


def leads_to(name: str, env: Any) -> bool:
    """Whether another process finds it under that name."""
    module, _, path = name.partition(":")
    if module == "__main__":
        return False
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return False
    return found is env


def native_name(env: str) -> str:
    """The catalog's name of an env that may be given by its Gymnasium id."""
    from penstock.envs import gym_id

    if not env.startswith(NATIVE_PREFIX):
        return env
    return next((name for name, doc in _core.envs() if gym_id(name, doc) == env), env)
