"""The booking service killed at any moment under eight callers: nothing promised is lost, sold twice or done twice.

PENSTOCK_TEST_KILLS sets how many kills for each store (3; the long version is 200).
"""

import collections
import contextlib
import http.client
import json
import os
import pathlib
import random
import sys
import threading
import time

import pytest
from postgresql_server import missing, postgresql_server
from processes import wait_until

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from booking_client import Line, Service  # noqa: E402
from booking_model import Model  # noqa: E402

KILLS = int(os.environ.get("PENSTOCK_TEST_KILLS", "3"))
CALLERS = 8
PLANS = ["north.2026-12-01", "north.2026-12-02", "north.2026-12-03"]
CAPACITY = 12  # of a day: less than there are orders, so that places are fought for
DEPOT = [13.4, 52.5]
# Everything is at the depot and takes no time: what fits is a matter of capacity alone, which the model can tell.
FLEET = {"vehicles": [{"id": f"van{i}", "start": DEPOT, "end": DEPOT, "capacity": [CAPACITY // 3],
                       "time_window": ["08:00", "18:00"]} for i in range(3)]}
CUSTOMERS = [f"c{i}" for i in range(100)]  # few answers of each: the newest hundred count
WINDOWS = [["08:00:00", "10:00:00"], ["09:00:00", "12:00:00"], ["12:00:00", "18:00:00"]]


class Caller:
    """Calls until the line breaks, and keeps what it was told."""

    def __init__(self, number, seed):
        self.number, self.random, self.calls = number, random.Random(f"{seed} {number}"), 0
        self.history, self.pending, self.repeated = [], None, []

    def next_call(self):
        """Orders are shared by all callers, so that they meet."""
        draw = self.random
        verb = draw.choices(["hold", "commit", "cancel", "move", "decline"], [5, 4, 3, 2, 1])[0]
        order = f"order{draw.randrange(30)}"
        self.calls += 1
        body = {"key": f"{self.number}-{self.calls}"}
        if verb == "hold" or (verb == "commit" and draw.random() < 0.5):
            body |= {"job": {"id": order, "location": DEPOT, "delivery": [1]}, "slot": {"window": draw.choice(WINDOWS)}}
        else:
            body["id"] = order
        if verb == "hold":
            body["ttl_s"] = draw.randint(1, 20)
        if verb == "move":
            body["slot"] = {"window": draw.choice(WINDOWS)}
        if ("job" in body or verb == "decline") and draw.random() < 0.5:
            body |= {"customer": draw.choice(CUSTOMERS), "offered": [{"window": window} for window in WINDOWS]}
        return draw.choice(PLANS), verb, body

    def run(self, port, most=None):
        with contextlib.suppress(OSError, http.client.HTTPException), Line(port) as line:
            while most is None or self.calls < most:
                self.pending = self.next_call()
                self.settle(line)
                if self.random.random() < 0.1:  # an answer that got lost: the same call again
                    plan, verb, body, answer = self.history[-1]
                    self.repeated.append((answer, line.ask("POST", f"/v1/plans/{plan}/{verb}", body)))

    def settle(self, line):
        """Sends what is not answered yet."""
        plan, verb, body = self.pending
        answer = line.ask("POST", f"/v1/plans/{plan}/{verb}", body)
        self.history.append((plan, verb, body, answer))
        self.pending = None


def replay(history, plan):
    """The model after all calls of a plan, in the order of versions that the answers tell; each answer is the model's."""
    told = []
    for _, verb, body, (status, text) in (call for call in history if call[0] == plan):
        answer = json.loads(text)
        told.append((answer["version"], not answer.get("changed"), answer["now_ms"], verb, body, status, answer))
    model = Model(CAPACITY)
    for version, _, now_ms, verb, body, status, answer in sorted(told, key=lambda call: call[:3]):
        assert model.call(verb, body, now_ms) == status, (verb, body, answer)
        assert model.version == version, (verb, body, answer)
    return model


def check_plan(shown, model, now_ms):
    """The plan is the model's, and its routes carry each booking once and nothing beyond a vehicle's capacity."""
    assert shown["version"] == model.version
    bookings = {b["id"]: (b["window"], b["state"] == "booked") for b in shown["bookings"]}
    assert bookings == model.state(now_ms)
    stops = [stop["id"] for route in shown["routes"] for stop in route["stops"]]
    assert sorted(stops) == sorted(bookings)
    for route in shown["routes"]:
        assert len(route["stops"]) <= CAPACITY // 3
        for stop in route["stops"]:
            earliest, latest = bookings[stop["id"]][0]
            assert earliest <= stop["begin"] <= latest


def check_all(service, history):
    choices = collections.Counter()
    with service.line() as line:
        for plan in PLANS:
            model = replay(history, plan)
            check_plan(line.get(f"/v1/plans/{plan}"), model, service.now_ms)
            choices += model.choices
        for customer in CUSTOMERS:
            told = line.get(f"/v1/customers/{customer}")
            taken, declined = choices[customer, True], choices[customer, False]
            assert (told["answers"], told["taken"]) == (taken + declined, taken)


def play_until_killed(service, callers, draw):
    """The kill comes a moment after so many answers, in the midst of other calls; the clock goes on meanwhile."""
    threads = [threading.Thread(target=caller.run, args=(service.port,)) for caller in callers]
    before = answers_of(callers)
    for thread in threads:
        thread.start()
    for _ in range(3):
        before += draw.randint(1, 20)
        wait_until(lambda least=before: answers_of(callers) >= least or not any(map(threading.Thread.is_alive, threads)), 60)
        service.set_clock(service.now_ms + draw.randrange(4000))
    time.sleep(draw.uniform(0, 0.01))
    service.kill()
    for thread in threads:
        thread.join()


def answers_of(callers):
    return sum(len(caller.history) for caller in callers)


def keep_promises(penstock, folder, store, seed):
    draw = random.Random(seed)
    callers = [Caller(number, seed) for number in range(CALLERS)]
    with Service(penstock, folder, store, FLEET) as service:
        for _ in range(KILLS):
            play_until_killed(service, callers, draw)
            service.start()
            with service.line() as line:
                for caller in callers:
                    if caller.pending:
                        caller.settle(line)
            check_all(service, [call for caller in callers for call in caller.history])
    calls = [call for caller in callers for call in caller.history]
    assert all(first == again for caller in callers for first, again in caller.repeated)
    done = sum(json.loads(text).get("changed", False) for *_, (_, text) in calls)
    print(f"{KILLS} kills, {len(calls)} calls, {done} changes")
    assert done > KILLS


def test_sqlite_keeps_promises(penstock, tmp_path):
    keep_promises(penstock, tmp_path, tmp_path / "days.db", seed=1)


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_postgresql_keeps_promises(penstock, tmp_path):
    with postgresql_server() as server:
        keep_promises(penstock, tmp_path, server.url, seed=2)


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_two_instances_share_a_server(penstock, tmp_path):
    """Each sees what the other has promised, and neither sells it again."""
    callers = [Caller(number, 3) for number in range(CALLERS)]
    with postgresql_server() as server, Service(penstock, tmp_path, server.url, FLEET) as first, \
            Service(penstock, tmp_path, server.url, FLEET) as second:
        ports = [first.port, second.port] * (CALLERS // 2)
        threads = [threading.Thread(target=caller.run, args=(port, 25)) for caller, port in zip(callers, ports, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        history = [call for caller in callers for call in caller.history]
        assert len(history) == 25 * CALLERS
        check_all(first, history)
        check_all(second, history)


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_a_store_that_is_gone_for_a_while(penstock, tmp_path):
    """Nothing is promised meanwhile; then the service goes on by itself."""
    plan, slot = PLANS[0], {"window": WINDOWS[0]}
    order = {"job": {"id": "a", "location": DEPOT, "delivery": [1]}, "slot": slot, "key": "k"}
    with postgresql_server() as server, Service(penstock, tmp_path, server.url, FLEET) as service, service.line() as line:
        assert line.post(plan, "commit", order)[0] == 200
        server.end()
        for verb, body in (("commit", order), ("cancel", {"id": "a"}), ("quote", {"job": order["job"], "slots": [slot]})):
            status, answer = line.post(plan, verb, body)
            assert status == 503 and "PostgreSQL" in answer["error"]
        server.start()
        shown = line.get(f"/v1/plans/{plan}")
        assert shown["version"] == 1 and [b["id"] for b in shown["bookings"]] == ["a"]
        assert line.post(plan, "cancel", {"id": "a"})[1]["version"] == 2


MIXED = {"vehicles": [
    {"id": "early", "start": DEPOT, "end": DEPOT, "capacity": [8], "time_window": ["07:00", "15:00"],
     "breaks": [{"id": 1, "time_windows": [["11:00", "13:00"]], "service": 1800}]},
    {"id": "late", "start": DEPOT, "end": DEPOT, "capacity": [6], "time_window": ["10:00", "20:00"], "skills": [1]},
    {"id": "bike", "start": DEPOT, "capacity": [2], "time_window": ["08:00", "18:00"]}]}


def random_call(draw, plan):
    """Of a town: jobs and shipments, some with skills, and vehicles that drive on."""
    def place():
        return [DEPOT[0] + draw.gauss(0, 0.05), DEPOT[1] + draw.gauss(0, 0.03)]

    order = f"order{draw.randrange(25)}"
    begin = draw.randrange(7, 18)
    slot = {"window": [f"{begin:02}:00:00", f"{begin + draw.choice([1, 2, 4]):02}:00:00"]}
    verb = draw.choices(["hold", "commit", "cancel", "move", "progress"], [3, 6, 2, 2, 1])[0]
    if verb == "progress":
        route = draw.choice(plan["routes"])
        done = sum(stop["frozen"] for stop in route["stops"])
        return verb, {"vehicle": route["vehicle"], "stops": min(done + 1, len(route["stops"]))}
    if verb in ("cancel", "move"):
        return verb, {"id": order, **({"slot": slot} if verb == "move" else {})}
    if draw.random() < 0.3:
        task = {"shipment": {"amount": [1], "pickup": {"id": order, "location": place(), "service": 60},
                             "delivery": {"id": order, "location": place(), "service": 60}}}
    else:
        task = {"job": {"id": order, "location": place(), "service": 300, "delivery": [1],
                        **({"skills": [1]} if draw.random() < 0.2 else {})}}
    return verb, {**task, "slot": slot, **({"ttl_s": draw.randint(1, 60)} if verb == "hold" else {})}


def test_plans_of_a_town_outlive_kills(penstock, tmp_path):
    """Breaks, skills, shipments, vehicles under way and the search between calls: each start finds all promises kept."""
    draw, plan = random.Random(4), PLANS[0]
    with Service(penstock, tmp_path, tmp_path / "days.db", MIXED, "--improve", 300) as service:
        for _ in range(2 + KILLS):
            with service.line() as line:
                for _ in range(25):
                    verb, body = random_call(draw, line.get(f"/v1/plans/{plan}"))
                    status, answer = line.post(plan, verb, body)
                    assert status in (200, 404, 409), answer
                    service.set_clock(service.now_ms + draw.randrange(3000))
                before = line.get(f"/v1/plans/{plan}")
            service.kill()
            service.start()
            with service.line() as line:
                after = line.get(f"/v1/plans/{plan}")
            windows = [{b["id"]: (b["window"], b["state"]) for b in shown["bookings"]} for shown in (before, after)]
            assert windows[0] == windows[1] and before["version"] == after["version"]
            for old, new in zip(before["routes"], after["routes"], strict=True):
                frozen = [stop["id"] for stop in old["stops"] if stop["frozen"]]
                assert [stop["id"] for stop in new["stops"] if stop["frozen"]] == frozen
    assert len(after["bookings"]) > 5
