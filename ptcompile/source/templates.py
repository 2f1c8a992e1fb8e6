"""Templates: the folder of a Helm chart, and the marks of template engines in a text.

The marks are `{{ }}` of Helm and Jinja, `{% %}` and `{# #}` of Jinja, and `<% %>` of ERB. What a template renders to is
unknown. A text that YAML rejects is a template if a mark is where only an engine reads it; a string of a readable
document has a mark if the mark is complete.
"""

from __future__ import annotations

import os

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


class TemplateMark(NamedTuple):
    """A kind of mark, the tools that fill it in, a command that renders it, and where it begins in the text."""

    sign: str
    tools: str
    command: str
    start: int = 0


_KINDS = {
    "{{": TemplateMark("{{ }}", "Helm or Jinja", "helm template CHART"),
    "{%": TemplateMark("{% %}", "Jinja", "jinja2 FILE"),
    "{#": TemplateMark("{# #}", "Jinja", "jinja2 FILE"),
    "<%": TemplateMark("<% %>", "ERB", "erb FILE"),
}
_CLOSINGS = {"{{": "}}", "{%": "%}", "{#": "#}", "<%": "%>"}

# Every alternative begins at its own character and no two scan the same spaces, so a search is linear. `{{}}` and
# `{{a: b}}` are flow mappings. Argo's `{{inputs.parameters.x}}` inside quotes does not break YAML; a Go literal in
# double quotes does.
_BRACES = r"\{\{(?![ \t]*\}|[ \t]*[\"']?[\w-]+[\"']?[ \t]*:[ \t])"
_OPENING = Pattern(
    rf"(?m)^[ \t]*(?:#[^\n]*|({_BRACES}|\{{#))"
    rf"|(?:[:\-][ \t]|[\[,])[ \t]*({_BRACES}|\{{#)"
    r"|(\{\{(?=-|/\*|[ \t]*[.$]|[^{}\n\"]*\"(?![ \t]*:)))"
    r"|(\{%(?=[-+]?[ \t]*[a-z])|<%(?=[-=#]?[ \t]))"
)
_COMPLETE = Pattern(r"\{\{(?!\s*\}\}|\s*[\"']?[\w-]+[\"']?\s*:\s)[^{}]*\}\}|\{%[^{}%]*%\}|\{#[^{}#]*#\}|<%[^<>]*%>")


def template_mark(text: str) -> TemplateMark | None:
    """Return the first mark that explains why a text is not YAML, or None."""
    if "{{" not in text and "{%" not in text and "{#" not in text and "<%" not in text:
        return None
    last = {opening: text.rfind(closing) for opening, closing in _CLOSINGS.items()}
    for match in _OPENING.finditer(text):
        opening = match[match.lastindex] if match.lastindex else None
        if opening is not None and last[opening] > match.end():
            return _KINDS[opening]._replace(start=match.end() - len(opening))
    return None


def mark_within(value: object) -> TemplateMark | None:
    """Return the first mark in a string of one line, or None; longer texts are not searched."""
    if not isinstance(value, str) or "\n" in value:
        return None
    match = _COMPLETE.search(value)
    return _KINDS[match[0][:2]] if match is not None else None


def may_have_marks(text: str) -> bool:
    """Return whether a string of a text may have a mark. A backslash may stand for any sign."""
    return "{{" in text or "{%" in text or "<%" in text or "{#" in text


def chart_role(filename: str | None) -> Literal["template", "values"] | None:
    """Return what a file is to the Helm chart in whose folder it is; None for others, and for Chart.yaml itself."""
    if filename is None or not ("templates" in filename or "values" in filename):
        return None
    *folders, name = os.path.abspath(filename).split(os.sep)
    for depth, folder in enumerate(folders):
        if folder == "templates" and _is_chart(folders[:depth]):
            return "template"
    return "values" if name.startswith("values") and _is_chart(folders) else None


def _is_chart(folders: list[str]) -> bool:
    return os.path.isfile(os.sep.join([*folders, "Chart.yaml"]))
