"""A VectorEnv for loops that know neither infos nor two kinds of ends: reset() gives observations, step(actions) gives
observations, rewards and whether episodes ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.envs import VectorEnv


class Batch:
    """Envs side by side; each begins anew when its episode ends. `envs` is the VectorEnv, `infos` are those of the last
    reset or step."""

    def __init__(self, envs: VectorEnv):
        self.envs, self.num_envs = envs, envs.num_envs
        self.infos: dict[str, Any] = {}

    def reset(self, seed: int | None = None) -> Any:
        obs, self.infos = self.envs.reset(seed=seed)
        return self.shown(obs)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        obs, rewards, terminated, truncated, self.infos = self.envs.step(np.asarray(actions))
        return self.shown(obs), rewards, terminated | truncated

    @property
    def masks(self) -> np.ndarray:
        """Which actions are legal now, [num_envs, actions]."""
        return self.envs.action_masks()

    def close(self) -> None:
        self.envs.close()

    def shown(self, obs: Any) -> Any:
        """What of an observation is handed out."""
        return obs
