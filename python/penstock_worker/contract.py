"""What Gymnasium expects of an env, and what its author is told where an env does otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium import spaces

from penstock_worker.factory import ContractError

SHIMMY = "wrap it with GymV26CompatibilityV0 or GymV21CompatibilityV0 of the package shimmy"


def env_of(made: Any) -> Any:
    """What a factory made, when it is a gymnasium.Env with its spaces."""
    if not isinstance(made, gymnasium.Env):
        raise ContractError(f"the factory made {kind_of(made)}")
    for name in ("observation_space", "action_space"):
        if not isinstance(getattr(made, name, None), spaces.Space):
            raise ContractError(f"{type(made).__name__} has no {name}; set it in __init__, as in self.{name} = "
                                f"gymnasium.spaces.{'Box(-1, 1, (3,))' if name[0] == 'o' else 'Discrete(2)'}")
    return made


def kind_of(made: Any) -> str:
    """What it is instead of an env, and what to do."""
    modules = {base.__module__.partition(".")[0] for base in type(made).__mro__}
    name = type(made).__name__
    if isinstance(made, gymnasium.vector.VectorEnv):
        return f"{name}, which is many envs in one; give what makes one env: num_envs of them are made from it"
    if "pettingzoo" in modules or hasattr(made, "possible_agents"):
        return (f"{name}, a PettingZoo env of several agents; one agent is trained: write a gymnasium.Env around it that "
                "plays the other agents, or whose observations and actions are those of all agents joined")
    if "gym" in modules:
        return f"{name}, an env of the old gym package; {SHIMMY}"
    if isinstance(made, type):
        return f"the class {made.__name__}, not an env; return {made.__name__}()"
    if made is None:
        return "None; does it end without `return env`?"
    return f"{name}, which is not a gymnasium.Env; derive it from gymnasium.Env, or {SHIMMY} if it is of the old gym package"


def begin(env: Any, seed: int) -> tuple[Any, Any]:
    """What reset() returned: an observation and an info."""
    try:
        result = env.reset(seed=seed)
    except TypeError as error:
        if "unexpected keyword argument 'seed'" in str(error):
            raise ContractError("reset() does not take `seed`; write def reset(self, *, seed=None, options=None): and "
                                "begin with super().reset(seed=seed)") from error
        raise
    return two_of(result)


def two_of(result: Any) -> tuple[Any, Any]:
    """Of reset()."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise ContractError(f"reset() returned {what(result)}; return the observation and a dict: return obs, {{}}")
    return result[0], info_of(result[1], "reset")


def five_of(result: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Of step()."""
    if isinstance(result, tuple) and len(result) == 5:
        return result
    old = f"; an env of the old gym package returns 4: {SHIMMY}" if isinstance(result, tuple) and len(result) == 4 else ""
    raise ContractError(f"step() returned {what(result)}; return obs, reward, terminated, truncated, info{old}")


def reward_of(reward: Any) -> float:
    if reward is None:
        raise ContractError("step() returned None as its reward; return a number, as 0.0")
    if getattr(reward, "shape", ()) != ():
        raise ContractError(f"step() returned an array of shape {reward.shape} as its reward; return one number, as "
                            "float(reward.sum())")
    try:
        return float(reward)
    except (TypeError, ValueError) as error:
        raise ContractError(f"step() returned {reward!r} as its reward; return a number, as 0.0") from error


def info_of(info: Any, whose: str = "step") -> Any:
    if not isinstance(info, Mapping):
        raise ContractError(f"{whose}() returned {what(info)} as its info; return a dict, {{}} when there is nothing to "
                            "tell")
    return info


def number_in(info: Any, key: str) -> float:
    """Of the info that ends an episode; env.info_keys names it."""
    if key not in info:
        raise ContractError(f"env.info_keys names {key!r}, which the info of an episode's last step does not have"
                            f"{'; it has ' + ', '.join(map(str, info)) if info else ''}")
    try:
        return float(info[key])
    except (TypeError, ValueError) as error:
        raise ContractError(f"info[{key!r}] is {what(info[key])}; env.info_keys takes single numbers") from error


def what(result: Any) -> str:
    """A value in few words."""
    if isinstance(result, tuple):
        return f"{len(result)} values"
    shape = getattr(result, "shape", None)
    name = type(result).__name__
    return "None" if result is None else f"{name} of shape {shape}" if shape is not None else name
