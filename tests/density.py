"""Measuring how dense code is."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from tests.sources import Source

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def is_unrelated(node: ast.AST) -> bool:
    """Return whether an assignment gives several names values that have nothing in common."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False

    target = node.targets[0]
    if not isinstance(target, ast.Tuple) or not isinstance(node.value, ast.Tuple):
        return False

    names = {ast.unparse(item) for item in target.elts}
    values = {ast.unparse(item) for item in node.value.elts}
    return names.isdisjoint(values)


def is_by_number(node: ast.AST) -> bool:
    """Return whether an item is taken by a written number."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return False

    index = node.slice
    if isinstance(index, ast.UnaryOp):
        index = index.operand
    return isinstance(index, ast.Constant) and type(index.value) is int


def features(node: ast.AST) -> Iterator[str]:
    """Yield the figures that a node counts for."""
    if isinstance(node, COMPREHENSIONS):
        yield "comprehensions"
    if isinstance(node, ast.IfExp):
        yield "conditional expressions"
        if isinstance(node.body, ast.IfExp) or isinstance(node.orelse, ast.IfExp):
            yield "conditionals within conditionals"
    if is_unrelated(node):
        yield "unrelated values in one assignment"
    if is_by_number(node):
        yield "items taken by a number"


def long_body(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> list[str]:
    """Return the lines below the docstring of a function if they are 15 or more, else none."""
    body = function.body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        body = body[1:]
    if not body:
        return []

    text = lines[body[0].lineno - 1 : body[-1].end_lineno]
    return text if len(text) >= 15 else []


class Figures:
    """The figures of a set of modules."""

    def __init__(self, modules: Iterable[Source]) -> None:
        self.counts: Counter[str] = Counter()
        names: Counter[str] = Counter()
        private: list[str] = []
        bodies: list[list[str]] = []
        functions = 0
        for module in modules:
            lines = module.text.splitlines()
            self.counts["tokens"] += module.tokens.count
            self.counts["code lines"] += module.tokens.code_lines
            self.counts["lines above 100 columns"] += sum(len(line) > 100 for line in lines)
            names.update(module.tokens.names)
            for node in ast.walk(module.tree):
                self.counts.update(features(node))
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    functions += 1
                    bodies.append(long_body(node, lines))
                    if node.name.startswith("_") and not node.name.startswith("__"):
                        private.append(node.name)

        long = [[line.strip() for line in body] for body in bodies if body]
        unbroken = [
            body for body in long if not any(not line or line.startswith("#") for line in body)
        ]
        used_once = [name for name in private if names[name] <= 2]
        self.unbroken = len(unbroken) / len(long) if long else 0
        self.used_once = len(used_once) / functions if functions else 0

    def rate(self, name: str) -> float:
        """Return how often something occurs in 1,000 lines that hold code."""
        return 1000 * self.counts[name] / self.counts["code lines"]
