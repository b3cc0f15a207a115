"""What can watch a run and end it. learn() takes these, or plain functions (model, progress, metrics) -> bool."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock._core import EvalResult, Progress, Summary
    from penstock.ppo import PPO

Metrics = dict[str, float]
Question = Callable[["PPO", "Progress", Metrics], bool | None]


class Callback:
    """Called between updates, when predict(), evaluate() and save() may be used. The run is saved before an exception
    of a callback reaches the caller of learn()."""

    def on_start(self, model: PPO) -> None:
        """Before the first step of a learn()."""

    def on_log(self, model: PPO, progress: Progress, metrics: Metrics) -> bool | None:
        """After every run.log_interval updates, with metrics by name; True ends the run."""

    def on_end(self, model: PPO, summary: Summary) -> None:
        """After the last step of a learn()."""


class StopWhen(Callback):
    """Ends the run once the function says True."""

    def __init__(self, question: Question):
        self.question = question

    def on_log(self, model: PPO, progress: Progress, metrics: Metrics) -> bool | None:
        return self.question(model, progress, metrics)


class StopAtReward(Callback):
    """Ends the run once the last 100 episodes have this mean reward."""

    def __init__(self, reward: float):
        self.reward = reward

    def on_log(self, model: PPO, progress: Progress, metrics: Metrics) -> bool | None:
        return progress.ep_rew_mean >= self.reward


class _Every(Callback):
    """Does something every so many env steps."""

    def __init__(self, every: int):
        self.every = every
        self._next = every

    def on_start(self, model: PPO) -> None:
        self._next = model.num_timesteps + self.every

    def on_log(self, model: PPO, progress: Progress, metrics: Metrics) -> bool | None:
        if progress.timesteps < self._next:
            return False
        self._next = progress.timesteps + self.every
        return self.act(model, progress)

    def act(self, model: PPO, progress: Progress) -> bool | None:
        raise NotImplementedError


class Evaluate(_Every):
    """Plays episodes every so many env steps; `results` holds (steps, result). With a path, the best policy so far is
    saved there; with a reward, the run ends once an evaluation reaches it."""

    def __init__(self, every: int, episodes: int = 20, *, seed: int = 0, deterministic: bool = True,
                 best_path: str | os.PathLike[str] | None = None, stop_at_reward: float = float("inf")):
        super().__init__(every)
        self.episodes, self.seed, self.deterministic = episodes, seed, deterministic
        self.best_path, self.stop_at_reward = best_path, stop_at_reward
        self.results: list[tuple[int, EvalResult]] = []

    @property
    def best(self) -> float:
        """The highest mean reward so far."""
        return max((result.mean_reward for _, result in self.results), default=float("-inf"))

    def act(self, model: PPO, progress: Progress) -> bool | None:
        best = self.best
        result = model.evaluate(self.episodes, seed=self.seed, deterministic=self.deterministic)
        self.results.append((progress.timesteps, result))
        if self.best_path is not None and result.mean_reward > best:
            model.save(self.best_path)
        return result.mean_reward >= self.stop_at_reward


class Checkpoint(_Every):
    """Saves the run to FOLDER/STEPS every so many env steps, for PPO.load and `penstock eval`."""

    def __init__(self, every: int, folder: str | os.PathLike[str]):
        super().__init__(every)
        self.folder = pathlib.Path(folder)
        self.paths: list[pathlib.Path] = []

    def act(self, model: PPO, progress: Progress) -> bool | None:
        self.paths.append(self.folder / str(progress.timesteps))
        model.save(self.paths[-1])
        return False


def as_callbacks(given: Any) -> list[Callback]:
    """None, one or several, each a Callback or a function."""
    if given is None:
        return []
    several = given if isinstance(given, (list, tuple)) else [given]
    return [item if isinstance(item, Callback) else StopWhen(item) for item in several]
