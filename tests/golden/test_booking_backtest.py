"""`penstock booking backtest`: logs drawn from a choice model that is known, fitted and judged."""

import csv
import itertools
import json
import math
import pathlib
import random
import sys

import numpy as np
import pytest
from scipy.optimize import minimize

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import choice_by_hand as by_hand  # noqa: E402

DEPOT = [4.89, 52.37]
FLEET = {"vehicles": [{"id": i, "start": DEPOT, "end": DEPOT, "capacity": [100], "time_window": ["07:00", "22:00"]} for i in range(2)]}
TRUTH = {"any": 0.4, "afternoon": -0.6, "evening": 0.7, "fee": -0.3}
WINDOWS = [["08:00", "10:00"], ["10:00", "12:00"], ["13:00", "15:00"], ["18:00", "20:00"]]
FEES = [-5.0, 0.0, 2.0, 6.0]  # of these, or 3 less, by chance
REVENUE = 8.0
MENUS = [menu for size in (2, 3, 4) for menu in itertools.combinations(range(4), size)]
COLUMNS = ["call", "date", "customer", "booked_at", "lon", "lat", "amount", "earliest", "latest", "fee", "revenue", "propensity", "answer"]


def draw_answer(draw, truth, slots):
    """A slot's number or None."""
    chances = by_hand.chances(truth, slots)
    return draw.choices([*range(len(slots)), None], [*chances, 1 - sum(chances)])[0]


def write_log(path, days, calls_a_day, seed, fees_vary=True, propensity=True, taste_of=lambda _: TRUTH):
    """Menus are drawn by chance; all customers live at the depot, so that routes cost nothing."""
    draw, rows, answers = random.Random(seed), [], []
    for number in range(days * calls_a_day):
        day = f"2026-{1 + number // calls_a_day // 28:02}-{1 + number // calls_a_day % 28:02}"
        menu = draw.choice(MENUS)
        fees = [FEES[s] - (3.0 if fees_vary and draw.random() < 0.5 else 0.0) for s in menu]
        slots = [{"window": WINDOWS[s], "fee": fee} for s, fee in zip(menu, fees, strict=True)]
        taken = draw_answer(draw, taste_of(number % 50), slots)
        answers.append((slots, taken))
        chance = 1 / len(MENUS) / (2 ** len(menu) if fees_vary else 1)
        for s, slot in enumerate(slots):
            rows.append([number, day, f"c{number % 50}", f"{day}T{number % calls_a_day:02}:00", *DEPOT, 1, *slot["window"], slot["fee"], REVENUE,
                         chance if propensity else "", "yes" if s == taken else "no"])
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    return answers


def run(penstock, folder, *options):
    (folder / "fleet.json").write_text(json.dumps(FLEET))
    return json.loads(penstock("booking", "backtest", folder / "log.csv", "--fleet", folder / "fleet.json", "--json", "--improve", 0, *options).stdout)


def log_likelihood(worth, answers):
    taste = dict(zip(TRUTH, worth, strict=True))
    total = 0.0
    for slots, taken in answers:
        utilities = [by_hand.utility(taste, slot) for slot in slots]
        total += (0.0 if taken is None else utilities[taken]) - math.log(1 + sum(map(math.exp, utilities)))
    return total


def information(at, answers):
    """The second derivatives of the likelihood, by differences."""
    steps = np.eye(len(at)) * 1e-3

    def second(a, b):
        return sum(x * y * log_likelihood(at + x * a + y * b, answers) for x in (-1, 1) for y in (-1, 1)) / -4e-6

    return np.array([[second(a, b) for b in steps] for a in steps])


def test_the_fit_is_scipys_and_covers_the_truth(penstock, tmp_path):
    answers = write_log(tmp_path / "log.csv", days=20, calls_a_day=24, seed=1)
    told = run(penstock, tmp_path, "--draws", 2, "--tastes", tmp_path / "tastes.json")
    found = minimize(lambda worth: -log_likelihood(worth, answers), np.zeros(4), method="BFGS", options={"gtol": 1e-6})
    assert set(told["fit"]) == set(TRUTH)  # nothing is ordered days ahead, and all slots are as wide
    assert told["log_likelihood"] == pytest.approx(-found.fun, abs=1e-5)
    errors = np.sqrt(np.diag(np.linalg.inv(information(found.x, answers))))
    for i, name in enumerate(TRUTH):
        fit = told["fit"][name]
        assert fit["mean"] == pytest.approx(found.x[i], abs=1e-3)
        assert fit["high"] - fit["mean"] == pytest.approx(1.96 * errors[i], rel=0.01)
    written = json.loads((tmp_path / "tastes.json").read_text())["tastes"][0]
    assert all(written[name] == pytest.approx(told["fit"][name]["mean"]) for name in TRUTH)


def test_intervals_of_worths_cover(penstock, tmp_path):
    """Of ten logs and four worths, 95 % intervals may miss a few of the forty."""
    missed = 0
    for seed in range(10):
        write_log(tmp_path / "log.csv", days=6, calls_a_day=40, seed=100 + seed)
        fit = run(penstock, tmp_path, "--draws", 2)["fit"]
        missed += sum(not fit[name]["low"] <= worth <= fit[name]["high"] for name, worth in TRUTH.items())
    assert missed <= 6  # more than 6 of 40 at 5 % each: 1 in 70


def test_the_estimate_covers_what_a_policy_earns(penstock, tmp_path):
    """All slots at their fees, which are the same for all calls: the value is known in closed form."""
    write_log(tmp_path / "log.csv", days=28, calls_a_day=24, seed=3, fees_vary=False)
    told = run(penstock, tmp_path)
    slots = [{"window": window, "fee": fee} for window, fee in zip(WINDOWS, FEES, strict=True)]
    margins = [REVENUE + fee for fee in FEES]
    policies = {policy["name"]: policy for policy in told["policies"]}
    assert list(policies) == ["logged", "first-come", "insertion", "posterior"]
    shown_all = 24 * by_hand.expected_margin([TRUTH], [1], slots, margins)
    for name in ("first-come", "insertion"):  # nothing costs anything
        assert policies[name]["earned"]["low"] <= shown_all <= policies[name]["earned"]["high"]
        check = policies[name]["check"]
        assert check["direct"]["low"] <= shown_all <= check["direct"]["high"]
        assert check["weighted"]["low"] <= shown_all <= check["weighted"]["high"]
        assert check["difference"]["low"] <= 0 <= check["difference"]["high"]
    best = 24 * by_hand.best_menu([TRUTH], [1], slots, margins)[0]  # fees go with the time of day here: no incentive is known to work
    assert best > 1.02 * shown_all
    assert policies["posterior"]["earned"]["low"] <= best <= policies["posterior"]["earned"]["high"]
    width = policies["first-come"]["earned"]["high"] - policies["first-come"]["earned"]["low"]
    assert width < 0.25 * shown_all  # an interval that says something
    logged = sum(by_hand.expected_margin([TRUTH], [1], [slots[s] for s in menu], [margins[s] for s in menu]) for menu in MENUS) * 24 / len(MENUS)
    assert policies["logged"]["earned"]["low"] <= logged <= policies["logged"]["earned"]["high"]
    assert told["bias"]["low"] <= 0 <= told["bias"]["high"]


def test_warnings_say_what_the_log_cannot_know(penstock, tmp_path):
    write_log(tmp_path / "log.csv", days=8, calls_a_day=12, seed=4, fees_vary=False, propensity=False)
    text = (tmp_path / "log.csv").read_text()
    late = [line.replace("18:00,20:00", "20:00,22:00") if ",2026-01-08," in line else line for line in text.splitlines()]
    (tmp_path / "log.csv").write_text("\n".join(late) + "\n")
    warnings = " ".join(run(penstock, tmp_path, "--draws", 2)["warnings"])
    assert "propensity" in warnings and "nobody was shown before" in warnings
    table = penstock("booking", "backtest", tmp_path / "log.csv", "--fleet", tmp_path / "fleet.json", "--draws", 2, "--improve", 0).stdout
    assert "posterior" in table and "warning: " in table


@pytest.mark.parametrize("edit, told", [
    (lambda text: "\n".join(text.splitlines()[:20]), "days"),
    (lambda text: text.replace(",no", ",yes"), "two slots"),
    (lambda text: text.replace(",no", ","), "answer"),
    (lambda text: text.replace("revenue", "revenu"), "did you mean"),
])
def test_bad_logs_are_refused(penstock, tmp_path, edit, told):
    write_log(tmp_path / "log.csv", days=6, calls_a_day=12, seed=5)
    (tmp_path / "log.csv").write_text(edit((tmp_path / "log.csv").read_text()) + "\n")
    (tmp_path / "fleet.json").write_text(json.dumps(FLEET))
    assert told in penstock("booking", "backtest", tmp_path / "log.csv", "--fleet", tmp_path / "fleet.json", code=65).stderr


EARLY_AND_LATE = [{"name": "early", "share": 0.5, "any": 1.2, "afternoon": -1.5, "evening": -2.5, "fee": -0.3},
                  {"name": "late", "share": 0.5, "any": -1.5, "afternoon": 0.5, "evening": 2.5, "fee": -0.3}]


def test_customers_of_two_tastes_are_told_apart(penstock, tmp_path):
    """By their answers alone; no tastes are likelier than those that were found, not even the true ones."""
    answers = write_log(tmp_path / "log.csv", days=24, calls_a_day=25, seed=6, taste_of=lambda customer: EARLY_AND_LATE[customer % 2])
    told = run(penstock, tmp_path, "--draws", 4, "--tastes", tmp_path / "tastes.json")
    found = json.loads((tmp_path / "tastes.json").read_text())["tastes"]
    assert told["tastes"] == len(found) == 2

    def likelihood(tastes):
        total = 0.0
        for customer in range(50):
            own = answers[customer::50]
            chances = [math.exp(sum(math.log(1 - sum(p) if taken is None else p[taken])
                                    for p, taken in ((by_hand.chances(taste, slots), taken) for slots, taken in own))) for taste in tastes]
            total += math.log(sum(taste["share"] * chance for taste, chance in zip(tastes, chances, strict=True)))
        return total

    assert likelihood(found) > likelihood(EARLY_AND_LATE) > likelihood([TRUTH | {"share": 1}])
    early, late = sorted(found, key=lambda taste: taste["evening"])
    assert early["evening"] < -1 < 1 < late["evening"] and 0.35 < early["share"] < 0.65
    write_log(tmp_path / "log.csv", days=24, calls_a_day=25, seed=7)  # and who are alike are not
    assert run(penstock, tmp_path, "--draws", 2)["tastes"] == 1


POLICY = ROOT / "models" / "slots-seller"
FORECAST = {"calls": 24, "revenue": REVENUE, "fee_step": 0.01}


def run_policy(penstock, folder, *options, fleet=None):
    (folder / "fleet.json").write_text(json.dumps(fleet or FLEET | {"forecast": FORECAST}))
    return json.loads(penstock("booking", "backtest", folder / "log.csv", "--fleet", folder / "fleet.json", "--json", "--improve", 0,
                               "--policy", POLICY, *options).stdout)


def best_pricing():
    """What nobody can beat who sells to TRUTH at no cost: W(A / e) / beta a call, A being the attraction of all slots at minus the revenue."""
    beta = -TRUTH["fee"]
    drawn = sum(math.exp(by_hand.utility(TRUTH, {"window": window}) + beta * REVENUE) for window in WINDOWS) / math.e
    w = 1.0
    for _ in range(50):
        w -= (w * math.exp(w) - drawn) / (math.exp(w) * (1 + w))
    return w / beta


def test_a_policy_is_judged_too(penstock, tmp_path):
    """Customers live at the depot and call when the day has begun: a sale costs nothing, then or later, so the closed form is best."""
    write_log(tmp_path / "log.csv", days=28, calls_a_day=24, seed=2)
    told = run_policy(penstock, tmp_path)
    policies = {policy["name"]: policy for policy in told["policies"]}
    assert list(policies) == ["logged", "first-come", "insertion", "posterior", "trained"]
    trained, best = policies["trained"]["earned"], 24 * best_pricing()
    assert trained["low"] <= best <= trained["high"] and trained["low"] > policies["first-come"]["earned"]["high"]
    assert policies["trained"]["untold"] == 0 and not any("beyond those that were asked" in warning for warning in told["warnings"])
    assert run(penstock, tmp_path)["policies"] == told["policies"][:-1]  # the others are what they were


def test_fees_beyond_the_log_are_told(penstock, tmp_path):
    """Nobody was asked more than 6, and this policy asks 0, 8 or 16."""
    write_log(tmp_path / "log.csv", days=12, calls_a_day=24, seed=8)
    told = run_policy(penstock, tmp_path, "--draws", 2, fleet=FLEET | {"forecast": FORECAST | {"most_fee": 16, "fee_step": 8}})
    assert told["policies"][-1]["untold"] > 0.5
    assert any("trained: " in warning and "beyond those that were asked" in warning for warning in told["warnings"])


def test_a_policy_is_left_out_where_fees_tell_nothing(penstock, tmp_path):
    write_log(tmp_path / "log.csv", days=8, calls_a_day=12, seed=4, fees_vary=False)
    log = (tmp_path / "log.csv").read_text().splitlines()
    fee = COLUMNS.index("fee")
    rows = [log[0], *(",".join([*row.split(",")[:fee], "0", *row.split(",")[fee + 1:]]) for row in log[1:])]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    told = run_policy(penstock, tmp_path, "--draws", 2)
    assert "trained" not in [policy["name"] for policy in told["policies"]]
    assert any("left out" in warning for warning in told["warnings"])
    (tmp_path / "fleet.json").write_text(json.dumps(FLEET))
    done = penstock("booking", "backtest", tmp_path / "log.csv", "--fleet", tmp_path / "fleet.json", "--policy", POLICY, code=65)
    assert '"forecast": {"calls"' in done.stderr
