"""Renderers of diagnostics, by format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Diagnostic


class Unchecked(NamedTuple):
    """An object that was not checked, or another part of a file, such as the values of a chart."""

    filename: str | None
    object: str
    """`apiVersion Kind/name`, or what it is in words."""

    @property
    def kind(self) -> str:
        """The object without its name."""
        version, space, resource = self.object.partition(" ")
        return f"{version}{space}{resource.partition('/')[0]}"


Renderer = Callable[..., str]
"""Turns the diagnostics and the text of each file by name, and for some formats what was not
checked, into the printed report.
"""

TELL_UNCHECKED = frozenset({"json", "junit", "sarif"})
"""The formats that list what was not checked, as a third argument."""
FORMATS = ("full", "concise", "json", "github", "sarif", "junit", "gitlab", "markdown")
"""Names of the formats."""


VERSION = 1
"""The version of the JSON report (schemas/report.schema.json)."""


def json(
    diagnostics: Sequence[Diagnostic],
    _texts: Mapping[str | None, str],
    unchecked: Sequence[Unchecked] = (),
) -> str:
    """Return the report as JSON. It is ASCII only, so it cannot send control characters to a
    terminal.
    """
    from ptcompile.report.layout import format_json, sort_by_location

    report = {
        "version": VERSION,
        "diagnostics": [d.to_dict() for d in sort_by_location(diagnostics)],
        "unchecked": [each._asdict() for each in unchecked],
    }
    return format_json(report)


def renderer(name: str) -> Renderer:
    """Return the renderer of a format, imported on demand."""
    if name == "json":
        return json

    if name in ("full", "concise"):
        from ptcompile.report import text

        renderers = vars(text)
    else:
        from ptcompile.report import ci

        renderers = vars(ci)

    render: Renderer = renderers[name]
    return render
