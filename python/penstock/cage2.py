"""CAGE Challenge 2 with repairs in an order, under the names that scripts for it know. Thin: VectorEnv, PPO and the
verb `penstock cage2 search` do the work."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np

from penstock import _base
from penstock._base import Cage2Memory as Memory
from penstock._base import UsageError
from penstock._torch import torch
from penstock._values import text_of
from penstock.batches import Batch
from penstock.config import Config
from penstock.envs import VectorEnv
from penstock.ppo import PPO

__all__ = ["HOSTS", "HOST_TYPES", "TYPES", "Belief", "Memory", "ParallelEnvWrapper", "ParallelOrderConditionedPPO",
           "ParallelTrajectoryBuffer", "ParallelWorkflowRLTrainer"]

TYPES = ("defender", "enterprise", "op_server", "op_host", "user")
HOSTS = tuple(_base.cage2_hosts())
HOST_TYPES = tuple(_base.cage2_host_types())  # of each of HOSTS, one of TYPES
REDS = ("bline", "meander", "sleep")


class Belief:
    """What Blue can infer of red in one game, by Bayes' rule on the exact rules. `keys` are those of the env cage2_defender
    that make the game: rules="head", wrapper="v1", mix=[1, 1, 0] for how likely each attacker is."""

    def __init__(self, num_hypotheses: int = 64, **keys: Any):
        settings = _base.Settings()
        for name, value in keys.items():
            settings.add(f"env.{name}", text_of(value), "Python")
        self._filter = _base.Cage2Belief(num_hypotheses, settings)

    def reset(self) -> None:
        """Begins an episode."""
        self._filter.reset()

    def note(self, action: int, success: bool | None, obs: Any) -> None:
        """A step: the action of the 145, whether it succeeded (None: not told), and the 52 numbers that Blue saw then."""
        self._filter.note(action, success, obs)

    def features(self) -> np.ndarray:
        """[56], as the observation's part "belief" of cage2_defender."""
        return self._filter.features()

    def told(self) -> dict[str, Any]:
        """The same for people and for agents that read text: {"red": {"bline": 0.98, ...}, "hosts": {"User1": {...}}, ...}."""
        now = self._filter.told()
        hosts = {name: {key: round(now[key][h], 4) for key in ("session", "privileged", "scanned", "next")}
                 for h, name in enumerate(HOSTS)}
        return {"red": {name: round(p, 4) for name, p in zip(REDS, now["kind"], strict=True)}, "hosts": hosts,
                "service_down": round(now["service_down"], 4), "hypotheses": now["num_hypotheses"],
                "exact": now["exact"], "lost": now["lost"]}


class ParallelEnvWrapper(Batch):
    """`n_envs` games side by side; each begins anew when its episode ends. Observations are [n_envs, 52]. `order` is a
    sequence of the five TYPES, the most urgent first, or "random"; `orders` shows that of each game."""

    def __init__(self, n_envs: int = 25, order: str | tuple[str, ...] = "random", red: str = "bline", **keys: Any):
        super().__init__(VectorEnv("cage2_workflow", n_envs, order=order_text(order), red=red, **keys))

    def shown(self, obs: Any) -> Any:
        self.orders: np.ndarray = obs["order"]  # [n_envs, 5, 5], position x type
        return obs["obs"]


class ParallelOrderConditionedPPO(PPO):
    """PPO by the recipe cage2-workflow; keywords change its keys. learn(n_envs * 100) plays one episode in every env
    and makes one update."""

    def __init__(self, order: str | tuple[str, ...] = "random", red: str = "bline", n_envs: int = 25, **keys: Any):
        config = Config.from_recipe("cage2-workflow")
        config.update({"env.order": order_text(order), "env.red": red})
        super().__init__("cage2_workflow", n_envs, config=config, **keys)

    def get_actions(self, obs: Any, orders: Any = None, deterministic: bool = False
                    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(actions, log_probs, values), each [n], of observations [n, 52]; `orders` are ParallelEnvWrapper's, and not
        needed where this was made for one order."""
        logits, values = self._heads(np.asarray(obs, np.float32), orders)
        log_probs = logits.log_softmax(-1)
        chosen = log_probs.argmax(-1) if deterministic else torch.multinomial(log_probs.exp(), 1)[:, 0]
        return chosen.numpy(), log_probs.gather(1, chosen[:, None])[:, 0].numpy(), values.numpy()

    def update(self, buffer: Any) -> None:
        """Refused: this learner collects its own steps."""
        steps = self.config.env.num_envs * 100
        raise UsageError(f"update(buffer): steps from outside are not learnt from; learn({steps}) plays one episode "
                         "in every env and makes the update")

    def _heads(self, obs: np.ndarray, orders: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [n, 145] and values [n] of the recipe's network."""
        rows = torch.from_numpy(np.concatenate([obs, self._orders(orders, len(obs))], axis=1))
        return mlp(self, "actor", rows), mlp(self, "critic", rows)[:, 0]

    def _orders(self, orders: Any, count: int) -> np.ndarray:
        own = self.config.env.order
        if orders is None and own == "random":
            raise UsageError("get_actions: this policy serves all orders; say which: get_actions(obs, envs.orders)")
        if orders is None:
            orders = np.tile(np.eye(5)[[TYPES.index(name.strip()) for name in own.split(",")]], (count, 1, 1))
        return np.asarray(orders, np.float32).reshape(count, 25)


def mlp(model: PPO, head: str, rows: torch.Tensor) -> torch.Tensor:
    """One of the recipe's two networks."""
    weights = {name: value for name, value in model.weights().items() if name.startswith(head)}
    if not weights or model.config.net.activation != "tanh" or model.config.normalise.obs:
        raise UsageError("get_actions: it knows the network of the recipe cage2-workflow only; use predict()")
    for layer in range(len(weights) // 2):
        rows = torch.tanh(rows) if layer else rows
        rows = torch.nn.functional.linear(rows, weights[f"{head}.{layer}.weight"], weights[f"{head}.{layer}.bias"])
    return rows


class ParallelTrajectoryBuffer:
    """Steps of `n_envs` games. The observation given with an action is the one that it was chosen by."""

    NAMES = ("obs", "actions", "rewards", "log_probs", "values", "dones")

    def __init__(self, n_envs: int = 25, gamma: float = 0.99):
        self.n_envs, self.gamma = n_envs, gamma
        self.reset()

    def reset(self) -> None:
        self._steps: dict[str, list[np.ndarray]] = {name: [] for name in self.NAMES}

    def add(self, obs: Any, actions: Any, rewards: Any, log_probs: Any, values: Any, dones: Any) -> None:
        rows = [np.array(given) for given in (obs, actions, rewards, log_probs, values, dones)]
        for name, row in zip(self.NAMES, rows, strict=True):
            if len(row) != self.n_envs:
                raise ValueError(f"{name}: {len(row)} rows, expected {self.n_envs}")
        for name, row in zip(self.NAMES, rows, strict=True):
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
