"""GitHub Markdown for a comment or the summary of a job. Nothing in a manifest can break out of the markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ptcompile._internal.about import page_address
from ptcompile.diagnostics import Diagnostic
from ptcompile.report.layout import format_location, format_origin, shorten, sort_by_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_SAFE_CHARACTERS = frozenset(" ,-/=")
"""Unescaped characters besides letters and digits. A dot is safe too if the text contains no www address."""
_MAX_MESSAGE_LENGTH: Final = 500


def html_code(text: str, length: int = 120) -> str:
    """Return the text as HTML code in which nothing is read as Markdown, HTML, a link or a mention."""
    safe = _SAFE_CHARACTERS | ({"."} if "www" not in text.lower() else set())
    escaped = "".join(c if c.isalnum() or c in safe else f"&#{ord(c)};" for c in shorten(text, length))
    return f"<code>{escaped}</code>" if escaped.strip() else "<code>&#34;&#34;</code>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of cells that are Markdown already."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def rule_link(code: str, name: str) -> str:
    """Return a rule's code, linked to its page, and its name."""
    return f"[{code}]({page_address(code)}) {name}" if code.isalnum() else html_code(f"{code} {name}")


def markdown(diagnostics: Sequence[Diagnostic], _texts: Mapping[str | None, str]) -> str:
    """Return a table with a row for each finding; nothing without findings."""
    if not diagnostics:
        return ""
    return table(
        ("Severity", "Rule", "Place", "Finding"),
        (
            (
                d.severity,
                rule_link(d.code, d.name),
                html_code(format_location(d) + format_origin(d)),
                html_code(f"{d.resource}: {d.message}" if d.resource else d.message, _MAX_MESSAGE_LENGTH),
            )
            for d in sort_by_location(diagnostics)
        ),
    )
