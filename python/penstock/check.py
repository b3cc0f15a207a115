"""Checking an env before training on it, as `python -m penstock_worker.check` does."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import gymnasium
from penstock_worker.check import Check, EnvReport

from penstock import _base
from penstock._values import json_of
from penstock.factories import named


def check_env(env: Any, seconds: float = 2.0, **kwargs: Any) -> EnvReport:
    """Plays an env in a process of its own and tells whether it keeps what training relies on, what a step costs and
    whether worker processes pay. `env` is what PPO takes, or an instance, which is played in this process and resets;
    keywords are the env's. Mistakes of the env are in the report; `.ok` is False where a check failed."""
    if isinstance(env, gymnasium.Env):
        return examined(env, seconds)
    try:
        name, pickled = named(env)
    except TypeError as error:
        return EnvReport(str(env), [Check("make", "failed", str(error))])
    told = {"id": imported(name), "kwargs": json.loads(json_of(kwargs)), "path": sys.path}
    payload = json.dumps(told | ({"pickle": pickled} if pickled else {}))
    done = subprocess.run([sys.executable, "-m", "penstock_worker.check", "-", "--seconds", str(seconds), "--json"],
                          input=payload, stdout=subprocess.PIPE, text=True)
    if done.returncode > 1:
        raise _base.Error(f"check_env: the checker ended with exit code {done.returncode}; stderr says why")
    report = json.loads(done.stdout)
    return EnvReport(**report | {"checks": [Check(**check) for check in report["checks"]]})


def examined(env: gymnasium.Env[Any, Any], seconds: float) -> EnvReport:
    """An env that is there already: nothing is made a second time, nothing is closed."""
    from penstock_worker.examine import Examination

    report = EnvReport(str(env))
    Examination(report.take, seconds, [0], env=env).run()
    return report


def imported(name: str) -> str:
    """With the module to import first, for a native env."""
    from penstock.envs import gym_id

    ids = {native: f"penstock:{gym_id(native, doc)}" for native, doc in _base.envs()}
    return ids.get(name, name)
