"""An env played as workers play it, with a look at all that it returns."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, MutableSequence
from typing import Any, NamedTuple

import numpy as np

from penstock_worker import contract, process
from penstock_worker.cost import timed
from penstock_worker.factory import ContractError
from penstock_worker.spaces import MASK, Codec, EnvCodec, ObservationError

SHORT_STEPS, LEAST_STEPS = 200, 3  # of an episode that is compared with others


class Failure(Exception):
    """Of the check of that name; what comes after it needs it."""

    def __init__(self, name: str, text: str):
        super().__init__(text)
        self.name = name


@contextlib.contextmanager
def blame(name: str) -> Iterator[None]:
    try:
        yield
    except Failure:
        raise
    except (Exception, SystemExit) as error:
        raise Failure(name, str(error) if isinstance(error, ObservationError) else process.said(error)) from error


class Seen(NamedTuple):
    """What a reset or a step brought."""

    obs: Any
    info: Any
    row: bytes  # the observation as the policy reads it
    legal: bytes
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False

    def difference(self, other: Seen) -> str:
        names = ("row", "reward", "terminated", "truncated", "legal")
        words = ("observation", "reward", "terminated", "truncated", "action mask")
        return ", ".join(word for name, word in zip(names, words, strict=True)
                         if getattr(self, name) != getattr(other, name))


class Cost:
    """Seconds of calls, by the clock and of this process's cores."""

    def __init__(self) -> None:
        self.calls, self.wall, self.cpu = 0, 0.0, 0.0

    def timed(self, call: Callable[[], Any]) -> Any:
        result, wall, cpu = timed(call)
        self.wall += wall
        self.cpu += cpu
        self.calls += 1
        return result

    @property
    def mean_us(self) -> float:
        return 1e6 * self.wall / max(self.calls, 1)

    @property
    def cpu_share(self) -> float:
        return self.cpu / self.wall if self.wall else 1.0


class Player:
    """An env, and what was noticed of it."""

    def __init__(self, env: Any, steps: MutableSequence[int]):
        self.env, self.steps = env, steps
        with blame("spaces"):
            plain = Codec(env.observation_space, env.action_space)
            plain.action()
        with blame("reset"):
            contract.begin(env, 0)
            self.codec = EnvCodec(env)
        self.row = np.empty(sum(int(np.prod(part["shape"], dtype=int)) for part in plain.parts()), np.float32)
        self.choices: list[int] = plain.action().get("n", [])
        self.step_cost, self.reset_cost = Cost(), Cost()
        self.obs_remarks: dict[str, None] = {}  # a set that keeps its order
        self.mask_remarks: dict[str, None] = {}

    def begin(self, seed: int) -> Seen:
        self.steps[0] = 0
        with blame("reset"):
            obs, info = self.reset_cost.timed(lambda: contract.begin(self.env, seed))
        return self._seen(obs, info, 0.0, False, False)

    def step(self, action: Any) -> Seen:
        self.steps[0] += 1  # for whoever asks in which step this process ended
        with blame("step"):
            result = self.step_cost.timed(lambda: self.env.step(action))
            obs, reward, terminated, truncated, info = contract.five_of(result)
            number = contract.reward_of(reward)
            contract.info_of(info)
            if not math.isfinite(number):
                raise ContractError(f"step() returned {number} as its reward; return a finite number")
        return self._seen(obs, info, number, bool(terminated), bool(truncated))

    def random_action(self, seen: Seen) -> Any:
        with blame("masks"):
            return self.codec.random_action(self.env, seen.obs, seen.info)

    def _seen(self, obs: Any, info: Any, reward: float, terminated: bool, truncated: bool) -> Seen:
        with blame("observations"):
            self.codec.write(obs, self.row)
            if not np.isfinite(self.row).all():
                raise ContractError("an observation holds a number that is not finite; training counts that as a "
                                    "failure of the env")
            self.obs_remarks |= dict.fromkeys(self.codec.remarks(obs))
        legal = b"" if terminated or truncated else self._legal(obs, info)
        return Seen(obs, info, self.row.tobytes(), legal, reward, terminated, truncated)

    def _legal(self, obs: Any, info: Any) -> bytes:
        if not self.choices:
            return b""
        if not self.codec.masked:
            if MASK in info:
                self.mask_remarks["the info of step() has an action_mask, that of reset() has none: then masks are not "
                                  "looked for; return one there too"] = None
            return b""
        with blame("masks"):
            legal = np.empty(sum(self.choices), np.bool_)
            self.codec.legal_into(self.env, obs, info, legal)
            if not all(part.any() for part in np.split(legal, np.cumsum(self.choices)[:-1])):
                raise ContractError("an action mask has no legal action; 1 means legal. Where nothing can be done, end "
                                    "the episode, or have an action for that")
            if self.codec.legal(self.env, obs, info) is None:
                self.mask_remarks["the info of reset() has an action_mask, that of step() none: then all actions are "
                                  "legal"] = None
        return legal.tobytes()


class Part(NamedTuple):
    """Of an episode, from its beginning."""

    actions: list[Any]
    seen: list[Seen]

    def difference(self, other: Part) -> str:
        """Where and in what they differ; "" where they do not."""
        for at, (mine, its) in enumerate(zip(self.seen, other.seen, strict=True)):
            if found := mine.difference(its):
                return f"{found} of {f'step {at}' if at else 'reset()'}"
        return ""


def first_part(player: Player, seed: int, seconds: float) -> Part:
    """Random steps."""
    until = time.monotonic() + seconds
    part = Part([], [player.begin(seed)])
    player.env.action_space.seed(seed)
    while len(part.actions) < LEAST_STEPS or (len(part.actions) < SHORT_STEPS and time.monotonic() < until):
        if part.seen[-1].terminated or part.seen[-1].truncated:
            break
        part.actions.append(player.random_action(part.seen[-1]))
        part.seen.append(player.step(part.actions[-1]))
    return part


def again(player: Player, seed: int, actions: list[Any]) -> Part:
    return Part(actions, [player.begin(seed), *[player.step(action) for action in actions]])
