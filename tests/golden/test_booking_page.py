"""The dispatcher's page in a real browser: a call is played from the click on the map to the booking, with and without a policy."""

import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from booking_client import Service  # noqa: E402
from browser import Browser, need_chromium  # noqa: E402

DAY = "north.2026-12-01"
DEPOT = [13.40, 52.50]
FLEET = {"vehicles": [{"id": name, "start": DEPOT, "end": DEPOT, "capacity": [6], "time_window": ["08:00", "18:00"],
                       "costs": {"per_hour": 18, "per_km": 1}} for name in ("anna", "ben")],
         "forecast": {"calls": 12, "revenue": 20}}
TASTES = {"tastes": [{"name": "all", "share": 1, "any": 1, "fee": -0.25}]}
SLOT = "08:00 to 10:00"
ROW = f"//table[@id='slots']//tr[td='{SLOT}']"


@pytest.fixture(params=[False, True], ids=["plain", "policy"])
def service(request, penstock, tmp_path):
    need_chromium()
    (tmp_path / "tastes.json").write_text(json.dumps(TASTES))
    options = ["--policy", ROOT / "models" / "slots-seller", "--tastes", tmp_path / "tastes.json"] if request.param else []
    with Service(penstock, tmp_path, tmp_path / "days.db", FLEET, "--improve", 0, *options) as running:
        running.has_policy = request.param
        with running.line() as line:
            for number, slot in enumerate((["08:00", "10:00"], ["12:00", "14:00"], ["12:00", "14:00"])):
                job = {"id": f"o{number}", "location": [13.38 + 0.03 * number, 52.48 + 0.02 * number], "service": 300, "delivery": [1]}
                assert line.post(DAY, "commit", {"job": job, "slot": {"window": slot}})[0] == 200
        yield running


def bookings(service):
    with service.line() as line:
        return {one["id"]: one for one in line.get(f"/v1/plans/{DAY}")["bookings"]}


def is_readable(browser):
    """Nothing of the page is wider than the window; what must be wide scrolls inside."""
    return browser.value("return document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("size", [(1400, 1000), (400, 900)], ids=["desk", "phone"])
def test_a_call_is_played(service, tmp_path, size):
    with Browser(*size) as browser:
        browser.open(f"http://127.0.0.1:{service.port}/#{DAY}")
        browser.find("//span[@id='state'][text()='version 3']")
        assert is_readable(browser)
        browser.click("//*[local-name()='svg'][@id='map']")  # in its middle
        place = [float(browser.value(f"return document.getElementById('{name}').value")) for name in "xy"]
        assert abs(place[0] - 13.41) < 0.03 and abs(place[1] - 52.50) < 0.02
        browser.write("//input[@id='id']", "called")
        browser.click("//button[text()='Which slots?']")
        told = browser.text(ROW)
        browser.screenshot(tmp_path / "quoted.png")
        assert is_readable(browser)
        assert bookings(service).keys() == {"o0", "o1", "o2"}  # nothing is promised yet
        with service.line() as line:
            call = {"job": {"id": "called", "location": place, "service": 300, "delivery": [1]}, "slots": [{"window": ["08:00", "10:00"]}]}
            quote = line.post(DAY, "quote", call | {"slots": [{"window": [f"{h:02}:00", f"{h + 2:02}:00"]} for h in range(8, 18, 2)]})[1]["slots"][0]
        later = f" {quote['opportunity']:.2f}" if service.has_policy else ""
        fee = f", for {quote['fee']:g}" if service.has_policy else ""
        assert " ".join(told.split()).startswith(f"{SLOT} Hold Book yes{fee} {quote['added_cost']:.2f}{later} ")
        browser.click(f"{ROW}//button[text()='Hold']")
        browser.find("//table[@id='bookings']//tr[td='called'][td='held']")
        assert bookings(service)["called"]["state"] == "held"
        browser.click("//table[@id='bookings']//tr[td='called']//button[text()='Book']")
        browser.find("//table[@id='bookings']//tr[td='called'][td='booked']")
        browser.screenshot(tmp_path / "booked.png")
        assert is_readable(browser)
    service.kill()
    service.start()  # what was booked is in the store
    assert bookings(service)["called"]["state"] == "booked" and bookings(service)["called"]["window"] == ["08:00:00", "10:00:00"]
