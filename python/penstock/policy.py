"""Acting with a trained policy, for which no torch is needed."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import numpy as np
from gymnasium import spaces
from penstock_worker.spaces import MASK, Codec, ObservationError

from penstock._base import FilePolicy, UsageError
from penstock.envs import action_space, observation_space


class Acting:
    """predict(), for whoever has an env's spaces and chooses actions for rows of numbers."""

    observation_space: spaces.Space[Any]
    action_space: spaces.Space[Any]
    _spec: dict[str, Any]
    _predictions = 0  # that drew actions

    def _use_spaces(self, spec: dict[str, Any], obs: spaces.Space[Any], action: spaces.Space[Any]) -> None:
        self._spec = spec
        self.observation_space, self.action_space = obs, action
        self._codec = Codec(obs, action)
        self._row_codec = Codec(observation_space(spec), action_space(spec))  # as VectorEnv has them

    def _choose(self, rows: np.ndarray, legal: np.ndarray | None, draw: bool) -> np.ndarray:
        """Actions [n, D] for rows [n, F]."""
        raise NotImplementedError

    def predict(self, obs: Any, deterministic: bool = True, action_masks: Any = None, *, state: Any = None,
                episode_start: Any = None) -> tuple[Any, None]:
        """Actions for an observation of the env or a batch of them, in the env's own units, and None where others
        return a recurrent state. Masks are 1 where an action is legal; by default they are the part "action_mask" of
        the observation, where there is one. Sampled actions are a function of the seed and the number of calls
        before."""
        rows, batch = self._rows_of(obs)
        if action_masks is None and self._codec.mask_in_obs and isinstance(obs, dict):
            action_masks = obs.get(MASK)
        legal = None if action_masks is None else np.asarray(action_masks).astype(bool).reshape(len(rows), -1)
        if legal is not None and legal.shape[1] != sum(self._spec["choices"]):
            raise UsageError(f"action_masks: {legal.shape[1]} per row, expected {sum(self._spec['choices'])}")
        actions = self._choose(rows, legal, not deterministic)
        self._predictions += 0 if deterministic else 1
        actions = self._codec.to_env(actions)
        return (actions if batch else actions[0]), None

    def _rows_of(self, obs: Any) -> tuple[np.ndarray, bool]:
        """[n, F], and whether it was a batch; of the env's own observation, or of a VectorEnv's."""
        try:
            return self._codec.encode(obs)
        except ObservationError as error:
            with contextlib.suppress(ObservationError):
                return self._row_codec.encode(obs)
            raise UsageError(str(error)) from None


class Policy(Acting):
    """A trained policy to act with: the file that `penstock export RUN` and PPO.export() write. It needs no torch.

        policy = penstock.Policy.load("policy.safetensors")
        action, _ = policy.predict(obs)

    predict() chooses as PPO.predict() does. The file knows rows of numbers; an env whose spaces are more than that
    (Discrete or nested observations, actions that begin at another number than 0) gives its spaces to load(). Threads
    may share a policy.
    """

    def __init__(self, policy: FilePolicy, obs: spaces.Space[Any] | None, action: spaces.Space[Any] | None, seed: int):
        self._policy = policy
        self.seed = seed
        spec = policy.spec()
        self._use_spaces(spec, observation_space(spec) if obs is None else obs,
                         action_space(spec) if action is None else action)
        refuse_other_spaces(spec, self._codec, self._row_codec)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, observation_space: spaces.Space[Any] | None = None,
             action_space: spaces.Space[Any] | None = None, seed: int = 0) -> Policy:
        """What a policy file holds. The spaces are those of one env; `seed` is for actions that are drawn. DataError
        says what is wrong with a file, or that its network needs torch."""
        if os.path.isdir(path):
            raise UsageError(f"{path}: a folder, not a policy file; write that of a run with: penstock export {path} --out "
                             "policy.safetensors")
        return cls(FilePolicy(os.fspath(path)), observation_space, action_space, seed)

    @property
    def num_updates(self) -> int:
        """Updates that it has learnt from."""
        return self._policy.version()

    def __repr__(self) -> str:
        return f"Policy({self.observation_space} -> {self.action_space}, num_updates={self.num_updates})"

    def _choose(self, rows: np.ndarray, legal: np.ndarray | None, draw: bool) -> np.ndarray:
        return self._policy.predict(rows, legal, self.seed if draw else None, self._predictions)


def refuse_other_spaces(spec: dict[str, Any], given: Codec, own: Codec) -> None:
    """Spaces whose rows are not those that the policy was trained on."""
    named = len(spec["parts"]) > 1  # one part alone may have any name
    parts = [(name if named else "obs", list(shape)) for name, shape, _ in spec["parts"]]
    theirs = [(part["name"] if named else "obs", part["shape"]) for part in given.parts()]
    if theirs != parts:
        raise UsageError(f"observation_space: its rows are {theirs}, those of the policy {parts}; give the space of an env "
                         "like those that it was trained on")
    if rounded(given.action()) != rounded(own.action()):
        raise UsageError(f"action_space: {given.action()}, that of the policy is {own.action()}; give the space of an env "
                         "like those that it was trained on")


def rounded(action: dict[str, Any]) -> dict[str, Any]:
    """With bounds as a policy file has them."""
    return {key: np.float32(value).tolist() if key in ("low", "high") else value for key, value in action.items()}
