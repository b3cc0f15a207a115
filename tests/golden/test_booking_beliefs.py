"""What the booking service believes about customers: chances, menus and incentives, held against a computation of our own."""

import json
import pathlib
import signal
import sys

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import choice_by_hand as by_hand  # noqa: E402
from booking_client import Service  # noqa: E402

DAY = "north.2026-12-01"
DEPOT = [13.40, 52.50]
FLEET = {"vehicles": [{"id": name, "start": DEPOT, "end": DEPOT, "capacity": [30], "time_window": ["08:00", "20:00"]} for name in ("a", "b")]}
WINDOWS = [["08:00:00", "10:00:00"], ["10:00:00", "12:00:00"], ["13:00:00", "15:00:00"], ["18:00:00", "20:00:00"]]
SLOTS = [{"window": window} for window in WINDOWS]
TASTES = [{"name": "calm", "share": 0.6, "any": 0.5, "evening": 0.8, "per_hour": 0.1, "fee": -0.004},
          {"name": "thrifty", "share": 0.4, "any": 0.2, "afternoon": -1.0, "evening": -0.5, "fee": -0.02}]


def job(name, lon=13.45, **more):
    return {"id": name, "location": [lon, 52.52], "service": 300, "delivery": [1], **more}


@pytest.fixture
def service(penstock, tmp_path):
    with Service(penstock, tmp_path, tmp_path / "days.db", FLEET, "--improve", 0) as running, running.line() as line:
        running.ask = line
        yield running


def post(service, verb, body, status=200):
    got, answer = service.ask.post(DAY, verb, body)
    assert got == status, answer
    told = service.ask.get("/v1/openapi.json")
    for schema, document in ((f"{verb.capitalize()}Call", body), ("Quotes", answer)):
        if status == 200 and (verb == "quote" or schema != "Quotes"):
            jsonschema.Draft202012Validator({"$ref": f"#/components/schemas/{schema}", "components": told["components"]}).validate(document)
    return answer


def check_belief(service, customer, answers, tastes=by_hand.DEFAULT):
    told = service.ask.get(f"/v1/customers/{customer}")
    assert (told["answers"], told["taken"]) == (len(answers), sum(taken is not None for _, taken in answers))
    assert [told["tastes"][taste["name"]] for taste in tastes] == pytest.approx(by_hand.posterior(tastes, answers), abs=1e-4)


def test_anybody_is_answered_by_the_prior(service):
    told = post(service, "quote", {"job": job("o1"), "slots": SLOTS})
    assert told["advice"] == {"by": "prior", "answers": 0}
    prior = by_hand.posterior(by_hand.DEFAULT, [])
    assert [slot["chance"] for slot in told["slots"]] == pytest.approx(by_hand.mixed(by_hand.DEFAULT, prior, SLOTS), abs=1e-4)
    for slot in told["slots"]:
        low, high = slot["cost_interval"]
        assert slot["show"] and 0 <= low <= high <= slot["added_cost"] + 0.01


def test_answers_tell_what_a_customer_likes(service):
    answers = []
    for number, taken in enumerate([3, 3, None, 3]):
        shown = SLOTS if number % 2 == 0 else SLOTS[:2] + SLOTS[3:]
        body = {"customer": "c7", "offered": shown}
        if taken is None:
            post(service, "decline", {"id": f"o{number}", **body})
            answers.append((shown, None))
        else:
            post(service, "commit", {"job": job(f"o{number}"), "slot": {"window": WINDOWS[taken]}, **body})
            answers.append((shown, shown.index(SLOTS[taken])))
        check_belief(service, "c7", answers)
    told = post(service, "quote", {"job": job("o9"), "slots": SLOTS, "customer": "c7"})
    belief = by_hand.posterior(by_hand.DEFAULT, answers)
    assert told["advice"]["by"] == "posterior" and told["advice"]["answers"] == 4
    assert [slot["chance"] for slot in told["slots"]] == pytest.approx(by_hand.mixed(by_hand.DEFAULT, belief, SLOTS), abs=1e-4)
    assert told["slots"][3]["chance"] > 0.55  # evenings
    check_belief(service, "somebody-else", [])


def test_a_hold_is_an_answer_when_it_is_booked_or_declined(service):
    shown = {"customer": "c1", "offered": SLOTS}
    hold = {"slot": {"window": WINDOWS[0]}, "ttl_s": 60, **shown}
    for name in "abcd":
        post(service, "hold", {"job": job(name), **hold})
    check_belief(service, "c1", [])
    post(service, "commit", {"id": "a"})
    check_belief(service, "c1", [(SLOTS, 0)])
    post(service, "decline", {"id": "b"})
    check_belief(service, "c1", [(SLOTS, 0), (SLOTS, None)])
    post(service, "move", {"id": "c", "slot": {"window": WINDOWS[1]}})
    post(service, "commit", {"id": "c"})  # another slot than he was shown then
    service.set_clock(service.now_ms + 60_000)  # and the last hold ends by itself
    post(service, "cancel", {"id": "a"})
    check_belief(service, "c1", [(SLOTS, 0), (SLOTS, None)])


@pytest.mark.parametrize("verb", ["commit", "decline"])
def test_an_answer_is_counted_once_per_key(service, verb):
    body = {"customer": "c1", "offered": SLOTS, "key": "k"}
    body |= {"job": job("a"), "slot": {"window": WINDOWS[0]}} if verb == "commit" else {"id": "a"}
    first = service.ask.post(DAY, verb, body)
    assert first[0] == 200
    assert service.ask.post(DAY, verb, body) == first
    service.kill(signal.SIGKILL)
    service.start()
    with service.line() as line:
        service.ask = line
        assert line.post(DAY, verb, body) == first
        check_belief(service, "c1", [(SLOTS, 0 if verb == "commit" else None)])


def test_a_refused_call_says_nothing_about_the_customer(service):
    offered = {"customer": "c1", "offered": SLOTS}
    post(service, "commit", {"job": job("a", 14.9), "slot": {"window": WINDOWS[0]}, **offered}, status=409)
    assert "offered" in post(service, "commit", {"job": job("a"), "slot": {"window": ["09:00", "10:00"]}, **offered}, status=409)["error"]
    assert "offered" in post(service, "decline", {"id": "a", "customer": "c1"}, status=400)["error"]
    assert "letters" in post(service, "decline", {"id": "a", **offered, "customer": "Ann Lee"}, status=400)["error"]
    assert "with the hold" in post(service, "commit", {"id": "a", **offered}, status=400)["error"]
    check_belief(service, "c1", [])


def test_menus_by_expected_margin(penstock, tmp_path):
    """The best of all menus, then an incentive that gains; every number by our own hand."""
    (tmp_path / "tastes.json").write_text(json.dumps({"tastes": TASTES}))
    with Service(penstock, tmp_path, tmp_path / "days.db", FLEET, "--improve", 0, "--tastes", tmp_path / "tastes.json") as service, \
            service.line() as line:
        service.ask = line
        for name, lon, window in (("p", 13.35, 0), ("q", 13.46, 2), ("r", 13.44, 3)):
            post(service, "commit", {"job": job(name, lon), "slot": {"window": WINDOWS[window]}})
        fees = [0, -20, -400, 60]
        slots = [{**slot, "fee": fee} for slot, fee in zip(SLOTS, fees, strict=True)]
        differing = 0
        for revenue in (600, 900, 1500):
            told = post(service, "quote", {"job": job("x", revenue=revenue), "slots": slots})
            costs = [slot["added_cost"] for slot in told["slots"]]
            margins = [revenue + fee - cost for fee, cost in zip(fees, costs, strict=True)]
            belief = by_hand.posterior(TASTES, [])
            all_of_them = by_hand.expected_margin(TASTES, belief, slots, margins)
            best, numbers = by_hand.best_menu(TASTES, belief, slots, margins)
            assert told["advice"]["margin_of_all"] == pytest.approx(all_of_them, abs=0.01)
            assert [i for i, slot in enumerate(told["slots"]) if slot["show"]] == list(numbers)
            differing += len(numbers) < len(slots)
            paid = [slot.get("incentive", 0) for slot in told["slots"]]
            shown = [slots[i] | {"fee": fees[i] - paid[i]} for i in numbers]
            margin = by_hand.expected_margin(TASTES, belief, shown, [margins[i] - paid[i] for i in numbers])
            assert told["advice"]["margin"] == pytest.approx(margin, abs=0.05) and margin >= best - 1e-9
        assert differing > 0


def test_answers_are_a_log_that_a_backtest_reads(penstock, service, tmp_path):
    shown = {"customer": "c1", "offered": [SLOTS[0] | {"fee": 2.5}, SLOTS[3]]}
    for day in range(6):
        for number in range(3):
            order = job(f"o{day}.{number}", revenue=30.5)
            body = {"job": order, **shown}
            if number == 2:
                post(service, "decline", body)
            else:
                post(service, "commit", {**body, "slot": {"window": WINDOWS[3 * number]}})
            service.set_clock(service.now_ms + 1000)
        service.set_clock(service.now_ms + 86_400_000)
    post(service, "decline", {"id": "unknown place", **shown})
    log = service.ask.ask("GET", "/v1/answers.csv")[1]
    rows = log.splitlines()
    assert len(rows) == 1 + 6 * 3 * 2
    assert rows[1] == "1,2026-12-01,c1,2026-11-30T00:53:20,300,08:00:00,10:00:00,13.45,52.52,1,2.5,30.5,yes"
    assert [row.rsplit(",", 1)[1] for row in rows[1:7]] == ["yes", "no", "no", "yes", "no", "no"]
    (tmp_path / "log.csv").write_text(log)
    told = json.loads(penstock("booking", "backtest", tmp_path / "log.csv", "--fleet", service.fleet, "--json", "--draws", 2).stdout)
    assert (told["days"], told["calls"]) == (6, 18) and told["policies"][0]["bookings"] == 2
