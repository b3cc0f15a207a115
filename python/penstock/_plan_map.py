"""A plan as a picture for notebooks: one piece of HTML that loads nothing from elsewhere."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from typing import Any

WIDTH, HEIGHT, MARGIN = 560, 400, 22
COLOURS = ["#1659c7", "#c05621", "#2f855a", "#7b3fb5", "#b7791f", "#0e7490", "#be3a6b", "#5b6b2f"]
UNSERVED = "#777"


class _Frame:
    """From places to pixels: north is up, and a km is as long in every direction."""

    def __init__(self, places: list[tuple[float, float]]):
        xs, ys = [x for x, _ in places], [y for _, y in places]
        self.middle = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
        degrees = all(abs(x) <= 180 and abs(y) <= 90 for x, y in places)
        self.shrink = math.cos(math.radians(self.middle[1])) if degrees else 1.0
        wide, high = (max(xs) - min(xs)) * self.shrink, max(ys) - min(ys)
        least = 1e-9 + 0.01 * max(wide, high)
        self.scale = min((WIDTH - 2 * MARGIN) / max(wide, least), (HEIGHT - 2 * MARGIN) / max(high, least))

    def __call__(self, place: Iterable[float]) -> tuple[float, float]:
        x, y = place
        return (round(WIDTH / 2 + (x - self.middle[0]) * self.shrink * self.scale, 1), round(HEIGHT / 2 - (y - self.middle[1]) * self.scale, 1))


def _stop(feature: dict[str, Any], colour: str, frame: _Frame) -> str:
    (x, y), told = frame(feature["geometry"]["coordinates"]), feature["properties"]
    served = told["vehicle"] is not None
    title = html.escape(f"{told['id']}, {told['vehicle']}, {told['start']}" if served else f"{told['id']}, unserved")
    return (f'<g><title>{title}</title><circle cx="{x}" cy="{y}" r="9" fill="{colour}" stroke="#fff"/>'
            f'<text x="{x}" y="{y + 3.5}" font-size="10" font-weight="600" fill="#fff" text-anchor="middle">{told.get("order", "?")}</text></g>')


def _line(feature: dict[str, Any], colour: str, frame: _Frame) -> str:
    way = " ".join("{},{}".format(*frame(place)) for place in feature["geometry"]["coordinates"])
    x, y = frame(feature["geometry"]["coordinates"][0])
    return (f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2.2" stroke-linejoin="round" opacity="0.85"/>'
            f'<rect x="{x - 5}" y="{y - 5}" width="10" height="10" fill="#333"/>')


def _row(told: dict[str, Any], colour: str) -> str:
    cells = (told["vehicle"], told["order"], told["id"], told["start"]) if told["vehicle"] is not None else ("unserved", "", told["id"], "")
    shown = "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells)
    return f'<tr style="border-left:4px solid {colour}">{shown}</tr>'


def plan_html(geojson: dict[str, Any], title: str) -> str:
    """Map and stops in the order in which they are driven; the numbers are the same in both."""
    features = geojson["features"]
    vehicles = [f["properties"]["vehicle"] for f in features if f["geometry"] and f["geometry"]["type"] == "LineString"]
    colour = {vehicle: COLOURS[i % len(COLOURS)] for i, vehicle in enumerate(vehicles)}
    placed = [f for f in features if f["geometry"]]
    lines = [f for f in placed if f["geometry"]["type"] == "LineString"]
    stops = [f for f in placed if f["geometry"]["type"] == "Point"]
    picture = ""
    if placed:
        frame = _Frame([(x, y) for f in lines for x, y in f["geometry"]["coordinates"]] + [tuple(f["geometry"]["coordinates"]) for f in stops])
        drawn = [_line(f, colour[f["properties"]["vehicle"]], frame) for f in lines]
        drawn += [_stop(f, colour.get(f["properties"]["vehicle"], UNSERVED), frame) for f in stops]
        picture = (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" style="width:100%;max-width:{WIDTH}px;background:#f6f6f4;border-radius:8px" role="img">'
                   f"<title>{html.escape(title)}</title>{''.join(drawn)}</svg>")
    rows = "".join(_row(f["properties"], colour.get(f["properties"]["vehicle"], UNSERVED)) for f in stops)
    table = f"<table><thead><tr><th>vehicle</th><th>#</th><th>stop</th><th>begins</th></tr></thead><tbody>{rows}</tbody></table>" if rows else ""
    return (f'<div style="font-family:sans-serif;font-size:13px"><b>{html.escape(title)}</b>'
            f'<div style="display:flex;flex-wrap:wrap;gap:14px;align-items:flex-start">{picture}{table}</div></div>')
