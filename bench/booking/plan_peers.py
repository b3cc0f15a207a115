#!/usr/bin/env python3
"""`penstock booking plan` beside PyVRP, OR-tools and VROOM, on the same matrices of whole numbers, at equal CPU seconds.

    python -m venv peers && peers/bin/pip install 'pyvrp==0.14.*' 'ortools==9.15.*' 'pyvroom==1.15.*' scipy
    PENSTOCK_EXE=build/ci/penstock peers/bin/python bench/booking/plan_peers.py [--seconds 3] [--sample 12] [--seeds 1,2,3] [--only ours,pyvrp] [--instances R101,mixed-1]

Of each kind (Solomon, Li & Lim of 50 shipments, ORTEC, mixed fleets) --sample instances are played, spread evenly over the sorted names. Seeds are those of the
searches of ours and PyVRP; the others have none, and play once. Benchmarks lie in $PENSTOCK_ROUTING_DATA. All solvers use one thread, and one runs at a time. PyVRP and OR-tools are stopped by the CPU time of their
process; ours and VROOM know the wall clock only, so a run that got less CPU than it should is repeated with a longer limit. VROOM stops by itself when
it is done. Prints a table of costs (means over seeds) and gaps to the best of the others, in Markdown, and the mean gap of each kind with its 95 % interval.
"""
import argparse
import collections
import datetime
import json
import math
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from student import half_width  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("PENSTOCK_ROUTING_DATA", ROOT.parent / "shared" / "data" / "routing"))
EXE = os.environ.get("PENSTOCK_EXE", str(ROOT / "build" / "ci" / "penstock"))
KINDS = {"solomon": "solomon100/*.txt", "lilim": "lilim_pdptw/l*[12][0-9][0-9].txt", "ortec": "ortec/*.txt"}
SEEDED = ("ours", "pyvrp")
FORBIDDEN = 10_000_000


def mixed(seed, jobs=100, vehicles=14):
    """Two depots, shifts that differ, three skills; a unit of cost is a second of driving."""
    rng = random.Random(seed)
    points = [(rng.uniform(0, 20000), rng.uniform(0, 20000)) for _ in range(jobs + 2)]
    rows = [[round(math.dist(a, b) / 8) for b in points] for a in points]
    fleet = []
    for v in range(vehicles):
        depot, begin = v % 2, rng.choice([0, 0, 7200, 14400])
        fleet.append({"id": v, "start_index": depot, "end_index": depot, "time_window": [begin, begin + 28800],
                      "capacity": [rng.choice([8, 12, 16])], "skills": [1 + v % 3, 1 + (v + 1) % 3]})
    tasks = []
    for j in range(jobs):
        begin = rng.randrange(0, 10) * 3600
        tasks.append({"id": j, "location_index": j + 2, "service": 600, "delivery": [1], "skills": rng.choice([[], [], [1], [2], [3]]),
                      "time_windows": [[begin, begin + rng.choice([3600, 7200, 14400])]]})
    return {"vehicles": fleet, "jobs": tasks, "matrices": {"car": {"durations": rows}}}


class Problem:
    """A problem of VROOM's form, as solvers by matrix take it."""

    def __init__(self, data):
        self.data, self.vehicles = data, data["vehicles"]
        matrix = data["matrices"]["car"]
        self.seconds, self.costs = matrix["durations"], matrix.get("costs", matrix["durations"])
        self.jobs, self.shipments = data.get("jobs", []), data.get("shipments", [])

    def can_serve(self, vehicle, task):
        return set(task.get("skills", [])) <= set(vehicle.get("skills", []))


def window(thing):
    return thing.get("time_windows", [[0, 10**8]])[0]


def pyvrp_cost(problem, seconds, seed):
    from pyvrp import Model, solve

    model, size = Model(), len(problem.seconds)
    places = [model.add_location(0, 0) for _ in range(size)]
    depots, profiles = {}, {}
    kinds = collections.Counter((v["start_index"], *v["time_window"], v["capacity"][0], tuple(sorted(v.get("skills", [])))) for v in problem.vehicles)
    for (row, early, late, capacity, skills), count in kinds.items():
        if row not in depots:
            depots[row] = model.add_depot(places[row])
        if skills not in profiles:
            profiles[skills] = model.add_profile()
        model.add_vehicle_type(num_available=count, capacity=capacity, start_depot=depots[row], end_depot=depots[row], tw_early=early,
                               tw_late=late, profile=profiles[skills])
    needs = {}
    for job in problem.jobs:
        early, late = window(job)
        needs[job["location_index"]] = set(job.get("skills", []))
        model.add_client(places[job["location_index"]], delivery=job.get("delivery", [0])[0], service_duration=job.get("service", 0),
                         tw_early=early, tw_late=late)
    for one in problem.shipments:
        (early, late), (early2, late2) = window(one["pickup"]), window(one["delivery"])
        model.add_shipment(places[one["pickup"]["location_index"]], places[one["delivery"]["location_index"]], amount=one["amount"][0],
                           pickup_tw_early=early, pickup_tw_late=late, pickup_service_duration=one["pickup"].get("service", 0),
                           delivery_tw_early=early2, delivery_tw_late=late2, delivery_service_duration=one["delivery"].get("service", 0))
    for skills, profile in profiles.items():
        for i in range(size):
            for j in range(size):
                if i != j:
                    allowed = needs.get(j, set()) <= set(skills)
                    model.add_edge(places[i], places[j], problem.costs[i][j] if allowed else FORBIDDEN, problem.seconds[i][j], profile=profile)
    begin = time.process_time()
    result = solve(model.data(), stop=lambda _: time.process_time() - begin > seconds, seed=seed, display=False, collect_stats=False)
    found = result.best.distance() if result.is_feasible() else None
    return None if found is None or found >= FORBIDDEN else found


def ortools_cost(problem, seconds, _):
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    tasks = [(job, job) for job in problem.jobs]
    for one in problem.shipments:
        tasks += [({**one["pickup"], "load": one["amount"][0]}, one), ({**one["delivery"], "load": -one["amount"][0]}, one)]
    nodes = [*range(len(tasks))]
    depots = sorted({v["start_index"] for v in problem.vehicles})
    row = [stop["location_index"] for stop, _ in tasks] + depots
    ends = [len(nodes) + depots.index(v["start_index"]) for v in problem.vehicles]
    manager = pywrapcp.RoutingIndexManager(len(row), len(problem.vehicles), ends, ends)
    model = pywrapcp.RoutingModel(manager)
    model.SetArcCostEvaluatorOfAllVehicles(model.RegisterTransitMatrix([[problem.costs[a][b] for b in row] for a in row]))
    service = [stop.get("service", 0) for stop, _ in tasks] + [0] * len(depots)
    horizon = max(v["time_window"][1] for v in problem.vehicles)
    model.AddDimension(model.RegisterTransitMatrix([[problem.seconds[a][b] + s for b in row] for a, s in zip(row, service)]), horizon, horizon,
                       False, "time")
    loads = [stop.get("load", stop.get("delivery", [0])[0]) for stop, _ in tasks] + [0] * len(depots)
    model.AddDimensionWithVehicleCapacity(model.RegisterUnaryTransitVector(loads), 0, [v["capacity"][0] for v in problem.vehicles], True, "load")
    when = model.GetDimensionOrDie("time")
    for k, (stop, task) in enumerate(tasks):
        at = manager.NodeToIndex(k)
        early, late = window(stop)
        when.CumulVar(at).SetRange(early, min(late, horizon))
        for v, vehicle in enumerate(problem.vehicles):
            if not problem.can_serve(vehicle, task):
                model.VehicleVar(at).RemoveValue(v)
    for v, vehicle in enumerate(problem.vehicles):
        when.CumulVar(model.Start(v)).SetMin(vehicle["time_window"][0])
        when.CumulVar(model.End(v)).SetMax(vehicle["time_window"][1])
    for k in range(len(problem.jobs), len(tasks), 2):
        pickup, drop = manager.NodeToIndex(k), manager.NodeToIndex(k + 1)
        model.AddPickupAndDelivery(pickup, drop)
        model.solver().Add(model.VehicleVar(pickup) == model.VehicleVar(drop))
        model.solver().Add(when.CumulVar(pickup) <= when.CumulVar(drop))
    how = pywrapcp.DefaultRoutingSearchParameters()
    how.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PARALLEL_CHEAPEST_INSERTION
    how.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    how.time_limit.FromMilliseconds(int(20000 * seconds))
    begin = time.process_time()
    model.AddSearchMonitor(model.solver().CustomLimit(lambda: time.process_time() - begin > seconds))
    plan = model.SolveWithParameters(how)
    return plan and plan.ObjectiveValue()


def until_fair(run, seconds):
    """Runs with a limit of wall time such that about `seconds` of CPU are used, or the solver stops by itself."""
    limit = seconds
    for _ in range(2):
        cost, cpu, wall = run(limit)
        if cpu >= 0.9 * seconds or wall < 0.9 * limit:
            break
        limit = min(20 * seconds, limit * seconds / max(cpu, 0.05 * seconds))
    return cost


def vroom_cost(problem, seconds, _):
    import vroom

    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(problem.data, file)
        file.flush()

        def run(limit):
            begin, cpu = time.monotonic(), time.process_time()
            solution = vroom.Input.from_json(file.name).solve(exploration_level=5, nb_threads=1, timeout=datetime.timedelta(seconds=limit))
            cost = None if solution.summary.unassigned else solution.summary.cost
            return cost, time.process_time() - cpu, time.monotonic() - begin

        return until_fair(run, seconds)


def our_cost(problem, seconds, seed):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(problem.data, file)
        file.flush()

        def run(limit):
            begin, cpu = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([EXE, "booking", "plan", file.name, "--seconds", str(limit), "--seed", str(seed), "--json"], capture_output=True, text=True, check=True)
            after, told = resource.getrusage(resource.RUSAGE_CHILDREN), json.loads(done.stdout)
            return None if told["unserved"] else told["cost"], after.ru_utime - cpu.ru_utime, time.monotonic() - begin

        return until_fair(run, seconds)


SOLVERS = {"ours": our_cost, "pyvrp": pyvrp_cost, "ortools": ortools_cost, "vroom": vroom_cost}


def spread(items, count):
    return [items[i * len(items) // count] for i in range(min(count, len(items)))]


def instances(sample):
    """(kind, name, problem)."""
    for kind, pattern in KINDS.items():
        for file in spread(sorted(DATA.glob(pattern)), sample):
            done = subprocess.run([EXE, "booking", "convert", str(file)], capture_output=True, text=True, check=True)
            yield kind, file.stem, Problem(json.loads(done.stdout))
    for seed in range(1, sample + 1):
        yield "mixed", f"mixed-{seed}", Problem(mixed(seed))


def mean_cost(solver, problem, seconds, seeds):
    """None where one of the seeds has no plan that serves all."""
    costs = [SOLVERS[solver](problem, seconds, seed) for seed in (seeds if solver in SEEDED else seeds[:1])]
    return None if None in costs else statistics.mean(costs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--sample", type=int, default=3)
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--only", default=",".join(SOLVERS))
    parser.add_argument("--instances", default="")
    args = parser.parse_args()
    names, wanted, seeds = args.only.split(","), set(filter(None, args.instances.split(","))), [int(s) for s in args.seeds.split(",")]
    print(f"| kind | instance | {' | '.join(names)} | ours to the best of the others |\n|---|---|{'---|' * (len(names) + 1)}")
    gaps = collections.defaultdict(list)
    for kind, name, problem in instances(args.sample):
        if wanted and name not in wanted:
            continue
        costs = {solver: mean_cost(solver, problem, args.seconds, seeds) for solver in names}
        best = min((cost for solver, cost in costs.items() if solver != "ours" and cost is not None), default=None)
        ours = costs.get("ours")
        gap = None if ours is None or not best else 100 * (ours / best - 1)
        gaps[kind] += [] if gap is None else [gap]
        cells = " | ".join("none" if costs[n] is None else f"{costs[n]:.0f}" for n in names)
        print(f"| {kind} | {name} | {cells} | {'none' if gap is None else f'{gap:+.2f} %'} |", flush=True)
    gaps["all"] = [gap for some in gaps.values() for gap in some]
    for kind, some in gaps.items():
        if some:
            print(f"\n{kind}: mean gap {statistics.mean(some):+.2f} % ± {half_width(some):.2f} over {len(some)} instances, {args.seconds} CPU s each")


if __name__ == "__main__":
    sys.exit(main())
