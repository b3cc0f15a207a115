"""Native envs for Stable-Baselines3: PPO("MlpPolicy", penstock.sb3.VecEnv("cartpole", num_envs=64))."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv as BaseVecEnv

from penstock.envs import VectorEnv


class Parts(dict[str, Any]):
    """An observation whose parts are also found by the env's own names, for our policies."""

    def __missing__(self, name: str) -> Any:
        if name.endswith("_"):
            raise KeyError(name)
        return self[name + "_"]


def renamed(name: str) -> str:
    """MultiInputPolicy keeps what reads a part in a torch.nn.ModuleDict, under the part's name: one that is a method of
    it (`values` of dvrptw) gets an underscore."""
    return name + "_" if hasattr(torch.nn.ModuleDict, name) else name


def shown(obs: Any) -> Any:
    return Parts((renamed(name), part) for name, part in obs.items()) if isinstance(obs, dict) else obs


class VecEnv(BaseVecEnv):
    """A VectorEnv by the interface of Stable-Baselines3: the keywords are VectorEnv's. Infos hold the episode's
    statistics, so no VecMonitor is needed, and the last observation, so truncated episodes are bootstrapped."""

    def __init__(self, env: str, num_envs: int = 1, **keys: Any):
        self.envs = VectorEnv(env, num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **keys)
        self.masked = "legal" in self.envs._arrays
        self._actions: np.ndarray | None = None
        space = self.envs.single_observation_space
        if isinstance(space, spaces.Dict):
            space = spaces.Dict({renamed(name): part for name, part in space.items()})
        super().__init__(num_envs, space, self.envs.single_action_space)

    def reset(self) -> Any:
        seeded = any(seed is not None for seed in self._seeds)
        obs, _ = self.envs.reset(seed=self._seeds if seeded else None)
        self._reset_seeds()
        self._reset_options()
        return shown(obs)

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Any, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        obs, reward, terminated, truncated, infos = self.envs.step(self._actions)
        rows: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = terminated | truncated
        for i in np.flatnonzero(ended):
            rows[i] = self._ending(int(i), infos, bool(truncated[i] and not terminated[i]))
        return shown(obs), reward.astype(np.float32), ended, rows

    def _ending(self, i: int, infos: dict[str, Any], cut_off: bool) -> dict[str, Any]:
        stats = {name: array[i].item() for name, array in infos["episode"].items()}
        info = {"episode": stats, "terminal_observation": shown(infos["final_obs"][i]), "TimeLimit.truncated": cut_off}
        success = int(self.envs._arrays["success"][i])
        if success >= 0:
            info["is_success"] = bool(success)
        return info

    def close(self) -> None:
        self.envs.close()

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Attributes are the same for every env; `action_masks` exists for envs with masks."""
        if attr_name == "action_masks" and not self.masked:
            raise AttributeError("this env has no action masks")
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: int | Iterable[int] | None = None,
                   **kwargs: Any) -> list[Any]:
        """Only action_masks: native envs have no other methods."""
        if method_name != "action_masks":
            raise AttributeError(f"native envs have no method {method_name}")
        masks = self.envs.action_masks()
        return [masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: int | Iterable[int] | None = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[None]:
        return [None] * self.num_envs
