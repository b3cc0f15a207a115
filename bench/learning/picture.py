"""Learning curves above, the single runs' evaluations below."""
import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.ticker import EngFormatter, MaxNLocator  # noqa: E402

import ranks  # noqa: E402
from hyper import ENVS  # noqa: E402
from tables import TITLES  # noqa: E402

COLOURS = {"sb3": "#d98032", "in-process": "#0b5cad", "native": "#5a9e4b"}


def draw(results, path):
    envs = list(results["settings"])
    figure, axes = plt.subplots(2, len(envs), figsize=(4.6 * len(envs), 6.6), squeeze=False, height_ratios=[3, 2])
    for (curves, finals), env in zip(axes.T, envs):
        keys = results["settings"][env]
        for place, system in enumerate(COLOURS):
            runs = [run for run in results["runs"] if (run["env"], run["system"]) == (env, system)]
            draw_curves(curves, runs, keys["env.num_envs"] * keys["rollout.steps"], system)
            draw_finals(finals, [run["evaluation"] for run in runs], place, system)
        label(curves, finals, env)
    axes[0][0].legend(loc="best", fontsize="small")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_curves(axis, runs, samples, system):
    """Median and the middle half of the seeds, from where half of them have ended an episode."""
    rows = np.array([run["curve"] for run in runs], dtype=float)
    known = np.isfinite(rows).mean(0) > 0.5
    steps = samples * np.arange(1, rows.shape[1] + 1)[known]
    low, middle, high = np.nanpercentile(rows[:, known], [25, 50, 75], axis=0)
    axis.plot(steps, middle, color=COLOURS[system], label=TITLES[system])
    axis.fill_between(steps, low, high, color=COLOURS[system], alpha=0.18, linewidth=0)


def draw_finals(axis, values, place, system):
    """A dot per seed, side by side so that equal ones are seen, and a bar for the interquartile mean."""
    offsets = np.linspace(-0.25, 0.25, len(values))
    axis.plot(place + offsets, sorted(values), "o", markersize=4, alpha=0.75, color=COLOURS[system])
    middle = ranks.interquartile_mean(values)
    axis.plot([place - 0.35, place + 0.35], [middle, middle], color=COLOURS[system], linewidth=1.5)


def label(curves, finals, env):
    env_id, goal = ENVS[env]
    for axis in (curves, finals):
        axis.axhline(goal, color="grey", linewidth=0.8, linestyle=":")
    curves.set(title=env_id, xlabel="env steps", ylabel="return, last 100 episodes")
    curves.xaxis.set_major_formatter(EngFormatter(sep=""))
    curves.xaxis.set_major_locator(MaxNLocator(5))
    finals.set(ylabel="evaluation, a dot per seed", xlim=(-0.6, 2.6))
    finals.set_xticks(range(len(TITLES)), ["SB3", "Penstock,\nGymnasium env", "Penstock,\nnative env"])
