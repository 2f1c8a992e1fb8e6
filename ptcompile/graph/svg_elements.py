"""The parts of an SVG: style, text, shapes. Self-contained: no script, no font, no address outside of the file."""

from __future__ import annotations

from ptcompile.report.layout import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

MONO: Final = 0.602
"""Width of a character of a monospaced font, in font sizes."""
SANS: Final = 0.56
"""About the width of a character of a proportional font."""

STYLE: Final = """
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


def escape(text: str) -> str:
    """Text for an element or an attribute; what XML may not hold stands as an escape."""
    safe = printable(text)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        safe = safe.replace(char, entity)
    return safe


def number(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def fitted(text: str, room: float, size: float, *, factor: float = MONO) -> str:
    """The text, or as much of its two ends as the room takes: the end of a pod's name tells it from others."""
    most = max(3, int(room / (size * factor)))
    shown = printable(text)
    if len(shown) <= most:
        return shown
    tail = most // 2
    return shown[: most - tail - 1] + "…" + shown[len(shown) - tail :]


def words(x: float, y: float, content: str, kind: str, *, anchor: str = "start") -> str:
    """A line of text. The content is escaped here."""
    where = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{number(x)}" y="{number(y)}" class="{kind}"{where}>{escape(content)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str, *, radius: float = 8) -> str:
    """A rectangle with round corners."""
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" '
        f'rx="{number(radius)}" class="{kind}"/>'
    )


def tooltip(content: str, inside: list[str]) -> list[str]:
    """A group whose full text shows when a pointer rests on it."""
    return ["<g>", f"<title>{escape(content)}</title>", *inside, "</g>"]


def cylinder(x: float, y: float, width: float, height: float, kind: str) -> str:
    """A volume."""
    rim = 6.0
    right, low = x + width, y + height - rim
    turn = f"A{number(width / 2)} {rim:g} 0 0 0"
    side = f"M{number(x)} {number(y + rim)} V{number(low)} {turn} {number(right)} {number(low)}"
    top = f"V{number(y + rim)} {turn} {number(x)} {number(y + rim)}"
    front = f"{turn} {number(right)} {number(y + rim)}"
    return f'<path d="{side} {top} {front}" class="{kind}"/>'


def curve(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    """A line from above to below that leaves and arrives upright."""
    middle = number((y + to_y) / 2)
    path = f"M{number(x)} {number(y)} C{number(x)} {middle} {number(to_x)} {middle} {number(to_x)} {number(to_y)}"
    return f'<path d="{path}" class="{kind}"/>'


def arc(x: float, to_x: float, y: float, depth: float) -> str:
    """A line below a row from one place to another, with an arrow's head."""
    low = number(y + depth)
    path = f"M{number(x)} {number(y)} C{number(x)} {low} {number(to_x)} {low} {number(to_x)} {number(y + 7)}"
    head = f"M{number(to_x)} {number(y + 1)} l-4.5 8 h9 z"
    return f'<path d="{path}" class="meet"/><path d="{head}" class="head"/>'
