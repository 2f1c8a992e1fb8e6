"""A difference for a pull request: GitHub's Markdown, which nothing in a manifest can break out of.

Values stand in tables, and there as HTML code with every character that could mean something as a number; and in a
fenced block, where every line begins with a sign and so none is the end of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.differ.model import Compared, Fact, ObjectDifference
from ptcompile.differ.text import WIDTH, change_line, hidden, title
from ptcompile.report.layout import shorten

_HARMLESS = frozenset(" ,-/=")
"""Beside letters and digits. A dot is one too, where no address begins with www."""

_DIFF = {"~": "!", "+": "+", "-": "-"}
"""Signs as GitHub colours them in a `diff` block."""


def markdown(difference: Compared) -> str:
    """A heading, and of each object that differs a table of its world and its manifest path by path."""
    lines = [f"### {code(difference.names[0])} → {code(difference.names[1])}", ""]
    if not difference.differs:
        return "\n".join([*lines, "No difference."]) + "\n"
    for one in difference.objects:
        if one.differs:
            lines += _object(one, difference.names)
    same = sum(not one.differs for one in difference.objects)
    if same:
        lines += [f"{same} other object{'' if same == 1 else 's'} the same.", ""]
    return "\n".join(lines)


def code(text: str) -> str:
    """A text as HTML code: nothing in it is read as Markdown, HTML, a link or a mention."""
    plain = _HARMLESS | ({"."} if "www" not in text.lower() else set())
    shown = "".join(c if c.isalnum() or c in plain else f"&#{ord(c)};" for c in shorten(text, WIDTH))
    return f"<code>{shown}</code>" if shown.strip() else "<code>&#34;&#34;</code>"


def _object(one: ObjectDifference, names: tuple[str, str]) -> Iterator[str]:
    yield f"**{code(title(one, names))}**"
    yield ""
    if one.apply:
        yield f"An apply: {code(str(one.apply))}."
        yield ""
    if one.same:
        yield f"The same: {', '.join(code(text) for text in one.same)}."
        yield ""
    if one.facts:
        yield "| who | what | from | to |"
        yield "|---|---|---|---|"
        yield from (_row(fact) for fact in one.facts)
        yield ""
    if one.changes:
        lines = [change_line(change) for change in one.changes]
        yield f"<details><summary>The manifest: {len(lines)} change{'' if len(lines) == 1 else 's'}</summary>"
        yield ""
        yield "```diff"
        yield from (_DIFF[line[0]] + shorten(line[1:], 4 * WIDTH) for line in lines)
        yield "```"
        yield ""
        yield "</details>"
        yield ""
    if one.note:
        yield f"{one.note[:1].upper()}{one.note[1:]}."
        yield ""


def _row(fact: Fact) -> str:
    before, after = (code(side) if side is not None else "" for side in (fact.before, fact.after))
    if fact.before is not None and fact.after is not None and hidden(fact.before, fact.after):
        after += " (hidden)"
    return f"| {code(fact.subject)} | {code(fact.what)} | {before} | {after} |"
