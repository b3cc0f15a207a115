"""Gymnasium's spaces as rows of numbers: how observations are written and actions are read, in workers and in
predict()."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from penstock_worker import contract

MASK = "action_mask"
LEAVES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


class ObservationError(ValueError):
    """An observation that is not of its space."""


class Leaf(NamedTuple):
    """A space without parts, and where it is in an observation."""

    name: str
    path: tuple[Any, ...]
    space: spaces.Space[Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the row's part: choices are one-hot."""
        counts = choices_of(self.space)
        return (int(sum(counts)),) if counts else self.space.shape or (1,)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    def values(self, obs: Any) -> np.ndarray:
        """The part as an array: floats, or whole numbers where it is choices."""
        part = obs
        try:
            for key in self.path:
                part = part[key]
        except (KeyError, IndexError, TypeError):
            raise ObservationError(f"the observation has no part '{self.name}'") from None
        try:
            array = np.asarray(part) if choices_of(self.space) else np.asarray(part, dtype=np.float32)
        except (TypeError, ValueError):
            raise ObservationError(f"the observation's part '{self.name}' is {contract.what(part)}, not numbers of "
                                   f"shape {list(self.space.shape or ())}") from None
        if choices_of(self.space) and array.dtype.kind not in "iub":
            raise ObservationError(f"the observation's part '{self.name}' is {array.dtype}, expected whole numbers: its "
                                   f"space is {self.space}")
        return array

    def numbers(self, values: np.ndarray) -> np.ndarray:
        """Values [..., *shape of the space] as numbers [..., size]."""
        lead = values.shape[:values.ndim - len(self.space.shape or ())]
        counts = choices_of(self.space)
        if not counts:
            return values.reshape(*lead, self.size)
        flat = values.reshape(*lead, len(counts))
        chosen = [flat[..., k, None] == np.arange(start, start + n)
                  for k, (n, start) in enumerate(zip(counts, starts_of(self.space), strict=True))]
        row = np.concatenate(chosen, axis=-1)
        if not (row.sum(axis=-1) == len(counts)).all():
            raise ObservationError(f"the observation's part '{self.name}' is {values.tolist()}, which is not in its "
                                   f"space {self.space}")
        return row


class Codec:
    """Between values of an env's spaces and rows of numbers."""

    def __init__(self, observation_space: spaces.Space[Any], action_space: spaces.Space[Any]):
        self.action_space: Any = action_space
        self._leaves: list[Leaf] = []
        self.mask_in_obs = isinstance(observation_space, spaces.Dict) and MASK in observation_space.spaces
        self._collect(observation_space, ())

    def parts(self) -> list[dict[str, Any]]:
        return [{"name": leaf.name, "shape": list(leaf.shape)} for leaf in self._leaves]

    def action(self) -> dict[str, Any]:
        space = self.action_space
        if isinstance(space, spaces.Discrete):
            return {"kind": "discrete", "n": [int(space.n)]}
        if isinstance(space, spaces.MultiDiscrete):
            return {"kind": "multi_discrete", "n": [int(n) for n in space.nvec.ravel()]}
        if isinstance(space, spaces.MultiBinary):
            return {"kind": "multi_discrete", "n": [2] * int(np.prod(space.shape))}
        if isinstance(space, spaces.Box):
            bounds = [np.clip(bound.ravel().astype(np.float64), -1e30, 1e30) for bound in (space.low, space.high)]
            return {"kind": "box", "low": bounds[0].tolist(), "high": bounds[1].tolist()}
        raise TypeError(f"its actions are {space}; expected Discrete, MultiDiscrete, MultiBinary or Box: wrap the env "
                        "so that its actions are one of these")

    def write(self, obs: Any, row: np.ndarray) -> None:
        """An observation into its row; its shape may differ where its numbers are as many."""
        offset = 0
        for leaf in self._leaves:
            values = leaf.values(obs)
            if values.shape != leaf.space.shape:
                if values.size != int(np.prod(leaf.space.shape or (), dtype=int)):
                    raise ObservationError(f"the observation's part '{leaf.name}' has shape {values.shape}, its space "
                                           f"{leaf.space.shape}; return it in that shape, or change observation_space")
                values = values.reshape(leaf.space.shape or ())
            row[offset:offset + leaf.size] = leaf.numbers(values)
            offset += leaf.size

    def encode(self, obs: Any) -> tuple[np.ndarray, bool]:
        """An observation, or a batch of them as Gymnasium batches them, as rows [n, F]; and whether it was a batch."""
        columns: list[np.ndarray] = []
        sizes: set[int | None] = set()
        for leaf in self._leaves:
            values, shape = leaf.values(obs), tuple(leaf.space.shape or ())
            batch = values.ndim == len(shape) + 1
            if values.shape[batch:] != shape:
                raise ObservationError(f"the observation's part '{leaf.name}' is {list(values.shape)}, expected "
                                       f"{list(shape)} or a batch of those")
            sizes.add(len(values) if batch else None)
            columns.append(leaf.numbers(values if batch else values[None]).astype(np.float32))
        if len(sizes) > 1:
            raise ObservationError("the observation's parts are not batches of one size")
        return np.concatenate(columns, axis=1), sizes != {None}

    def to_env(self, numbers: np.ndarray) -> Any:
        """Actions [..., D] as the env takes them: shape, type and first number of its space."""
        space = self.action_space
        values = numbers.reshape(*numbers.shape[:-1], *space.shape)
        if isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
            values = values + space.start
        elif isinstance(space, spaces.Box) and space.dtype != np.float32:
            # Bounds of float32 may lie outside of those of another precision; whole numbers are the nearest ones.
            nearest = np.rint(values) if space.dtype.kind in "iu" else values.astype(space.dtype)
            values = np.clip(nearest, space.low, space.high)
        return values.astype(space.dtype)

    def _collect(self, space: spaces.Space[Any], path: tuple[Any, ...]) -> None:
        """Boxes and choices of nested Dicts and Tuples, in their order; the mask is no part of what is observed."""
        if isinstance(space, (spaces.Dict, spaces.Tuple)):
            items = space.spaces.items() if isinstance(space, spaces.Dict) else enumerate(space.spaces)
            for key, inner in items:
                if (*path, key) != (MASK,):
                    self._collect(inner, (*path, key))
            return
        if not isinstance(space, LEAVES):
            raise TypeError(f"its observations hold {space}; expected Box, Discrete, MultiDiscrete, MultiBinary, Dict "
                            "or Tuple: wrap the env with a gymnasium.ObservationWrapper")
        self._leaves.append(Leaf(".".join(map(str, path)) or "obs", path, space))


class EnvCodec(Codec):
    """The codec of an env, with its action masks. A mask may be the part "action_mask" of a Dict observation,
    info["action_mask"], or what the env's method action_masks() returns; 1 means legal."""

    def __init__(self, env: Any, masked: bool | None = None):
        """`masked`: whether there are masks at all, where that is known already."""
        contract.env_of(env)
        super().__init__(env.observation_space, env.action_space)
        self._mask_method = self._method(env)
        self._mask_in_info = self._found_in_info(env) if masked is None else masked
        self.masked = self.mask_in_obs or self._mask_method or self._mask_in_info
        self.discrete = isinstance(env.action_space, spaces.Discrete)
        self.start = int(env.action_space.start) if self.discrete else 0
        only = self._leaves[0]
        self.plain = len(self._leaves) == 1 and not only.path and isinstance(only.space, spaces.Box)

    def legal(self, env: Any, obs: Any, info: dict[str, Any]) -> Any:
        """The mask that goes with an observation, or None where the env gave none: all legal."""
        if self.mask_in_obs:
            return obs[MASK]
        if self._mask_method:
            return env.get_wrapper_attr("action_masks")()
        return info.get(MASK)

    def legal_into(self, env: Any, obs: Any, info: dict[str, Any], row: np.ndarray) -> None:
        mask = self.legal(env, obs, info)
        if mask is None:
            row[:] = True
            return
        if isinstance(mask, (list, tuple)):
            mask = np.concatenate([np.asarray(part).ravel() for part in mask])
        mask = np.asarray(mask).ravel()
        if mask.shape != row.shape:
            raise ValueError(f"the action mask has {mask.size} entries, expected {row.size}")
        row[:] = mask.astype(bool)

    def random_action(self, env: Any, obs: Any, info: dict[str, Any]) -> Any:
        """A legal one."""
        space = self.action_space
        if not self.masked or not isinstance(space, (spaces.Discrete, spaces.MultiDiscrete)):
            return space.sample()
        counts = choices_of(space)
        row = np.empty(sum(counts), np.int8)
        self.legal_into(env, obs, info, row)
        if isinstance(space, spaces.Discrete):
            return space.sample(mask=row)
        masks = np.split(row, np.cumsum(counts)[:-1])
        return space.sample(mask=tuple(masks)) if len(space.shape) == 1 else space.sample()

    def action_remarks(self) -> list[str]:
        """What of the actions is accepted, but hardly meant so."""
        if not isinstance(self.action_space, spaces.Box) or self.action_space.dtype.kind not in "iu":
            return []
        return [f"its actions are {self.action_space}, whole numbers in a Box: the nearest to what the policy means is "
                "taken; Discrete or MultiDiscrete learns better"]

    def remarks(self, obs: Any) -> list[str]:
        """What of an observation is accepted, but hardly meant so."""
        found = [f"the observation's part '{leaf.name}' has shape {values.shape}, its space {leaf.space.shape}; the numbers "
                 "are taken in their order"
                 for leaf in self._leaves if (values := leaf.values(obs)).shape != leaf.space.shape]
        found += [f"the observation's part '{leaf.name}' is outside of its space {leaf.space}; widen the bounds, or clip "
                  "what is observed" for leaf in self._leaves if outside(leaf, obs)]
        return found

    def _method(self, env: Any) -> bool:
        try:
            return callable(env.get_wrapper_attr("action_masks"))
        except AttributeError:
            return False

    def _found_in_info(self, env: Any) -> bool:
        if self.mask_in_obs or self._mask_method or isinstance(env.action_space, spaces.Box):
            return False
        return MASK in contract.begin(env, 0)[1]


def outside(leaf: Leaf, obs: Any) -> bool:
    """Whether numbers of a Box are beyond its bounds."""
    space, values = leaf.space, leaf.values(obs)
    if not isinstance(space, spaces.Box) or values.size != space.low.size:
        return False
    values = values.reshape(space.shape)
    return bool((values < space.low.astype(np.float32)).any() or (values > space.high.astype(np.float32)).any())


def choices_of(space: Any) -> Sequence[int]:
    """How many alternatives each number of a value has; none where numbers are no choices."""
    if isinstance(space, spaces.Discrete):
        return [int(space.n)]
    return space.nvec.ravel().tolist() if isinstance(space, spaces.MultiDiscrete) else []


def starts_of(space: Any) -> Sequence[int]:
    """The first alternative of each."""
    return np.ravel(space.start).tolist()
