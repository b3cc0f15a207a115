"""The interval of a mean, for scripts that have Python's own library alone."""
import math
import statistics

QUANTILES = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)  # 97.5 %, of 1, 2, ... degrees of freedom


def half_width(values):
    """Half of the 95 % interval of the mean after Student's t; of one value nothing is known."""
    freedom = len(values) - 1
    if freedom < 1:
        return math.nan
    quantile = QUANTILES[freedom - 1] if freedom <= len(QUANTILES) else 1.96 + 2.372 / freedom + 2.823 / freedom**2  # Cornish and Fisher
    return quantile * statistics.stdev(values) / math.sqrt(len(values))
