"""Words of CONTRIBUTING's style sheet that stay out of the package: out of messages, help, pages and docstrings."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import ptcompile

PACKAGE = Path(ptcompile.__file__).parent
NOT_OURS = re.compile(
    r"\b(?:mends?|mended|nobody|anybody|somebody|anew|for ever|whole path|no such field|is refused this"
    r"|beside the trainers|take the \w+ away|of the findings \()\b"
)
FINE = {"fails fails", "redis redis"}
"""What fails fails the job; names of images."""
TWICE = re.compile(r"\b([a-z]{4,}) \1\b")
VOWEL = r"(?!(?:one|once|and|or|in|is|of|as|are|if|on|at|it|again)\b)(?:[aeio][a-z]+|u(?!ni|s[aeu]|til|biq)[a-z]+)"
CONSONANT = (
    r"(?!hour|heir|honest|honor|http\b|mpirun\b|mlPolicy\b)(?:[b-df-hj-np-tv-z][a-z]+|uni[a-z]+|use[a-z]*|one\b)"
)
ARTICLE = re.compile(rf"(?<![\w'\"`./$-])(?:[Aa] {VOWEL}|[Aa]n {CONSONANT})")
"""An article that does not fit the sound of the next word; words of small letters alone."""
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


def test_articles_fit_the_next_word() -> None:
    found = [f"{path}:{line}: {match[0]}" for path, line, text in _texts() for match in ARTICLE.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    "text", ["in a auxiliary role", "A operator", "a unknown field", "an role", "an unique name", "an one"]
)
def test_an_article_that_does_not_fit_is_found(text: str) -> None:
    assert ARTICLE.search(text)


def test_articles_by_sound() -> None:
    fine = "a user, a unit, a one-node job, an hour, a URL, an http URL, a use of an unknown word, side A is old"
    assert not ARTICLE.search(fine)


def test_a_word_is_found() -> None:
    assert TWICE.search("to the training code code")
    assert NOT_OURS.search("the place is not there; mend it")
    assert not NOT_OURS.search("recommended, amend")
