"""The native envs behind Gymnasium's interfaces."""

from __future__ import annotations

import base64
import contextlib
import copy
import functools
import os
import pathlib
import pickle
import re
import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from penstock_worker.strangers import replace_text

from penstock import _base
from penstock._values import text_of
from penstock.factories import named, native_name

MODES = {
    AutoresetMode.SAME_STEP: _base.Autoreset.same_step,
    AutoresetMode.NEXT_STEP: _base.Autoreset.next_step,
    AutoresetMode.DISABLED: _base.Autoreset.disabled,
}


def env_names() -> list[str]:
    """The native envs, as `penstock envs` lists them."""
    return [name for name, _ in _base.envs()]


def gym_id(name: str, doc: str) -> str:
    """Penstock/CartPole-v1 for "CartPole-v1: balance a pole"; Penstock/Masked-v0 for an env without such a name."""
    named = re.match(r"(\w+-v\d+):", doc)
    return "Penstock/" + (named[1] if named else name.title().replace("_", "") + "-v0")


def register_envs() -> None:
    """Makes every native env known to gymnasium.make and make_vec."""
    for name, doc in _base.envs():
        if gym_id(name, doc) not in gymnasium.registry:
            gymnasium.register(gym_id(name, doc), entry_point="penstock.envs:Env",
                               vector_entry_point="penstock.envs:VectorEnv", kwargs={"env": name})


def observation_space(spec: dict[str, Any]) -> spaces.Space[Any]:
    """A Box, or a Dict when the row has several named parts, in their order: of a dict Gymnasium would sort them."""
    boxes: list[tuple[str, spaces.Space[Any]]] = [
        (name, spaces.Box(-np.inf, np.inf, tuple(shape), np.float32)) for name, shape, _ in spec["parts"]]
    return spaces.Dict(boxes) if len(boxes) > 1 else boxes[0][1]


@functools.cache
def gymnasium_space(name: str) -> spaces.Space[Any] | None:
    """Of the observations of Gymnasium's env that a native one equals; it knows bounds, which native specs do not."""
    doc = dict(_base.envs()).get(name)
    known = None if doc is None else gymnasium.registry.get(gym_id(name, doc).removeprefix("Penstock/"))
    if known is None:
        return None
    with contextlib.closing(gymnasium.make(known.id, disable_env_checker=True)) as env:
        return env.observation_space


def bounded_space(env: Any, spec: dict[str, Any]) -> spaces.Space[Any]:
    """observation_space(), with bounds where they are known."""
    found = gymnasium_space(native_name(env)) if isinstance(env, str) else None
    return observation_space(spec) if found is None else copy.deepcopy(found)


def action_space(spec: dict[str, Any]) -> spaces.Space[Any]:
    if spec["kind"] == "box":
        return spaces.Box(np.array(spec["low"], np.float32), np.array(spec["high"], np.float32))
    if spec["kind"] == "multi_discrete":
        return spaces.MultiDiscrete(spec["choices"])
    return spaces.Discrete(spec["choices"][0])


def parts_of(rows: np.ndarray, spec: dict[str, Any]) -> Any:
    """Rows [..., F] as the observation space shows them: views, no copies."""
    views = {}
    for name, shape, offset in spec["parts"]:
        part = rows[..., offset:offset + int(np.prod(shape, dtype=int))]
        views[name] = part.reshape(*rows.shape[:-1], *shape)
    return views if len(views) > 1 else next(iter(views.values()))


def own_spaces(pickled: str, name: str, spec: dict[str, Any]) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """Of observations and actions, as the env has them: a worker's, where there is one that can be read here."""
    try:
        return pickle.loads(base64.b64decode(pickled))  # made by a worker of this program
    except Exception:
        return bounded_space(name, spec), action_space(spec)


def copied(obs: Any) -> Any:
    return {name: part.copy() for name, part in obs.items()} if isinstance(obs, dict) else obs.copy()


def mode_of(mode: str | AutoresetMode) -> AutoresetMode:
    if isinstance(mode, str) and mode in AutoresetMode.__members__:
        return AutoresetMode[mode]
    return AutoresetMode(mode)


def make_core(env: Any, num_envs: int, num_threads: int, mode: AutoresetMode, keys: dict[str, Any]) -> _base.VectorEnv:
    settings = _base.Settings()
    for name, value in keys.items():
        settings.add(f"env.{name}", text_of(value), "Python")
    name, pickled = named(env)
    return _base.VectorEnv(name, settings, num_envs, num_threads, MODES[mode], pickled)


def step_of(core: _base.VectorEnv, spec: dict[str, Any]) -> Any:
    return core.step_points if spec["kind"] == "box" else core.step_choices


def checked_actions(actions: Any, shape: tuple[int, ...], spec: dict[str, Any]) -> np.ndarray:
    array = np.asarray(actions)
    if array.shape != shape:
        raise _base.UsageError(f"actions are {list(array.shape)}, expected {list(shape)}")
    if spec["kind"] != "box" and array.dtype.kind not in "iu":
        raise _base.UsageError(f"actions are {array.dtype}, expected whole numbers")
    return array


def checked_seeds(seeds: Sequence[int | None]) -> list[int | None]:
    if any(s is not None and not 0 <= s < 2**64 for s in seeds):
        raise _base.UsageError("seed: expected whole numbers from 0 to 2^64 - 1")
    return [None if s is None else int(s) for s in seeds]


def random_seeds(count: int) -> list[int]:
    return [int(s) for s in np.random.SeedSequence().generate_state(count, np.uint64)]


def refuse_rendering(render_mode: str | None) -> None:
    if render_mode is not None:
        raise _base.UsageError(f"render_mode = {render_mode}: native envs draw nothing; expected None")


class Registered:
    """What gymnasium.make leaves in an env, with the longest episode: the registry does not know it, for it depends on
    the env's keys."""

    _spec: dict[str, Any]
    _registered: Any = None

    @property
    def spec(self) -> Any:
        return self._registered

    @spec.setter
    def spec(self, given: Any) -> None:
        self._registered = copy.deepcopy(given)  # make() goes on with its own
        if given is not None:
            self._registered.max_episode_steps = self._spec["max_episode_steps"] or None


class VectorEnv(Registered, gymnasium.vector.VectorEnv):
    """Many copies of an env: a native one, stepped by C++ outside of the interpreter's lock, or any Gymnasium env, in
    worker processes that share memory with this one.

    `env` is a name of the catalog, a Gymnasium id, or a class or function that makes an env. Further keywords are the
    env's own keys (max_steps=200 of a native one; num_workers, start_method, kwargs, ... of a Python one). With
    copy=False every call hands out the same arrays with new contents. What ended is in infos["episode"], masks of
    actions are in infos["action_mask"]; other infos of a Python env stay in its worker.

    A Python env that fails is started again: its episode is truncated and missing in infos["episode"], a warning says
    what happened, `incidents` keeps it, and a file in `replay_dir` reproduces it.
    """

    def __init__(self, env: Any, num_envs: int = 1, *, num_threads: int = 1,
                 autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP, copy: bool = True,
                 episode_stats: bool = True, render_mode: str | None = None,
                 replay_dir: str | os.PathLike[str] | None = "replays", **keys: Any):
        refuse_rendering(render_mode)
        self.autoreset_mode = mode_of(autoreset_mode)
        self._envs = make_core(env, num_envs, num_threads, self.autoreset_mode, keys)
        self._spec = self._envs.spec()
        self._copy = copy
        self._episode_stats = episode_stats
        self._seeded = False
        self._replay_dir = replay_dir
        self.incidents: list[str] = []
        self.num_envs = num_envs
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = bounded_space(env, self._spec)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.single_action_space = action_space(self._spec)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._action_shape = (num_envs, *(self.single_action_space.shape or ()))
        self._step = step_of(self._envs, self._spec)
        self._view_arrays()

    def _view_arrays(self) -> None:
        arrays = self._envs.arrays()
        self._arrays = arrays
        self._obs = parts_of(arrays["obs"], self._spec)
        self._mask = arrays["legal"].view(np.int8) if "legal" in arrays else None
        self._all = np.ones(self.num_envs, dtype=np.bool_)
        self._final_rows = np.empty(self.num_envs, dtype=object)
        for i in range(self.num_envs):
            self._final_rows[i] = parts_of(arrays["final_obs"][i], self._spec)
        self._final = np.empty(self.num_envs, dtype=object)  # with copy=False, handed out again and again
        self._which = np.empty(0, dtype=np.int64)  # where it holds something
        self._stats = {"r": arrays["total_reward"], "l": arrays["length"], "t": arrays["seconds"]}

    def reset(self, *, seed: int | Sequence[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts episodes anew: of all envs, or of options={"reset_mask": bool[num_envs]}."""
        mask = (options or {}).get("reset_mask")
        if mask is not None:
            self._check_mask(mask)
        seeds = self._seeds(seed)
        self._envs.reset(mask, seeds)
        self._seeded = True
        self._note_incidents()
        return self._observation(), self._infos()

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of every env."""
        ended = self._step(checked_actions(actions, self._action_shape, self._spec))
        infos = self._infos()
        if ended:
            self._note_incidents()
            self._add_endings(infos, ended)
        arrays = self._arrays
        reward, terminated, truncated = arrays["reward"], arrays["terminated"], arrays["truncated"]
        if self._copy:
            reward, terminated, truncated = reward.copy(), terminated.copy(), truncated.copy()
        return self._observation(), reward, terminated, truncated, infos

    def action_masks(self) -> np.ndarray:
        """Which actions are legal now, [num_envs, sum of choices] bool; all when the env knows no masks."""
        if self._mask is None:
            return np.ones((self.num_envs, sum(self._spec["choices"])), dtype=np.bool_)
        return self._arrays["legal"].copy()

    def _observation(self) -> Any:
        return copied(self._obs) if self._copy else self._obs

    def _infos(self) -> dict[str, Any]:
        if self._mask is None:
            return {}
        return {"action_mask": self._mask.copy() if self._copy else self._mask, "_action_mask": self._all}

    def _add_endings(self, infos: dict[str, Any], count: int) -> None:
        ended = self._arrays["ended"]
        stats = self._stats
        if self._copy:
            ended = ended.copy()
            stats = {name: array.copy() for name, array in stats.items()}
        whole = ended & ~self._arrays["discarded"] if self.incidents else ended
        ending = {"episode": stats, "_episode": whole} if self._episode_stats else {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            infos["final_obs"], infos["_final_obs"] = self._final_observations(self._arrays["which"][:count]), ended
            infos["final_info"], infos["_final_info"] = ending.copy(), ended
        infos.update(ending)

    def _note_incidents(self) -> None:
        for message, text, name, options in self._envs.take_incidents():
            self.incidents.append(message)
            if text and self._replay_dir is not None:
                path = pathlib.Path(self._replay_dir) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                replace_text(path, text)
                message += f"; reproduce it with: penstock replay {path} {options}".rstrip()
            warnings.warn(message, RuntimeWarning, stacklevel=3)

    def close_extras(self, **kwargs: Any) -> None:
        """Ends worker processes; the arrays stay readable."""
        self._envs.close()

    def _final_observations(self, which: np.ndarray) -> np.ndarray:
        """Last observations where an episode ended, None elsewhere."""
        if self._copy:
            final = np.empty(self.num_envs, dtype=object)
            for i in which:
                final[i] = copied(self._final_rows[i])
            return final
        self._final[self._which] = None
        self._final[which] = self._final_rows[which]
        self._which = which.copy()
        return self._final

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """One seed per env; None where the env goes on with its own. Envs that never had one get a random one."""
        if isinstance(seed, (int, np.integer)):
            seeds = checked_seeds([int(seed) + i for i in range(self.num_envs)])
            super().reset(seed=int(seed))  # np_random
            return seeds
        seeds = checked_seeds([None] * self.num_envs if seed is None else seed)
        if len(seeds) != self.num_envs:
            raise _base.UsageError(f"seed: a list of {len(seeds)} for {self.num_envs} envs")
        if self._seeded:
            return seeds
        return [fresh if s is None else s for s, fresh in zip(seeds, random_seeds(self.num_envs), strict=True)]

    def _check_mask(self, mask: Any) -> None:
        good = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)
        if not good or not mask.any():
            raise _base.UsageError(f"reset_mask: expected a bool array of shape ({self.num_envs},) with a True in it")


class Env(Registered, gymnasium.Env):
    """A single native env."""

    metadata = {"render_modes": []}

    def __init__(self, env: str, *, render_mode: str | None = None, **keys: Any):
        refuse_rendering(render_mode)
        self._env = make_core(env, 1, 1, AutoresetMode.DISABLED, keys)
        self._spec = self._env.spec()
        self.observation_space = bounded_space(env, self._spec)
        self.action_space = action_space(self._spec)
        self._arrays = self._env.arrays()
        self._step = step_of(self._env, self._spec)
        self._seeded = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**63))
        self._env.reset(None, checked_seeds([seed]))
        self._seeded = True
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        batch = checked_actions(np.asarray(action)[None], (1, *(self.action_space.shape or ())), self._spec)
        self._step(batch)
        arrays = self._arrays
        return (self._observation(), float(arrays["reward"][0]), bool(arrays["terminated"][0]),
                bool(arrays["truncated"][0]), self._info())

    def action_masks(self) -> np.ndarray:
        """Which actions are legal now."""
        if "legal" in self._arrays:
            return self._arrays["legal"][0].copy()
        return np.ones(sum(self._spec["choices"]), dtype=np.bool_)

    def _observation(self) -> Any:
        return copied(parts_of(self._arrays["obs"][0], self._spec))

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._arrays["legal"][0].view(np.int8).copy()} if "legal" in self._arrays else {}
