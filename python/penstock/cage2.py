"""CAGE Challenge 2 with repairs in an order, under the names that scripts for it know. Thin: VectorEnv, PPO and the verb
`penstock cage2 search` do the work."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np

from penstock.config import Config
from penstock.envs import VectorEnv
from penstock.ppo import PPO

TYPES = ("defender", "enterprise", "op_server", "op_host", "user")


class ParallelEnvWrapper(VectorEnv):
    """`n_envs` games side by side; each begins anew when its episode ends. `order` is a sequence of the five TYPES, the
    most urgent first, or "random"."""

    def __init__(self, n_envs: int = 25, order: str | tuple[str, ...] = "random", red: str = "bline", **keys: Any):
        super().__init__("cage2_workflow", n_envs, order=order_text(order), red=red, **keys)


class ParallelOrderConditionedPPO(PPO):
    """PPO by the recipe cage2-workflow; keywords change its keys."""

    def __init__(self, order: str | tuple[str, ...] = "random", red: str = "bline", n_envs: int = 25, **keys: Any):
        config = Config.from_recipe("cage2-workflow")
        config.update({"env.order": order_text(order), "env.red": red})
        super().__init__("cage2_workflow", n_envs, config=config, **keys)


class ParallelTrajectoryBuffer:
    """Steps of `n_envs` games. The observation given with an action is the one that it was chosen by."""

    def __init__(self, n_envs: int = 25, gamma: float = 0.99):
        self.n_envs, self.gamma = n_envs, gamma
        self.clear()

    def clear(self) -> None:
        self._steps: dict[str, list[np.ndarray]] = {
            name: [] for name in ("obs", "actions", "log_probs", "rewards", "dones")}

    def add(self, obs: Any, actions: Any, log_probs: Any, rewards: Any, dones: Any) -> None:
        for name, values in zip(self._steps, (obs, actions, log_probs, rewards, dones), strict=True):
            row = np.array(values)
            if len(row) != self.n_envs:
                raise ValueError(f"{name}: {len(row)} rows, expected {self.n_envs}")
            self._steps[name].append(row)

    def __len__(self) -> int:
        return len(self._steps["rewards"]) * self.n_envs

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as [T, n_envs, ...], with discounted returns that end with their episode, normalised."""
        out = {name: np.stack(rows) for name, rows in self._steps.items()}
        returns = np.zeros(out["rewards"].shape)
        running = np.zeros(self.n_envs)
        for t in reversed(range(len(returns))):
            running = out["rewards"][t] + self.gamma * running * (1 - out["dones"][t].astype(float))
            returns[t] = running
        return out | {"returns": (returns - returns.mean()) / (returns.std() + 1e-8)}


class ParallelWorkflowRLTrainer:
    """The search for the best order, `penstock cage2 search`; further keywords are its flags (red="meander")."""

    def __init__(self, n_envs: int = 25, n_workflows: int = 20, train_episodes_per_env: int = 50,
                 compliance_threshold: float = 0.95, update_every_steps: int = 100, **flags: Any):
        self.flags = {"n_envs": n_envs, "n_workflows": n_workflows, "train_episodes_per_env": train_episodes_per_env,
                      "compliance_threshold": compliance_threshold, "update_every_steps": update_every_steps} | flags

    def command(self) -> list[str]:
        words = [[f"--{name.replace('_', '-')}", str(value)] for name, value in self.flags.items()]
        return [sys.executable, "-m", "penstock", "cage2", "search", *sum(words, []), "--json"]

    def run_workflow_search(self) -> Any:
        """Its JSON; subprocess.CalledProcessError when it fails."""
        return json.loads(subprocess.run(self.command(), stdout=subprocess.PIPE, text=True, check=True).stdout)


def order_text(order: str | tuple[str, ...]) -> str:
    return order if isinstance(order, str) else ",".join(order)
