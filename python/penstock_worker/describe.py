"""What a trainer must know of an env before stepping it."""

from __future__ import annotations

import time
import traceback
from typing import Any

from penstock_worker.spaces import Codec

PROBE_S = 0.05  # spent on timing steps
LEAST_STEPS, MOST_STEPS = 3, 200
PROBE_SEED = 1


def describe(make: Any) -> dict[str, Any]:
    """Parts of an observation row, the action, and how long a step takes."""
    env = make()
    codec = Codec(env)
    out = {"parts": codec.parts(), "action": codec.action() | {"masked": codec.masked}}
    out["step_s"] = time_of_step(env, codec)
    env.close()
    return out


def time_of_step(env: Any, codec: Codec) -> float:
    """Median seconds of random actions, legal ones where there are masks. An env that fails here may fail later too,
    where it is survived: it is no reason not to begin."""
    times: list[float] = []
    begun = time.perf_counter()
    try:
        obs, info = env.reset(seed=PROBE_SEED)
        env.action_space.seed(PROBE_SEED)
        while len(times) < LEAST_STEPS or (time.perf_counter() - begun < PROBE_S and len(times) < MOST_STEPS):
            action = codec.random_action(env, obs, info)
            before = time.perf_counter()
            result = env.step(action)
            times.append(time.perf_counter() - before)
            obs, _, terminated, truncated, info = five_of(result)
            if terminated or truncated:
                obs, info = env.reset(seed=PROBE_SEED + len(times))
    except OldInterfaceError:
        raise
    except Exception:
        traceback.print_exc()
    return sorted(times)[len(times) // 2] if times else 0.0


class OldInterfaceError(TypeError):
    pass


def five_of(result: Any) -> Any:
    if not isinstance(result, tuple) or len(result) != 5:
        raise OldInterfaceError("what step() returned is not as Gymnasium has it; an env of the old gym package needs "
                                "a wrapper such as shimmy's")
    return result
