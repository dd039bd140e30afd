"""Line charts as inline SVG: no script, no outside resource, the page's own colours."""

import math
from collections.abc import Mapping, Sequence

from pairloom.components.report.markup import text

__all__ = ["line_chart", "nice_ticks"]

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 460, 240
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 12, 40
FEW = 40
"""So many points or fewer are shown as dots too."""


def line_chart(
    series: Mapping[str, Points],
    title: str,
    along: str,
    categories: Sequence[str] = (),
    from_zero: bool = False,
) -> str:
    """A chart of a line for each series.

    Args:
        series: Name to points; those that are not finite are left out.
        title: What goes up, written above.
        along: What goes to the right.
        categories: Names of the places 0, 1, ... along the axis; none: it has numbers.
        from_zero: Whether the axis that goes up begins at 0, for what is counted from there.

    Returns:
        A `<figure>`; empty where there is not one point.
    """
    lines = {
        name: [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
        for name, points in series.items()
    }
    lines = {name: points for name, points in lines.items() if points}
    if not lines:
        return ""
    everywhere = [point for points in lines.values() for point in points]
    heights = [y for _, y in everywhere] + ([0.0] if from_zero else [])
    ups = nice_ticks(min(heights), max(heights))
    if categories:
        rights = [float(place) for place in range(len(categories))]
        low, high = -0.5, len(categories) - 0.5
    else:
        rights = nice_ticks(min(x for x, _ in everywhere), max(x for x, _ in everywhere), 5)
        low, high = rights[0], rights[-1]

    def across(x: float) -> float:
        return LEFT + (x - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def up(y: float) -> float:
        share = (y - ups[0]) / (ups[-1] - ups[0])
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    parts = [_across_line(up(tick), _shown(tick)) for tick in ups]
    parts += [
        f'<text x="{across(tick):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
        f"{text(categories[place]) if categories else _shown(tick)}</text>"
        for place, tick in enumerate(rights)
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text x="{middle:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{text(along)}</text>'
    )
    for number, (name, points) in enumerate(lines.items()):
        parts.append(_line(name, [(across(x), up(y)) for x, y in points], points, number))
    names = "".join(
        f'<span class="key series-{number}">{text(name)}</span>'
        for number, name in enumerate(lines)
    )
    keys = f'<span class="keys">{names}</span>' if len(lines) > 1 else ""
    return (
        f'<figure class="curve"><figcaption><b>{text(title)}</b> {keys}</figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{text(title)}">'
        f"{''.join(parts)}</svg></figure>"
    )


def nice_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers, at least two, from at or below `low` to at or above `high`.

    >>> nice_ticks(0.3, 9.2)
    [0.0, 2.5, 5.0, 7.5, 10.0]
    """
    if high <= low:
        half = abs(low) / 2 or 0.5
        low, high = low - half, high + half
    rough = (high - low) / about
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * part for part in (1, 2, 2.5, 5, 10) if size * part >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{number * step:.10g}") for number in range(first, max(last, first + 1) + 1)]


def _across_line(y: float, label: str) -> str:
    return (
        f'<path class="rule" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
    )


def _line(name: str, places: Points, points: Points, number: int) -> str:
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dots = ""
    if len(points) <= FEW:
        dots = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{text(name)}: {value:.6g}</title>'
            "</circle>"
            for (x, y), (_, value) in zip(places, points)
        )
    return f'<g class="series series-{number % 4}"><path d="M{path}"/>{dots}</g>'


def _shown(value: float) -> str:
    if value and abs(value) >= 10_000:
        return f"{value / 1000:,.5g}k"
    return f"{value:.6g}".replace("-", "−")
