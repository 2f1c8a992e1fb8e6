"""A growth curve as SVG: both scales logarithmic, so that linear growth is a line at the dashed one's slope."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import log10

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 480, 320, 60, 40, 30, 20


def plot(title: str, curve: Mapping[int, float]) -> str:
    """The milliseconds of each size; the dashed line is what linear growth from the largest size would be."""
    sizes = sorted(curve)
    low, high = log10(sizes[0]), log10(sizes[-1])
    times = [curve[size] * 1000 for size in sizes]
    floor, ceiling = log10(min(times)) - 0.1, log10(max(times)) + 0.1

    def x(size: float) -> float:
        return LEFT + (log10(size) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(time: float) -> float:
        share = (log10(time) - floor) / (ceiling - floor)
        return HEIGHT - BOTTOM - max(share, 0) * (HEIGHT - BOTTOM - TOP)

    pairs = list(zip(sizes, times, strict=True))
    points = " ".join(f"{x(size):.1f},{y(time):.1f}" for size, time in pairs)
    start = max(sizes[0], sizes[-1] * 10**floor / times[-1])  # where the dashed line meets the floor
    linear = f"{x(start):.1f},{y(times[-1] * start / sizes[-1]):.1f} {x(sizes[-1]):.1f},{y(times[-1]):.1f}"
    marks = [_text(x(size), HEIGHT - BOTTOM + 18, f"{size:,}", "middle") for size in sizes]
    marks += [_text(LEFT - 6, y(time) + 4, f"{time:.3g}", "end") for time in (times[0], times[-1])]
    marks += [_text(WIDTH / 2, 18, f"{title}: milliseconds", "middle")]
    dots = [
        f'<circle cx="{x(s):.1f}" cy="{y(t):.1f}" r="3" fill="#1a5fb4"/>' for s, t in zip(sizes, times, strict=True)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
            f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#888"/>',
            f'<polyline points="{linear}" fill="none" stroke="#888" stroke-dasharray="4 4"/>',
            f'<polyline points="{points}" fill="none" stroke="#1a5fb4" stroke-width="2"/>',
            *dots,
            *marks,
            "</svg>\n",
        ]
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" text-anchor="{anchor}">{escape(text)}</text>'
