"""Plain data as commented YAML. ruamel.yaml is imported here alone: it costs 40 ms."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from ptcompile.kubernetes.scalars import needs_quotes

Path = tuple[str | int, ...]

_LINE: Final = 120
"""Columns that a collection may take to stand on one line."""
_INDENT: Final = 2


def write(document: Mapping[str, Any], comments: Mapping[Path, str] | None = None, head: tuple[str, ...] = ()) -> str:
    """One document with comments at the ends of the lines of their paths, and lines of comment at its head.

    YAML 1.1 and 1.2 readers read the same, as with `emit`.
    """
    yaml = YAML()
    yaml.width = 4096
    yaml.indent(mapping=_INDENT, sequence=_INDENT, offset=0)
    yaml.allow_unicode = True
    yaml.representer.add_representer(type(None), _null)
    out = StringIO()
    yaml.dump(_mapping(document, (), comments or {}), out)
    return "".join(f"# {line}\n" for line in head) + out.getvalue()


def _null(representer: Any, _value: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


def _value(value: Any, path: Path, comments: Mapping[Path, str]) -> Any:
    if isinstance(value, Mapping):
        return _mapping(value, path, comments)
    if isinstance(value, list | tuple):
        return _sequence(value, path, comments)
    return _scalar(value)


def _mapping(value: Mapping[str, Any], path: Path, comments: Mapping[Path, str]) -> CommentedMap:
    out = CommentedMap()
    for key, inner in value.items():
        out[_scalar(key)] = _value(inner, (*path, key), comments)
    if _on_one_line(value, path, comments):
        out.fa.set_flow_style()
    for key in value:
        if text := comments.get((*path, key)):
            _comment(out, _scalar(key), text, _INDENT * len(path))
    return out


def _sequence(value: Any, path: Path, comments: Mapping[Path, str]) -> CommentedSeq:
    out = CommentedSeq([_value(inner, (*path, at), comments) for at, inner in enumerate(value)])
    if _on_one_line(value, path, comments):
        out.fa.set_flow_style()
    return out


def _comment(holder: CommentedMap, key: Any, text: str, column: int) -> None:
    """At the end of the key's line, or above it where its value takes several lines."""
    value = holder[key]
    many = isinstance(value, LiteralScalarString)
    many = many or (isinstance(value, CommentedMap | CommentedSeq) and not value.fa.flow_style())
    if many:
        holder.yaml_set_comment_before_after_key(key, before=text, indent=column)
    else:
        holder.yaml_add_eol_comment(text, key, column=0)


def _scalar(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if "\n" in value:
        return LiteralScalarString(value) if _is_plain_text(value) else DoubleQuotedScalarString(value)
    return DoubleQuotedScalarString(value) if needs_quotes(value) or _in_flow(value) else value


def _is_plain_text(value: str) -> bool:
    """Whether every reader takes a literal block for the same text."""
    lines = value.split("\n")
    return (
        not value[0].isspace()
        and value.isprintable() is False
        and all(line.isprintable() and not line.isspace() for line in lines)
    )


def _in_flow(value: str) -> bool:
    """Whether a text would end within a flow collection."""
    return any(sign in value for sign in ",[]{}")


def _on_one_line(value: Any, path: Path, comments: Mapping[Path, str]) -> bool:
    if len(path) < 1 or path == ("spec",) or not value:
        return bool(path) and not value
    if any(len(other) > len(path) and other[: len(path)] == path for other in comments):
        return False
    return not _has_lines(value) and len(repr(value)) + _INDENT * len(path) <= _LINE


def _has_lines(value: Any) -> bool:
    """Whether a text of several lines is in it."""
    if isinstance(value, Mapping):
        return any(map(_has_lines, value.values()))
    return any(map(_has_lines, value)) if isinstance(value, list) else isinstance(value, str) and "\n" in value
