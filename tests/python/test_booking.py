"""The names of penstock.booking."""

import itertools
import json
import math
import xml.etree.ElementTree

import numpy as np

import pytest

import penstock
from penstock.booking import Plan, VectorizedDVRPEnv, check, select_action_batch, solve


def test_a_day_of_requests():
    envs = VectorizedDVRPEnv(num_envs=4, customers=6, oracle="insertion")
    obs = envs.reset(seed=1)
    assert obs.shape == (4, 606, 2) and (obs[..., 0].sum(1) == 0).all() and (obs[..., 1].sum(1) == 6).all()
    for t in range(12):
        assert envs.masks.shape == (4, 16) and envs.masks.dtype == bool
        obs, rewards, dones = envs.step(envs.masks.argmax(1))
        assert rewards.shape == (4,) and dones.all() == dones.any() == (t % 6 == 5)
        committed = (t + 1) % 6
        assert (obs[..., 0].sum(1) == 6 * committed).all()  # the next day begins with none
    envs.close()


def test_actions_for_all_envs_at_once():
    config = penstock.Config.from_recipe("dvrptw-source")
    model = penstock.PPO("dvrptw", 4, 1, config=config, verbose=0,
                         **{"env.oracle": "insertion", "env.customers": 6})
    envs = VectorizedDVRPEnv(4, 6, oracle="insertion")
    obs = envs.reset(seed=1)
    masks = np.zeros((4, 16), dtype=bool)
    masks[:, [3, 12]] = True
    drawn = np.array([select_action_batch(model, obs, masks) for _ in range(30)])
    assert drawn.shape == (30, 4) and set(drawn.ravel()) == {3, 12}
    likeliest = select_action_batch(model, obs, masks, deterministic=True)
    assert np.array_equal(likeliest, model.predict(obs, action_masks=masks)[0])
    envs.close()


def line_of_jobs(places, **vehicle):
    """Jobs on a straight road, by their x in metres; a metre takes a second, and the van comes home to 0."""
    matrix = [[abs(a - b) for b in [0, *places]] for a in [0, *places]]
    return {"vehicles": [{"id": "van", "start_index": 0, "end_index": 0, **vehicle}],
            "jobs": [{"id": i + 1, "location_index": i + 1} for i in range(len(places))],
            "matrices": {"car": {"durations": matrix, "distances": matrix}}}


def test_a_road_is_driven_there_and_back():
    plan = solve(line_of_jobs([300, 100, -200]), iterations=200)
    assert plan.cost == 2 * 300 + 2 * 200
    assert plan.solution["summary"]["unassigned"] == 0 and check(plan.problem, plan.solution) == []
    assert repr(plan) == "Plan(cost=1000, vehicles=1, unserved=0)"


def test_the_best_of_all_orders(tmp_path):
    """By trying them: two vans with shifts, and windows that forbid most orders."""
    places = [500, -400, 900, 250]
    problem = line_of_jobs(places, time_window=[0, 4000])
    for job, window in zip(problem["jobs"], [[0, 900], [0, 3000], [1500, 1600], [0, 4000]]):
        job["time_windows"] = [window]

    def cost(order):
        now = at = driven = 0
        for number in order:
            x, (earliest, latest) = places[number], problem["jobs"][number]["time_windows"][0]
            driven, now, at = driven + abs(x - at), max(now + abs(x - at), earliest), x
            if now > latest:
                return math.inf
        return driven + abs(at) if now + abs(at) <= 4000 else math.inf

    best = min(map(cost, itertools.permutations(range(4))))
    (tmp_path / "day.json").write_text(json.dumps(problem))
    assert solve(tmp_path / "day.json", iterations=500).cost == best < math.inf


def test_quotes_are_what_an_insertion_costs():
    problem = line_of_jobs([100, 200, 700], time_window=[0, 10_000])
    call = problem["jobs"].pop()
    plan = solve(problem, iterations=50)
    slots = [[0, 5000], [0, 650], [9500, 9900]]
    early, impossible, late = plan.quote(call, slots)
    assert early["fits"] and early["cost"] == 1000 and early["km"] == 1.0 and early["vehicle"] == "van"
    assert impossible == {"fits": False, "why": "window"}
    assert late == {"fits": False, "why": "window"}  # the van would be home after its shift
    before = plan.cost
    assert not plan.insert(call, slots[1]) and plan.cost == before
    assert plan.insert(call, slots[0]) and plan.cost == before + early["cost"]
    assert check(plan.problem, plan.solution) == []
    plan.remove(call["id"])
    assert plan.cost == before
    with pytest.raises(penstock.UsageError, match="no task 'nobody'"):
        plan.remove("nobody")


def test_a_wrong_solution_is_told_what_is_wrong():
    problem = line_of_jobs([100, 200])
    solution = solve(problem, iterations=50).solution
    solution["routes"][0]["steps"].pop(1)
    assert any("1" in line or "2" in line for line in check(problem, solution))


def test_a_misspelt_field_is_named():
    problem = line_of_jobs([100])
    problem["jobs"][0]["servize"] = 60
    with pytest.raises(penstock.DataError, match="service"):
        Plan(problem)


def test_steps_as_a_table():
    pandas = pytest.importorskip("pandas")
    table = solve(line_of_jobs([300, 100]), iterations=50).to_pandas()
    assert isinstance(table, pandas.DataFrame) and list(table["type"]) == ["start", "job", "job", "end"]


def test_a_notebook_shows_a_map():
    """One piece of HTML from which nothing is loaded; every stop has the number of its place in the route, ids are text."""
    depot = [4.895, 52.37]
    day = {"vehicles": [{"id": f"<i>{i}</i>", "start": depot, "end": depot, "capacity": [3]} for i in range(2)],
           "jobs": [{"id": f"<b>{i}</b>", "location": [4.86 + i / 50, 52.35 + i % 2 / 40], "delivery": [1]} for i in range(5)] +
                   [{"id": "large", "location": [4.9, 52.4], "delivery": [9]}]}
    plan = solve(day, iterations=200)
    shown = plan._repr_html_()
    tree = xml.etree.ElementTree.fromstring(shown)
    circles, numbers = tree.findall(".//circle"), [text.text for text in tree.findall(".//svg//text")]
    lengths = [feature["properties"]["stops"] for feature in plan.geojson["features"] if feature["geometry"]["type"] == "LineString"]
    assert len(circles) == 6 and sorted(numbers) == sorted([str(i + 1) for n in lengths for i in range(n)] + ["?"])
    assert len(tree.findall(".//tbody/tr")) == 6 and len(tree.findall(".//polyline")) == len(lengths)
    assert "<b>0" not in shown and "&lt;b&gt;0" in shown and "http" not in shown and "<script" not in shown
    for circle in circles:
        assert 0 <= float(circle.get("cx")) <= 560 and 0 <= float(circle.get("cy")) <= 400
    assert "<svg" not in solve(line_of_jobs([300, 100]), iterations=10)._repr_html_()  # places without coordinates
