"""`penstock dvrptw offer`: by file, on stdin and over HTTP; a price recomputed by brute force."""

import contextlib
import http.client
import itertools
import json
import math
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

DOC = pathlib.Path(__file__).resolve().parents[2] / "docs" / "booking" / "offer.md"
BLOCKS = re.findall(r"```(?:json|bash)\n(.*?)```", DOC.read_text(), re.S)
QUERY, COMMAND, ANSWER = BLOCKS[:3]


@pytest.fixture
def query(tmp_path):
    path = tmp_path / "query.json"
    path.write_text(QUERY)
    return path


def test_the_page_s_example_word_for_word(penstock, query):
    words = COMMAND.split()
    assert words[0] == "penstock"
    done = subprocess.run([penstock.exe, *words[1:]], cwd=query.parent, capture_output=True, text=True, check=True,
                          env=penstock.environment(), stdin=subprocess.DEVNULL)
    assert done.stdout.startswith(ANSWER.rstrip("\n"))
    offers = json.loads(done.stdout)["offers"]
    assert len(offers) == 16 and {o["offer"] for o in offers} == set(range(16))


def test_stdin_is_the_same(penstock, query):
    by_file = penstock("dvrptw", "offer", query).stdout
    for args in ([], ["-"]):
        done = subprocess.run([penstock.exe, "dvrptw", "offer", *args], input=QUERY, capture_output=True, text=True,
                              env=penstock.environment(), check=True)
        assert done.stdout == by_file


def seconds(text):
    hours, minutes, *rest = map(int, text.split(":"))
    return 3600 * hours + 60 * minutes + (rest[0] if rest else 0)


class Day:
    """The example, read without the program: stops as (request, kind), 0 is the depot."""

    def __init__(self, query):
        self.roads, self.capacity = query["roads"], query["capacity"]
        self.depot = query["depot"]
        self.place, self.window = {0: self.depot}, {}
        for request in [*query["requests"], query["new"]]:
            up, down = (request["id"], 0), (request["id"], 1)
            self.place[up], self.place[down] = request["pickup"], request["dropoff"]
            early, late = seconds(request["pickup"]["earliest"]), seconds(request["pickup"]["latest"])
            later = 60 + self.drive(up, down)
            self.window[up], self.window[down] = (early, late), (early + later, late + later)

    def crow(self, a, b):
        return self.roads["circuity"] * math.dist(*[(self.place[k]["x"], self.place[k]["y"]) for k in (a, b)])

    def metres(self, a, b):
        return math.floor(self.crow(a, b) + 0.5)

    def drive(self, a, b):
        return math.floor(self.crow(a, b) * 3.6 / self.roads["kmh"] + 0.5)

    def length(self, route):
        return sum(map(self.metres, [0, *route], [*route, 0])) if route else 0

    def holds(self, route):
        clock, here, load = seconds(self.depot["earliest"]), 0, 0
        for stop in route:
            clock = max(clock + self.drive(here, stop), self.window[stop][0])
            load += -1 if stop[1] else 1
            if clock > self.window[stop][1] or load > self.capacity:
                return False
            clock, here = clock + 60, stop
        return clock + self.drive(here, 0) <= seconds(self.depot["latest"])

    def cheapest(self, routes, new):
        """Every place of the new pickup and drop-off in every route."""
        prices = []
        for route in routes:
            for i, k in itertools.combinations_with_replacement(range(len(route) + 1), 2):
                tried = [*route[:i], (new, 0), *route[i:k], (new, 1), *route[k:]]
                if self.holds(tried):
                    prices.append(self.length(tried) - self.length(route))
        return min(prices, default=None)


def test_prices_are_those_of_brute_force(penstock, query):
    document = json.loads(QUERY)
    del document["ride_km_per_min"]  # kilometres alone
    query.write_text(json.dumps(document))
    routes = [[(name, route[:i].count(name)) for i, name in enumerate(route)] for route in document["routes"]]
    answer = json.loads(penstock("dvrptw", "offer", query, "--oracle", "insertion").stdout)
    prices = {}
    for offer in answer["offers"]:
        day = Day(document)
        early, late = 60 * offer["earlier_min"], 60 * offer["later_min"]
        up, down = ("cora", 0), ("cora", 1)
        day.window[up] = tuple(t - early for t in day.window[up])
        day.window[down] = tuple(t + late for t in day.window[down])
        price = day.cheapest(routes, "cora")
        assert offer["feasible"] == (price is not None)
        if price is not None:
            assert offer["added_km"] == price / 1000
            prices[offer["offer"]] = price
    assert answer["plan_km"] == sum(map(day.length, routes)) / 1000
    assert len(set(prices.values())) > 1  # or the example shows nothing
    feasible = [o for o in answer["offers"] if o["feasible"]]
    assert feasible == answer["offers"][: len(feasible)]
    assert [o["added_km"] for o in feasible] == sorted(o["added_km"] for o in feasible)
    for offer in feasible:
        minutes = offer["earlier_min"] + offer["later_min"]
        if minutes:
            saved = prices[12] - prices[offer["offer"]]
            assert offer["saved_km"] == saved / 1000
            assert offer["saved_km_per_minute"] == pytest.approx(saved / 1000 / minutes, abs=1e-6)


def test_the_search_is_never_dearer(penstock, query):
    query.write_text(QUERY.replace('"ride_km_per_min": 0.1,', ""))
    plain = json.loads(penstock("dvrptw", "offer", query, "--oracle", "insertion").stdout)
    searched = json.loads(penstock("dvrptw", "offer", query).stdout)
    assert plain["base_km"] == plain["plan_km"] == searched["plan_km"] >= searched["base_km"]
    cheapest = {o["offer"]: o["added_km"] for o in plain["offers"] if o["feasible"]}
    for offer in searched["offers"]:
        if offer["offer"] in cheapest:
            assert searched["base_km"] + offer["added_km"] <= plain["base_km"] + cheapest[offer["offer"]] + 1e-9


def test_nobody_sits_in_a_parked_car_for_nothing(penstock, query):
    """Anna once boarded at 08:00 to wait for Cora until 08:30; her promise is 08:30, the direct way takes 16 minutes and 20 seconds."""
    answer = json.loads(penstock("dvrptw", "offer", query).stdout)
    best = answer["offers"][0]
    stops = {(s["id"], s["at"]): s for route in best["routes"] for s in route["stops"]}
    day = Day(json.loads(QUERY))
    direct = day.drive(("anna", 0), ("anna", 1))
    ride = seconds(stops["anna", "dropoff"]["start"]) - seconds(stops["anna", "pickup"]["start"]) - 60
    way_over_cora = day.drive(("anna", 0), ("cora", 0)) + 60 + day.drive(("cora", 0), ("anna", 1))
    assert direct < ride == way_over_cora
    promised = best["added_km"] + 0.1 * best["added_ride_min"]
    assert best["price_km"] == pytest.approx(promised, abs=0.006)  # minutes are told to a tenth
    assert [o["price_km"] for o in answer["offers"]] == sorted(o["price_km"] for o in answer["offers"])


def test_errors_name_the_field(penstock, query):
    document = json.loads(QUERY)
    document["new"]["pickup"]["latest"] = "9 o'clock"
    query.write_text(json.dumps(document))
    told = penstock("dvrptw", "offer", query, code=65).stderr
    assert "query.json: new.pickup.latest: should be seconds since midnight" in told
    assert "is the path right?" in penstock("dvrptw", "offer", "absent.json", code=1).stderr
    assert "rr-N" in penstock("dvrptw", "offer", query, "--oracle", "best", code=2).stderr


def big_query(rides=100):
    """The page's example with more promised rides, each on a vehicle of its own."""
    document = json.loads(QUERY)
    hours = [f"{6 + i % 12:02}:{i % 60:02}" for i in range(rides)]
    document["requests"] = [
        {"id": f"ride number {i}", "pickup": {"x": 60 * (i % 100), "y": 7000 - 50 * (i % 99), "earliest": hour, "latest": "20:00"},
         "dropoff": {"x": 7000 - 40 * (i % 98), "y": 30 * (i % 97)}} for i, hour in enumerate(hours)]
    document["routes"] = [[ride["id"]] * 2 for ride in document["requests"]]
    document["vehicles"] = min(rides + 1, 2000)
    return json.dumps(document)


def post(url, body):
    with urllib.request.urlopen(urllib.request.Request(url, data=body.encode()), timeout=30) as reply:
        return reply.status, reply.read().decode()


@contextlib.contextmanager
def served(penstock, *args):
    """The address of a server, which ends well."""
    server = penstock.start("dvrptw", "offer", "--serve", 0, *args)
    try:
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        code = server.wait(timeout=30)
        server.stdout.close()
        server.stderr.close()
    assert code == 0


def test_http(penstock, query):
    with served(penstock) as url:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/offer", url)
        assert post(url, QUERY) == (200, penstock("dvrptw", "offer", query).stdout)
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(url, "{}")
        assert refused.value.code == 400
        assert "is missing" in json.loads(refused.value.read())["error"]
        with urllib.request.urlopen(url.replace("/offer", "/health"), timeout=30) as reply:
            assert reply.read() == b"ok\n"
        assert "the port is taken" in penstock("dvrptw", "offer", "--serve", url.split(":")[2].split("/")[0], code=1).stderr


def book(url, deliveries):
    """Deliveries promised one by one, each as wished; the kilometres of the last plan."""
    document = {"mode": "deliver", "vehicles": 6, "capacity": 40, "depot": {"x": 8500, "y": 8500, "earliest": "08:00", "latest": "20:00"},
                "requests": [], "routes": [[] for _ in range(6)]}
    for new in deliveries:
        status, answer = post(url, json.dumps({**document, "new": new}))
        assert status == 200
        answer = json.loads(answer)
        taken = next(o for o in answer["offers"] if o["earlier_min"] == o["later_min"] == 0)
        assert taken["feasible"]
        for route in taken["routes"]:
            document["routes"][route["vehicle"]] = [stop["id"] for stop in route["stops"]]
        document["requests"].append(new)
    return answer["base_km"] + taken["added_km"]


def test_what_is_committed_by_default_stays_short(penstock):
    """Plans made of cheapest places grow a third longer than they need be (docs/booking/offer.md)."""
    draw = random.Random(5)
    deliveries = []
    for i in range(25):
        begin = draw.randrange(8 * 3600, 17 * 3600)
        deliveries.append({"id": f"d{i}", "stop": {"x": draw.uniform(0, 17000), "y": draw.uniform(0, 17000), "earliest": begin,
                                                   "latest": begin + 7200}})
    with served(penstock) as url:
        by_default = book(url, deliveries)
    with served(penstock, "--oracle", "insertion") as url:
        by_insertion = book(url, deliveries)
    assert by_default < 0.9 * by_insertion


@pytest.mark.parametrize("rides", [100, 2000])
def test_large_plans_over_http(penstock, query, rides):
    """Also by the page's own line, if curl is there: it once sent a form, of which 8 KB were taken."""
    query.write_text(big_query(rides))
    assert query.stat().st_size > 160 * rides
    by_file = penstock("dvrptw", "offer", query, "--oracle", "insertion").stdout
    line = next(block for block in BLOCKS if block.startswith("curl"))
    with served(penstock, "--oracle", "insertion") as url:
        assert post(url, query.read_text()) == (200, by_file)
        if shutil.which("curl"):
            words = shlex.split(line.replace("http://127.0.0.1:8080/offer", url))
            for form in ([], ["-H", "Content-Type: application/x-www-form-urlencoded"]):  # what curl says unless told
                done = subprocess.run([*words, *form, "--silent", "--show-error"], cwd=query.parent, capture_output=True, text=True)
                assert done.returncode == 0 and done.stdout == by_file, done.stderr


def test_answers_do_not_wait_for_an_acknowledgement(penstock):
    """Without TCP_NODELAY each answer on an open connection came after the 40 ms for which Linux puts an ACK off."""
    with served(penstock, "--oracle", "insertion") as url:
        address = urllib.parse.urlsplit(url)
        line = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
        seconds = []
        for _ in range(100):
            begin = time.perf_counter()
            line.request("POST", "/offer", QUERY)
            assert line.getresponse().read()
            seconds.append(time.perf_counter() - begin)
        line.close()
    assert min(seconds) < 0.04  # one in a hundred suffices: a busy machine has all the others
