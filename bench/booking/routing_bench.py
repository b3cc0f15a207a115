#!/usr/bin/env python3
"""The routing searches beside PyVRP, OR-tools and the best known.

    bench/booking/routing_bench.py days  [--count 40] [--seconds 1] [--golden FILE] [ORACLE ...]
    bench/booking/routing_bench.py sets  [--per-set N] [--seconds 10] [--chains 2]
                                        [--others pyvrp,ortools] [SET ...]
    bench/booking/routing_bench.py speed

days and --others need what others.py says; nothing else of Penstock does. Instances are read from
$PENSTOCK_ROUTING_DATA. The program is build/ci/bench/routing_bench, or $ROUTING_BENCH.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess

import others

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


def days(args):
    golden = {"what": "PyVRP 0.14's costs of generated days, metres; seeds 1, 2, ...", "seconds": args.seconds}
    for mode in ("ride", "deliver"):
        reference = [others.pyvrp_cost(day, args.seconds)[0] for day in lines("days", "insertion", mode, args.count)]
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


def files_of(kind):
    return sorted(p for p in (DATA / FOLDERS[kind]).glob("*.txt") if re.fullmatch(NAMES[kind], p.stem))


def class_of(path):
    """R1, C2, ...; ORTEC's are one class."""
    found = re.match(r"l?([rc]+\d)", path.stem.lower())
    return found[1].upper() if found else ""


def spread(files, count):
    return [files[(2 * i + 1) * len(files) // (2 * count)] for i in range(count)]


def sample(files, count):
    """About `count` of the files, equally many of each class and spread over its list."""
    if not count or count >= len(files):
        return files
    classes = {}
    for path in files:
        classes.setdefault(class_of(path), []).append(path)
    each = max(1, count // len(classes))
    return [path for members in classes.values() for path in spread(members, min(each, len(members)))]


def result_line(found, best):
    """A row's text, the gap and the extra vehicles."""
    if not found:
        return "no plan", None, 0
    vehicles, cost = best
    gap = 100 * (found["cost"] / cost - 1)
    extra = found["vehicles"] - vehicles if vehicles else 0
    rounds = f", {found['iterations']:,} iterations" if "iterations" in found else ""
    return (f"{found['cost']:.1f} with {found['vehicles']} ({extra:+d}), {gap:+.2f} %, cpu {found['cpu']:.1f} s{rounds}",
            gap, extra)


def summary(kind, solver, rows):
    """Gaps of plans with more vehicles than the best known are told apart: they are not comparable."""
    gaps = [gap for gap, _ in rows if gap is not None]
    equal = [gap for gap, extra in rows if gap is not None and extra == 0]
    text = f"{kind}, {solver}: {len(gaps)} of {len(rows)} planned"
    if gaps:
        text += f", mean gap {statistics.mean(gaps):+.2f} %, worst {max(gaps):+.2f} %, "
        text += f"{sum(extra for _, extra in rows):+d} vehicles in all"
    if equal and len(equal) < len(gaps):
        text += f"; mean gap where vehicles are equal ({len(equal)}) {statistics.mean(equal):+.2f} %"
    return text


def sets(args):
    print(f"load at the beginning: {os.getloadavg()[0]:.1f}", flush=True)
    for kind in args.names or FOLDERS:
        rows = {}
        for path in sample(files_of(kind), args.per_set):
            best = best_known(path.stem, path)
            found = {"penstock": next(lines("anneal", kind, args.seconds, args.chains, path))}
            assert not found["penstock"]["violation"], found
            if args.others:
                day = next(lines("show", kind, path))
                found |= {solver: others.solve(solver, day, args.seconds) for solver in args.others.split(",")}
            for solver, result in found.items():
                text, gap, extra = result_line(result, best)
                rows.setdefault(solver, []).append((gap, extra))
                print(f"  {path.stem} {solver}: {text}", flush=True)
        for solver, results in rows.items():
            print(summary(kind, solver, results), flush=True)
    print(f"load at the end: {os.getloadavg()[0]:.1f}", flush=True)


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
    parser.add_argument("--per-set", type=int, default=0, help="a sample of each set, all classes alike; 0: all")
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--others", default="", help="pyvrp, ortools or both: on the same instances, as long")
    args = parser.parse_intermixed_args()  # options between the names
    args.seconds = args.seconds or {"days": 1, "sets": 10, "speed": 0}[args.what]
    {"days": days, "sets": sets, "speed": speed}[args.what](args)


if __name__ == "__main__":
    main()
