"""Booking under time windows: plans of real fleets, and the env `dvrptw` under the names that scripts for it know.

    plan = penstock.booking.solve("day.json", seconds=1)      # VROOM's form, and more: docs/booking/fleets.md
    plan.quote({"id": "cora", "location": [4.9, 52.4]}, windows=[["09:00", "11:00"], ["11:00", "13:00"]])

Plans need no torch. Of the env's names VectorEnv and PPO do the work: training is PPO("dvrptw",
config=Config.from_recipe("dvrptw")); the state that scripts know is that of "dvrptw-source"."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from penstock_worker.strangers import read_text

from penstock import _base
from penstock.batches import Batch
from penstock.envs import VectorEnv

if TYPE_CHECKING:
    import pandas

    from penstock.ppo import PPO

Document = Union[dict[str, Any], str, "os.PathLike[str]", "Instance"]
"""What a file of `penstock booking plan` holds: a dict, the path of the file, or an Instance."""


def _text(document: Document) -> str:
    if isinstance(document, Instance):
        return document._text
    if isinstance(document, dict):
        return json.dumps(document)
    try:
        return read_text(document)
    except ValueError as error:
        raise _base.DataError(f"{document}: {error}") from None


class Instance:
    """Fleet and demand of a day, read and checked once: whatever takes a problem takes it."""

    def __init__(self, problem: Document):
        self._text = _text(problem)
        self._problem = json.loads(_base.TextPlan(self._text).problem())

    @classmethod
    def from_pandas(cls, bookings: pandas.DataFrame, fleet: Document, date: str | None = None) -> Instance:
        """The bookings of a date, or all, that were taken, as jobs of a fleet. A row is a booking; columns are those of lists of bookings
        (docs/booking/fleets.md): `lon` and `lat`, and if there `date`, `customer`, `service`, `earliest`, `latest`, `amount`, `answer`."""
        return cls(json.loads(_base.booked_problem(bookings.to_csv(index=False), _text(fleet), date)))

    @property
    def problem(self) -> dict[str, Any]:
        """As it was understood, times in seconds."""
        return self._problem

    def to_pandas(self) -> pandas.DataFrame:
        """One line for each job and each shipment."""
        import pandas

        kinds = (("job", "jobs"), ("shipment", "shipments"))
        return pandas.DataFrame([{"kind": kind, **task} for kind, field in kinds for task in self._problem.get(field, [])])

    def __repr__(self) -> str:
        count = {field: len(self._problem.get(field, [])) for field in ("vehicles", "jobs", "shipments")}
        return f"Instance({', '.join(f'{field}={number}' for field, number in count.items())})"


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


def quote(plan: Plan | Document, request: dict[str, Any], windows: Sequence[Sequence[Any]] | None = None) -> list[dict[str, Any]]:
    """Plan.quote() of a plan, or of a problem whose vehicles drive their `steps`."""
    return (plan if isinstance(plan, Plan) else Plan(plan)).quote(request, windows)


@dataclass
class State:
    """A call that waits, and what a policy of the env `slots` knows then."""

    plans: Plan | Mapping[int, Plan]
    """The plan of the day, or those of several, by their days after the first."""
    request: dict[str, Any]
    """A job or a shipment, as in Plan.quote(); its `revenue` counts, where it has one."""
    slots: Sequence[Any]
    """At most 16: windows of the day; or, of several days, pairs of the day and a window."""
    forecast: Mapping[str, float]
    """What is expected of a day, as a fleet's file tells it (docs/booking/service.md): {"calls": 40, "revenue": 20}."""
    tastes: Document
    """What customers like: a file of `penstock booking backtest --tastes`, or what it holds. Each taste needs a `fee` below 0."""
    hours_ahead: float = 24
    """Until the first of the days begins; below 0 when it has begun."""
    belief: Sequence[float] = ()
    """The chance of each taste; by default how frequent it is."""
    of_delivery: bool = False
    """Whether the slots are for the delivery of a shipment, not for its pickup."""


class Policy:
    """A network of the env `slots` that sells slots of real plans: the file that `penstock export RUN` writes, or its folder. Threads may
    share it; those of one plan may not.

        offers = Policy.load("models/slots-seller").offer(State(plan, request, slots, forecast, tastes, hours_ahead=30))
    """

    def __init__(self, policy: _base.SlotPolicy):
        self._policy = policy

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        return cls(_base.SlotPolicy(os.fspath(path)))

    def offer(self, state: State) -> list[dict[str, Any]]:
        """For each slot what Plan.quote() tells, and whether to `show` it; then also the `fee` to ask, below 0 an incentive, and its
        `opportunity`: what the network takes a sale there to cost, later callers included. Nothing changes."""
        several = isinstance(state.plans, Mapping)
        plans = dict(state.plans) if isinstance(state.plans, Mapping) else {0: state.plans}
        place = {day: number for number, day in enumerate(plans)}
        slots = [{"plan": place[day], "window": list(window)} for day, window in (state.slots if several else [(0, w) for w in state.slots])]
        return self._policy.offer([(plan._plan, day) for day, plan in plans.items()], json.dumps(state.request), json.dumps(slots),
                                  _text(state.tastes), json.dumps(dict(state.forecast)), list(state.belief), state.hours_ahead, state.of_delivery)


class VectorizedDVRPEnv(Batch):
    """`num_envs` days of `customers` requests each. Observations are [num_envs, 606, 2] and masks those of the recipe
    dvrptw-source; keywords change the env's keys (oracle="insertion", mask="none")."""

    def __init__(self, num_envs: int = 64, customers: int = 30, **keys: Any):
        from penstock.config import Config  # which needs torch; the rest of this module does without

        recipe = Config.from_recipe("dvrptw-source")
        given = {"customers": customers, "obs": recipe.env.obs, "mask": recipe.env.mask}
        super().__init__(VectorEnv("dvrptw", num_envs, **given | keys))


def select_action_batch(model: PPO, obs: Any, masks: Any = None, deterministic: bool = False) -> np.ndarray:
    """One pass of the policy for all envs: actions [num_envs], drawn among the legal ones, or the likeliest."""
    return model.predict(obs, deterministic, masks)[0]
