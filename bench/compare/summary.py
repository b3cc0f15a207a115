"""From rates per round to what the report says."""
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    median: float
    low: float
    high: float
    ratio: float | None  # how many times faster the baseline is; None for the baseline itself


def ratio_of(ours, theirs):
    """The median of the ratios of each round: the machine drifts, but hardly within a round."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def summarise(rates, baseline):
    """rates: system -> one rate per round. Gives system -> Row, in the same order."""
    ours = rates.get(baseline)
    rows = {}
    for name, values in rates.items():
        ratio = ratio_of(ours, values) if ours and name != baseline else None
        rows[name] = Row(statistics.median(values), min(values), max(values), ratio)
    return rows


def significant(value):
    """Three digits: 7.91, 36.1, 121."""
    return f"{value:.{max(0, 3 - len(str(int(value))))}f}"


def unit_of(value):
    return (1e6, "M") if value >= 1e6 else (1e3, "k")


def rate_text(value):
    scale, unit = unit_of(value)
    return f"{significant(value / scale)} {unit}"


def range_text(row):
    """121 k (118–124): all three in the median's unit."""
    scale, _ = unit_of(row.median)
    low, high = significant(row.low / scale), significant(row.high / scale)
    return f"{rate_text(row.median)} ({low}–{high})"
