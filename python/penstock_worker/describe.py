"""What a trainer must know of an env before stepping it."""

from __future__ import annotations

import base64
import pickle
import sys
import time
from collections.abc import Callable
from statistics import median_high
from typing import Any

import numpy as np

from penstock_worker import contract, process, state
from penstock_worker.cost import timed
from penstock_worker.spaces import EnvCodec, ObservationError
from penstock_worker.strangers import printable

PROBE_S = 0.05  # spent on timing steps
LEAST_STEPS, MOST_STEPS = 3, 200
PROBE_SEED = 1

Tell = Callable[[dict[str, Any]], None]


def describe(make: Any, tell: Tell) -> None:
    """Tells what an env looks like, then what it is doing, then how long a step takes and computes."""
    env = contract.env_of(make())
    tell({"doing": "in reset()", "stepping": False})  # which the codec may need, to see whether there are masks
    codec = EnvCodec(env)
    tell({"known": {"parts": codec.parts(), "action": codec.action() | {"masked": codec.masked}, "spaces": pickled(env),
                    "keeps_state": bool(state.layers(env))}})
    step_s, cpu_s = Trial(env, codec, tell).time_of_step()
    tell({"doing": "in close()", "stepping": True})
    env.close()
    tell({"step_s": step_s, "step_cpu_s": cpu_s})


def pickled(env: Any) -> str:
    """Its spaces, for whoever calls the policy outside of training; none where they are of classes that do not
    pickle."""
    try:
        return base64.b64encode(pickle.dumps((env.observation_space, env.action_space))).decode()
    except Exception:
        return ""


class Trial:
    """Some steps of random actions, legal ones where there are masks."""

    def __init__(self, env: Any, codec: EnvCodec, tell: Tell):
        self.env, self.codec, self.tell = env, codec, tell
        self.row = np.empty(sum(int(np.prod(part["shape"], dtype=int)) for part in codec.parts()), np.float32)
        self.remarked: set[str] = set()

    def time_of_step(self) -> tuple[float, float]:
        """Median seconds, by the clock and of the CPU. An env that fails here may fail later too, where it is survived:
        it is no reason not to begin. What is a mistake in its code is one."""
        times: list[tuple[float, float]] = []
        try:
            self._steps(times)
        except contract.ContractError:
            raise
        except ObservationError as error:
            raise contract.ContractError(str(error)) from error
        except Exception:
            process.show_exception()
        return (median_high(wall for wall, _ in times), median_high(cpu for _, cpu in times)) if times else (0.0, 0.0)

    def _steps(self, times: list[tuple[float, float]]) -> None:
        begun = time.perf_counter()
        obs, info = self._reset(PROBE_SEED)
        self.env.action_space.seed(PROBE_SEED)
        while len(times) < LEAST_STEPS or (time.perf_counter() - begun < PROBE_S and len(times) < MOST_STEPS):
            action = self.codec.random_action(self.env, obs, info)
            self.tell({"doing": f"in step {len(times) + 1} of a trial", "stepping": True})
            result, wall, cpu = timed(lambda: self.env.step(action))
            times.append((wall, cpu))
            obs, reward, terminated, truncated, info = contract.five_of(result)
            contract.reward_of(reward)
            contract.info_of(info)
            self._look_at(obs)
            if terminated or truncated:
                obs, info = self._reset(PROBE_SEED + len(times))

    def _reset(self, seed: int) -> tuple[Any, Any]:
        self.tell({"doing": "in reset()", "stepping": False})
        obs, info = contract.begin(self.env, seed)
        self._look_at(obs)
        return obs, info

    def _look_at(self, obs: Any) -> None:
        self.codec.write(obs, self.row)
        for remark in self.codec.remarks(obs) + self.codec.action_remarks():
            if remark not in self.remarked:
                self.remarked.add(remark)
                name = type(self.env.unwrapped).__name__
                print(printable(f"penstock: warning: {name}: {remark}"), file=sys.stderr)
