"""`penstock booking serve`: the page's day word for word, the OpenAPI file against the answers, and the rules one by one."""

import copy
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from booking_client import Service  # noqa: E402

DAY = "north.2026-12-01"
DEPOT = [13.40, 52.50]
FLEET = {"vehicles": [{"id": name, "start": DEPOT, "end": DEPOT, "capacity": [3], "time_window": ["08:00", "18:00"],
                       "skills": skills} for name, skills in (("van", []), ("truck", [7]))]}
MORNING, NOON, NIGHT = ["08:00:00", "10:00:00"], ["11:00:00", "13:00:00"], ["20:00:00", "22:00:00"]


def job(name, lon=13.42, **more):
    return {"id": name, "location": [lon, 52.51], "service": 300, "delivery": [1], **more}


@pytest.fixture
def service(penstock, tmp_path):
    with Service(penstock, tmp_path, tmp_path / "days.db", FLEET) as running, running.line() as line:
        running.ask = line
        yield running


class Contract:
    """The OpenAPI file that a server tells, and whether an answer keeps it."""

    def __init__(self, line):
        self.file = line.get("/v1/openapi.json")

    def check(self, method, path, status, answer):
        route = re.sub(r"(?<=/plans/)[^/]+", "{id}", path)
        told = self.file["paths"][route][method.lower()]["responses"][str(status)]
        schema = copy.deepcopy(told["content"]["application/json"]["schema"]) | {"components": self.file["components"]}
        jsonschema.Draft202012Validator(schema).validate(answer)


def check_call(line, contract, verb, body, status=200, plan=DAY):
    """Its answer, which the file describes, as it does the body of a call that is not refused as malformed."""
    got, answer = line.post(plan, verb, body)
    assert got == status, answer
    contract.check("POST", f"/v1/plans/{plan}/{verb}", status, answer)
    if status != 400:
        schema = {"$ref": f"#/components/schemas/{verb.capitalize()}Call", "components": contract.file["components"]}
        jsonschema.Draft202012Validator(schema).validate(body)
    if status >= 400:
        assert len(answer["error"]) > 10
    return answer


@pytest.fixture
def call(service):
    contract = Contract(service.ask)
    return lambda *args, **more: check_call(service.ask, contract, *args, **more)


def show(service, plan=DAY):
    answer = service.ask.get(f"/v1/plans/{plan}")
    Contract(service.ask).check("GET", f"/v1/plans/{plan}", 200, answer)
    return answer


def test_the_file_is_openapi(service):
    told = service.ask.get("/v1/openapi.json")
    assert told["openapi"] == "3.1.0"
    for route in told["paths"].values():
        for operation in route.values():
            assert operation["operationId"] and operation["summary"] and operation["responses"]
    for schema in told["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_slots_of_several_days_are_quoted(call):
    slots = [{"window": MORNING}, {"date": "2026-12-02", "window": NOON}, {"window": NIGHT}]
    quotes = call("quote", {"job": job("a"), "slots": slots})
    assert quotes["versions"] == {DAY: 0, "north.2026-12-02": 0}
    first, second, third = quotes["slots"]
    assert first["feasible"] and first["window"] == MORNING and first["plan"] == DAY and first["added_km"] > 0
    assert second["plan"] == "north.2026-12-02" and second["begin"] == "11:00:00"
    assert not third["feasible"] and third["obstacle"] in ("shift", "window") and "quote" in third["why"]


def test_widths_around_a_wish(call):
    quotes = call("quote", {"job": job("a"), "around": "10:00", "widths_min": [0, 60, 240], "dates": ["2026-12-01", "2026-12-03"]})
    assert [slot["window"] for slot in quotes["slots"][:3]] == [["10:00:00"] * 2, ["09:30:00", "10:30:00"], ["08:00:00", "12:00:00"]]
    assert [slot["plan"] for slot in quotes["slots"]] == [DAY] * 3 + ["north.2026-12-03"] * 3


def test_from_quote_to_booking(service, call):
    quote = call("quote", {"job": job("a"), "slots": [{"window": MORNING}]})["slots"][0]
    held = call("hold", {"job": job("a"), "slot": {"window": MORNING}, "ttl_s": 60})
    assert (held["state"], held["version"], held["added_km"]) == ("held", 1, quote["added_km"])
    assert held["expires_ms"] == service.now_ms + 60_000
    assert call("commit", {"id": "a"})["state"] == "booked"
    plan = show(service)
    assert [b["id"] for b in plan["bookings"]] == ["a"] and plan["km"] == pytest.approx(quote["added_km"])
    route = next(route for route in plan["routes"] if route["stops"])
    assert route["stops"][0]["begin"] >= MORNING[0] and route["load"] == [1] and route["unheld"] == [2]
    gone = call("cancel", {"id": "a"})
    assert gone["state"] == "cancelled" and gone["saved_km"] == pytest.approx(quote["added_km"])
    assert show(service)["km"] == 0
    assert service.ask.get("/v1/plans") == {"depots": ["north"], "plans": [DAY]}


def test_a_hold_takes_room_and_ends(service, call):
    for name in "abcdef":
        call("hold", {"job": job(name), "slot": {"window": MORNING}, "ttl_s": 10})
    refused = call("hold", {"job": job("g"), "slot": {"window": MORNING}, "ttl_s": 10}, status=409)
    assert "room" in refused["error"]
    assert call("quote", {"job": job("g"), "slots": [{"window": MORNING}]})["slots"][0]["obstacle"] == "capacity"
    service.set_clock(service.now_ms + 10_000)
    assert show(service)["bookings"] == []
    call("commit", {"id": "a"}, status=404)
    call("commit", {"job": job("g"), "slot": {"window": MORNING}})


def test_a_key_has_one_answer_also_after_a_restart(service, call):
    body = {"job": job("a"), "slot": {"window": MORNING}, "key": "k1"}
    first = call("commit", body)
    call("cancel", {"id": "a"})
    assert call("commit", body) == first
    service.kill(signal.SIGTERM)
    service.start()
    with service.line() as line:
        assert line.post(DAY, "commit", body) == (200, first)
        assert line.post(DAY, "commit", body | {"key": "k2"})[0] == 200
        status, answer = line.post(DAY, "commit", body | {"slot": {"window": NOON}})
    assert status == 422 and "new key" in answer["error"]


def test_versions(call):
    first = call("commit", {"job": job("a"), "slot": {"window": MORNING}, "if_version": 0})
    assert first["version"] == 1
    assert "read it again" in call("cancel", {"id": "a", "if_version": 0}, status=409)["error"]
    call("cancel", {"id": "a", "if_version": 1})


def test_a_move_keeps_the_old_slot_until_the_new_one_fits(service, call):
    call("commit", {"job": job("a"), "slot": {"window": MORNING}})
    assert "stands" in call("move", {"id": "a", "slot": {"window": NIGHT}}, status=409)["error"]
    assert show(service)["bookings"][0]["window"] == MORNING
    assert call("move", {"id": "a", "slot": {"window": NOON}})["window"] == NOON
    assert show(service)["bookings"][0]["window"] == NOON
    call("move", {"id": "b", "slot": {"window": NOON}}, status=404)


def begins(service):
    """When work begins at each stop."""
    return {stop["id"]: stop["begin"] for route in show(service)["routes"] for stop in route["stops"]}


def test_answers_explain_themselves(service, call):
    """Whom a change displaces is who begins at another time in the plan before and after it; loads are those of its legs."""
    wide = ["08:00:00", "16:00:00"]
    call("commit", {"job": job("a", 13.42), "slot": {"window": wide}})
    before = begins(service)
    quote = call("quote", {"job": job("b", 13.41), "slots": [{"window": MORNING}]})["slots"][0]
    assert begins(service) == before  # a quote changes nothing
    held = call("hold", {"job": job("b", 13.41), "slot": {"window": MORNING}, "ttl_s": 60})
    told = ("added_cost", "added_km", "added_min", "vehicle", "load", "capacity", "displaced")
    assert [quote[key] for key in told] == [held[key] for key in told] and (held["load"], held["capacity"]) == ([2], [3])
    after = begins(service)
    assert [one["id"] for one in held["displaced"]] == ["a"] and before["a"] != after["a"]
    booked = call("commit", {"id": "b"})
    assert [booked[key] for key in told] == [held[key] for key in told]
    moved = call("move", {"id": "b", "slot": {"window": NOON}})
    assert [one["id"] for one in moved["displaced"]] == ["a"] and moved["load"] == [2]
    gone = call("cancel", {"id": "b"})
    assert [(one["id"], one["to"]) for one in gone["displaced"]] == [("a", before["a"])] and begins(service) == before


def test_decline_ends_a_hold(call):
    call("hold", {"job": job("a"), "slot": {"window": MORNING}, "ttl_s": 60})
    assert call("decline", {"id": "a"})["changed"]
    assert not call("decline", {"id": "a"})["changed"]
    call("commit", {"job": job("a"), "slot": {"window": MORNING}})
    assert "cancel" in call("decline", {"id": "a"}, status=409)["error"]


def test_what_is_under_way_stays(service, call):
    for i, name in enumerate("abc"):
        call("commit", {"job": job(name, 13.42 + i / 100), "slot": {"window": ["08:00:00", "16:00:00"]}})
    route = next(route for route in show(service)["routes"] if route["stops"])
    first = route["stops"][0]["id"]
    call("progress", {"vehicle": route["vehicle"], "stops": 1, "time": "09:00"})
    assert "under way" in call("cancel", {"id": first}, status=409)["error"]
    assert "under way" in call("move", {"id": first, "slot": {"window": NOON}}, status=409)["error"]
    call("progress", {"vehicle": route["vehicle"], "stops": 0}, status=409)
    call("progress", {"vehicle": "bus", "stops": 0}, status=404)
    assert "late" in call("progress", {"vehicle": route["vehicle"], "stops": 1, "time": "19:00"}, status=409)["error"]
    service.kill(signal.SIGTERM)
    service.start()
    with service.line() as line:
        plan = line.get(f"/v1/plans/{DAY}")
    after = next(r for r in plan["routes"] if r["vehicle"] == route["vehicle"])
    assert after["stops"][0]["id"] == first and [stop["frozen"] for stop in after["stops"]][:2] == [True, False]
    assert all(stop["arrival"] >= "09:00:00" for stop in after["stops"][1:])


def test_a_shipment_is_held_by_its_pickup(call):
    parcel = {"amount": [1], "pickup": {"id": "p1", "location": [13.42, 52.51]}, "delivery": {"id": "p1", "location": [13.38, 52.49]}}
    body = {"shipment": parcel, "slot_of": "pickup", "slot": {"window": NOON}, "ttl_s": 60}
    assert call("hold", body)["id"] == "p1"
    assert call("move", {"id": "p1", "slot": {"window": MORNING}})["window"] == MORNING
    assert call("commit", {"id": "p1"})["state"] == "booked"


@pytest.mark.parametrize("verb, body, told", [
    ("hold", {"job": job("a"), "slot": {"window": MORNING}}, "ttl_s"),
    ("hold", {"job": job("a"), "slot": {"window": MORNING}, "ttl": 5}, "did you mean 'ttl_s'"),
    ("hold", {"job": job("a"), "slot": {"window": NOON[::-1]}, "ttl_s": 5}, "ends before it begins"),
    ("hold", {"job": {"id": "a"}, "slot": {"window": NOON}, "ttl_s": 5}, "location"),
    ("hold", {"slot": {"window": NOON}, "ttl_s": 5}, "either"),
    ("quote", {"job": job("a"), "slots": [{"window": NOON, "date": "2026-02-30"}]}, "YYYY-MM-DD"),
    ("quote", {"job": job("a"), "around": "10:00"}, "widths_min"),
    ("cancel", {"id": ""}, "1 to 100"),
    ("cancel", [], "openapi.json"),
])
def test_errors_name_the_field(call, verb, body, told):
    assert told in call(verb, body, status=400)["error"]


def test_plans_are_depots_and_days(call):
    for plan in ("south.2026-12-01", "north", "north.2026-13-01"):
        assert "north" in call("quote", {"job": job("a"), "slots": []}, status=404, plan=plan)["error"]


def test_metrics_count_calls(service, call):
    call("commit", {"job": job("a"), "slot": {"window": MORNING}})
    text = service.ask.ask("GET", "/metrics")[1]
    assert 'penstock_booking_calls_total{verb="commit",status="200"} 1\n' in text
    assert "penstock_booking_plans 1\n" in text and "penstock_http_requests_total" in text


def test_a_store_is_served_once_and_fits_its_fleet(service, call, penstock, tmp_path):
    call("commit", {"job": job("a"), "slot": {"window": MORNING}})
    serve = ["booking", "serve", "--store", tmp_path / "days.db", "--port", 0, "--clock", service.clock, "--fleet"]
    assert "another process serves it" in penstock(*serve, service.fleet, code=73).stderr
    vehicle = next(route["vehicle"] for route in show(service)["routes"] if route["stops"])
    service.end()
    less = {"vehicles": [v for v in FLEET["vehicles"] if v["id"] != vehicle]}
    service.fleet.write_text(json.dumps(less))
    assert f"no vehicle {vehicle}" in penstock(*serve, service.fleet, code=65).stderr
    other = tmp_path / "south.json"
    other.write_text(json.dumps(FLEET))
    assert "--fleet" in penstock(*serve, other, code=65).stderr


PAGE = (ROOT / "docs" / "booking" / "service.md").read_text()


def told_in_general(text):
    """Without what every run has of its own."""
    return re.sub(r'"(now|expires)_ms":\d+', r'"\1_ms":0', text.strip())


def test_the_page_word_for_word(penstock, tmp_path):
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.M | re.S)
    saved = re.findall(r"[Ss]ave this as `([\w.]+)`:\n\n```json\n(.*?)^```$", PAGE, re.M | re.S)
    for name, text in saved:
        (tmp_path / name).write_text(text)
    bash = [text for kind, text in blocks if kind == "bash"]
    start = next(line for line in bash[0].splitlines() if "serve" in line)
    process = subprocess.Popen([penstock.exe, *shlex.split(start.replace("8080", "0"))[1:]], cwd=tmp_path, text=True,
                               stdout=subprocess.PIPE, env=penstock.environment())
    try:
        port = process.stdout.readline().strip().rsplit(":", 1)[1]
        answer = None
        for kind, text in blocks[blocks.index(("bash", bash[0])) + 1:]:
            if kind == "bash" and text.startswith("curl"):
                answer = subprocess.run(["bash", "-c", text.replace("8080", port)], cwd=tmp_path, capture_output=True, text=True,
                                        check=True).stdout
            elif kind == "json" and answer is not None and text not in dict(saved).values():
                assert told_in_general(answer) == told_in_general(text)
                answer = None
        assert answer is None and len(saved) == 5  # two are of the policy, see test_booking_policy.py
    finally:
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(timeout=60) == 0


@pytest.mark.skipif(not shutil.which("chromium"), reason="needs chromium")
def test_a_dispatcher_sees_the_day_and_plays_a_call(service, tmp_path):
    def page(call=""):
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'browser'}",
                               "--virtual-time-budget=5000", "--dump-dom", f"http://127.0.0.1:{service.port}/#{DAY}{call}"],
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.partition("<script>")[0]

    for number, slot in enumerate([MORNING, NOON]):
        assert service.ask.post(DAY, "commit", {"job": job(f"<b>{number}</b>"), "slot": {"window": slot}})[0] == 200
    seen = page("?id=o9&x=13.44&y=52.52&load=3")
    plan = service.ask.get(f"/v1/plans/{DAY}")
    assert f"version {plan['version']}" in seen and f"{plan['km']:.1f} km" in seen
    assert seen.count('class="place"') == 2 and "<td>&lt;b&gt;0&lt;/b&gt;</td>" in seen and "<b>0</b>" not in seen
    slots = re.search('<table id="slots">(.*?)</table>', seen, re.S)[1]
    assert slots.count("<tr") == 6 and 'class="best"' in slots and slots.count(">Hold<") == 5  # of 8 to 18 o'clock
    assert "no vehicle has room" in page("?id=o9&x=13.44&y=52.52&load=99")
    assert plan == service.ask.get(f"/v1/plans/{DAY}") | {"now_ms": plan["now_ms"]}  # a quote promises nothing
