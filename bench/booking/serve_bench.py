#!/usr/bin/env python3
"""How fast `penstock booking serve` quotes, beside its own /health, and what plans cost in memory.

    bench/booking/serve_bench.py [--exe build/release/penstock] [--plans 1000] [--policy models/slots-seller] [--out report.json]

The service has one core (taskset), this client another. Ratios to /health of the same run say what the machine was like.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

DEPOT = [13.40, 52.50]
SLOTS = [{"window": [f"{hour:02}:00", f"{hour + 2:02}:00"]} for hour in range(8, 18, 2)]


class Line:
    """A kept connection without http.client, whose time would count as the service's."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.host = f"127.0.0.1:{port}"

    def message(self, method, path, body=b""):
        return f"{method} {path} HTTP/1.1\r\nHost: {self.host}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body

    def send(self, message):
        """(status, body)."""
        self.socket.sendall(message)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self.socket.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += self.socket.recv(65536)
        return int(head.split()[1]), body


class Service:
    policy = None  # a network that advises on slots and fees

    def __init__(self, exe, folder, vehicles, capacity):
        fleet = {"vehicles": [{"id": f"v{i}", "start": DEPOT, "end": DEPOT, "capacity": [capacity],
                               "time_window": ["07:00", "20:00"]} for i in range(vehicles)]}
        options = []
        if self.policy:
            fleet["forecast"] = {"calls": vehicles * capacity, "revenue": 3000}
            taste = {"name": "all", "share": 1, "any": 1, "fee": -0.002}
            (folder / "tastes.json").write_text(json.dumps({"tastes": [taste]}))
            options = ["--policy", self.policy, "--tastes", folder / "tastes.json"]
        (folder / "north.json").write_text(json.dumps(fleet))
        self.process = subprocess.Popen(
            ["taskset", "-c", "0", exe, "booking", "serve", "--fleet", folder / "north.json", "--store", folder / "days.db",
             "--port", "0", "--improve", "0", *options], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        self.line = Line(self.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def post(self, plan, verb, body):
        return self.line.send(self.line.message("POST", f"/v1/plans/{plan}/{verb}", json.dumps(body).encode()))

    def memory_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1000

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def job(draw, number):
    return {"id": f"o{number}", "location": [DEPOT[0] + draw.gauss(0, 0.08), DEPOT[1] + draw.gauss(0, 0.05)], "service": 120,
            "delivery": [1]}


def fill(service, plan, size, draw):
    """Books that many; slots that are full are tried in another order."""
    number = booked = 0
    while booked < size and number < 3 * size:
        number += 1
        slots = SLOTS[:]
        draw.shuffle(slots)
        booked += any(service.post(plan, "commit", {"job": job(draw, number), "slot": {"window": slot["window"]}})[0] == 200
                      for slot in slots)
    return booked


def times_ms(line, messages):
    told = []
    for message in messages:
        begin = time.perf_counter()
        status, _ = line.send(message)
        told.append(1000 * (time.perf_counter() - begin))
        assert status == 200
    return sorted(told)


def measure_quotes(service, plans, count, draw):
    """Latencies of quotes of five slots, of one plan after the other, and of /health before."""
    quote = [service.line.message("POST", f"/v1/plans/{plans[i % len(plans)]}/quote", json.dumps({"job": job(draw, -i), "slots": SLOTS}).encode())
             for i in range(count)]
    health = [service.line.message("GET", "/health")] * count
    calm = times_ms(service.line, health)
    cpu, begin = service.cpu_s(), time.perf_counter()
    quotes = times_ms(service.line, quote)
    wall, cpu = time.perf_counter() - begin, service.cpu_s() - cpu
    at = lambda times, share: round(times[int(share * (len(times) - 1))], 3)  # noqa: E731
    return {"p50_ms": at(quotes, 0.5), "p99_ms": at(quotes, 0.99), "health_p50_ms": at(calm, 0.5), "health_p99_ms": at(calm, 0.99),
            "ratio_p50": round(statistics.median(quotes) / statistics.median(calm), 2), "per_s": round(count / wall),
            "per_cpu_s": round(count / cpu) if cpu else None}


def one_plan(exe, size, vehicles, count):
    draw = random.Random(size)
    with tempfile.TemporaryDirectory() as folder, Service(exe, pathlib.Path(folder), vehicles, 2 * size // vehicles + 1) as service:
        before = service.memory_mb()
        begin = time.perf_counter()
        booked = fill(service, "north.2026-12-01", size, draw)
        filled = time.perf_counter() - begin
        told = measure_quotes(service, ["north.2026-12-01"], count, draw)
        return {"booked": booked, "fill_s": round(filled, 1), **told, "memory_mb": round(service.memory_mb() - before, 1)}


def copy_plan(store, first, names):
    """The same day again and again, in the store: filling each by calls would take an hour."""
    with contextlib.closing(sqlite3.connect(store)) as database, database:
        for name in names:
            database.execute("INSERT INTO plans SELECT ?, version, routes FROM plans WHERE id = ?", (name, first))
            database.execute("INSERT INTO bookings SELECT ?, id, expires_ms, request FROM bookings WHERE plan = ?", (name, first))


def many_plans(exe, plans, size):
    names = [f"north.{2027 + i // 300}-{1 + i // 25 % 12:02}-{1 + i % 25:02}" for i in range(plans)]
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        with Service(exe, folder, 12, 2 * size // 12) as service:
            booked = fill(service, names[0], size, random.Random(8))
        copy_plan(folder / "days.db", names[0], names[1:])
        begin = time.perf_counter()
        with Service(exe, folder, 12, 2 * size // 12) as service:
            start_s = time.perf_counter() - begin
            draw = random.Random(9)
            told = measure_quotes(service, names, 2000, draw)
            return {"plans": plans, "booked": plans * booked, "start_s": round(start_s, 1), "memory_mb": round(service.memory_mb()), **told}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--exe", default="build/release/penstock")
    parser.add_argument("--plans", type=int, default=1000)
    parser.add_argument("--quotes", type=int, default=2000)
    parser.add_argument("--policy", help="a policy file or its folder, for `serve --policy`")
    parser.add_argument("--sizes", default="100:6,200:12,500:30,2000:120", help="bookings:vehicles of the plans")
    parser.add_argument("--out")
    args = parser.parse_args()
    os.sched_setaffinity(0, {1} if os.cpu_count() > 1 else {0})
    Service.policy = args.policy
    told = {}
    for size, vehicles in (map(int, pair.split(":")) for pair in args.sizes.split(",")):
        told[f"plan of {size}"] = one_plan(args.exe, size, vehicles, args.quotes)
        print(size, told[f"plan of {size}"], file=sys.stderr, flush=True)
    if args.plans:
        told["many plans of 200"] = many_plans(args.exe, args.plans, 200)
    text = json.dumps(told, indent=1)
    print(text)
    if args.out:
        pathlib.Path(args.out).write_text(text + "\n")


if __name__ == "__main__":
    main()
