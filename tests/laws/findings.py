"""All findings of all texts in one file, and the findings lost and won against an earlier file.

    python -m tests.laws findings > before.txt
    python -m tests.laws findings --against before.txt

A move of rules is read with it: each finding that is lost or won is one line, with the id of its text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import ptcompile
from ptcompile.diagnostics import Diagnostic, field_path
from tests.laws.processes import mapped
from tests.laws.texts import Text, every_text


def finding_lines() -> Iterator[str]:
    """Yield a line for each finding of each text."""
    for lines in mapped(lines_of, every_text()):
        yield from lines


def lines_of(text: Text) -> list[str]:
    """Return a line for each finding of a text: id, severity, code, object, path and message."""
    return [
        f"{text.id}\t{describe(diagnostic)}" for diagnostic in ptcompile.lint(text.text).diagnostics
    ]


def describe(diagnostic: Diagnostic) -> str:
    where = f"{diagnostic.document}:{diagnostic.resource or '-'} {field_path(diagnostic.path)}"
    return " ".join(
        f"{diagnostic.severity} {diagnostic.code} {where} | {diagnostic.message}".splitlines()
    )


def lost_and_won(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """Return the lines that are in one of the two only, by text: `-` is lost, `+` is won."""
    earlier, later = Counter(before), Counter(after)
    changed = [("-", line) for line in (earlier - later).elements()]
    changed += [("+", line) for line in (later - earlier).elements()]
    changed.sort(key=lambda pair: (pair[1].partition("\t")[0], pair[0] == "+", pair[1]))
    return [f"{sign} {line}" for sign, line in changed]
