"""A rule's page: the docstring of its module, taken apart."""

from __future__ import annotations

import re
import sys
from inspect import cleandoc
from typing import Final, NamedTuple

from ptcompile.linting.rule import Rule

SECTIONS: Final = ("What", "Why", "Bad", "Good", "Fix", "Source")
MARK: Final = "# <--"
"""Ends the line of a Bad example that the finding stands on."""

_HEAD = re.compile(rf"^({'|'.join(SECTIONS)}):[ \n]?", re.MULTILINE)


class Page(NamedTuple):
    """A title of one sentence, and the text of each section; Bad and Good are YAML."""

    title: str
    what: str
    why: str
    bad: str
    good: str
    fix: str
    source: str


def page(rule: Rule) -> Page:
    """The page of a rule. Raises ValueError where its docstring lacks a section, which is a mistake of ours."""
    parts = _HEAD.split(cleandoc(sys.modules[rule.check.__module__].__doc__ or ""))
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    missing = [name for name in SECTIONS if not sections.get(name, "").strip()]
    if missing:
        raise ValueError(f"the page of {rule.name} has no section {', '.join(missing)}")
    return Page(parts[0].strip(), *(_section(name, sections[name]) for name in SECTIONS))


def _section(name: str, body: str) -> str:
    if name in ("Bad", "Good"):
        return cleandoc("\n" + body).strip("\n") + "\n"
    return " ".join(body.split())
