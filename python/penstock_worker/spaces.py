"""Gymnasium's spaces as rows of numbers: how observations are written and actions are read."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

MASK = "action_mask"


class Codec:
    """Between an env and its rows. An action mask may be the part "action_mask" of a Dict observation,
    info["action_mask"], or what the env's method action_masks() returns; 1 means legal."""

    def __init__(self, env: Any, masked: bool | None = None):
        """`masked`: whether there are masks at all, where that is known already."""
        self._check(env)
        self.action_space = env.action_space
        self._leaves: list[tuple[str, tuple[Any, ...], spaces.Space[Any]]] = []
        self._mask_in_obs = isinstance(env.observation_space, spaces.Dict) and MASK in env.observation_space.spaces
        self._collect(env.observation_space, ())
        self._mask_method = self._method(env)
        self._mask_in_info = self._found_in_info(env) if masked is None else masked
        self.masked = self._mask_in_obs or self._mask_method or self._mask_in_info
        self.discrete = isinstance(env.action_space, spaces.Discrete)
        self.start = int(env.action_space.start) if self.discrete else 0
        only = self._leaves[0]
        self.plain = len(self._leaves) == 1 and not only[1] and isinstance(only[2], spaces.Box)

    def parts(self) -> list[dict[str, Any]]:
        return [{"name": name, "shape": list(shape_of(space))} for name, _, space in self._leaves]

    def action(self) -> dict[str, Any]:
        space = self.action_space
        if isinstance(space, spaces.Discrete):
            return {"kind": "discrete", "n": [int(space.n)]}
        if isinstance(space, spaces.MultiDiscrete):
            return {"kind": "multi_discrete", "n": [int(n) for n in space.nvec.ravel()]}
        if isinstance(space, spaces.MultiBinary):
            return {"kind": "multi_discrete", "n": [2] * int(np.prod(space.shape))}
        if isinstance(space, spaces.Box):
            bounds = [np.clip(bound.ravel().astype(np.float64), -1e30, 1e30) for bound in (space.low, space.high)]
            return {"kind": "box", "low": bounds[0].tolist(), "high": bounds[1].tolist()}
        raise TypeError(f"its actions are {space}; expected Discrete, MultiDiscrete, MultiBinary or Box: wrap the env "
                        "so that its actions are one of these")

    def write(self, obs: Any, row: np.ndarray) -> None:
        """An observation into its row."""
        offset = 0
        for name, path, space in self._leaves:
            part = obs
            for key in path:
                part = part[key]
            size = int(np.prod(shape_of(space), dtype=int))
            row[offset:offset + size] = numbers_of(name, space, part)
            offset += size

    def legal(self, env: Any, obs: Any, info: dict[str, Any]) -> Any:
        """The mask that goes with an observation, or None where the env gave none: all legal."""
        if self._mask_in_obs:
            return obs[MASK]
        if self._mask_method:
            return env.get_wrapper_attr("action_masks")()
        return info.get(MASK)

    def legal_into(self, env: Any, obs: Any, info: dict[str, Any], row: np.ndarray) -> None:
        mask = self.legal(env, obs, info)
        if mask is None:
            row[:] = True
            return
        if isinstance(mask, (list, tuple)):
            mask = np.concatenate([np.asarray(part).ravel() for part in mask])
        mask = np.asarray(mask).ravel()
        if mask.shape != row.shape:
            raise ValueError(f"the action mask has {mask.size} entries, expected {row.size}")
        row[:] = mask.astype(bool)

    def to_env(self, numbers: np.ndarray) -> Any:
        """An action as the env takes it, from its row."""
        space = self.action_space
        if isinstance(space, spaces.MultiDiscrete):
            return (numbers.reshape(space.shape) + space.start).astype(space.dtype)
        return numbers.reshape(space.shape).astype(space.dtype)

    def random_action(self, env: Any, obs: Any, info: dict[str, Any]) -> Any:
        mask = self.legal(env, obs, info) if self.masked else None
        if mask is not None and isinstance(self.action_space, spaces.Discrete):
            return self.action_space.sample(mask=np.asarray(mask, dtype=np.int8))
        return self.action_space.sample()

    def _collect(self, space: spaces.Space[Any], path: tuple[Any, ...]) -> None:
        """Boxes and choices of nested Dicts and Tuples, in their order; the mask is no part of what is observed."""
        if isinstance(space, (spaces.Dict, spaces.Tuple)):
            items = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
            for key, inner in items:
                if (*path, key) != (MASK,):
                    self._collect(inner, (*path, key))
            return
        if not isinstance(space, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)):
            raise TypeError(f"its observations hold {space}; expected Box, Discrete, MultiDiscrete, MultiBinary, Dict "
                            "or Tuple: wrap the env with a gymnasium.ObservationWrapper")
        self._leaves.append((".".join(map(str, path)) or "obs", path, space))

    def _method(self, env: Any) -> bool:
        try:
            return callable(env.get_wrapper_attr("action_masks"))
        except AttributeError:
            return False

    def _found_in_info(self, env: Any) -> bool:
        if self._mask_in_obs or self._mask_method or isinstance(env.action_space, spaces.Box):
            return False
        _, info = env.reset(seed=0)
        return MASK in info

    @staticmethod
    def _check(env: Any) -> None:
        if not isinstance(env, gymnasium.Env):
            raise TypeError(f"the factory made {type(env).__name__}, which is not a gymnasium.Env; envs of the old gym "
                            "package need a wrapper such as shimmy's")


def shape_of(space: spaces.Space[Any]) -> tuple[int, ...]:
    """Of the row's part: choices are one-hot."""
    if isinstance(space, spaces.Discrete):
        return (int(space.n),)
    if isinstance(space, spaces.MultiDiscrete):
        return (int(np.sum(space.nvec)),)
    return space.shape or (1,)


def numbers_of(name: str, space: spaces.Space[Any], part: Any) -> np.ndarray:
    if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
        return spaces.flatten(space, part)
    array = np.asarray(part, dtype=np.float32)
    if array.size != int(np.prod(shape_of(space), dtype=int)):
        raise ValueError(f"the observation '{name}' has shape {array.shape}, its space {space.shape}")
    return array.ravel()
