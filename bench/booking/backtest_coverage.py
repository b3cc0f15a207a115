#!/usr/bin/env python3
"""How often the 95 % intervals of `penstock booking backtest` cover the truth, on logs drawn from a choice model that is known.

    bench/booking/backtest_coverage.py [--exe build/release/penstock] [--logs 200]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "golden"), str(ROOT / "tests" / "support")]
import choice_by_hand as by_hand  # noqa: E402
import test_booking_backtest as logs  # noqa: E402

CALLS, DAYS = 24, 28


def truths():
    """What each policy earns a day; fees are the same for all calls, so nobody knows what an incentive does."""
    slots = [{"window": window, "fee": fee} for window, fee in zip(logs.WINDOWS, logs.FEES, strict=True)]
    margins = [logs.REVENUE + fee for fee in logs.FEES]
    shown_all = CALLS * by_hand.expected_margin([logs.TRUTH], [1], slots, margins)
    return {"first-come": shown_all, "insertion": shown_all, "posterior": CALLS * by_hand.best_menu([logs.TRUTH], [1], slots, margins)[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--exe", default="build/release/penstock")
    parser.add_argument("--logs", type=int, default=200)
    args = parser.parse_args()

    def penstock(*words):
        return subprocess.run([args.exe, *map(str, words)], capture_output=True, text=True, check=True)

    covered = {}
    values = truths()
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        for seed in range(args.logs):
            logs.write_log(folder / "log.csv", DAYS, CALLS, 1000 + seed, fees_vary=False)
            for policy in logs.run(penstock, folder)["policies"]:
                if policy["name"] not in values:
                    continue
                for kind, told in (("earned", policy["earned"]), ("direct", policy["check"]["direct"]), ("weighted", policy["check"]["weighted"])):
                    hit = told["low"] <= values[policy["name"]] <= told["high"]
                    covered.setdefault(f"{policy['name']}, {kind}", []).append((hit, told["high"] - told["low"]))
    print(json.dumps({name: {"covers": round(sum(hit for hit, _ in list_) / len(list_), 3),
                             "width": round(sum(width for _, width in list_) / len(list_), 1)} for name, list_ in covered.items()} | {"truth": values}, indent=1))


if __name__ == "__main__":
    main()
