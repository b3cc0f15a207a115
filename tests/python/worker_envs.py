"""Envs for the tests of worker processes. They are found by their names in this module."""

import ctypes
import os
import pathlib
import signal
import time

import gymnasium
import numpy as np
from gymnasium import spaces


class Counting(gymnasium.Env):
    """Observations hold the seed and the step; a script says what each step brings: (reward, terminated, truncated)."""

    SCRIPT = [(1.0, False, False), (2.0, False, False), (4.0, False, True),
              (8.0, False, False), (16.0, True, False)]  # episodes of 3 and of 2 steps in turns

    observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float64)
    action_space = spaces.Discrete(2, start=5)

    def __init__(self):
        self.episode, self.place, self.seed = -1, 0, 0

    def _obs(self):
        return np.array([self.seed % 1000, self.episode, self.place], dtype=np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seed = seed
        self.episode += 1
        self.place = 0 if self.episode % 2 == 0 else 3
        return self._obs(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        reward, terminated, truncated = self.SCRIPT[self.place]
        self.place += 1
        return self._obs(), reward, terminated, truncated, {}


class Telling(Counting):
    """Ends with numbers in its info."""

    def step(self, action):
        obs, reward, terminated, truncated, _ = super().step(action)
        return obs, reward, terminated, truncated, {"km": 10.0 * self.place, "name": "x"} if terminated or truncated else {}


class FarBox(Counting):
    action_space = spaces.Box(2, 3, (1,), np.float32)


class Guess(gymnasium.Env):
    """Show a number, want it back. Where masks are shown, all but it and one more are illegal."""

    def __init__(self, mask="none", steps=16):
        self.mask, self.steps = mask, steps
        self.action_space = spaces.Discrete(6)
        obs = spaces.Discrete(6)
        self.observation_space = obs if mask != "obs" else spaces.Dict(
            {"shown": obs, "action_mask": spaces.Box(0, 1, (6,), np.int8)})
        if mask == "method":
            self.action_masks = self._legal

    def _legal(self):
        mask = np.zeros(6, dtype=np.int8)
        mask[[self.shown, (self.shown + 1) % 6]] = 1
        return mask

    def _next(self):
        self.shown = int(self.np_random.integers(6))
        obs = self.shown if self.mask != "obs" else {"shown": self.shown, "action_mask": self._legal()}
        return obs, {"action_mask": self._legal()} if self.mask == "info" else {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = self.steps
        return self._next()

    def step(self, action):
        if self.mask != "none" and not self._legal()[action]:
            raise ValueError(f"action {action} is not legal")
        reward = float(action == self.shown)
        self.left -= 1
        obs, info = self._next()
        return obs, reward, False, self.left == 0, info | {"is_success": reward > 0}


class Parts(gymnasium.Env):
    """Nested observations; the two numbers to guess are in different parts."""

    observation_space = spaces.Dict({
        "pair": spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(2))),
        "table": spaces.Box(-1, 1, (2, 2), np.float32),
    })
    action_space = spaces.MultiDiscrete([3, 4])

    def _next(self):
        self.shown = int(self.np_random.integers(3))
        self.bits = self.np_random.integers(2, size=2).astype(np.int8)
        return {"pair": (self.shown, self.bits), "table": np.full((2, 2), 0.5, np.float32)}, {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 8
        return self._next()

    def step(self, action):
        assert self.action_space.contains(action), action
        reward = 0.5 * (action[0] == self.shown) + 0.5 * (action[1] == self.bits[0] + 2 * self.bits[1])
        self.left -= 1
        obs, info = self._next()
        return obs, reward, False, self.left == 0, info


class Point(gymnasium.Env):
    """A Box action should be the observation."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Box(np.array([-1, -2], np.float32), np.array([1, 2], np.float32))

    def _next(self):
        self.goal = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return self.goal, {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 8
        return self._next()

    def step(self, action):
        assert self.action_space.contains(action), action
        reward = 1.0 - float(np.abs(action - self.goal).sum())
        self.left -= 1
        obs, info = self._next()
        return obs, reward, False, self.left == 0, info


def die(how):
    if how == "exception":
        raise ValueError("the valve is stuck")
    if how == "exit":
        os._exit(3)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "segfault":
        ctypes.string_at(0)
    if how == "hang":
        time.sleep(3600)


class Failing(gymnasium.Env):
    """Fails in one way at the third step of every episode whose seed is divisible by `every`."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)

    def __init__(self, how="exception", every=3, steps=6):
        self.how, self.every, self.steps = how, every, steps
        self.action_space = spaces.Discrete(2)

    def _obs(self, value=0.0):
        return np.array([self.t / 10, value], np.float32)

    def _info(self, legal=True):
        return {"action_mask": np.full(2, int(legal), np.int8)} if self.how == "mask" else {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.bad, self.t = seed is not None and seed % self.every == 0, 0
        return self._obs(), self._info()

    def step(self, action):
        self.t += 1
        bad = self.bad and self.t == 3
        if bad:
            die(self.how)
        if bad and self.how == "shape":
            return np.zeros(5, np.float32), 0.0, False, False, {}
        reward = np.nan if bad and self.how == "reward" else float(action)
        obs = self._obs(np.nan if bad and self.how == "obs" else 0.0)
        return obs, reward, False, self.t == self.steps, self._info(not bad)


class Logged(gymnasium.Env):
    """Writes down the seed of every episode that begins."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, log, work_s=2e-4, steps=20):
        self.log, self.work_s, self.steps = pathlib.Path(log), work_s, steps

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        with self.log.open("a") as file:
            file.write(f"{seed}\n")
        return np.zeros(2, np.float32), {}

    def step(self, action):
        until = time.perf_counter() + self.work_s
        while time.perf_counter() < until:
            pass
        self.t += 1
        return np.full(2, self.t / 20, np.float32), float(action), False, self.t == self.steps, {}


class Worker(gymnasium.Env):
    """Costs a given time per step and nothing else."""

    observation_space = spaces.Box(-1, 1, (4,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, microseconds=0):
        self.work_s = microseconds * 1e-6
        self.obs = np.zeros(4, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.obs, {}

    def step(self, action):
        if self.work_s:
            until = time.perf_counter() + self.work_s
            while time.perf_counter() < until:
                pass
        self.t += 1
        return self.obs, 1.0, False, self.t == 1000, {}


class OldStyle(gymnasium.Env):
    """Answers as the old gym package did."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, **_):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        return np.zeros(2, np.float32), 0.0, False, {}


gymnasium.register("Counting-v0", entry_point=Counting)
gymnasium.register("Guess-v0", entry_point=Guess)


class Spaces(gymnasium.Env):
    """Any spaces: observations are samples, and an action must be one of its space."""

    def __init__(self, observation_space, action_space, steps=8):
        self.observation_space, self.action_space, self.steps = observation_space, action_space, steps

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.t = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), repr(action)
        self.t += 1
        return self.observation_space.sample(), 0.0, False, self.t == self.steps, {}


class Pressing(Worker):
    """Sends this process signals, once each: `presses` is (step of all envs, signal)."""

    presses = []
    taken = 0

    def step(self, action):
        Pressing.taken += 1
        while Pressing.presses and Pressing.taken >= Pressing.presses[0][0]:
            os.kill(os.getpid(), Pressing.presses.pop(0)[1])
            for _ in range(1000):  # signals are answered between these
                pass
        return super().step(action)


class Slow(Worker):
    """Hangs where it is told to."""

    def __init__(self, where, step=2):
        super().__init__()
        self.where, self.stuck_at = where, step
        self.wait("init")

    def wait(self, here):
        if here == self.where:
            time.sleep(3600)

    def reset(self, *, seed=None, options=None):
        self.wait("reset")
        return super().reset(seed=seed)

    def step(self, action):
        self.wait("step" if self.t == self.stuck_at - 1 else "")
        return super().step(action)


class KeptNormalisation(gymnasium.wrappers.NormalizeObservation):
    """The same, with its state."""

    def get_state(self):
        return {"mean": self.obs_rms.mean, "var": self.obs_rms.var, "count": self.obs_rms.count}

    def set_state(self, state):
        self.obs_rms.mean, self.obs_rms.var, self.obs_rms.count = state["mean"], state["var"], state["count"]


def kept_cartpole():
    return gymnasium.wrappers.TimeLimit(KeptNormalisation(gymnasium.make("CartPole-v1")), 60)


def rewarded_cartpole():
    return gymnasium.wrappers.NormalizeReward(gymnasium.make("CartPole-v1"))


def normalised_cartpole():
    return gymnasium.wrappers.NormalizeObservation(gymnasium.make("CartPole-v1"))


class Spoilt(Worker):
    """Forgets its reward at step 300."""

    def step(self, action):
        obs, reward, *rest = super().step(action)
        return obs, None if self.t == 300 else reward, *rest
