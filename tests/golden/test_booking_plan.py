"""`penstock booking plan`, `check` and `convert`: solutions recomputed by a checker of our own, in Python."""

import json
import math
import random

import pytest

RADIUS = 6371008.8


def leg(problem, a, b):
    """(metres, seconds) between two places: rows of the matrix, or [lon, lat]."""
    if a is None or b is None or a == b:
        return 0, 0
    if isinstance(a, int):
        matrix = problem["matrices"]["car"]
        return matrix.get("distances", matrix["durations"])[a][b], matrix["durations"][a][b]
    (lon, lat), (lon2, lat2) = ([math.radians(x) for x in place] for place in (a, b))
    h = math.sin((lat2 - lat) / 2) ** 2 + math.cos(lat) * math.cos(lat2) * math.sin((lon2 - lon) / 2) ** 2
    metres = 1.3 * 2 * RADIUS * math.asin(math.sqrt(h))
    return metres, metres / (24 / 3.6)


def place_of(thing, point="location", row="location_index"):
    return thing.get(row, thing.get(point))


def stops_of(problem):
    found = {("job", job["id"]): (job, job) for job in problem.get("jobs", [])}
    for shipment in problem.get("shipments", []):
        found |= {(kind, shipment[kind]["id"]): (shipment[kind], shipment) for kind in ("pickup", "delivery")}
    return found


def check_route(problem, vehicle, steps):
    """Walks a route by what it tells; returns its cost and the stops that it serves."""
    stops, begin, end = stops_of(problem), *vehicle["time_window"]
    carried = [stops["job", s["id"]][0] for s in steps if s["type"] == "job"]
    load = sum(job.get("delivery", [0])[0] for job in carried)
    at, free, paused, cost, served, aboard = place_of(vehicle, "start", "start_index"), begin, 0, 0, [], {}
    assert load <= vehicle["capacity"][0]
    for step in steps:
        start = step["arrival"] + step["waiting_time"]
        if step["type"] == "start":
            free = start
            assert start >= begin
            continue
        if step["type"] == "break":
            (pause,) = [b for b in vehicle["breaks"] if b["id"] == step["id"]]
            assert any(a <= start <= b for a, b in pause["time_windows"])
            paused += pause["service"]
            served.append(("break", step["id"]))
            continue
        stop, task = stops.get((step["type"], step.get("id")), ({}, {}))
        there = place_of(vehicle, "end", "end_index") if step["type"] == "end" else place_of(stop)
        metres, seconds = leg(problem, at, there)
        assert step["arrival"] >= free + paused + seconds - 1, step
        cost += vehicle["costs"]["per_hour"] * seconds / 3600 + vehicle["costs"]["per_km"] * metres / 1000
        assert any(a <= start <= b for a, b in stop.get("time_windows", [[0, 10**9]])), step
        setup = 0 if at == there else stop.get("setup", 0)
        at, free, paused = there, start + setup + stop.get("service", 0), 0
        if step["type"] == "end":
            continue
        served.append((step["type"], step["id"]))
        assert set(task.get("skills", [])) <= set(vehicle["skills"])
        if step["type"] == "job":
            load += task.get("pickup", [0])[0] - task.get("delivery", [0])[0]
        elif step["type"] == "pickup":
            load += task["amount"][0]
            aboard[task["delivery"]["id"]] = free
        else:
            load -= task["amount"][0]
            assert start - aboard.pop(step["id"]) <= task.get("max_ride", 10**9)
        assert 0 <= load <= vehicle["capacity"][0]
    assert not aboard and free <= end and len(carried) <= vehicle.get("max_tasks", 10**9)
    assert {s for s in served if s[0] == "break"} == {("break", b["id"]) for b in vehicle.get("breaks", [])}
    return cost + vehicle["costs"]["fixed"], [s for s in served if s[0] != "break"]


def check(problem, solution):
    vehicles = {v["id"]: v for v in problem["vehicles"]}
    cost, served = 0, []
    for route in solution["routes"]:
        added, stops = check_route(problem, vehicles.pop(route["vehicle"]), route["steps"])
        cost, served = cost + added, served + stops
    left = [(u["type"], u["id"]) for u in solution["unassigned"]]
    assert sorted(served + left) == sorted(stops_of(problem))
    assert solution["summary"]["unassigned"] == len(left)
    # Ways by coordinates are whole metres and seconds in the program.
    assert abs(cost - solution["summary"]["cost"]) <= 1 + (0 if "matrices" in problem else 0.02 * cost)


def draw(seed, matrix):
    rng = random.Random(seed)
    points = [[4.8 + rng.random() / 5, 52.3 + rng.random() / 10] for _ in range(40)]

    def place(key="location"):
        row = rng.randrange(len(points))
        return {f"{key}_index": row} if matrix else {key: points[row]}

    def windows():
        first = rng.randrange(6) * 3600
        both = [[first, first + 5400], [first + 10800, first + 14400]]
        return both[: rng.choice([1, 1, 2])]

    vehicles = [{"id": f"v{i}", **place("start"), **place("end"), "time_window": [rng.randrange(3) * 3600, 36000],
                 "capacity": [rng.randint(3, 9)], "skills": rng.sample([1, 2, 3], 2),
                 "costs": {"fixed": rng.randrange(500), "per_hour": rng.randint(1000, 4000), "per_km": rng.randrange(50)},
                 "breaks": [{"id": 1, "time_windows": [[14400, 18000]], "service": 1200}] if i % 2 else []} for i in range(5)]
    jobs = [{"id": i, **place(), "service": 300, "setup": rng.choice([0, 120]), "delivery": [rng.randrange(2)],
             "pickup": [rng.randrange(2)], "skills": rng.choice([[], [1]]), "time_windows": windows()} for i in range(18)]
    shipments = [{"amount": [1], "skills": [], "max_ride": 7200, "pickup": {"id": 100 + i, **place(), "service": 60},
                  "delivery": {"id": 200 + i, **place(), "service": 60, "time_windows": windows()}} for i in range(8)]
    problem = {"vehicles": vehicles, "jobs": jobs, "shipments": shipments}
    if matrix:
        rows = [[0 if a is b else 60 + rng.randrange(2000) for b in points] for a in points]
        problem["matrices"] = {"car": {"durations": rows, "distances": [[7 * x for x in row] for row in rows]}}
    return problem


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_solutions_keep_every_rule(penstock, tmp_path, seed, matrix):
    file, out, again = tmp_path / "day.json", tmp_path / "solution.json", tmp_path / "again.json"
    problem = draw(seed, matrix)
    file.write_text(json.dumps(problem))
    told = penstock.json("booking", "plan", file, "--iterations", 500, "--seed", seed, "--out", out)
    solution = json.loads(out.read_text())
    check(problem, solution)
    assert told["cost"] == solution["summary"]["cost"] and told["vehicles"] == len(solution["routes"])
    assert f"cost {told['cost']}" in penstock("booking", "check", file, out).stdout
    penstock("booking", "plan", file, "--iterations", 500, "--seed", seed, "--out", again)
    assert again.read_text() == out.read_text()


def test_what_is_converted_is_the_same_problem(penstock, tmp_path):
    file, same = tmp_path / "day.json", tmp_path / "same.json"
    file.write_text(json.dumps(draw(3, True)))
    penstock("booking", "convert", file, "--out", same)
    plans = [penstock.json("booking", "plan", f, "--iterations", 300) for f in (file, same)]
    assert plans[0] == plans[1]


def test_the_checker_says_what_is_wrong(penstock, tmp_path):
    file, out = tmp_path / "day.json", tmp_path / "solution.json"
    file.write_text(json.dumps({
        "vehicles": [{"id": "ada", "start": [4.9, 52.37], "time_window": ["08:00", "17:00"]}],
        "jobs": [{"id": "oven", "location": [4.86, 52.38], "time_windows": [["09:00", "10:00"]]}]}))
    penstock("booking", "plan", file, "--iterations", 100, "--out", out)
    late = json.loads(out.read_text())
    late["routes"][0]["steps"][1]["arrival"] = 11 * 3600
    late["routes"][0]["steps"][1]["waiting_time"] = 0
    out.write_text(json.dumps(late))
    wrong = penstock("booking", "check", file, out, code=65).stdout
    assert "vehicle ada: job oven begins at 11:00:00, promised was 09:00:00 to 10:00:00" in wrong


def test_what_is_too_far_for_its_window_is_not_served_however_long_the_shift(penstock, tmp_path):
    """No end, no service, no shift: nothing but the window is in the way."""
    file, out = tmp_path / "day.json", tmp_path / "plan.json"
    far = {"id": 1, "location": [4.9, 72.4], "time_windows": [[28800, 36000]]}
    file.write_text(json.dumps({"vehicles": [{"id": 1, "start": [4, 52]}], "jobs": [far]}))
    told = penstock.json("booking", "plan", file, "--iterations", 5, "--out", out)
    assert json.loads(out.read_text())["summary"]["unassigned"] == 1, told
    penstock("booking", "check", file, out)


def test_faults_of_files_name_the_line_or_the_field(penstock, tmp_path):
    file = tmp_path / "day.json"
    file.write_text('{"vehicles": [{"id": 1, "strat": [1, 2]}]}')
    assert "unknown field \"strat\", did you mean 'start'?" in penstock("booking", "plan", file, code=65).stderr
    bookings, fleet = tmp_path / "bookings.csv", tmp_path / "fleet.json"
    bookings.write_text("lon,lat,earlist\n4.9,52.3,08:00\n")
    fleet.write_text('{"vehicles": [{"id": 1, "start": [4.9, 52.3]}]}')
    told = penstock("booking", "plan", bookings, "--fleet", fleet, code=65).stderr
    assert "bookings.csv:1: unknown column \"earlist\", did you mean 'earliest'?" in told
    bookings.write_text("lon,lat,answer,answer\n4.9,52.3,yes\n")
    told = penstock("booking", "plan", bookings, "--fleet", fleet, code=65).stderr
    assert 'bookings.csv:1: the column "answer" is there twice' in told


def test_planning_loads_no_torch(penstock, tmp_path):
    file = tmp_path / "day.json"
    file.write_text(json.dumps(draw(1, False)))
    done = penstock("booking", "plan", file, "--iterations", 1, LD_DEBUG="libs")
    assert "libtorch" not in done.stderr
