"""A client that a generator made of the service's own OpenAPI file books a day."""

import importlib
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from booking_client import Service  # noqa: E402

DAY = "north.2026-12-01"
DEPOT = [13.40, 52.50]
FLEET = {"vehicles": [{"id": "van", "start": DEPOT, "end": DEPOT, "capacity": [6], "time_window": ["08:00", "18:00"]}]}
SLOTS = [["08:00", "10:00"], ["10:00", "12:00"], ["20:00", "22:00"]]


@pytest.fixture
def generated(penstock, tmp_path, monkeypatch):
    """(the package, a client of a running service)."""
    with Service(penstock, tmp_path, tmp_path / "days.db", FLEET) as service:
        with service.line() as line:
            (tmp_path / "openapi.json").write_text(line.ask("GET", "/v1/openapi.json")[1])
        programs = pathlib.Path(sys.executable).parent  # ruff, too, by which the generator tidies up
        monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
        done = subprocess.run([programs / "openapi-python-client", "generate", "--path", "openapi.json", "--meta", "none", "--output-path",
                               "generated_client"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and "Warning" not in done.stdout + done.stderr, done.stdout + done.stderr
        monkeypatch.syspath_prepend(tmp_path)
        package = importlib.import_module("generated_client")
        with package.Client(base_url=f"http://127.0.0.1:{service.port}") as client:
            yield package, client
        for name in [name for name in sys.modules if name.partition(".")[0] == "generated_client"]:
            del sys.modules[name]


def call(client, verb, **given):
    """What a verb answers, as the generated type."""
    api = importlib.import_module(f"generated_client.api.default.{verb}")
    if given:
        models = importlib.import_module("generated_client.models")
        given = {"body": getattr(models, f"{verb.capitalize()}Call").from_dict(given)}
    return api.sync(DAY, client=client, **given)


def test_a_day_is_booked(generated):
    package, client = generated
    models = importlib.import_module("generated_client.models")
    booked = []
    for number in range(8):
        job = {"id": f"o{number}", "location": [13.40 + 0.01 * number, 52.52], "service": 300, "delivery": [1]}
        quotes = call(client, "quote", job=job, slots=[{"window": window} for window in SLOTS])
        fitting = [slot for slot in quotes.slots if slot.feasible]
        if not fitting:
            continue
        cheapest = min(fitting, key=lambda slot: slot.added_cost)
        held = call(client, "hold", job=job, slot={"window": cheapest.window}, ttl_s=600)
        assert isinstance(held, models.Change) and held.state == models.ChangeState.HELD
        assert call(client, "commit", id=held.id, key=f"pay-{number}").state == models.ChangeState.BOOKED
        booked.append(held.id)
    assert booked == [f"o{number}" for number in range(6)]  # the van has room for six
    assert call(client, "cancel", id="o0").changed
    refused = call(client, "cancel", id="o0")
    assert isinstance(refused, models.Refusal) and "o0" in refused.error
    plan = call(client, "plan")
    assert [booking.id for booking in plan.bookings] == booked[1:]
    assert sum(len(route.stops) for route in plan.routes) == 5
    assert importlib.import_module("generated_client.api.default.plans").sync(client=client).plans == [DAY]
