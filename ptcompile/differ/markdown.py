"""Differences as GitHub Markdown for a pull request. Nothing in a manifest can break out of the
markup.

Values in tables are HTML code with every significant character escaped as a number. In the fenced
block, every line begins with a sign, so none can end the block.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import pluralize
from ptcompile.differ.model import Compared, Fact, ObjectDifference
from ptcompile.differ.text import change_line, hidden_suffix, object_title
from ptcompile.report.ci import html_code
from ptcompile.report.layout import shorten

_DIFF_SIGNS = {"~": "!", "+": "+", "-": "-"}
"""Signs that GitHub colors in a `diff` block."""
_MAX_VALUE_LENGTH = 120
"""Number of characters of a value that are shown; text and JSON have all of them."""
_MAX_SENTENCE_LENGTH = 1000
"""Number of characters of a sentence that are shown: it ends with the command that helps."""


def render_markdown(difference: Compared) -> str:
    """Return a heading and, for each differing object, a table of its pods' differences and its
    manifest changes.
    """
    old, new = map(html_code, difference.names)
    lines = [f"### {old} → {new}", ""]
    shown = difference.shown
    if not shown:
        return "\n".join([*lines, "No difference."]) + "\n"

    for obj in shown:
        lines += _object_lines(obj, difference.names)
    same = len(difference.objects) - len(shown)
    if same:
        lines += [f"{pluralize(same, 'other object')} the same.", ""]

    return "\n".join(lines)


def _object_lines(difference: ObjectDifference, names: tuple[str, str]) -> Iterator[str]:
    yield f"**{html_code(object_title(difference, names))}**"
    yield ""
    if difference.apply:
        yield f"An apply: {html_code(str(difference.apply), _MAX_SENTENCE_LENGTH)}."
        yield ""
    if difference.same:
        yield f"The same: {', '.join(html_code(text) for text in difference.same)}."
        yield ""
    if difference.facts:
        yield "| who | what | from | to |"
        yield "|---|---|---|---|"
        yield from (_fact_row(fact) for fact in difference.facts)
        yield ""

    if difference.changes:
        lines = [change_line(change) for change in difference.changes]
        count = pluralize(len(lines), "change")
        yield f"<details><summary>The manifest: {count}</summary>"
        yield ""
        yield "```diff"
        yield from (
            _DIFF_SIGNS[line[0]] + shorten(line[1:], 4 * _MAX_VALUE_LENGTH) for line in lines
        )
        yield "```"
        yield ""
        yield "</details>"
        yield ""

    if difference.note:
        yield f"{difference.note[:1].upper()}{difference.note[1:]}."
        yield ""


def _fact_row(fact: Fact) -> str:
    before, after = (
        html_code(side) if side is not None else "" for side in (fact.before, fact.after)
    )
    if (
        fact.before is not None
        and fact.after is not None
        and hidden_suffix(fact.before, fact.after)
    ):
        after += " (hidden)"

    return f"| {html_code(fact.subject)} | {html_code(fact.what)} | {before} | {after} |"
