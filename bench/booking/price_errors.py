#!/usr/bin/env python3
"""How much of a quoted price the search between calls takes off again, and how often the quoted interval held.

    bench/booking/price_errors.py [--exe build/release/penstock] [--bookings 80] [--days 3]

Each booking waits until the search after the one before is over.
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile
import time
import urllib.request

DEPOT = [13.40, 52.50]
WINDOWS = [[f"{hour:02}:00", f"{hour + 2:02}:00"] for hour in range(8, 18, 2)]


def ask(port, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=data), timeout=60) as reply:
        return json.load(reply)


def settled_cost(port, plan, calm_s):
    """The plan's cost once it has not changed for a while."""
    cost, since = None, time.monotonic()
    while time.monotonic() - since < calm_s:
        now = ask(port, f"/v1/plans/{plan}")["cost"]
        if now != cost:
            cost, since = now, time.monotonic()
        time.sleep(0.05)
    return cost


def one_day(port, plan, bookings, draw, calm_s):
    """[(share of the price that was taken off, whether the interval held)]."""
    told, cost = [], 0.0
    for number in range(bookings):
        job = {"id": f"o{number}", "location": [DEPOT[0] + draw.gauss(0, 0.08), DEPOT[1] + draw.gauss(0, 0.05)], "service": 300, "delivery": [1]}
        window = draw.choice(WINDOWS)
        quote = ask(port, f"/v1/plans/{plan}/quote", {"job": job, "slots": [{"window": window}]})["slots"][0]
        if not quote["feasible"]:
            continue
        ask(port, f"/v1/plans/{plan}/commit", {"job": job, "slot": {"window": window}})
        after = settled_cost(port, plan, calm_s)
        added, (low, high) = after - cost, quote["cost_interval"]
        if quote["added_cost"] > 0:
            told.append((1 - added / quote["added_cost"], low - 0.01 <= added <= high + 0.01))
        cost = after
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--exe", default="build/release/penstock")
    parser.add_argument("--bookings", type=int, default=80)
    parser.add_argument("--days", type=int, default=3)
    parser.add_argument("--calm", type=float, default=0.4, help="seconds without a change that end a search")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        fleet = {"vehicles": [{"id": f"v{i}", "start": DEPOT, "end": DEPOT, "capacity": [40], "time_window": ["07:00", "20:00"]} for i in range(6)]}
        (folder / "north.json").write_text(json.dumps(fleet))
        service = subprocess.Popen([args.exe, "booking", "serve", "--fleet", folder / "north.json", "--store", folder / "days.db", "--port", "0"],
                                   stdout=subprocess.PIPE, text=True)
        try:
            port = int(service.stdout.readline().rsplit(":", 1)[1])
            draw = random.Random(1)
            told = [one for day in range(args.days) for one in one_day(port, f"north.2026-12-{day + 1:02}", args.bookings, draw, args.calm)]
        finally:
            service.terminate()
            service.wait()
    shares = sorted(share for share, _ in told)
    at = lambda share: round(shares[int(share * (len(shares) - 1))], 3)  # noqa: E731
    print(json.dumps({"bookings": len(told), "saved share": {"5 %": at(0.05), "50 %": at(0.5), "90 %": at(0.9), "95 %": at(0.95)},
                      "interval held": round(sum(held for _, held in told) / len(told), 3)}))


if __name__ == "__main__":
    main()
