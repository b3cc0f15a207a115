"""Booking under time windows, under the names that scripts for it know. Thin: VectorEnv and PPO do the work. Training
is PPO("dvrptw", config=Config.from_recipe("dvrptw")); the state that scripts know is that of "dvrptw-source"."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.batches import Batch
from penstock.config import Config
from penstock.envs import VectorEnv
from penstock.ppo import PPO


class VectorizedDVRPEnv(Batch):
    """`num_envs` days of `customers` requests each. Observations are [num_envs, 606, 2] and masks those of the recipe
    dvrptw-source; keywords change the env's keys (oracle="insertion", mask="none")."""

    def __init__(self, num_envs: int = 64, customers: int = 30, **keys: Any):
        recipe = Config.from_recipe("dvrptw-source")
        given = {"customers": customers, "obs": recipe.env.obs, "mask": recipe.env.mask}
        super().__init__(VectorEnv("dvrptw", num_envs, **given | keys))


def select_action_batch(model: PPO, obs: Any, masks: Any = None, deterministic: bool = False) -> np.ndarray:
    """One pass of the policy for all envs: actions [num_envs], drawn among the legal ones, or the likeliest."""
    return model.predict(obs, deterministic, masks)[0]
