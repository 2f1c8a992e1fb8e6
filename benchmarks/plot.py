"""A growth curve as SVG: both scales logarithmic, so that linear growth is a line at the dashed
one's slope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 480, 320, 64, 52, 40, 28

Place = Callable[[float], float]
"""From a size or a time to where it is drawn."""


def plot(title: str, axis: str, curve: Mapping[int, float]) -> str:
    """The seconds of each size, with a line for each power of ten.

    `axis` says what the sizes count. The dashed line is what linear growth from the largest size
    would be.
    """
    sizes = sorted(curve)
    times = [curve[size] for size in sizes]
    low, high = floor(log10(min(times))), ceil(log10(max(times)))
    low -= high == low
    x = _scale(log10(sizes[0]), log10(sizes[-1]), LEFT, WIDTH - RIGHT)
    y = _scale(low, high, HEIGHT - BOTTOM, TOP)
    start = max(sizes[0], sizes[-1] * 10**low / times[-1])  # where the dashed line meets the floor
    linear = [(start, times[-1] * start / sizes[-1]), (sizes[-1], times[-1])]

    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
            _text(WIDTH / 2, 20, title, "middle", size=14),
            *_axes(axis, sizes, range(low, high + 1), x, y),
            f'<polyline points="{_points(linear, x, y)}" fill="none" stroke="#777" '
            'stroke-dasharray="5 4"/>',
            f'<polyline points="{_points(curve.items(), x, y)}" fill="none" stroke="#1a5fb4" '
            'stroke-width="2"/>',
            *(
                f'<circle cx="{x(size):.1f}" cy="{y(curve[size]):.1f}" r="3" fill="#1a5fb4"/>'
                for size in sizes
            ),
            _text(x(sizes[-1]), y(times[-1]) - 9, shown(times[-1]), "end"),
            _text(x(sizes[0]) + 2, y(times[0]) - 9, shown(times[0]), "start"),
            "</svg>\n",
        ]
    )


def shown(seconds: float) -> str:
    """A time of three digits, in milliseconds or seconds."""
    return f"{seconds:.3g} s" if seconds >= 0.9995 else f"{seconds * 1000:.3g} ms"


def _axes(axis: str, sizes: list[int], powers: range, x: Place, y: Place) -> Iterator[str]:
    for power in powers:
        yield f'<path d="M{LEFT} {y(10.0**power):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        yield _text(LEFT - 6, y(10.0**power) + 4, shown(10.0**power), "end")
    for size in sizes:
        yield f'<path d="M{x(size):.1f} {HEIGHT - BOTTOM}v4" stroke="#888"/>'
        yield _text(x(size), HEIGHT - BOTTOM + 18, f"{size:,}", "middle")
    yield f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#888"/>'
    yield _text(
        (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, f"{axis} (dashed: linear growth)", "middle"
    )


def _scale(low: float, high: float, start: float, end: float) -> Place:
    return lambda value: start + (log10(value) - low) / (high - low) * (end - start)


def _points(pairs: Iterable[tuple[float, float]], x: Place, y: Place) -> str:
    return " ".join(f"{x(size):.1f},{y(time):.1f}" for size, time in pairs)


def _text(x: float, y: float, text: str, anchor: str, *, size: int = 12) -> str:
    # so that lines do not run through letters
    halo = 'stroke="#fff" stroke-width="4" paint-order="stroke"'
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f"{halo}>{escape(text)}</text>"
    )
