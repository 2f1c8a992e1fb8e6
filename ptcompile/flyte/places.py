"""Where in a Python file a finding about a task belongs: the argument of its decorator, or the input's parameter."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from ptcompile.findings.diagnostics import Path, Span


def file_of(function: Callable[..., Any]) -> str | None:
    """The file that a function is written in; None for one that is built in."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_filename if code is not None else None


def span(function: Callable[..., Any], text: str, path: Path) -> Span | None:
    """The place of the Flyte call at `path`, as near as the file's text has it: else the decorator or the function."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    for node in ast.walk(ast.parse(text)):
        if code is None or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines = [node.lineno, *(one.lineno for one in node.decorator_list)]
        if min(lines) == code.co_firstlineno:
            return _span(_nearest(node, path), text.split("\n"))
    return None


def _nearest(node: ast.FunctionDef | ast.AsyncFunctionDef, path: Path) -> ast.expr | ast.arg | ast.stmt:
    """The deepest expression on the way of the path through the decorators' keywords."""
    if path[:1] == ("inputs",):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return next((one for one in arguments if one.arg == path[-1]), node)
    if path[:1] == ("outputs",) and node.returns is not None:
        return node.returns
    for decorator in node.decorator_list:
        found = _along(decorator, path)
        if found is not decorator:
            return found
    return node.decorator_list[0] if node.decorator_list else node


def _along(node: ast.expr, path: Path) -> ast.expr:
    if not path:
        return node
    step, rest = path[0], path[1:]
    inner: ast.expr | None = None
    if isinstance(node, ast.Call):
        inner = next((one.value for one in node.keywords if one.arg == step), None)
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        inner = next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value == step), None)
    elif isinstance(node, ast.List | ast.Tuple) and isinstance(step, int) and step < len(node.elts):
        inner = node.elts[step]
    return node if inner is None else _along(inner, rest)


def _span(node: ast.expr | ast.arg | ast.stmt, lines: list[str]) -> Span:
    """A node's place; of a function and of a long call only the first line."""
    end = node.end_lineno or node.lineno
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or end > node.lineno:
        line = lines[node.lineno - 1]
        return Span(node.lineno, _column(line, node.col_offset), node.lineno, len(line.rstrip()) + 1)
    line = lines[end - 1]
    return Span(node.lineno, _column(line, node.col_offset), end, _column(line, node.end_col_offset or 0))


def _column(line: str, offset: int) -> int:
    """Python counts bytes of UTF-8 from 0, we count characters from 1."""
    return len(line.encode()[:offset].decode(errors="ignore")) + 1
