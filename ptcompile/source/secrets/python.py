"""Lines of Python without the secrets in them, for code frames of programs such as Flyte's.

A secret is a text that is given to a name such as HF_TOKEN: by an assignment, a keyword, a default,
an item of a dict or the two first arguments of a call. What a call returns, as in
`secret_requests=[Secret(...)]`, is not in the file.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from itertools import pairwise

from ptcompile._internal.secret_formats import mask_formats
from ptcompile.source.secrets.masking import mask_comment
from ptcompile.source.secrets.names import MASK, is_secret
from ptcompile.source.secrets.texts import secret_parts


def masked_python(text: str) -> list[str] | None:
    """Return the lines of a program, with `MASK` in place of secrets; None for a text that is no
    Python.
    """
    try:
        tree = ast.parse(text)
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments = {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError):
        return None

    lines = [line.encode() for line in text.split("\n")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and secret_parts(_name_of(node)):
            _mask(lines, node)
    for name, value in _named_values(tree):
        for node in _texts(value):
            if name.lower() != "key" and is_secret(
                name, node.value if isinstance(node, ast.Constant) else None
            ):
                _mask(lines, node)

    shown = [mask_formats(line.decode(errors="replace").removesuffix("\r")) for line in lines]
    for number in comments:
        shown[number - 1] = mask_comment(shown[number - 1])

    return shown


def _named_values(tree: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names of a program with the expressions that they are given."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((_name_of(target), node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            yield _name_of(node.target), node.value
        elif isinstance(node, ast.keyword):
            yield node.arg or "", node.value
        elif isinstance(node, ast.Dict):
            yield from zip(map(_name_of, node.keys), node.values, strict=True)
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            name, value, *_ = node.args
            yield _name_of(name), value
        elif isinstance(node, ast.List | ast.Tuple):
            yield from ((_name_of(item).lstrip("-"), after) for item, after in pairwise(node.elts))
        elif isinstance(node, ast.arguments):
            positional = [argument.arg for argument in (*node.posonlyargs, *node.args)]
            yield from zip(reversed(positional), reversed(node.defaults), strict=False)
            yield from zip(
                (argument.arg for argument in node.kwonlyargs), node.kw_defaults, strict=True
            )


def _name_of(node: ast.expr | None) -> str:
    """Return the name that is given a value, or the text that names it."""
    if isinstance(node, ast.Subscript):
        return _name_of(node.slice)
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.Name):
        return node.id
    return getattr(node, "attr", "")


def _texts(node: ast.AST | None) -> Iterator[ast.expr]:
    """Yield the texts of which an expression consists, without those inside of calls and of
    dicts.
    """
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    ):
        yield node
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.IfExp | ast.List | ast.Tuple | ast.Set):
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


def _mask(lines: list[bytes], node: ast.expr) -> None:
    """Replace a text, which may have several lines; the columns after it stay where they are if
    there is room.
    """
    last = (node.end_lineno or node.lineno) - 1
    for index in range(node.lineno - 1, last + 1):
        start = node.col_offset if index == node.lineno - 1 else 0
        end = (node.end_col_offset or 0) if index == last else len(lines[index])
        mask = MASK.encode()[: end - start]
        lines[index] = lines[index][:start] + mask.ljust(end - start) + lines[index][end:]
