"""A spec as YAML for people, with comments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.emitter import RoundTripEmitter
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from ptcompile.source.scalars import needs_quotes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


Path = tuple[str | int, ...]

_LINE: Final = 120
"""Columns of a line."""
_WORD: Final = 16
"""Characters of a word of a list that fills its lines."""
_FULL: Final = _LINE - _WORD - 4
"""Columns that a collection may take to stand on one line; after them a list of words goes on in the next."""
_UNBROKEN: Final = 1 << 30
"""Columns of a text that has no end of line of its own."""
_PLAIN: Final = re.compile(r"[\w./-][\w./:=@+-]*")
"""Texts that need no quotes wherever they stand, unless they are read as something else."""
_INDENT: Final = 2


def write(document: Mapping[str, Any], comments: Mapping[Path, str] | None = None, head: tuple[str, ...] = ()) -> str:
    """One document with comments at the lines of their paths, and others at its first line.

    YAML 1.1 and 1.2 readers read the same, as with `emit`.
    """
    yaml = YAML()
    yaml.Emitter = _Words
    yaml.width = _FULL
    yaml.indent(mapping=_INDENT, sequence=_INDENT, offset=0)
    yaml.allow_unicode = True
    yaml.representer.add_representer(type(None), _null)
    out = StringIO()
    yaml.dump(_mapping(document, (), {path: _one_line(text) for path, text in (comments or {}).items()}), out)
    text = out.getvalue()
    start = text.partition("\n")[0]
    head = tuple(map(_one_line, head))
    if len(head) == 1 and len(start) + len(" # ") + len(head[0]) <= _LINE:
        return f"{start} # {head[0]}{text[len(start) :]}"
    return "".join(f"# {line}\n" for line in head) + text


def _one_line(comment: str) -> str:
    """A comment without what would end it: a key that it names may hold a line break."""
    return "".join([sign if sign.isprintable() else repr(sign)[1:-1] for sign in comment])


class _Words(RoundTripEmitter):
    """Breaks lines between the items of a list on one line, and never within a text."""

    def process_scalar(self) -> None:
        """Write a text, on the line where it begins."""
        width, self.best_width = self.best_width, _UNBROKEN
        super().process_scalar()
        self.best_width = width


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
            _comment(out, _scalar(key), text, (*path, key))
    return out


def _sequence(value: Any, path: Path, comments: Mapping[Path, str]) -> CommentedSeq:
    out = CommentedSeq([_value(inner, (*path, at), comments) for at, inner in enumerate(value)])
    if _on_one_line(value, path, comments):
        out.fa.set_flow_style()
    return out


def _comment(holder: CommentedMap, key: Any, text: str, path: Path) -> None:
    """At the end of the key's line; above it where that is too long, or where a text begins."""
    value = holder[key]
    block = isinstance(value, CommentedMap | CommentedSeq) and not value.fa.flow_style()
    line = len(f"{key}:") if block else len(f"{key}: ") + _width(value)
    if isinstance(value, LiteralScalarString) or _column(path) + line + len(f" # {text}") > _LINE:
        holder.yaml_set_comment_before_after_key(key, before=text, indent=_column(path))
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
    """Whether a text would end within a flow collection; to PyYAML 6 also at a `?`, and none begins with a colon."""
    return value.startswith(":") or any(sign in value for sign in ",[]{}?")


def _on_one_line(value: Any, path: Path, comments: Mapping[Path, str]) -> bool:
    if len(path) < 1 or path == ("spec",) or not value:
        return bool(path) and not value
    if any(len(other) > len(path) and other[: len(path)] == path for other in comments):
        return False
    if _has_lines(value):
        return False
    key = "" if isinstance(path[-1], int) else f"{path[-1]}: "
    return _column(path) + len(key) + _width(value) <= _FULL or _is_words(value)


def _column(path: Path) -> int:
    """Where the line of a path begins: below a list, after its dash."""
    names = sum(isinstance(part, str) for part in path)
    return _INDENT * (names - isinstance(path[-1], str))


def _width(value: Any) -> int:
    """Columns of a value on one line, at the most."""
    if isinstance(value, Mapping):
        return 2 + sum(_width(key) + 2 + _width(inner) for key, inner in value.items()) + 2 * max(len(value) - 1, 0)
    if isinstance(value, list):
        return 2 + sum(map(_width, value)) + 2 * max(len(value) - 1, 0)
    if isinstance(value, str):
        return len(value) + (0 if _PLAIN.fullmatch(value) and not needs_quotes(value) else 2 + value.count("'"))
    return len("null") if value is None else len(str(value))


def _is_words(value: Any) -> bool:
    """Whether a list is one of short words, which fill their lines."""
    return isinstance(value, list) and all(isinstance(one, str) and len(one) <= _WORD for one in value)


def _has_lines(value: Any) -> bool:
    """Whether a text of several lines is in it."""
    if isinstance(value, Mapping):
        return any(map(_has_lines, value.values()))
    return any(map(_has_lines, value)) if isinstance(value, list) else isinstance(value, str) and "\n" in value
