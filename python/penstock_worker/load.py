"""An env that only takes time, the twin of the native `load`: for measuring what workers bring to an env of that cost.

    penstock bench workers --env penstock_worker.load:Load --set 'env.kwargs={"busy_us": 1000}'
"""

from __future__ import annotations

import time
from typing import Any

import gymnasium
import numpy as np

LENGTH = 100


class Load(gymnasium.Env[Any, Any]):
    observation_space = gymnasium.spaces.Box(0, 1, (4,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, busy_us: float = 0, wait_us: float = 0, long_every: int = 0, long_times: float = 10):
        self.busy_s, self.wait_s = busy_us / 1e6, wait_us / 1e6
        self.long_every, self.long_times = long_every, long_times
        self.steps, self.mark = 0, 0.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps, self.mark = 0, self.np_random.random()
        return np.array([0, 0, 0, self.mark], np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        times = self.long_times if self.long_every and self.np_random.random() * self.long_every < 1 else 1
        if self.busy_s > 0:
            end = time.thread_time() + self.busy_s * times
            while time.thread_time() < end:
                pass
        if self.wait_s > 0:
            time.sleep(self.wait_s * times)
        self.steps += 1
        obs = np.array([0, 0, 0, self.mark], np.float32)
        obs[int(action)] = self.steps / LENGTH
        return obs, 1.0, False, self.steps >= LENGTH, {}
