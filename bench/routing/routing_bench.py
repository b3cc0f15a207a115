#!/usr/bin/env python3
"""The routing searches beside PyVRP and the best known.

    bench/routing/routing_bench.py days  [--count 40] [--seconds 1] [--golden FILE] [ORACLE ...]
    bench/routing/routing_bench.py sets  [--per-set N] [--seconds 10] [--chains 2] [--pyvrp N] [SET ...]
    bench/routing/routing_bench.py speed

days and --pyvrp need `pip install 'pyvrp==0.14.*'`. Instances are read from $PENSTOCK_ROUTING_DATA. The program is
build/ci/bench/routing_bench, or $ROUTING_BENCH.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("ROUTING_BENCH", ROOT / "build" / "ci" / "bench" / "routing_bench")
DATA = pathlib.Path(os.environ.get("PENSTOCK_ROUTING_DATA", ROOT.parent / "shared" / "data" / "routing"))
FOLDERS = {"solomon": "solomon100", "lilim": "lilim_pdptw", "homberger": "homberger", "ortec": "ortec"}
NAMES = {"solomon": r"[RC]+\d\d\d", "lilim": r"l[rc]+\d\d\d", "homberger": r"[rc]+\d_2_\d+", "ortec": r"ORTEC-.*"}


def lines(*words):
    """What the program prints, line by line as it comes."""
    with subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode != 0:
        raise SystemExit(f"routing_bench {' '.join(map(str, words[:3]))}: exit code {process.returncode}")


def pyvrp_model(day):
    """A day of `routing_bench days` as PyVRP's problem data."""
    from pyvrp import Model

    model, size = Model(), len(day["nodes"])
    places = [model.add_location(0, 0) for _ in range(size)]
    depot = model.add_depot(places[0])
    model.add_vehicle_type(num_available=day["vehicles"], capacity=day["capacity"], start_depot=depot, end_depot=depot)
    if day["mode"] == "ride":
        for k in range(1, size, 2):
            (early, late, service, load), (early2, late2, service2, _) = day["nodes"][k:k + 2]
            model.add_shipment(places[k], places[k + 1], amount=load, pickup_tw_early=early, pickup_tw_late=late,
                               pickup_service_duration=service, delivery_tw_early=early2, delivery_tw_late=late2,
                               delivery_service_duration=service2)
    else:
        for place, (early, late, service, load) in zip(places[1:], day["nodes"][1:]):
            model.add_client(place, delivery=load, service_duration=service, tw_early=early, tw_late=late)
    for i in range(size):
        for j in range(size):
            if i != j:
                model.add_edge(places[i], places[j], day["distance"][i * size + j], day["duration"][i * size + j])
    return model.data()


def pyvrp_cost(data, seconds):
    from pyvrp import solve
    from pyvrp.stop import MaxRuntime

    result = solve(data, stop=MaxRuntime(seconds), seed=1, display=False, collect_stats=False)
    return result.cost() if result.is_feasible() else None


def days(args):
    golden = {"what": "PyVRP 0.14's costs of generated days, metres; seeds 1, 2, ...", "seconds": args.seconds}
    for mode in ("ride", "deliver"):
        reference = [pyvrp_cost(pyvrp_model(day), args.seconds) for day in lines("days", "insertion", mode, args.count)]
        golden[mode] = reference
        print(f"{mode}: PyVRP {args.seconds:g} s, mean {statistics.mean(reference) / 1000:.2f} km", flush=True)
        for oracle in args.names or ["insertion", "relocate", "rr-50", "rr-1000"]:
            found = list(lines("days", oracle, mode, args.count))
            assert not any(day["violation"] or day["unserved"] for day in found)
            mean = statistics.mean(day["cost"] for day in found)
            gap = mean / statistics.mean(reference) - 1
            print(f"{mode}: {oracle} {mean / 1000:.2f} km, {100 * gap:+.2f} %", flush=True)
    if args.golden:
        pathlib.Path(args.golden).write_text(json.dumps(golden, indent=1) + "\n")


def best_known(name, path):
    """(vehicles or None, cost) of an instance."""
    if path.with_suffix(".sol").exists():
        cost = re.search(r"Cost\s+([\d.]+)", path.with_suffix(".sol").read_text())
        return None, float(cost[1])
    with open(DATA / "bks_sintef_gh_lilim.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["instance"] == name.lower()]
    return min((int(row["routes"]), float(row["distance"])) for row in rows)


def sample(files, count):
    """`count` of the files, spread over the list."""
    return files if not count or count >= len(files) else [files[i * len(files) // count] for i in range(count)]


def solomon_day(path):
    """A Solomon file as pyvrp_model() takes it: tenths, truncated."""
    import vrplib

    file = vrplib.read_instance(path, instance_format="solomon")
    legs = [int(10 * leg) for row in file["edge_weight"] for leg in row]
    nodes = [(10 * int(early), 10 * int(late), 10 * int(service), int(load)) for (early, late), service, load in
             zip(file["time_window"], file["service_time"], file["demand"])]
    return {"mode": "deliver", "vehicles": int(file["vehicles"]), "capacity": int(file["capacity"]), "nodes": nodes,
            "distance": legs, "duration": legs}


def pyvrp_on_file(path, seconds):
    """PyVRP's cost of a Solomon file in the DIMACS convention, or of an ORTEC file."""
    import pyvrp

    if path.name.startswith("ORTEC"):
        return pyvrp_cost(pyvrp.read(path), seconds)
    return pyvrp_cost(pyvrp_model(solomon_day(path)), seconds) / 10


def sets(args):
    for kind in args.names or FOLDERS:
        files = sorted(p for p in (DATA / FOLDERS[kind]).glob("*.txt") if re.fullmatch(NAMES[kind], p.stem))
        gaps, more = [], 0
        for found, path in zip(lines("anneal", kind, args.seconds, args.chains, *sample(files, args.per_set)),
                               sample(files, args.per_set)):
            assert not found["violation"], found
            vehicles, cost = best_known(found["name"], path)
            gap = found["cost"] / cost - 1
            extra = found["vehicles"] - vehicles if vehicles else 0
            gaps.append(gap)
            more += extra
            beside = ""
            if len(gaps) <= args.pyvrp and kind in ("solomon", "ortec"):
                beside = f", PyVRP {100 * (pyvrp_on_file(path, args.seconds) / cost - 1):+.2f} %"
            print(f"  {found['name']}: {found['cost']:.1f}, {found['vehicles']} vehicles ({extra:+d}), "
                  f"{100 * gap:+.2f} %, {found['iterations']} iterations{beside}", flush=True)
        print(f"{kind}: {len(gaps)} instances, mean gap {100 * statistics.mean(gaps):+.2f} %, "
              f"{more:+d} vehicles in all", flush=True)


def speed(_):
    for oracle in ("insertion", "relocate", "rr-50"):
        for mode in ("ride", "deliver"):
            for found in lines("speed", oracle, mode, 2):
                print(f"{oracle} {mode}: {found['steps_per_second']:,.0f} steps/s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["days", "sets", "speed"])
    parser.add_argument("names", nargs="*", help="oracles or sets; all when none is named")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--golden", help="where to write PyVRP's costs")
    parser.add_argument("--per-set", type=int, default=0, help="a sample of each set; 0: all")
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--pyvrp", type=int, default=0, help="so many of each set by PyVRP too")
    args = parser.parse_intermixed_args()  # options between the names
    args.seconds = args.seconds or {"days": 1, "sets": 10, "speed": 0}[args.what]
    {"days": days, "sets": sets, "speed": speed}[args.what](args)


if __name__ == "__main__":
    main()
