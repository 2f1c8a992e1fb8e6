"""What page.js has to know: for each target the reasons of its lines, as numbers into lists of words."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ptcompile.page.code import AUTHORS
from ptcompile.page.model import Origin, Page, Reason
from ptcompile.report.common import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILES = ("spec", "cluster")
STRENGTHS = ("value", "there", "said")


def data(page: Page) -> str:
    """JSON that may stand in a script element: it has no character that HTML or JavaScript reads otherwise.

    A reason is `[first line, last line, author, rule, origins]`, an origin `[file, first line, last line, strength]`,
    or `[file, 0, index among the words, strength]` for what stands on no line.
    """
    words: dict[str, int] = {}
    rules: dict[str, int] = {}
    written = {reason.by for one in page.listings for reason in one.reasons}
    authors = (*AUTHORS, *sorted(written.difference(AUTHORS)))  # the passes of plugins last
    targets = {one.target: [_reason(reason, authors, rules, words) for reason in one.reasons] for one in page.listings}
    whole = {
        "authors": authors,
        "chosen": page.chosen,
        "files": [printable(one.filename) for one in page.panels],
        "rules": list(rules),
        "strengths": STRENGTHS,
        "targets": targets,
        "words": list(words),
    }
    text = json.dumps(whole, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _reason(one: Reason, authors: Sequence[str], rules: dict[str, int], words: dict[str, int]) -> list[Any]:
    rule = rules.setdefault(printable(one.rule), len(rules))
    by = authors.index(one.by)
    return [one.first, one.last, by, rule, [_origin(origin, words) for origin in one.origins]]


def _origin(one: Origin, words: dict[str, int]) -> list[int]:
    file, strength = FILES.index(one.file), STRENGTHS.index(one.strength)
    if not one.first:
        return [file, 0, words.setdefault(printable(one.words), len(words)), strength]
    return [file, one.first, one.last, strength]
