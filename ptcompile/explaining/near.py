"""A path that was meant, where the one that was typed is not there."""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile.explaining.model import Cause
from ptcompile.explaining.shown import words
from ptcompile.findings.diagnostics import field_path
from ptcompile.kubernetes import names


def near(query: str, causes: Iterable[Cause]) -> str | None:
    """The path that is most like the one typed: as a whole, or by its last word; None where none is near."""
    whole: dict[str, None] = {}
    by_word: dict[str, str] = {}
    for one in causes:
        for length in range(1, len(one.path) + 1):
            if isinstance(one.path[length - 1], str):
                path = field_path(one.path[:length])
                whole.setdefault(path)
                by_word.setdefault(str(one.path[length - 1]), path)
        whole.setdefault(one.shown)
    found = names.suggest(query, whole)
    if found is None and (typed := words(query)):
        word = names.suggest(typed[-1], by_word)
        found = by_word[word] if word is not None else None
    return found
