"""The bar chart, as SVG text: one panel per number of threads, one group of bars per cell."""
from xml.sax.saxutils import escape

import summary

WIDTH = 960
LEFT, RIGHT = 64, 16
PANEL_HEIGHT = 300  # a panel with its title and its labels
PLOT_HEIGHT = 210
PLOT_TOP = 44  # from a panel's top
LEGEND_ROW = 22
PER_ROW = 3  # entries of the legend, so that long titles have room
GAP = 0.22  # of a group's width, between groups
COLOURS = {
    "penstock": "#0b5cad",
    "sb3": "#d98032",
    "cleanrl": "#5a9e4b",
    "jax": "#8a63b0",
    "puffer": "#c4504e",
    "hand": "#b9bec6",
}
SPARE_COLOURS = ("#3aa6a6", "#a08030", "#d070a8", "#707070")


def svg(results):
    cells = results["cells"]
    counts = sorted({cell["threads"] for cell in cells})
    names = list(dict.fromkeys(name for cell in cells for name in cell["rates"]))
    colours = colours_of(names)
    top = 24 + LEGEND_ROW * -(-len(names) // PER_ROW)
    height = top + PANEL_HEIGHT * len(counts) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        *legend(names, colours, results["titles"]),
    ]
    for i, threads in enumerate(counts):
        chosen = [cell for cell in cells if cell["threads"] == threads]
        parts += panel(top + PANEL_HEIGHT * i, threads, chosen, names, colours)
    return "\n".join([*parts, "</svg>"]) + "\n"


def colours_of(names):
    spare = iter(SPARE_COLOURS * len(names))
    return {name: COLOURS.get(name) or next(spare) for name in names}


def text(x, y, content, size=12, anchor="middle", fill="#1d2733", weight="normal"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="{fill}" font-weight="{weight}">{escape(content)}</text>'
    )


def line(x1, y1, x2, y2, colour, width=1.0):
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="{colour}" stroke-width="{width}"/>'
    )


def legend(names, colours, titles):
    parts = []
    for i, name in enumerate(names):
        x = LEFT + (i % PER_ROW) * (WIDTH - LEFT - RIGHT) / PER_ROW
        y = 14 + (i // PER_ROW) * LEGEND_ROW
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="14" height="14" fill="{colours[name]}"/>')
        parts.append(text(x + 20, y + 12, titles[name], 13, "start"))
    return parts


def nice_step(highest):
    """A round distance between grid lines that gives about four of them."""
    step = 1.0
    while step * 10 <= highest / 4:
        step *= 10
    return next(s * step for s in (1, 2, 5, 10) if s * step * 5 >= highest)


def panel(top, threads, cells, names, colours):
    rows = [summary.summarise(cell["rates"], "penstock") for cell in cells]
    highest = max(row.high for by_name in rows for row in by_name.values())
    base = top + PLOT_TOP + PLOT_HEIGHT
    per_sample = PLOT_HEIGHT / (highest * 1.1)  # room for the label of the highest bar
    title = "one thread" if threads == 1 else f"{threads} threads"
    parts = [text(LEFT, top + 20, f"{title}: samples per second", 14, "start", weight="bold")]
    step = nice_step(highest)
    for i in range(int(highest * 1.1 / step) + 1):
        y = base - i * step * per_sample
        parts.append(line(LEFT, y, WIDTH - RIGHT, y, "#dfe4ea" if i else "#6b7683"))
        parts.append(text(LEFT - 8, y + 4, summary.rate_text(i * step) if i else "0", 11, "end"))
    group = (WIDTH - LEFT - RIGHT) / len(cells)
    for i, (cell, by_name) in enumerate(zip(cells, rows)):
        left = LEFT + group * i
        label = f"{cell['num_envs']} envs, minibatch {cell['minibatch']}"
        parts.append(text(left + group / 2, base + 20, label, 12))
        parts += bars(left, group, base, per_sample, by_name, names, colours)
    return parts


def bars(left, group, base, per_sample, by_name, names, colours):
    """A missing system leaves its place empty, so that colours stay in the same order."""
    slot = min(group * (1 - GAP) / len(names), 64)
    start = left + (group - slot * len(names)) / 2
    size = 11 if slot >= 38 else 9
    parts = []
    for i, name in enumerate(names):
        if name not in by_name:
            continue
        row = by_name[name]
        x, middle = start + slot * i + 2, start + slot * (i + 0.5)
        height = row.median * per_sample
        parts.append(
            f'<rect x="{x:.1f}" y="{base - height:.1f}" width="{slot - 4:.1f}" '
            f'height="{height:.1f}" fill="{colours[name]}"/>'
        )
        high, low = base - row.high * per_sample, base - row.low * per_sample
        parts.append(line(middle, high, middle, low, "#1d2733", 1.2))
        parts.append(text(middle, high - 5, summary.rate_text(row.median), size))
    return parts
