"""Envs with the mistakes that their authors make."""

import ctypes
import os
import time

import gymnasium
import numpy as np
from gymnasium import spaces


class Mistaken(gymnasium.Env):
    """One mistake, by name."""

    made = 0

    def __init__(self, how, size=3):
        self.how, self.size = how, size
        self.t = self.resets = 0
        Mistaken.made += 1
        if how == "once" and Mistaken.made > 1:
            raise RuntimeError("the port is taken")
        if how != "no spaces":
            self.observation_space = spaces.Box(-1, 1, (3,), np.float32)
            self.action_space = spaces.Box(0, 9, (2,), np.int32) if how == "int box" else spaces.Discrete(2)

    def obs(self):
        shape = {"wrong shape": (5,), "extra axis": (1, 3)}.get(self.how, (3,))
        chance = np.random.default_rng().random() if self.how == ("random" if self.t else "unseeded") else 0
        value = {"outside": 7, "nan obs": np.nan, "remembers": self.resets / 1000}.get(self.how, chance)
        return np.full(shape, value, np.float32)

    def info(self):
        masks = {"short mask": [1], "empty mask": [0, 0], "late mask": [1, 0]}
        return {"action_mask": masks[self.how]} if self.how in masks and (self.t or self.how != "late mask") else {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.resets = 0, self.resets + 1
        return self.obs() if self.how == "obs only" else (self.obs(), None if self.how == "reset info" else self.info())

    def step(self, action):
        self.t += 1
        if self.how == "exit" and self.t == 2:
            os._exit(3)
        if self.how == "segfault" and self.t == 2:
            ctypes.string_at(0)
        if self.how == "raises":
            raise ValueError("the valve is stuck")
        reward = {"none reward": None, "array reward": np.ones(1), "text reward": "much",
                  "nan reward": np.nan}.get(self.how, 0.0)
        if self.how == "four":
            return self.obs(), reward, self.t == 5, {}
        ended = self.t == 5 and self.how != "endless"
        return self.obs(), reward, False, ended, None if self.how == "no info" else self.info()

    def close(self):
        if self.how == "no close":
            raise RuntimeError("cannot close")


class Remembering(gymnasium.Wrapper):
    """Counts over episodes, and tells its count, or not all of it."""

    def __init__(self, env):
        super().__init__(env)
        self.count = 0

    def step(self, action):
        self.count += 1
        obs, *rest = super().step(action)
        return obs + np.float32(self.count / 1e4), *rest

    def get_state(self):
        return {"forgets": None, "wrong state": {1, 2}}[self.env.how]

    def set_state(self, state):
        pass


def stateful(how):
    return Remembering(Mistaken(how))


class WithoutSeed(Mistaken):
    def __init__(self):
        super().__init__("none")

    def reset(self):
        return super().reset()


class Agents:
    """Like an env of PettingZoo."""

    possible_agents = ["red", "blue"]


class OldEnv:
    """Like an env of the package gym."""


OldEnv.__module__ = "gym.core"


def vector():
    return gymnasium.make_vec("CartPole-v1", num_envs=2)


def nothing():
    Mistaken("none")


def a_class():
    return WithoutSeed


class Sleeping(Mistaken):
    def __init__(self):
        super().__init__("none")

    def step(self, action):
        time.sleep(0.002)
        return super().step(action)


class Heavy(Mistaken):
    """20 MB of its own."""

    def __init__(self):
        super().__init__("none")
        self.map = np.ones(20_000_000, np.uint8)
