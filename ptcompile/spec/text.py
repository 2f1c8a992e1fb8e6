"""Specs as human-readable YAML with comments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.emitter import RoundTripEmitter
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from ptcompile._internal.namedtuple import Any
from ptcompile.kubernetes.unstructured import Json, values_in
from ptcompile.source.scalars import needs_quotes

Path = tuple[str | int, ...]

_MAX_COLUMNS = 120
"""Maximum length of a line."""
_MAX_WORD_LENGTH = 16
"""Maximum length of an item in a list that fills its lines."""
_MAX_FLOW_COLUMNS = _MAX_COLUMNS - _MAX_WORD_LENGTH - 4
"""Maximum width of a collection on one line. Longer lists of short words continue on the next
line.
"""
_UNLIMITED_COLUMNS = 1 << 30
"""Width that disables line breaks inside a text."""
_PLAIN = re.compile(r"[\w./-][\w./:=@+-]*")
"""Texts that need no quotes in any position, unless YAML reads them as another type."""
_INDENT = 2


def write_yaml(
    document: Json,
    comments: Mapping[Path, str] | None = None,
    head: tuple[str, ...] = (),
) -> str:
    """Return a document as YAML with comments at the lines of their paths, and `head` at its first
    line.

    YAML 1.1 and 1.2 readers read it the same, as with `emit`.
    """
    yaml = _Writer()
    yaml.Emitter = _Emitter
    yaml.width = _MAX_FLOW_COLUMNS
    yaml.indent(mapping=_INDENT, sequence=_INDENT, offset=0)
    yaml.allow_unicode = True
    yaml.representer.add_representer(
        type(None),
        lambda representer, _: representer.represent_scalar("tag:yaml.org,2002:null", "null"),
    )

    out = StringIO()
    printable = {
        path: "\n".join(map(_printable, text.split("\n")))
        for path, text in (comments or {}).items()
    }
    yaml.dump(_round_trip_mapping(document, (), printable), out)

    text = out.getvalue()
    start, end, rest = text.partition("\n")
    remarks = [_printable(line) for line in head]
    first_line = " # ".join([start, *remarks])
    if len(remarks) == 1 and len(first_line) <= _MAX_COLUMNS:
        return first_line + end + rest

    return "".join(f"# {remark}\n" for remark in remarks) + text


def _printable(comment: str) -> str:
    """Return a comment with control characters escaped: a key that it names may contain a line
    break.
    """
    return "".join([sign if sign.isprintable() else repr(sign)[1:-1] for sign in comment])


class _Writer(YAML):
    """A writer without plug-ins, for which ruamel would search its folder at each document."""

    def official_plug_ins(self) -> Any:
        return []


class _Emitter(RoundTripEmitter):
    """An emitter that breaks lines between the items of a list and never inside a text."""

    def process_scalar(self) -> None:
        """Write a text on the line where it begins."""
        width, self.best_width = self.best_width, _UNLIMITED_COLUMNS
        super().process_scalar()
        self.best_width = width


def _round_trip_value(value: Any, path: Path, comments: Mapping[Path, str]) -> Any:
    if isinstance(value, Mapping):
        return _round_trip_mapping(value, path, comments)
    if isinstance(value, list | tuple):
        return _round_trip_sequence(value, path, comments)
    return _round_trip_scalar(value)


def _round_trip_mapping(value: Json, path: Path, comments: Mapping[Path, str]) -> CommentedMap:
    out = CommentedMap()
    for key, inner in value.items():
        out[_round_trip_scalar(key)] = _round_trip_value(inner, (*path, key), comments)
    if _fits_on_line(value, path, comments):
        out.fa.set_flow_style()
    for key in value:
        if text := comments.get((*path, key)):
            _add_comment(out, _round_trip_scalar(key), text, (*path, key))
    return out


def _round_trip_sequence(value: Any, path: Path, comments: Mapping[Path, str]) -> CommentedSeq:
    out = CommentedSeq(
        [_round_trip_value(inner, (*path, index), comments) for index, inner in enumerate(value)]
    )
    if _fits_on_line(value, path, comments):
        out.fa.set_flow_style()
    return out


def _add_comment(mapping: CommentedMap, key: Any, text: str, path: Path) -> None:
    """Put a comment at the end of the key's line, or above it if it has several lines, the line
    would be too long or a block text begins there.
    """
    value = mapping[key]
    block = isinstance(value, CommentedMap | CommentedSeq) and not value.fa.flow_style()
    line = len(f"{key}:") if block else len(f"{key}: ") + _width(value)
    if (
        isinstance(value, LiteralScalarString)
        or "\n" in text
        or _column(path) + line + len(f" # {text}") > _MAX_COLUMNS
    ):
        mapping.yaml_set_comment_before_after_key(key, before=text, indent=_column(path))
    else:
        mapping.yaml_add_eol_comment(text, key, column=0)


def _round_trip_scalar(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if "\n" in value:
        if _is_plain_text(value):
            return LiteralScalarString(value)
        return DoubleQuotedScalarString(value)
    # PyYAML 6 ends a text in a flow collection at a `?`, and a colon cannot come first
    breaks_flow = value.startswith(":") or any(sign in value for sign in ",[]{}?")
    if breaks_flow or needs_quotes(value):
        return DoubleQuotedScalarString(value)
    return value


def _is_plain_text(value: str) -> bool:
    """Return whether every reader takes a literal block for the same text."""
    lines = value.split("\n")
    return (
        not value[0].isspace()
        and value.isprintable() is False
        and all(line.isprintable() and not line.isspace() for line in lines)
    )


def _fits_on_line(value: Any, path: Path, comments: Mapping[Path, str]) -> bool:
    if len(path) < 1 or path == ("spec",) or not value:
        return bool(path) and not value
    if any(
        len(comment_path) > len(path) and comment_path[: len(path)] == path
        for comment_path in comments
    ):
        return False
    if any(isinstance(inner, str) and "\n" in inner for inner in values_in(value)):
        return False

    key = "" if isinstance(path[-1], int) else f"{path[-1]}: "
    return _column(path) + len(key) + _width(value) <= _MAX_FLOW_COLUMNS or _is_word_list(value)


def _column(path: Path) -> int:
    """Return the column where the line of a path begins: below a list, after its dash."""
    names = sum(isinstance(part, str) for part in path)
    return _INDENT * (names - isinstance(path[-1], str))


def _width(value: Any) -> int:
    """Return the maximum width of a value on one line, in columns."""
    if isinstance(value, Mapping):
        return (
            2
            + sum(_width(key) + 2 + _width(inner) for key, inner in value.items())
            + 2 * max(len(value) - 1, 0)
        )
    if isinstance(value, list):
        return 2 + sum(map(_width, value)) + 2 * max(len(value) - 1, 0)
    if isinstance(value, str):
        return len(value) + (
            0 if _PLAIN.fullmatch(value) and not needs_quotes(value) else 2 + value.count("'")
        )
    return len("null") if value is None else len(str(value))


def _is_word_list(value: Any) -> bool:
    """Return whether a value is a list of short words, which fill their lines."""
    return isinstance(value, list) and all(
        isinstance(item, str) and len(item) <= _MAX_WORD_LENGTH for item in value
    )
