"""The page of every code: docstrings of rules, and the texts for codes without a rule."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from textwrap import fill, indent
from types import ModuleType

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics.codes import CODES
from ptcompile.linter import every_rule, rule_named
from ptcompile.linter.examples import example_files
from ptcompile.linter.rule import Rule


class CodePage(NamedTuple):
    """The meaning of a code without a rule."""

    title: str
    fix: str


CODE_PAGES = {name: CodePage(**page) for name, page in load_table("linter/code_pages.json").items()}
"""Pages keyed by finding name. Rules have their own pages."""


SECTIONS = ("What", "Why", "Example", "Fix", "Source")

_SECTION_HEAD = re.compile(rf"^({'|'.join(SECTIONS)}):[ \n]?", re.MULTILINE)


class RulePage(NamedTuple):
    """A title of one sentence and the text of each section; the example is two YAML files, bad
    and good. The rule's identity is not part of it.
    """

    title: str
    what: str
    why: str
    bad: str
    good: str
    fix: str
    source: str


def rule_page(rule: Rule) -> RulePage:
    """Return the page of a rule. Raises ValueError if its docstring lacks a section, which is a
    bug.
    """
    parts = _SECTION_HEAD.split(_docstring_of(sys.modules[rule.check.__module__]).strip())
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    missing = [name for name in SECTIONS if not sections.get(name, "").strip()]
    if missing:
        raise ValueError(f"the page of {rule.name} has no section {', '.join(missing)}")

    texts = {
        name.lower(): " ".join(sections[name].split()) for name in SECTIONS if name != "Example"
    }
    title, _, _identity = parts[0].partition("\n\n")
    bad, good = example_files(sections["Example"])

    return RulePage(title, bad=bad, good=good, **texts)


def _docstring_of(module: ModuleType) -> str:
    """Return a module's docstring; read it from the source under `python -OO`."""
    if module.__doc__ is None:
        import ast
        from inspect import getsource

        return ast.get_docstring(ast.parse(getsource(module))) or ""
    return module.__doc__


def pages(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the title and the Markdown page of each name: what, why, an example, how to fix it."""
    return {name: _markdown_page(name) for name in set(names) if name in CODES}


def _markdown_page(name: str) -> tuple[str, str]:
    """Return the title and the Markdown of a rule's or a code's page."""
    rule = rule_named(name)
    if rule is None:
        code_page = CODE_PAGES[name]
        return code_page.title, f"{code_page.title}\n\n**Fix**: {code_page.fix}."

    text = rule_page(rule)
    bad, good = (f"```yaml\n{example}```" for example in (text.bad, text.good))
    parts = [
        text.title,
        text.what,
        text.why,
        f"**Bad**\n\n{bad}",
        f"**Good**\n\n{good}",
        f"**Fix**: {text.fix}",
    ]

    return text.title, "\n\n".join([*parts, f"Source: {text.source}"])


def name_of(code_or_name: str) -> str | None:
    """Return the name that a code or a name refers to, or None."""
    if code_or_name in CODES:
        return code_or_name
    return next((name for name, code in CODES.items() if code == code_or_name.upper()), None)


def explain_name(name: str) -> str:
    """Return the page of one name as text for a terminal."""
    rule = rule_named(name)
    if rule is None:
        code_page = CODE_PAGES[name]
        return (
            f"{CODES[name]} "
            f"{name}\n\n{_wrap(code_page.title)}\n\n{_wrap_section('Fix', code_page.fix)}.\n"
        )

    text = rule_page(rule)
    parts = [
        f"{CODES[name]} {name}  ({rule.severity}, stage {rule.stage}, {rule.authority})",
        _wrap(text.title),
        _wrap_section("What", text.what),
        _wrap_section("Why", text.why),
        "Bad:\n\n" + indent(text.bad, "    ").rstrip("\n"),
        "Good:\n\n" + indent(text.good, "    ").rstrip("\n"),
        _wrap_section("Fix", text.fix),
        _wrap_section("Source", text.source),
    ]

    return "\n\n".join(parts) + "\n"


def _wrap_section(head: str, text: str) -> str:
    return _wrap(f"{head}: {text}")


def _wrap(text: str) -> str:
    return fill(" ".join(text.split()), 100)


def rule_list(more: Sequence[tuple[str, ...]] = ()) -> str:
    """Return one line per rule: code, name, severity, stage, authority. `more` are rules of
    plugins; they come last.
    """
    built_in = (
        (_code(rule), rule.name, rule.severity, rule.stage, rule.authority)
        for rule in sorted(every_rule(), key=_code)
    )
    rows = [*built_in, *more]
    code_width, name_width = (max(len(row[column]) for row in rows) for column in (0, 1))

    return "".join(
        f"{code:<{code_width}}  {name:<{name_width}}  {severity:<7}  {stage:<5}  {authority}\n"
        for code, name, severity, stage, authority in rows
    )


def as_dicts() -> list[dict[str, str]]:
    """Return every rule as plain data, in the order of the codes: code, name, severity, stage,
    authority and page.
    """
    return [
        {
            "code": _code(rule),
            "name": rule.name,
            "severity": rule.severity,
            "stage": rule.stage,
            "authority": rule.authority,
            **rule_page(rule)._asdict(),
        }
        for rule in sorted(every_rule(), key=_code)
    ]


def as_markdown() -> str:
    """Return the rules as a Markdown table."""
    rows = ["| Code | Rule | Severity | Stage | Who says so | What |", "|---|---|---|---|---|---|"]
    for rule in sorted(every_rule(), key=_code):
        title = rule_page(rule).title.replace("|", "\\|").replace("\n", " ")
        rows.append(
            f"| {_code(rule)} | `{rule.name}` | {rule.severity} | {rule.stage} | {rule.authority} "
            f"| {title} |"
        )
    return "\n".join(rows) + "\n"


def _code(rule: Rule) -> str:
    return CODES[rule.name]
