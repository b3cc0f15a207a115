"""The tables, as Markdown."""
import ranks
from hyper import ENVS

TITLES = {"sb3": "Stable-Baselines3", "in-process": "Penstock, Gymnasium env", "native": "Penstock, native env"}
MEASURES = {"evaluation": "Evaluation: deterministic, 20 episodes after the last update",
            "training": "Training: stochastic, the last 100 episodes"}


def cell(number, text):
    return "" if number is None else format(number, text)


def line(row):
    return (f"| {ENVS[row.env][0]} | {TITLES[row.system]} | {row.count} | {row.median:.1f} | {row.middle:.1f} | "
            f"{cell(row.better, '.2f')} | {cell(row.p, '.3f')} | {cell(row.holm, '.2f')} |")


def table(rows, measure):
    return "\n".join([
        f"{MEASURES[measure]}.", "",
        "| env | system | seeds | median | interquartile mean | better than theirs | p | p, Holm |",
        "|---|---|---|---|---|---|---|---|",
        *(line(row) for row in rows if row.measure == measure)])


def bits(runs):
    compared, unequal = ranks.unequal_bits(runs)
    if not compared:
        return "No run had worker processes."
    if unequal:
        return f"Weights DEPEND on worker processes: {unequal} of {compared} runs compared."
    return f"Weights with two worker processes equal those in process, bit for bit, in all {compared} runs compared."


def tests(rows):
    chances = [row.p for row in rows if row.p is not None]
    below = sum(p < 0.05 for p in chances)
    return (f"{len(chances)} tests were made, {below} of them below 0.05. Better than theirs: the chance that a run beats "
            "one of Stable-Baselines3, 0.5 where they are alike.")


def page(results, rows):
    of = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    return "\n\n".join([of, bits(results["runs"]), *(table(rows, measure) for measure in MEASURES), tests(rows)]) + "\n"
