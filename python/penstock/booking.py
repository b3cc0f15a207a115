"""Booking under time windows: plans of real fleets, and the env `dvrptw` under the names that scripts for it know.

    plan = penstock.booking.solve("day.json", seconds=1)      # VROOM's form, and more: docs/booking/fleets.md
    plan.quote({"id": "cora", "location": [4.9, 52.4]}, windows=[["09:00", "11:00"], ["11:00", "13:00"]])

Plans need no torch. Of the env's names VectorEnv and PPO do the work: training is PPO("dvrptw",
config=Config.from_recipe("dvrptw")); the state that scripts know is that of "dvrptw-source"."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from penstock_worker.strangers import read_text

from penstock import _base
from penstock.batches import Batch
from penstock.config import Config
from penstock.envs import VectorEnv

if TYPE_CHECKING:
    import pandas

    from penstock.ppo import PPO

Document = Union[dict[str, Any], str, "os.PathLike[str]"]
"""What a file of `penstock booking plan` holds: a dict, or the path of the file."""


def _text(document: Document) -> str:
    if isinstance(document, dict):
        return json.dumps(document)
    try:
        return read_text(document)
    except ValueError as error:
        raise _base.DataError(f"{document}: {error}") from None


class Plan:
    """Who drives where and when: a plan of a fleet's day that may grow, shrink and improve. Every change keeps all rules. Not for
    several threads at a time."""

    def __init__(self, problem: Document):
        """No task is served yet; `solve` makes plans that serve them."""
        self._plan = _base.TextPlan(_text(problem))

    @property
    def cost(self) -> float:
        """In the units of the problem: seconds of driving, unless its vehicles have rates."""
        return self._plan.cost()

    @property
    def problem(self) -> dict[str, Any]:
        """As it is now, with the tasks that came and without those that went."""
        return json.loads(self._plan.problem())

    @property
    def solution(self) -> dict[str, Any]:
        """Routes, their steps and what is left out, in VROOM's form."""
        return json.loads(self._plan.solution())

    @property
    def geojson(self) -> dict[str, Any]:
        """Routes as lines and stops as points, for a map."""
        return json.loads(self._plan.geojson())

    def quote(self, request: dict[str, Any], windows: Sequence[Sequence[Any]] | None = None) -> list[dict[str, Any]]:
        """What it would cost to serve a job or shipment (a dict of the problem's form) in each of the windows, or in its own: `fits`, and
        `cost`, `km`, `minutes`, `vehicle` and `start`, or `why` not. Of a shipment the windows are the pickup's. Nothing changes."""
        return [self._plan.quote(json.dumps(asked)) for asked in _asked(request, windows)]

    def insert(self, request: dict[str, Any], window: Sequence[Any] | None = None) -> bool:
        """Serves it in this window, or in its own, where that is cheapest; False when it does not fit, and then nothing changes."""
        return self._plan.insert(json.dumps(_asked(request, None if window is None else [window])[0]))

    def remove(self, task: str | int) -> None:
        """Takes a task out of the plan, by its id."""
        self._plan.remove(str(task))

    def improve(self, iterations: int = 1000, seed: int = 1) -> bool:
        """Searches for a cheaper plan that still serves all that it serves; whether it found one. A function of plan, iterations and seed."""
        return self._plan.improve(iterations, seed)

    def to_pandas(self) -> pandas.DataFrame:
        """One line for each step of each vehicle."""
        import pandas

        return pandas.DataFrame([{"vehicle": route["vehicle"], **step} for route in self.solution["routes"] for step in route["steps"]])

    def __repr__(self) -> str:
        summary = self.solution["summary"]
        return f"Plan(cost={self.cost:g}, vehicles={summary['routes']}, unserved={summary['unassigned']})"

    def _repr_html_(self) -> str:
        """A map and the stops, as notebooks show it; loads nothing from elsewhere."""
        from penstock._plan_map import plan_html

        return plan_html(self.geojson, repr(self))


def _asked(request: dict[str, Any], windows: Sequence[Sequence[Any]] | None) -> list[dict[str, Any]]:
    if windows is None:
        return [request]
    if "pickup" in request and isinstance(request["pickup"], dict):
        return [{**request, "pickup": {**request["pickup"], "time_windows": [list(window)]}} for window in windows]
    return [{**request, "time_windows": [list(window)]} for window in windows]


def solve(problem: Document, seconds: float | None = None, iterations: int | None = None, seed: int = 1) -> Plan:
    """Plans the routes of a fleet, as `penstock booking plan` does: for a second, or as long as is said. With iterations alone the plan is a
    function of problem, iterations and seed."""
    if seconds is None:
        seconds = 0 if iterations else 1
    plan = Plan.__new__(Plan)
    plan._plan = _base.TextPlan.solved(_text(problem), seconds, iterations or 0, seed)
    return plan


def check(problem: Document, solution: Document) -> list[str]:
    """What is wrong with a solution of VROOM's form, whoever made it; empty when it keeps all rules. Shares no code with the search."""
    return _base.check_plan(_text(problem), _text(solution))


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
