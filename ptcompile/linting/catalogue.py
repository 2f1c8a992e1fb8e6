"""Every code there is: the rules with their pages, and the answers that are no rules; for people and for documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptcompile.findings.codes import CODES
from ptcompile.linting import every_rule, rule_named
from ptcompile.linting.answers import ANSWERS
from ptcompile.linting.pages import page
from ptcompile.linting.rule import Rule


def pages(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Of each name its title, and its page as Markdown: what, why, an example, how to fix it."""
    return {name: _page(name) for name in set(names) if name in CODES}


def _page(name: str) -> tuple[str, str]:
    rule = rule_named(name)
    if rule is None:
        answer = ANSWERS[name]
        return answer.title, f"{answer.title}\n\n**Fix**: {answer.fix}."
    text = page(rule)
    bad, good = (f"```yaml\n{one}```" for one in (text.bad, text.good))
    parts = [text.title, text.what, text.why, f"**Bad**\n\n{bad}", f"**Good**\n\n{good}", f"**Fix**: {text.fix}"]
    return text.title, "\n\n".join([*parts, f"Source: {text.source}"])


def named(code_or_name: str) -> str | None:
    """The name behind a code or a name; None where there is none."""
    if code_or_name in CODES:
        return code_or_name
    return next((name for name, code in CODES.items() if code == code_or_name.upper()), None)


def explained(name: str) -> str:
    """The page of one name, as text for a terminal."""
    rule = rule_named(name)
    if rule is None:
        answer = ANSWERS[name]
        return f"{CODES[name]} {name}\n\n{_filled(answer.title)}\n\n{_wrapped('Fix', answer.fix)}.\n"
    text = page(rule)
    parts = [
        f"{CODES[name]} {name}  ({rule.severity}, stage {rule.stage}, {rule.authority})",
        _filled(text.title),
        _wrapped("What", text.what),
        _wrapped("Why", text.why),
        f"Bad:\n\n{_indented(text.bad)}",
        f"Good:\n\n{_indented(text.good)}",
        _wrapped("Fix", text.fix),
        _wrapped("Source", text.source),
    ]
    return "\n\n".join(parts) + "\n"


def _wrapped(head: str, text: str) -> str:
    return _filled(f"{head}: {text}")


def _filled(text: str) -> str:
    import textwrap

    return textwrap.fill(" ".join(text.split()), 100)


def _indented(text: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True)).rstrip("\n")


def listed(more: Sequence[tuple[str, ...]] = ()) -> str:
    """One line a rule: code, name, severity, stage, authority. `more` are those of plugins, which follow."""
    own = (
        (_code(rule), rule.name, rule.severity, rule.stage, rule.authority) for rule in sorted(every_rule(), key=_code)
    )
    rows = [*own, *more]
    wide, width = (max(len(row[at]) for row in rows) for at in (0, 1))
    return "".join(
        f"{code:<{wide}}  {name:<{width}}  {severity:<7}  {stage:<5}  {authority}\n"
        for code, name, severity, stage, authority in rows
    )


def as_dicts() -> list[dict[str, str]]:
    """Every rule as plain data, in the order of the codes: its code and name, its verdict, its page."""
    return [
        {
            "code": _code(rule),
            "name": rule.name,
            "severity": rule.severity,
            "stage": rule.stage,
            "authority": rule.authority,
            **page(rule)._asdict(),
        }
        for rule in sorted(every_rule(), key=_code)
    ]


def as_markdown() -> str:
    """The rules as a table in Markdown."""
    rows = ["| Code | Rule | Severity | Stage | Who says so | What |", "|---|---|---|---|---|---|"]
    for rule in sorted(every_rule(), key=_code):
        title = page(rule).title.replace("|", "\\|").replace("\n", " ")
        rows.append(f"| {_code(rule)} | `{rule.name}` | {rule.severity} | {rule.stage} | {rule.authority} | {title} |")
    return "\n".join(rows) + "\n"


def _code(rule: Rule) -> str:
    return CODES[rule.name]
