"""What a call costs."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it returned, and its seconds by the clock and of this process's cores. A call that gave its core away had to
    wait; one that did not lost the difference to other programs, which is not its cost."""
    waits, wall, cpu = waits_so_far(), time.perf_counter(), time.process_time()
    result = call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return result, wall if waits_so_far() > waits else min(wall, cpu), cpu


def waits_so_far() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
