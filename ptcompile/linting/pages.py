"""A rule's page: the docstring of its module, taken apart."""

from __future__ import annotations

import re
import sys
from textwrap import dedent
from types import ModuleType

from ptcompile.linting.rule import Rule
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

SECTIONS: Final = ("What", "Why", "Example", "Fix", "Source")
MARK: Final = "# <--"
"""Ends the line of an example that the finding stands on."""
_GUTTER: Final = 2
"""Columns in front of an example's lines: `- ` in bad ones, `+ ` in good ones, blanks in lines of both."""

_HEAD = re.compile(rf"^({'|'.join(SECTIONS)}):[ \n]?", re.MULTILINE)


class Page(NamedTuple):
    """A title of one sentence, and the text of each section; the example is two YAML files, bad and good."""

    title: str
    what: str
    why: str
    bad: str
    good: str
    fix: str
    source: str


def page(rule: Rule) -> Page:
    """The page of a rule. Raises ValueError where its docstring lacks a section, which is a mistake of ours."""
    parts = _HEAD.split(_docstring(sys.modules[rule.check.__module__]).strip())
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    missing = [name for name in SECTIONS if not sections.get(name, "").strip()]
    if missing:
        raise ValueError(f"the page of {rule.name} has no section {', '.join(missing)}")
    words = {name.lower(): " ".join(sections[name].split()) for name in SECTIONS if name != "Example"}
    example = sections["Example"]
    return Page(parts[0].strip(), bad=_side(example, "-"), good=_side(example, "+").replace(f"  {MARK}", ""), **words)


def _docstring(module: ModuleType) -> str:
    """A module's docstring, out of its source where `python -OO` left it out."""
    if module.__doc__ is None:
        import ast
        from inspect import getsource

        return ast.get_docstring(ast.parse(getsource(module))) or ""
    return module.__doc__


def _side(example: str, sign: str) -> str:
    """One of the two files of an example, which is their diff with all lines of both."""
    lines = dedent(example).strip("\n").split("\n")
    return "".join(f"{line[_GUTTER:]}\n" for line in lines if line[:1] in ("", " ", sign))
