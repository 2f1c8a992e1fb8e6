"""A name in capitals is a constant: it is bound once, where it stands, so that it needs no `Final` to say so."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from tests import sources

_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]+")
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def rebound_constants(tree: ast.Module) -> list[str]:
    """Return the constants that a module binds more than once, or changes in another module."""
    bound = Counter(_bound_names(tree))
    twice = [name for name, times in bound.items() if times > 1]

    changed = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            changed += node.names
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and _is_name(node.value)
        ):
            changed.append(node.attr)
    return [name for name in (*twice, *changed) if _CONSTANT.fullmatch(name)]


def _bound_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module binds, once for each time. One branch of an `if` binds what the other does not."""
    nodes: list[ast.AST] = [*tree.body]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.If):
            yield from {*_bound_names(_module(node.body)), *_bound_names(_module(node.orelse))}
        elif not isinstance(node, _OWN_SCOPE):
            nodes.extend(ast.iter_child_nodes(node))


def _module(body: list[ast.stmt]) -> ast.Module:
    return ast.Module(body, type_ignores=[])


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id not in ("self", "cls")


def test_constants_are_bound_once() -> None:
    rebound = {path: rebound_constants(module.tree) for path, module in sources.package().items()}
    assert not {path: names for path, names in rebound.items() if names}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A_B = 1", []),
        ("A_B = 1\nA_B = 2", ["A_B"]),
        ("A_B = 1\nA_B += 2", ["A_B"]),
        ("A_B = 1\ndef f():\n    global A_B", ["A_B"]),
        ("A_B = 1\ndef f():\n    A_B = 2", []),
        ("if X:\n    A_B = int\nelse:\n    A_B = str", []),
        ("import other\nother.A_B = 2", ["A_B"]),
        ("a_b = 1\na_b = 2", []),
    ],
)
def test_a_constant_that_changes_is_detected(text: str, expected: list[str]) -> None:
    assert rebound_constants(ast.parse(text)) == expected
