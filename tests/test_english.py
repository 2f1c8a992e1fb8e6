"""Words of CONTRIBUTING's style sheet that stay out of the package: out of messages, help, pages and docstrings."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import ptcompile

PACKAGE = Path(ptcompile.__file__).parent
NOT_OURS = re.compile(
    r"\b(?:mends?|mended|nobody|anybody|somebody|anew|for ever|whole path|no such field|is refused this"
    r"|beside the trainers|take the \w+ away|of the findings \()\b"
)
FINE = {"fails fails", "redis redis"}
"""What fails fails the job; names of images."""
TWICE = re.compile(r"\b([a-z]{4,}) \1\b")
NAMES = {"affinity-to-nobody", "mend", "Mended"}
"""Of a rule, and of functions."""


@cache
def _texts() -> list[tuple[Path, int, str]]:
    return [
        (path.relative_to(PACKAGE), node.lineno, node.value)
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_the_style_sheet_s_words_are_not_used() -> None:
    found = [
        f"{path}:{line}: {NOT_OURS.search(text)[0]}"  # type: ignore[index]
        for path, line, text in _texts()
        if text not in NAMES and NOT_OURS.search(text)
    ]
    assert found == []


def test_no_word_stands_twice() -> None:
    found = [
        f"{path}:{line}: {match[0]}"
        for path, line, text in _texts()
        for match in TWICE.finditer(text)
        if match[0] not in FINE
    ]
    assert found == []


def test_a_word_is_found() -> None:
    assert TWICE.search("to the training code code")
    assert NOT_OURS.search("the place is not there; mend it")
    assert not NOT_OURS.search("recommended, amend")
