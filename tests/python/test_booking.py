"""The names of penstock.booking."""

import itertools
import json
import math
import pathlib
import subprocess
import sys
import urllib.request
import xml.etree.ElementTree

import numpy as np

import pytest

import penstock
from penstock.booking import Instance, Plan, Policy, State, VectorizedDVRPEnv, check, quote, select_action_batch, solve


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


POLICY = pathlib.Path(penstock.__file__).parent / "models" / "slots-seller"
SLOTS = [[f"{hour:02}:00", f"{hour + 2:02}:00"] for hour in range(8, 20, 2)]
FLEET = {"vehicles": [{"id": name, "start": [13.4, 52.5], "end": [13.4, 52.5], "capacity": [30], "time_window": ["08:00", "20:00"],
                       "costs": {"fixed": 25, "per_hour": 18, "per_km": 1}} for name in ("a", "b")]}
FORECAST = {"calls": 20, "revenue": 20, "opens_h": 72, "fee_step": 0.01}
TASTES = {"tastes": [{"name": "calm", "share": 0.6, "any": 1, "evening": 0.8, "per_day": -0.2, "fee": -0.25},
                     {"name": "thrifty", "share": 0.4, "any": 0.5, "fee": -0.35}]}


def order(name, lon, **more):
    return {"id": name, "location": [lon, 52.52], "service": 300, "delivery": [1], **more}


def seller_state(plans, slots, **more):
    return State(plans, order("call", 13.44), slots, FORECAST, TASTES, **more)


def test_a_policy_sells_by_the_closed_form():
    """All that is shown leaves one margin m, for which beta m - 1 is the attraction of what is shown, written here once more."""
    plan = Plan(FLEET)
    plan.insert(order("first", 13.42), SLOTS[1])
    before = plan.solution
    for belief in ((), (0.1, 0.9)):
        offers = Policy.load(POLICY).offer(seller_state(plan, [*SLOTS, ["21:00", "22:00"]], hours_ahead=30, belief=belief))
        assert offers[-1] == {"fits": False, "why": "window", "show": False}
        shown = [(slot, offer) for slot, offer in zip(SLOTS, offers, strict=False) if offer["show"]]
        margins = [offer["fee"] + 20 - offer["opportunity"] for _, offer in shown]
        assert len(shown) > 1 and max(margins) - min(margins) < 0.02
        weights = belief or (0.6, 0.4)
        beta = 0.25 * weights[0] + 0.35 * weights[1]
        drawn = 0.0
        for (begin, _), offer in shown:
            evening = 0.8 if int(begin[:2]) + 1 >= 17 else 0.0
            drawn += (weights[0] * math.exp(1 + evening - 0.4) + weights[1] * math.exp(0.5)) * math.exp(-beta * offer["fee"])
        assert beta * margins[0] - 1 == pytest.approx(drawn, rel=0.02)
    assert plan.solution == before  # nothing changes


def test_a_policy_answers_as_the_service_does(tmp_path):
    """The program keeps plans of its own, reads its own file, and has the same network."""
    (tmp_path / "north.json").write_text(json.dumps(FLEET | {"forecast": FORECAST}))
    (tmp_path / "tastes.json").write_text(json.dumps(TASTES))
    (tmp_path / "clock").write_text(str(1_796_083_200_000 - 30 * 3_600_000))  # 30 hours before 2026-12-01
    booked = [order(f"o{i}", 13.41 + i / 100) for i in range(4)]
    plans = {0: Plan(FLEET), 1: Plan(FLEET)}
    command = [sys.executable, "-m", "penstock", "booking", "serve", "--fleet", "north.json", "--store", "days.db", "--port", "0", "--improve", "0",
               "--tastes", "tastes.json", "--policy", str(POLICY), "--clock", "clock"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as served:
        try:
            url = served.stdout.readline().strip()

            def post(day, verb, body):
                request = urllib.request.Request(f"{url}/v1/plans/north.2026-12-0{day + 1}/{verb}", json.dumps(body).encode())
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)

            for i, job in enumerate(booked):
                post(i % 2, "commit", {"job": job, "slot": {"window": SLOTS[i]}})
                assert plans[i % 2].insert(job, SLOTS[i])
            slots = [(day, window) for window in SLOTS for day in (0, 1)]
            told = post(0, "quote", {"job": order("call", 13.44),
                                     "slots": [{"window": window, "date": f"2026-12-0{day + 1}"} for day, window in slots]})["slots"]
        finally:
            served.terminate()
    offers = Policy.load(POLICY).offer(seller_state(plans, slots, hours_ahead=30))
    assert [offer["show"] for offer in offers] == [slot["show"] for slot in told] and any(offer["show"] for offer in offers)
    for offer, slot in zip(offers, told, strict=True):
        assert offer["cost"] == pytest.approx(slot["added_cost"], abs=0.001)
        if offer["show"]:
            assert offer["fee"] == pytest.approx(slot["fee"]) and offer["opportunity"] == pytest.approx(slot["opportunity"], abs=0.01)


def test_plans_and_policies_need_no_torch():
    program = f"""
import sys
sys.modules["torch"] = None  # as where it is not installed
from penstock.booking import Plan, Policy, State
state = State(Plan({FLEET!r}), {order("call", 13.44)!r}, {SLOTS!r}, {FORECAST!r}, {TASTES!r})
print(sum(offer["show"] for offer in Policy.load({str(POLICY)!r}).offer(state)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and int(done.stdout) > 0, done.stderr


def test_what_a_policy_lacks_is_told():
    plan = Plan(FLEET)
    with pytest.raises(penstock.UsageError, match="below 0"):
        Policy.load(POLICY).offer(State(plan, order("call", 13.4), SLOTS, FORECAST, {"tastes": [{"name": "all", "share": 1, "any": 1}]}))
    with pytest.raises(penstock.DataError, match="did you mean 'opens_h'"):
        Policy.load(POLICY).offer(State(plan, order("call", 13.4), SLOTS, FORECAST | {"open_h": 3}, TASTES))
    with pytest.raises(penstock.IoError):
        Policy.load("nowhere")


def test_bookings_of_a_table():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"date": ["2026-11-18", "2026-11-18", "2026-11-19"], "customer": ["anna", "bob", "cora"], "lon": [13.41, 13.42, 13.43],
                              "lat": [52.5] * 3, "earliest": ["08:00"] * 3, "latest": ["10:00"] * 3, "answer": ["yes", "no", "yes"]})
    instance = Instance.from_pandas(table, FLEET, date="2026-11-18")
    assert repr(instance) == "Instance(vehicles=2, jobs=1, shipments=0)"
    tasks = instance.to_pandas()
    assert list(tasks["location"]) == [[13.41, 52.5]] and list(tasks["time_windows"]) == [[[28800, 36000]]]
    plan = solve(instance, iterations=10)
    assert check(instance, plan.solution) == [] and Instance(plan.problem).problem == plan.problem
    assert len(Instance.from_pandas(table, FLEET).to_pandas()) == 2
    request = order("dora", 13.41)
    assert quote(plan, request, [["08:00", "10:00"]]) == plan.quote(request, [["08:00", "10:00"]])
    assert quote(instance, request)[0]["cost"] > plan.quote(request)[0]["cost"]  # nobody drives there yet
