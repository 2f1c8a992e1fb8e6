"""The package's code, read once in a process for all tests that look at it."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from functools import cache, cached_property
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "ptcompile"

NOT_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}


class Tokens:
    """What the tests ask of a module's tokens, which themselves would take half a gigabyte for the package."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.count = 0
        """Number of tokens of code: without comments, docstrings, line ends and indentation."""
        self.names: Counter[str] = Counter()
        self.comments: list[tuple[int, str]] = []
        """Line and text of each comment."""

        docstrings = _lines_of_docstrings(tree)
        code_lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            line = token.start[0]
            if token.type == tokenize.COMMENT:
                self.comments.append((line, token.string))
            if token.type in NOT_CODE or line in docstrings:
                continue
            self.count += 1
            code_lines.add(line)
            if token.type == tokenize.NAME:
                self.names[token.string] += 1
        self.code_lines = len(code_lines)


def _lines_of_docstrings(tree: ast.Module) -> set[int]:
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }


class Source:
    """A module's text, parsed and tokenized when a test first asks."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def tokens(self) -> Tokens:
        return Tokens(self.text, self.tree)


@cache
def package() -> dict[str, Source]:
    """Return the package's modules by their path from its folder. Tests must not change the trees."""
    return {
        path.relative_to(PACKAGE).as_posix(): Source(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }
