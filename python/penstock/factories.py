"""Envs that users bring: a name, a class or a function that makes one."""

from __future__ import annotations

import base64
import importlib
import inspect
import re
from typing import Any

import cloudpickle
import gymnasium

from penstock import _base

NATIVE_PREFIX = "Penstock/"


def named(env: Any) -> tuple[str, str]:
    """The id under which a config knows an env, and its pickled factory where the id alone does not lead to it."""
    if isinstance(env, str):
        if re.fullmatch(r"\w*Policy", env):
            raise TypeError(f"env = {env!r}: the env comes first, and no policy need be named: PPO(\"CartPole-v1\"); the "
                            "network is net={\"hidden\": [64, 64]}, or policy=a torch.nn.Module")
        return native_name(env), ""
    if isinstance(env, gymnasium.Env):
        raise TypeError(f"env = {env!r}: one env is not enough, many are made from it; give its id, its class or a "
                        "function that makes one: PPO(lambda: MyEnv(size=3), ...)")
    if not callable(env):
        raise TypeError(f"env = {env!r}: expected an id, or a class or function that makes a gymnasium.Env; "
                        f"native envs are {', '.join(name for name, _ in _base.envs())}")
    name = f"{getattr(env, '__module__', '?')}:{getattr(env, '__qualname__', type(env).__name__)}"
    return name, "" if leads_to(name, env) else pickled(env)


def pickled(env: Any) -> str:
    """A factory that only this program has, as workers get it."""
    try:
        return base64.b64encode(cloudpickle.dumps(env)).decode()
    except Exception as error:
        raise TypeError(f"env = {env!r}: worker processes get it pickled, and {error}{culprits_of(env)}; make such things "
                        "inside of the function, or in the env's __init__") from error


def culprits_of(env: Any) -> str:
    """Which of the names that a function uses do not pickle."""
    try:
        used = inspect.getclosurevars(env)
    except TypeError:  # not a function
        return ""
    found = [name for name, value in {**used.globals, **used.nonlocals}.items() if not pickles(value)]
    return f": {', '.join(found)}" if found else ""


def pickles(value: Any) -> bool:
    try:
        cloudpickle.dumps(value)
    except Exception:
        return False
    return True


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
    return next((name for name, doc in _base.envs() if gym_id(name, doc) == env), env)
