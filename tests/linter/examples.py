"""What each rule finds in the bad example of its page, and in variations of it, as recorded beside its family's tests.

The record has the whole finding: where it is, every word of it, whether `--fix` applies its fix without being asked,
and the lines that the fix changes. Beside it are near misses, a file for each rule: which values of the example the
rule needs, and what it says if a value is another. `python -m tests.linter.examples` writes the records again; review
the difference.
"""

from __future__ import annotations

import difflib
import json
from functools import cache
from pathlib import Path
from typing import Any

import ptcompile
from ptcompile.diagnostics import Diagnostic
from ptcompile.fixer import fix_in_rounds
from ptcompile.linter import every_rule, run
from ptcompile.linter.pages import rule_page
from ptcompile.linter.rule import Rule
from ptcompile.source.documents import read
from tests.records import read_records, write_records
from tests.variations import variations

TESTS = Path(__file__).parent.parent
AGAIN = "after a change that is meant: python -m tests.linter.examples"
EXAMPLES, NEAR_MISSES = "examples.json", "near_misses"


def folder_of(rule: Rule) -> Path:
    """Return the folder of tests that mirrors the rule's family."""
    return TESTS.joinpath(*rule.check.__module__.split(".")[1:-1])


def rules_of(folder: Path) -> list[Rule]:
    return [rule for rule in every_rule() if folder_of(rule) == folder]


@cache
def recorded(folder: Path, name: str) -> dict[str, Any]:
    """Return what is recorded in a file of this folder, or in a folder with a file for each rule, keyed by rule."""
    if name == NEAR_MISSES:
        return read_records(folder / name)
    records: dict[str, Any] = json.loads((folder / name).read_text())
    return records


def example_findings(rule: Rule) -> list[dict[str, Any]]:
    """Return the rule's findings in its bad example, as they are recorded."""
    return [_describe(diagnostic, rule) for diagnostic in _findings(rule_page(rule).bad, rule)]


def _findings(text: str, rule: Rule) -> list[Diagnostic]:
    return [
        diagnostic
        for diagnostic in ptcompile.lint(text).diagnostics
        if diagnostic.name == rule.name
    ]


def _describe(diagnostic: Diagnostic, rule: Rule) -> dict[str, Any]:
    span = diagnostic.span
    assert span is not None
    described: dict[str, Any] = {
        "at": f"{span.line}:{span.column}-{span.end_line}:{span.end_column}",
        "message": diagnostic.message,
        "help": diagnostic.help,
    }
    if diagnostic.fix is None:
        return described
    return {
        **described,
        "fix": diagnostic.fix.title,
        "safe": diagnostic.fix.safe,
        "changes": _changes(rule),
    }


def _changes(rule: Rule) -> list[str]:
    """Return the lines that the rule's fixes change, and how."""
    bad = rule_page(rule).bad
    fixed = fix_in_rounds(
        bad.encode(), lambda content: tuple(_findings(content.decode(), rule)), unsafe=True
    )
    lines = difflib.unified_diff(
        bad.splitlines(), fixed.content.decode().splitlines(), n=0, lineterm=""
    )
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def near_misses(rule: Rule) -> dict[str, str | None]:
    """Return the messages for both examples with one value removed or changed, where they are not the example's own.

    None is no finding: the rule needs this value. An other value that changes as much as none is left out. `good` is
    about the good example: what makes it a bad one.
    """
    page = rule_page(rule)
    bad = _other_messages(page.bad, rule)
    implied = {f'{name} = "other"' for name, message in bad.items() if message is None}
    near = {
        name: message for name, message in bad.items() if message is not None or name not in implied
    }
    return {
        **near,
        **{f"good: {name}": message for name, message in _other_messages(page.good, rule).items()},
    }


def _other_messages(text: str, rule: Rule) -> dict[str, str | None]:
    """Return the first message for each variation of a stream that is not judged like the stream itself."""
    objects = [document.data for document in read(text).documents]
    usual = _messages(objects, rule)
    near = {name: _messages(changed, rule) for name, changed in variations(objects)}
    return {
        name: messages[0] if messages else None
        for name, messages in near.items()
        if messages != usual
    }


def _messages(objects: list[Any], rule: Rule) -> list[str]:
    return [
        finding.message for obj in objects for finding in run(obj, stream=objects, only={rule.name})
    ]


def main() -> None:
    for folder in sorted({folder_of(rule) for rule in every_rule()}):
        examples = {rule.name: example_findings(rule) for rule in rules_of(folder)}
        (folder / EXAMPLES).write_text(json.dumps(examples, indent=1, ensure_ascii=False) + "\n")
        write_records(
            folder / NEAR_MISSES, {rule.name: near_misses(rule) for rule in rules_of(folder)}
        )


if __name__ == "__main__":
    main()
