"""Envs that misbehave, for the tests beside this file. An episode whose seed is in `at` goes wrong in its third step; env
i of a run begins with the run's seed + i, and the trial before a run with seed 1."""

import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import time

import gymnasium
import numpy as np
from gymnasium import spaces

BAD_STEP = 3
LENGTH = 20
MASKED = "mask"


class Plain(gymnasium.Env):
    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seed, self.t = seed, 0
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.t += 1
        return np.full(2, self.t / LENGTH, np.float32), float(action), False, self.t == LENGTH, {}


class Bad(Plain):
    def __init__(self, how, at=(), folder=""):
        self.how, self.at, self.folder = how, set(at), folder

    def _masked(self, info, legal=1):
        return info | {"action_mask": np.full(2, legal, np.int8)} if self.how == MASKED else info

    def reset(self, *, seed=None, options=None):
        obs, info = super().reset(seed=seed)
        return obs, self._masked(info)

    def step(self, action):
        obs, reward, terminated, truncated, info = super().step(action)
        info = self._masked(info)
        if self.t == BAD_STEP and self.seed in self.at:
            obs, reward, info = getattr(self, self.how)(obs, reward, info)
        return obs, reward, terminated, truncated, info

    # What goes wrong.
    def exception(self, *_):
        raise ValueError("the valve is stuck")

    def escapes(self, *_):
        raise ValueError("\x1b]0;owned\x07\x1b[2Jcleared \x9b31m")

    def exit(self, *_):
        os._exit(3)

    def segfault(self, *_):
        ctypes.string_at(0)

    def hang(self, *_):
        time.sleep(3600)  # the line where it hangs

    def stop(self, *_):
        announce(self.folder)
        os.kill(os.getpid(), signal.SIGSTOP)

    def wait(self, *_):
        announce(self.folder)
        time.sleep(3600)

    def sleepy(self, *_):
        time.sleep(0.05)
        raise ValueError("now and then")

    def nan(self, obs, reward, info):
        return np.full_like(obs, np.nan), reward, info

    def infinite(self, obs, reward, info):
        return obs, np.inf, info

    def shape(self, obs, reward, info):
        return np.zeros(5, np.float32), reward, info

    def mask(self, obs, reward, info):
        return obs, reward, self._masked(info, legal=0)


class Sleepy(Bad):
    """Fails in every other episode, not sooner than 50 ms after the last one."""

    def __init__(self):
        super().__init__("sleepy")
        self.episode = 0

    def reset(self, *, seed=None, options=None):
        answer = super().reset(seed=seed)
        self.episode += 1
        self.at = {seed} if self.episode % 2 == 0 else set()
        return answer


class HangsAtOnce(Plain):
    def reset(self, *, seed=None, options=None):
        time.sleep(3600)


class SaysEscapes(Plain):
    def __init__(self):
        raise ValueError("\x1b[2Jcleared")


def announce(folder):
    """Says which process is at it."""
    (pathlib.Path(folder) / str(os.getpid())).touch()


class Forking(Plain):
    """Forks a child that comes back, as some libraries' mistakes do."""

    def __init__(self, where):
        self.where = where
        self._fork("make")

    def _fork(self, here):
        if here == self.where:
            os.fork()

    def reset(self, *, seed=None, options=None):
        self._fork("reset")
        return super().reset(seed=seed)

    def step(self, action):
        answer = super().step(action)
        if self.t % 7 == BAD_STEP:
            self._fork("step")
            if self.where == "raise" and os.fork() == 0:
                raise SystemExit
        return answer


SLEEPER = 'echo > "$0/$$"; echo; exec sleep 3600'
STARTS = {
    "child": ["sh", "-c", SLEEPER],
    "session": ["setsid", "sh", "-c", SLEEPER],  # leaves the group, as Unity's launcher does
    "orphan": ["sh", "-c", f"sh -c '{SLEEPER}' \"$0\" &"],  # its parent ends
    "daemon": ["sh", "-c", f"setsid sh -c '{SLEEPER}' \"$0\" &"],  # both
}


class Starting(Bad):
    """Starts a program that outlives it; the program's number is a file's name in `programs`. The env is made once the file is
    there: a run may be over before a program on a busy machine has begun."""

    def __init__(self, programs, start, how="exception", at=(), folder=""):
        super().__init__(how, at, folder)
        self.program = subprocess.Popen([*STARTS[start], programs], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.program.stdout.readline()


class Closing(Starting):
    """Ends its program itself."""

    def close(self):
        self.program.terminate()
        print(f"closed, status {self.program.wait(30)}", file=sys.stderr, flush=True)
