"""Envs with the mistakes that their authors make."""

import ctypes
import os

import gymnasium
import numpy as np
from gymnasium import spaces


class Mistaken(gymnasium.Env):
    """One mistake, by name."""

    def __init__(self, how, size=3):
        self.how, self.size = how, size
        if how != "no spaces":
            self.observation_space = spaces.Box(-1, 1, (3,), np.float32)
            self.action_space = spaces.Box(0, 9, (2,), np.int32) if how == "int box" else spaces.Discrete(2)

    def obs(self):
        shape = {"wrong shape": (5,), "extra axis": (1, 3)}.get(self.how, (3,))
        return np.full(shape, 7 if self.how == "outside" else 0, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.obs() if self.how == "obs only" else (self.obs(), None if self.how == "reset info" else {})

    def step(self, action):
        self.t += 1
        if self.how == "exit" and self.t == 2:
            os._exit(3)
        if self.how == "segfault" and self.t == 2:
            ctypes.string_at(0)
        reward = {"none reward": None, "array reward": np.ones(1), "text reward": "much"}.get(self.how, 0.0)
        if self.how == "four":
            return self.obs(), reward, self.t == 5, {}
        return self.obs(), reward, False, self.t == 5, None if self.how == "no info" else {}


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
