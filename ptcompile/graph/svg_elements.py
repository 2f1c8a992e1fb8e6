"""SVG elements: style, text, shapes. Self-contained: no script, no font, no external address."""

from __future__ import annotations

from ptcompile._internal.lazy import bounded_cache
from ptcompile.report.layout import safe_text

MONO = 0.602
"""Width of a character in a monospaced font, relative to the font size."""
SANS = 0.56
"""Approximate width of a character in a proportional font, relative to the font size."""

STYLE = """
text { font-family: ui-sans-serif, system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #1e293b }
.mono { font-family: ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace }
.title { font-size: 20px; font-weight: 700 }
.h { font-size: 13px; font-weight: 700 }
.s { font-size: 12px }
.xs { font-size: 11px }
.soft { fill: #64748b }
.ground { fill: #f8fafc }
.panel { fill: #ffffff; stroke: #dbe3ed }
.card { fill: #f8fafc; stroke: #cbd5e1 }
.lead { fill: #eef2ff; stroke: #4f46e5; stroke-width: 2 }
.fact { fill: #e9eef5 }
.service { fill: #e0f2fe; stroke: #38bdf8 }
.volume { fill: #fef3c7; stroke: #f59e0b }
.device { fill: #10b981 }
.link { fill: none; stroke: #94a3b8; stroke-width: 1.2 }
.dash { stroke-dasharray: 4 4; stroke: #38bdf8 }
.meet { fill: none; stroke: #4f46e5; stroke-width: 1.6; stroke-opacity: 0.8 }
.head { fill: #4f46e5 }
.tag { fill: #4f46e5 }
.tagtext { fill: #ffffff; font-weight: 600 }
.warn { fill: #b45309 }
@media screen and (prefers-color-scheme: dark) {
  text { fill: #e2e8f0 }
  .soft { fill: #94a3b8 }
  .ground { fill: #0f172a }
  .panel { fill: #162033; stroke: #334155 }
  .card { fill: #1e293b; stroke: #475569 }
  .lead { fill: #272e5c; stroke: #818cf8 }
  .fact { fill: #25324a }
  .service { fill: #0c3a55; stroke: #0ea5e9 }
  .volume { fill: #4a3208; stroke: #d97706 }
  .meet { stroke: #818cf8 }
  .head { fill: #818cf8 }
  .warn { fill: #fbbf24 }
}
"""


_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


@bounded_cache(8192)
def escape(text: str) -> str:
    """Return text for an element or attribute; characters that XML forbids are escaped. Cached:
    the targets of a page share most of their texts.
    """
    return safe_text(text).translate(_ENTITIES)


def coord(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def fit_text(text: str, room: float, size: float, *, factor: float = MONO) -> str:
    """Shorten the text to the room by cutting its middle, because the end of a pod's name tells
    it from others.
    """
    max_length = max(3, int(room / (size * factor)))
    safe = safe_text(text)
    if len(safe) <= max_length:
        return safe
    tail = max_length // 2
    return safe[: max_length - tail - 1] + "…" + safe[len(safe) - tail :]


def text_line(x: float, y: float, content: str, kind: str, *, anchor: str = "start") -> str:
    """Return a line of text; the content is escaped."""
    anchor_attribute = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return (
        f'<text x="{coord(x)}" y="{coord(y)}" '
        f'class="{kind}"{anchor_attribute}>{escape(content)}</text>'
    )


def box(x: float, y: float, width: float, height: float, kind: str, *, radius: float = 8) -> str:
    """Return a rectangle with round corners."""
    return (
        f'<rect x="{coord(x)}" y="{coord(y)}" width="{coord(width)}" height="{coord(height)}" '
        f'rx="{coord(radius)}" class="{kind}"/>'
    )


def tooltip(content: str, inside: list[str]) -> list[str]:
    """Return a group that shows its full text when a pointer rests on it."""
    return ["<g>", f"<title>{escape(content)}</title>", *inside, "</g>"]


def cylinder(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Return the cylinder of a volume."""
    rim = 6.0
    right = x + width
    low = y + height - rim
    turn = f"A{coord(width / 2)} {rim:g} 0 0 0"
    side = f"M{coord(x)} {coord(y + rim)} V{coord(low)} {turn} {coord(right)} {coord(low)}"
    top = f"V{coord(y + rim)} {turn} {coord(x)} {coord(y + rim)}"
    front = f"{turn} {coord(right)} {coord(y + rim)}"
    return f'<path d="{side} {top} {front}" class="{kind}"/>'


def curve(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    """Return a line from an upper to a lower point that starts and ends vertically."""
    middle = coord((y + to_y) / 2)
    path = (
        f"M{coord(x)} {coord(y)} C{coord(x)} {middle} {coord(to_x)} {middle} {coord(to_x)} "
        f"{coord(to_y)}"
    )
    return f'<path d="{path}" class="{kind}"/>'


def arc(x: float, to_x: float, y: float, depth: float) -> str:
    """Return an arrow below a row from one point to another."""
    low = coord(y + depth)
    path = (
        f"M{coord(x)} {coord(y)} C{coord(x)} {low} {coord(to_x)} {low} {coord(to_x)} {coord(y + 7)}"
    )
    head = f"M{coord(to_x)} {coord(y + 1)} l-4.5 8 h9 z"
    return f'<path d="{path}" class="meet"/><path d="{head}" class="head"/>'
