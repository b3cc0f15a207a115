"""From runs to what the report says: medians, interquartile means, rank tests."""
import statistics
from dataclasses import dataclass

BASELINE = "sb3"
BESIDE = ("in-process", "native")  # "workers" has the bits of "in-process", so it is no sample of its own
MEASURES = ("evaluation", "training")


@dataclass
class Row:
    env: str
    measure: str
    system: str
    count: int
    median: float
    middle: float
    better: float | None = None  # chance that a run of it beats one of the baseline, ties counted half
    p: float | None = None
    holm: float | None = None  # p, corrected for the number of tests


def interquartile_mean(values):
    """Mean of the middle half: one failed run does not carry it, and it moves less than the median."""
    cut = len(values) // 4
    return statistics.fmean(sorted(values)[cut:len(values) - cut])


def chance_of_better(ours, theirs):
    wins = sum((a > b) + 0.5 * (a == b) for a in ours for b in theirs)
    return wins / (len(ours) * len(theirs))


def rank_test(ours, theirs):
    """p of Mann and Whitney's test, two-sided: exact where no values are equal and samples are small."""
    from scipy import stats  # here, so that the rest is tested without it
    return float(stats.mannwhitneyu(ours, theirs, alternative="two-sided").pvalue)


def holm(chances):
    """Holm's correction, in the order given: the chance of even one false alarm among all of them stays below."""
    order = sorted(range(len(chances)), key=chances.__getitem__)
    corrected, highest = [0.0] * len(chances), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(chances) - rank) * chances[i]))
        corrected[i] = highest
    return corrected


def selected(results, envs, seeds):
    """A test is of the seeds that were meant for it, whatever else the file holds."""
    return results | {"settings": {env: results["settings"][env] for env in envs},
                      "runs": [run for env in envs for run in results["runs"]
                               if run["env"] == env and run["seed"] in seeds]}


def values_of(runs, env, system, measure):
    return [run[measure] for run in runs if (run["env"], run["system"]) == (env, system)]


def row_of(runs, env, measure, system, test):
    values = values_of(runs, env, system, measure)
    row = Row(env, measure, system, len(values), statistics.median(values), interquartile_mean(values))
    if system != BASELINE:
        theirs = values_of(runs, env, BASELINE, measure)
        row.better, row.p = chance_of_better(values, theirs), test(values, theirs)
    return row


def compare(runs, test=rank_test):
    """Rows by env, measure and system; the baseline's come first and have no p."""
    envs = list(dict.fromkeys(run["env"] for run in runs))
    rows = [row_of(runs, env, measure, system, test)
            for env in envs for measure in MEASURES for system in (BASELINE, *BESIDE)]
    tested = [row for row in rows if row.p is not None]
    for row, corrected in zip(tested, holm([row.p for row in tested]), strict=True):
        row.holm = corrected
    return rows


def unequal_bits(runs):
    """(compared, [(env, seed) whose weights depend on worker processes])."""
    digests = {(run["env"], run["seed"]): run["digest"] for run in runs if run["system"] == "in-process"}
    workers = [run for run in runs if run["system"] == "workers"]
    return len(workers), [(run["env"], run["seed"]) for run in workers
                          if digests[run["env"], run["seed"]] != run["digest"]]
