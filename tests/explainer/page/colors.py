"""The colors of the writers of lines, a hue each: `python -m tests.recordings` writes them to authors.css."""

from __future__ import annotations

import colorsys

_GREYS = {"light": ("#586174", "#4f5869"), "dark": ("#a1acbe", "#a3acba")}
"""Colors of the spec's and the target's lines, which are most of a manifest."""
_LUMINANCE = {"light": 0.1, "dark": 0.45}
"""Relative luminance (WCAG 2.2) with AA contrast to every background of the scheme."""
_SATURATION = {"light": 0.75, "dark": 0.8}
_GOLDEN_TURN = 0.618034
"""The golden ratio's share of a turn: consecutive hues are far apart, and no hue repeats."""
_FIRST_HUE = 0.6


def author_styles(count: int) -> str:
    """Return the CSS of `count` writers: one variable each in both schemes, and a class that
    marks a line with it.
    """
    light, dark = (_color_variables(count, scheme) for scheme in ("light", "dark"))
    marks = "".join(f".a{i} {{ --mark: var(--a{i}) }}\n" for i in range(count))
    return (
        f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{\n  :root {{ "
        f"{dark} }}\n}}\n{marks}"
    )


def _color_variables(count: int, scheme: str) -> str:
    greys = _GREYS[scheme]
    hues = ((_FIRST_HUE + i * _GOLDEN_TURN) % 1 for i in range(count - len(greys)))
    colors = [*greys, *(_color(hue, _SATURATION[scheme], _LUMINANCE[scheme]) for hue in hues)]
    return " ".join(f"--a{i}: {color};" for i, color in enumerate(colors[:count]))


def _color(hue: float, saturation: float, luminance: float) -> str:
    """Return the color of a hue with the given luminance, found by bisection."""
    low = 0.0
    high = 1.0
    for _ in range(16):
        lightness = (low + high) / 2
        if _luminance(hue, lightness, saturation) < luminance:
            low = lightness
        else:
            high = lightness

    red, green, blue = (round(255 * part) for part in colorsys.hls_to_rgb(hue, low, saturation))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _luminance(hue: float, lightness: float, saturation: float) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in colorsys.hls_to_rgb(hue, lightness, saturation)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
