"""A colour for everyone who writes lines of a manifest: the spec, the target, and each pass, however many there are."""

from __future__ import annotations

import colorsys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_GREYS: Final = {"light": ("#586174", "#4f5869"), "dark": ("#a1acbe", "#a3acba")}
"""The spec's own lines and the target's, which are most of a manifest."""
_LUMINANCE: Final = {"light": 0.1, "dark": 0.45}
"""Relative luminance (WCAG 2.2) that stands out from every ground of the scheme at level AA."""
_SATURATION: Final = {"light": 0.75, "dark": 0.8}
_TURN: Final = 0.618034
"""The golden ratio's share of a turn: hues that follow one another are far apart, and none comes twice."""
_FIRST: Final = 0.6


def style(count: int) -> str:
    """The CSS of `count` authors: a variable each in both schemes, and the class that marks a line with it."""
    light, dark = (_variables(count, scheme) for scheme in ("light", "dark"))
    marks = "".join(f".a{i} {{ --mark: var(--a{i}) }}\n" for i in range(count))
    return f":root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{\n  :root {{ {dark} }}\n}}\n{marks}"


def _variables(count: int, scheme: str) -> str:
    greys = _GREYS[scheme]
    hues = ((_FIRST + i * _TURN) % 1 for i in range(count - len(greys)))
    colours = [*greys, *(_colour(hue, _SATURATION[scheme], _LUMINANCE[scheme]) for hue in hues)]
    return " ".join(f"--a{i}: {colour};" for i, colour in enumerate(colours[:count]))


def _colour(hue: float, saturation: float, luminance: float) -> str:
    """The colour of a hue that is as bright to the eye as all others: found by halving."""
    low, high = 0.0, 1.0
    for _ in range(16):
        lightness = (low + high) / 2
        low, high = (lightness, high) if _luminance(hue, lightness, saturation) < luminance else (low, lightness)
    red, green, blue = (round(255 * part) for part in colorsys.hls_to_rgb(hue, low, saturation))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _luminance(hue: float, lightness: float, saturation: float) -> float:
    parts = colorsys.hls_to_rgb(hue, lightness, saturation)
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
