"""Choice by multinomial logit and Bayes' rule, written without a look at the program's own."""

import itertools
import math

# What the service supposes of customers of whom nothing is known: utility by the part of the day.
DEFAULT = [
    {"name": "any time", "share": 0.25, "any": 1},
    {"name": "mornings", "share": 0.25, "any": 1.5, "afternoon": -2.5, "evening": -2.5},
    {"name": "afternoons", "share": 0.25, "any": -1, "afternoon": 2.5},
    {"name": "evenings", "share": 0.25, "any": -1, "evening": 2.5},
]


def hours(clock):
    h, m = clock.split(":")[:2]
    return int(h) + int(m) / 60


def utility(taste, slot):
    """Of a slot (window, fee, days ahead)."""
    first, last = map(hours, slot["window"])
    middle = (first + last) / 2
    part = "evening" if middle >= 17 else "afternoon" if middle >= 12 else None
    return (taste["any"] + (taste.get(part, 0) if part else 0) + taste.get("per_day", 0) * slot.get("day", 0) +
            taste.get("per_hour", 0) * (last - first) + taste.get("fee", 0) * slot.get("fee", 0))


def chances(taste, slots):
    weights = [math.exp(utility(taste, slot)) for slot in slots]
    return [weight / (1 + sum(weights)) for weight in weights]


def posterior(tastes, answers):
    """By answers [(slots, number of the taken one or None)]."""
    weights = [taste["share"] for taste in tastes]
    for slots, taken in answers:
        for k, taste in enumerate(tastes):
            told = chances(taste, slots)
            weights[k] *= 1 - sum(told) if taken is None else told[taken]
    return [weight / sum(weights) for weight in weights]


def mixed(tastes, belief, slots):
    """The chance of each slot, of a customer who is believed to be of several tastes."""
    lists = [chances(taste, slots) for taste in tastes]
    return [sum(b * told[s] for b, told in zip(belief, lists, strict=True)) for s in range(len(slots))]


def expected_margin(tastes, belief, slots, margins):
    return sum(chance * margin for chance, margin in zip(mixed(tastes, belief, slots), margins, strict=True))


def best_menu(tastes, belief, slots, margins):
    """(expected margin, numbers) of the best of all subsets."""
    best = (0.0, ())
    for size in range(1, len(slots) + 1):
        for numbers in itertools.combinations(range(len(slots)), size):
            margin = expected_margin(tastes, belief, [slots[i] for i in numbers], [margins[i] for i in numbers])
            best = max(best, (margin, numbers))
    return best
