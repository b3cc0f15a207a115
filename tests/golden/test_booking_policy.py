"""`penstock booking serve --policy`: a network advises which slots to show and at which fees; the fees held against the closed form."""

import json
import math
import pathlib
import re
import sys

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import choice_by_hand as by_hand  # noqa: E402
from booking_client import Service  # noqa: E402

POLICY = ROOT / "models" / "slots-seller"
DAY, NEXT = "north.2026-12-01", "north.2026-12-02"
HOUR_MS = 3_600_000
DAY_BEGINS_MS = 1_796_083_200_000  # 2026-12-01
DEPOT = [13.40, 52.50]
STEP = 0.01
FLEET = {"vehicles": [{"id": name, "start": DEPOT, "end": DEPOT, "capacity": [30], "time_window": ["08:00", "20:00"],
                       "costs": {"fixed": 25, "per_hour": 18, "per_km": 1}} for name in ("a", "b")],
         "forecast": {"calls": 20, "revenue": 20, "opens_h": 48, "fee_step": STEP}}
TASTES = [{"name": "calm", "share": 0.6, "any": 1.0, "evening": 0.8, "fee": -0.25},
          {"name": "thrifty", "share": 0.4, "any": 0.5, "afternoon": -1.0, "fee": -0.35}]
SLOTS = [{"window": [f"{hour:02}:00:00", f"{hour + 2:02}:00:00"]} for hour in range(8, 20, 2)]
NIGHT = {"window": ["21:00:00", "22:00:00"]}


def job(name, lon=13.45, **more):
    return {"id": name, "location": [lon, 52.52], "service": 300, "delivery": [1], **more}


@pytest.fixture
def tastes(tmp_path):
    (tmp_path / "tastes.json").write_text(json.dumps({"tastes": TASTES}))
    return tmp_path / "tastes.json"


@pytest.fixture
def service(penstock, tmp_path, tastes):
    with Service(penstock, tmp_path, tmp_path / "days.db", FLEET, "--improve", 0, "--policy", POLICY, "--tastes", tastes,
                 now_ms=DAY_BEGINS_MS - 48 * HOUR_MS) as running, running.line() as line:
        running.ask = line
        yield running


def quote(service, **body):
    status, answer = service.ask.post(DAY, "quote", body)
    assert status == 200, answer
    file = service.ask.get("/v1/openapi.json")
    jsonschema.Draft202012Validator({"$ref": "#/components/schemas/Quotes", "components": file["components"]}).validate(answer)
    return answer


def merged(belief, slots):
    """(fee's effect, attraction of each slot at no fee) of the one taste that stands for all."""
    effect = sum(b * -taste["fee"] for b, taste in zip(belief, TASTES, strict=True))
    return effect, [sum(b * math.exp(by_hand.utility(taste, slot)) for b, taste in zip(belief, TASTES, strict=True)) for slot in slots]


def check_closed_form(slots, revenue, belief):
    """Every sale that is shown leaves the same margin m, for which beta m - 1 is the attraction of what is shown at its fees."""
    shown = [slot for slot in slots if slot["feasible"] and slot["show"]]
    assert shown
    margins = [slot["fee"] + revenue - slot["opportunity"] for slot in shown]
    assert max(margins) - min(margins) < 2 * STEP
    beta, attractions = merged(belief, [{"window": slot["window"]} for slot in shown])
    drawn = sum(a * math.exp(-beta * slot["fee"]) for a, slot in zip(attractions, shown, strict=True))
    assert beta * margins[0] - 1 == pytest.approx(drawn, rel=2 * STEP)


def test_fees_follow_from_what_a_sale_costs(service):
    answer = quote(service, job=job("o1"), slots=[*SLOTS, NIGHT])
    assert answer["advice"]["policy"] == "slots-seller" and answer["advice"]["by"] == "prior"
    night = answer["slots"].pop()
    assert not night["feasible"] and "fee" not in night
    check_closed_form(answer["slots"], 20, by_hand.posterior(TASTES, []))
    for slot in answer["slots"]:
        assert ("fee" in slot) == ("opportunity" in slot) == slot["show"] and 0 < slot["chance"] < 1
    rich = quote(service, job=job("o1", revenue=30), slots=SLOTS)
    check_closed_form(rich["slots"], 30, by_hand.posterior(TASTES, []))
    assert rich["advice"]["margin"] > answer["advice"]["margin"]


def test_the_margin_told_is_that_of_the_fees(service):
    told = quote(service, job=job("o1"), slots=SLOTS)
    shown = [slot for slot in told["slots"] if slot["show"]]
    offered = [{"window": slot["window"], "fee": slot["fee"]} for slot in shown]
    margins = [20 + slot["fee"] - slot["added_cost"] for slot in shown]
    assert told["advice"]["margin"] == pytest.approx(by_hand.expected_margin(TASTES, by_hand.posterior(TASTES, []), offered, margins), abs=0.02)
    at_no_fee = [20 - slot["added_cost"] for slot in told["slots"]]
    assert told["advice"]["margin_of_all"] == pytest.approx(
        by_hand.expected_margin(TASTES, by_hand.posterior(TASTES, []), SLOTS, at_no_fee), abs=0.02)


def test_what_a_sale_costs_falls_as_the_horizon_passes(service):
    """At first a sale is in the way of others; the last caller is in nobody's way."""
    def opportunities(hours_before):
        service.set_clock(DAY_BEGINS_MS - hours_before * HOUR_MS)
        return [slot["opportunity"] for slot in quote(service, job=job("o9", 13.41), slots=SLOTS)["slots"] if slot["show"]]

    # A neighbour is booked, so that insertion costs little.
    assert service.ask.post(DAY, "commit", {"job": job("o1", 13.41), "slot": SLOTS[0]})[0] == 200
    assert min(opportunities(47)) > min(opportunities(1)) + 1


def test_a_customer_is_known_by_answers(service):
    offered = [{"window": slot["window"], "fee": 4} for slot in SLOTS[:2]]
    for number in range(3):
        body = {"job": job(f"n{number}"), "customer": "c1", "offered": offered}
        assert service.ask.post(DAY, "decline", body)[0] == 200
    belief = by_hand.posterior(TASTES, [(offered, None)] * 3)
    answer = quote(service, job=job("o1"), slots=SLOTS, customer="c1")
    assert answer["advice"]["by"] == "posterior"
    check_closed_form(answer["slots"], 20, belief)


def test_several_days_and_more_slots_than_the_network_takes(service):
    days = quote(service, job=job("o1"), slots=SLOTS + [slot | {"date": "2026-12-02"} for slot in SLOTS])
    assert {slot["plan"] for slot in days["slots"] if slot["show"]} == {DAY, NEXT}
    check_closed_form(days["slots"], 20, by_hand.posterior(TASTES, []))
    many = quote(service, job=job("o1"), slots=[{"window": [f"{h:02}:{m:02}", f"{h + 1:02}:{m:02}"]} for h in range(8, 18) for m in (0, 30)])
    assert 0 < sum("fee" in slot for slot in many["slots"]) <= 16
    rides = quote(service, shipment={"amount": [1], "pickup": {"id": "p1", "location": [13.42, 52.51]},
                                     "delivery": {"id": "p1", "location": [13.38, 52.49]}}, slot_of="pickup", slots=SLOTS)
    check_closed_form(rides["slots"], 20, by_hand.posterior(TASTES, []))


def test_the_page_s_fleet_is_sold(penstock, tmp_path):
    page = (ROOT / "docs" / "booking" / "service.md").read_text()
    saved = dict(re.findall(r"[Ss]ave this as `([\w.]+)`:\n\n```json\n(.*?)^```$", page, re.M | re.S))
    (tmp_path / "tastes.json").write_text(saved["tastes.json"])
    with Service(penstock, tmp_path, tmp_path / "south.db", json.loads(saved["south.json"]), "--tastes", tmp_path / "tastes.json", "--policy",
                 POLICY, now_ms=DAY_BEGINS_MS - 12 * HOUR_MS) as service, service.line() as line:
        told = line.post(DAY, "quote", {"job": job("o1"), "slots": SLOTS})[1]
    assert any(slot["show"] and slot["opportunity"] > 0 for slot in told["slots"])
    assert all(slot["fee"] % 0.5 == 0 and abs(slot["fee"]) <= 10 for slot in told["slots"] if slot["show"])


def test_what_is_missing_is_told(penstock, tmp_path, tastes):
    fleet = tmp_path / "south.json"
    serve = ["booking", "serve", "--port", 0, "--store", tmp_path / "days.db", "--policy", POLICY, "--fleet", fleet]
    fleet.write_text(json.dumps({"vehicles": FLEET["vehicles"]}))
    assert '"forecast": {"calls"' in penstock(*serve, "--tastes", tastes, code=65).stderr
    fleet.write_text(json.dumps(FLEET))
    assert "backtest --tastes FILE" in penstock(*serve, code=2).stderr
    fleet.write_text(json.dumps(FLEET | {"forecast": {"calls": 20, "revenue": 20, "open_h": 4}}))
    assert "did you mean 'opens_h'" in penstock(*serve, "--tastes", tastes, code=65).stderr
    fleet.write_text(json.dumps(FLEET))
    other = ROOT / "models" / "dvrptw-oracle.safetensors"
    assert str(other) in penstock(*[other if part == POLICY else part for part in serve], "--tastes", tastes, code=65).stderr
