"""The report as Markdown, from the results of a run."""
import summary

METHOD = """\
Every system does the same work: PPO on CartPole-v1, separate actor and critic of 64-64 tanh,
rollouts of 128 steps, 4 epochs; a rate counts env steps per second of rollout and update together.
The systems of a cell (envs N, minibatch) are set up and warmed up, stay alive side by side, and get
windows of at least {seconds:g} s in turns (rounds: {rounds}, rotating order), each pinned to as
many cores as it has threads. Figures are medians over rounds (lowest–highest), and a ratio is
the median over rounds of Penstock's rate divided by the other's in the same round, which cancels
the slow drift of a machine: above 1, Penstock is faster."""


def markdown(results, picture):
    parts = [
        f"# Penstock beside others, {results['date']}",
        machine_text(results),
        METHOD.format(**results["settings"]),
    ]
    if results["cells"]:
        parts.append(f"![Samples per second]({picture})")
    for threads in sorted({cell["threads"] for cell in results["cells"]}):
        parts += training_section(results, threads)
    if results.get("env"):
        parts += env_section(results)
    parts += [versions_text(results), problems_text(results), f"Made by `{results['command']}`."]
    return "\n\n".join(part for part in parts if part) + "\n"


BUSY_LOAD = 0.5


def busy_text(load):
    """What to think of figures from a machine that does other work too."""
    if load <= BUSY_LOAD:
        return ""
    return " **Other work was running**: more than one thread suffers most, and not all alike."


def machine_text(results):
    m = results["machine"]
    return (
        f"{m['cores']} cores of {m['cpu']}, {m['system']}, Python {m['python']}; load average "
        f"{m['load']:.2f} before the start. Waiting systems together used at most "
        f"{100 * results['idle_share']:.1f} % of one core.{busy_text(m['load'])}"
    )


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def cell_name(cell):
    return f"N {cell['num_envs']}, minibatch {cell['minibatch']}"


def threads_name(threads):
    return "One thread" if threads == 1 else f"{threads} threads"


def training_section(results, threads):
    cells = [cell for cell in results["cells"] if cell["threads"] == threads]
    summaries = [summary.summarise(cell["rates"], "penstock") for cell in cells]
    names = dict.fromkeys(name for s in summaries for name in s)
    titles = results["titles"]
    rows = [[titles[name], *(row_text(s.get(name)) for s in summaries)] for name in names]
    head = ["samples/s, Penstock's ratio to it", *map(cell_name, cells)]
    parts = [f"## Training: {threads_name(threads).lower()}", table(head, rows)]
    if threads > 1:
        parts.append(settings_text(results, cells))
    return parts


def row_text(row):
    if row is None:
        return "–"
    ratio = "" if row.ratio is None else f", **{summary.significant(row.ratio)}×**"
    return summary.range_text(row) + ratio


def settings_text(results, cells):
    """What each peer was found to be fastest with, where it had a choice."""
    chosen = {}
    for cell in cells:
        for name, setting in cell["settings"].items():
            if setting:
                chosen.setdefault(name, []).append(setting)
    if not chosen:
        return ""
    texts = []
    for name, settings in chosen.items():
        same = len(set(settings)) == 1
        texts.append(f"{results['titles'][name]}: {settings[0] if same else ', '.join(settings)}")
    return f"The faster setting found at start, cell by cell where it differs: {'; '.join(texts)}."


def env_section(results):
    env = results["env"]
    rows = []
    for threads in sorted({entry["threads"] for entry in env["systems"].values()}):
        names = [n for n, entry in env["systems"].items() if entry["threads"] == threads]
        rates = {n: env["rates"][n] for n in names if n in env["rates"]}
        baseline = next((n for n in rates if env["systems"][n]["peer"] == "penstock"), None)
        for name, row in summary.summarise(rates, baseline).items():
            title = results["titles"][env["systems"][name]["peer"]]
            rows.append([title, str(threads), row_text(row)])
    head = ["", "threads", "steps/s, Penstock's ratio to it"]
    return [f"## Env stepping only: CartPole, N {env['num_envs']}", table(head, rows)]


def versions_text(results):
    lines = [
        f"- **{results['titles'][name]}** {version}"
        + (f": {results['notes'][name]}." if results["notes"].get(name) else ".")
        for name, version in results["versions"].items()
    ]
    return "## Systems\n\n" + "\n".join(lines) if lines else ""


def problems_text(results):
    lines = [
        f"- {results['titles'][name]} is missing: {reason}"
        for name, reason in results["not_installed"].items()
    ]
    for cell in results["cells"]:
        where = f"{cell_name(cell)}, {threads_name(cell['threads']).lower()}"
        for name, reason in cell["failed"].items():
            lines.append(f"- {results['titles'][name]} left out of {where}: {reason}")
    env = results.get("env") or {"failed": {}}
    for name, reason in env["failed"].items():
        title = results["titles"][env["systems"][name]["peer"]]
        lines.append(f"- {title} left out of env stepping: {reason}")
    return "## What is missing and why\n\n" + "\n".join(lines) if lines else ""
