"""Templates: the folder of a Helm chart, the marks of template engines, and the placeholders of
values.

The marks are `{{ }}` of Helm and Jinja, `{% %}` and `{# #}` of Jinja, and `<% %>` of ERB. What a
template renders to is unknown. A text that YAML rejects is a template if a mark is where only an
engine reads it; a string of a readable document has a mark if the mark is complete. Placeholders
stand for values that envsubst, sed or a person fills in.
"""

from __future__ import annotations

import os

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal


class TemplateMark(NamedTuple):
    """A kind of mark, the tools that fill it in, a command that renders it, and where it begins
    in the text.
    """

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


# Every alternative begins at its own character and no two scan the same spaces, so a search is
# linear. `{{}}` and `{{a: b}}` are flow mappings. Argo's `{{inputs.parameters.x}}` inside quotes
# does not break YAML; a Go literal in double quotes does.
_BRACES = r"\{\{(?![ \t]*\}|[ \t]*[\"']?[\w-]+[\"']?[ \t]*:[ \t])"
_OPENING = Pattern(
    rf"(?m)^[ \t]*(?:#[^\n]*|({_BRACES}|\{{#))"
    rf"|(?:[:\-][ \t]|[\[,])[ \t]*({_BRACES}|\{{#)"
    r"|(\{\{(?=-|/\*|[ \t]*[.$]|[^{}\n\"]*\"(?![ \t]*:)))"
    r"|(\{%(?=[-+]?[ \t]*[a-z])|<%(?=[-=#]?[ \t]))"
)
_COMPLETE = Pattern(
    r"\{\{(?!\s*\}\}|\s*[\"']?[\w-]+[\"']?\s*:\s)[^{}]*\}\}|\{%[^{}%]*%\}|\{#[^{}#]*#\}|<%[^<>]*%>"
)


def template_mark(text: str) -> TemplateMark | None:
    """Return the first mark that explains why a text is not YAML, or None."""
    if not may_have_marks(text):
        return None
    last = {opening: text.rfind(kind.sign[-2:]) for opening, kind in _KINDS.items()}
    for match in _OPENING.finditer(text):
        opening = match[match.lastindex] if match.lastindex else None
        if opening is not None and last[opening] > match.end():
            return _KINDS[opening]._replace(start=match.end() - len(opening))
    return None


def mark_within(value: object) -> TemplateMark | None:
    """Return the first mark in a string of one line, or None; longer texts are not searched."""
    if not isinstance(value, str) or "\n" in value or not may_have_marks(value):
        return None
    match = _COMPLETE.search(value)
    return _KINDS[match.group()[:2]] if match is not None else None


def may_have_marks(text: str) -> bool:
    """Return whether a string of a text may have a mark. A backslash may stand for any sign."""
    return "{{" in text or "{%" in text or "<%" in text or "{#" in text


_WORDS = ("PLACEHOLDER", "REPLACE", "CHANGE", "YOUR_")
"""How people who fill in a value by hand write it, in capitals, which no name of Kubernetes has."""
_PLACEHOLDER = Pattern(
    r"\$\{[A-Za-z_]\w*(?::?[-=?+][^{}]*)?\}|(?<![\w$])__[A-Z][A-Z0-9_]*__(?!\w)|<[A-Za-z][\w.-]*>|\{\{[^{}]*\}\}"
    r"|(?<![A-Za-z0-9_])(?:PLACEHOLDER|REPLACE_?(?:ME|WITH|THIS)|CHANGE_?(?:ME|THIS)|YOUR_[A-Z0-9]+)"
    r"(?:_[A-Z0-9_]*)?(?![A-Za-z0-9])"
)
_whole_variable = Pattern(r"\$[A-Za-z_]\w*").fullmatch
_BEGINNINGS = {"$": Pattern(r"\$[{A-Za-z_]"), "__": Pattern("__[A-Z]"), "<": Pattern("<[A-Za-z]")}
"""How a placeholder begins in the text of a file, by its sign, except `{{`."""
_SIGNS = (*_BEGINNINGS, "{{", *_WORDS)
_NAME = r"[A-Z]{1,16}\d{0,2}(?:_(?:[A-Z]{1,16}\d{0,2}|\d{1,2})){0,6}"
"""The name of a variable, which no generated credential looks like."""
is_reference = Pattern(
    rf"\$(?:{_NAME}|\{{{_NAME}\}}|\({_NAME}\))|__{_NAME}__|(?:PLACEHOLDER|REPLACE|CHANGE|YOUR)_{_NAME}|PLACEHOLDER"
).fullmatch
"""Match a text that stands for a value and shows nothing of it: `$HF_TOKEN`, `__HF_TOKEN__`,
`PLACEHOLDER_HF_TOKEN`.
"""


def find_placeholder(value: object) -> str | None:
    """Return the first placeholder in a text, or None: `${X}`, `__X__`, `<x>`, `REPLACE_ME`,
    `PLACEHOLDER_X`, or a text that is only `$X`.
    """
    if not isinstance(value, str) or not any(sign in value for sign in _SIGNS):
        return None
    match = _PLACEHOLDER.search(value) or _whole_variable(value)
    return match.group() if match is not None else None


def may_be_template(text: str) -> bool:
    """Return whether a file may have a placeholder. The kubelet's `$(X)` is not one; most files
    have no other sign.
    """
    if any(word in text for word in _WORDS):
        return True
    begins = [pattern for sign, pattern in _BEGINNINGS.items() if sign in text]
    # a backslash may escape any of the signs
    if begins and ("{{" in text or "\\" in text):
        return True
    return any(pattern.search(text) for pattern in begins)


def chart_role(filename: str | None) -> Literal["template", "values"] | None:
    """Return what a file is to the Helm chart in whose folder it is; None for others, and for
    Chart.yaml itself.
    """
    if filename is None or not ("templates" in filename or "values" in filename):
        return None
    *folders, name = os.path.abspath(filename).split(os.sep)
    for depth, folder in enumerate(folders):
        if folder == "templates" and _is_chart(folders[:depth]):
            return "template"
    if name.startswith("values") and _is_chart(folders):
        return "values"
    return None


def _is_chart(folders: list[str]) -> bool:
    return os.path.isfile(os.sep.join([*folders, "Chart.yaml"]))
