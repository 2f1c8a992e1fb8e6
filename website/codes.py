"""A page for each code, and the index of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ptcompile.diagnostics.codes import CODES
from ptcompile.linter import every_rule
from ptcompile.linter.pages import CODE_PAGES, RulePage, rule_page
from ptcompile.linter.rule import Rule
from ptcompile.report.layout import outcome
from website.facts import cited

FAMILIES: Final = {
    "0": "Files, specs and profiles",
    "1": "Resources and devices",
    "2": "Scheduling, queues and the network",
    "3": "Storage and shared memory",
    "4": "Environment, launch and rendezvous",
    "5": "What the API server and the webhooks reject",
    "6": "Import, conversion and Flyte",
    "7": "Restarts and ends",
    "8": "Images, commands and style",
    "9": "Comments in your files",
}
_SEVERITIES: Final = {
    "error": "could not run on any cluster as written",
    "warning": "depends on something outside the files",
    "note": "information; never changes the exit status",
}


def pages() -> dict[str, str]:
    """The page of every code, and `codes/index.md`."""
    rules = {str(rule.name): rule for rule in every_rule()}
    codes = sorted((code, name) for name, code in CODES.items())
    found = {"codes/index.md": _index(rules)}
    for before, (code, name), after in zip([None, *codes], codes, [*codes[1:], None], strict=False):
        rule = rules.get(name)
        parts = [
            f"# {code} {name}",
            *(_of_answer(name) if rule is None else _of_rule(rule)),
            _ways(code, name),
        ]
        parts.append(_neighbors([neighbor for neighbor in (before, after) if neighbor]))
        found[f"codes/{code}.md"] = "\n\n".join(parts)
    return found


def _neighbors(neighbors: list[tuple[str, str]]) -> str:
    """Return links to the codes before and after this one: these pages are not in the navigation."""
    links = [f"[{code} {name}]({code}.md)" for code, name in neighbors]
    return " · ".join([*links, "[all codes](index.md)"]) + "\n{ data-search-exclude }"


def _of_answer(name: str) -> Iterator[str]:
    answer = CODE_PAGES[name]
    yield prose(answer.title)
    yield f"## Fix\n\n{_sentence(answer.fix)}"


def _of_rule(rule: Rule) -> Iterator[str]:
    text: RulePage = rule_page(rule)
    yield prose(text.title)
    yield "\n".join(
        [
            f"- Severity **{rule.severity}**: {_SEVERITIES[rule.severity]}",
            f"- Stage **{rule.stage}**: {outcome(rule.name, rule.severity, rule.stage)}",
            f"- Authority: **{rule.authority}**",
        ]
    )
    yield f"## What\n\n{_sentence(text.what)}"
    yield f"## Why\n\n{_sentence(text.why)}"
    yield f"## Example\n\nFound:\n\n```yaml\n{text.bad}```\n\nInstead:\n\n```yaml\n{text.good}```"
    yield f"## Fix\n\n{_sentence(text.fix)}"
    yield f"## Source\n\n{_sentence(text.source)}{cited(text.source)}"


def _ways(code: str, name: str) -> str:
    offline = f"`ptcompile explain {code}` prints this page offline."
    ignored = (
        f"`# ptcompile: ignore[{code}]` or `ignore[{name}]` ignores a finding that is intended."
    )
    return f"---\n\n{offline} {ignored}\n{{ data-search-exclude }}"


def _index(rules: dict[str, Rule]) -> str:
    parts = [
        "# Codes\n\nEvery finding has a code and a name, neither of which is ever renumbered or reused. "
        "[Lint](../guide/lint.md) explains severity, stage and how to choose rules."
    ]
    for digit, title in FAMILIES.items():
        named = sorted(
            (code, name) for name, code in CODES.items() if code.startswith(f"PTC{digit}")
        )
        rows = [_row(code, name, rules.get(name)) for code, name in named]
        head = "| Code | Name | What |\n|---|---|---|"
        parts.append(f"## PTC{digit}: {title}\n\n{head}\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _row(code: str, name: str, rule: Rule | None) -> str:
    title = (
        prose(rule_page(rule).title if rule else CODE_PAGES[name].title)
        .replace("|", "\\|")
        .replace("\n", " ")
    )
    verdict = f" ({rule.severity}, {rule.stage})" if rule else ""
    return f"| [{code}]({code}.md) | `{name}` | {title}{verdict} |"


def prose(text: str) -> str:
    """Plain text as Markdown: what looks like markup is not, except code between backticks."""
    parts = text.split("`")
    return "`".join(_escaped(part) if at % 2 == 0 else part for at, part in enumerate(parts))


def _escaped(text: str) -> str:
    for sign in "\\*_[#":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("<", "&lt;")  # Markdown has no escape for it


def _sentence(text: str) -> str:
    text = prose(text.strip())
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
