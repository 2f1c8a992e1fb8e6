"""Data to YAML that kubectl, YAML 1.1 and YAML 1.2 readers read alike, in the style that kubectl
prints.

Block style, keys in the given order, lists not indented under their key, no line wrapping, no
aliases. A string is quoted if any reader would take it for something else; multi-line text is a
literal block where that is safe.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from ptcompile._internal.lazy import Pattern, _Cache
from ptcompile.source.scalars import needs_quotes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Match
    from typing import Any

    from ptcompile.diagnostics import Path

# readers accept simple keys up to 1,024 characters; longer ones need the explicit `? ` form
_MAX_SIMPLE_KEY = 900
_CACHE_SIZE = 4096

# must be escaped in double quotes: controls, breaks that some readers fold, marks that editors
# hide, marks that turn the direction of what follows
_escaped = Pattern(
    "[\x7f-\xa0\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
# not safe for every reader in a literal block
_unsafe_literal = Pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)

# these end a plain scalar within brackets, a `?` in PyYAML and go-yaml; nor can a colon come first
_ends_in_flow = Pattern(r"\A:|[,\[\]{}?]").search


def emit(data: Any) -> str:
    """Return one document as YAML, without `---`, ending with a newline.

    Raises TypeError for data that is not JSON (a bug of ptcompile): other types, keys that are not
    strings, infinities.
    """
    lines: list[str] = []
    if type(data) is dict and data:
        _emit_mapping(data, "", "", lines)
    elif type(data) is list and data:
        _emit_sequence(data, "", "", lines)
    else:
        lines.append(scalar(data))
    lines.append("")
    return "\n".join(lines)


def emit_all(documents: Iterable[Any]) -> str:
    """Return documents as one YAML stream, separated by `---`."""
    return "---\n".join(map(emit, documents))


def line_ranges(data: Any, line: int = 1) -> dict[Path, tuple[int, int]]:
    """Return the first and last line of every value in the text of `emit`, by path; `line` is the
    text's first line.

    A mapping or a list with entries has the line of its key, or its first line as an item of a
    list.
    """
    ranges: dict[Path, tuple[int, int]] = {}
    _add_line_ranges(data, (), line, line, ranges)
    return ranges


def _add_line_ranges(
    value: Any, path: Path, line: int, below: int, ranges: dict[Path, tuple[int, int]]
) -> int:
    """Add the lines of a value whose key is on `line`, and of the values in it. Return the number
    of the next line.

    `below` is the first line of the value's entries. Those of a list item begin next to its hyphen.
    """
    last = line
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            # the explicit form: `? key`, and `: value` on the next line
            below += not _keys[key]
            below = _add_line_ranges(inner, (*path, key), below, below + 1, ranges)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            below = _add_line_ranges(item, (*path, index), below, below, ranges)
    else:
        if isinstance(value, str) and "\n" in value:
            last += _block(value, "").count("\n")
        below = last + 1

    ranges[path] = line, last
    return below


def emit_json(data: object) -> str:
    """Return data as JSON."""
    return json.dumps(data, indent=2) + "\n"


def as_one_object(objects: Sequence[Any]) -> Any:
    """Return one object unchanged, or several as a List."""
    if len(objects) == 1:
        return objects[0]
    return {"apiVersion": "v1", "kind": "List", "items": objects}


def inline(value: Any, *, is_json: bool = False) -> str:
    """Return a value on one line, quoted for the inside of brackets, or as JSON with all texts in
    double quotes.
    """
    if isinstance(value, Mapping):
        entries = [
            f"{inline(key, is_json=is_json)}: {inline(inner, is_json=is_json)}"
            for key, inner in value.items()
        ]
        return f"{{{', '.join(entries)}}}"

    if isinstance(value, list | tuple):
        return f"[{', '.join([inline(item, is_json=is_json) for item in value])}]"
    if not isinstance(value, str):
        return scalar(value, "")
    if is_json or "\n" in value or _ends_in_flow(value):
        return double_quote(value)

    return _lines[value]


def key_with_colon(key: str) -> str:
    """Return a key of a block mapping with its colon; empty if it is too long for its line."""
    return _keys[key]


def _emit_mapping(data: dict[Any, Any], first: str, indent: str, lines: list[str]) -> None:
    """Append `key: value` lines; `first` begins the first line (`- ` within a list), `indent`
    the others.
    """
    lead = first
    deeper = indent + "  "
    for key, value in data.items():
        if type(key) is not str:
            raise TypeError(f"a key of a YAML mapping must be a string, not {type(key).__name__}")

        name = _keys[key]
        if not name:
            lines.append(f"{lead}? {double_quote(key)}")
            lead = indent
            name = ":"

        value_type = type(value)
        if value_type is str:
            lines.append(f"{lead}{name} {_lines[value] or _block(value, deeper)}")
        elif value_type is dict and value:
            lines.append(lead + name)
            _emit_mapping(value, deeper, deeper, lines)
        elif value_type is list and value:
            lines.append(lead + name)
            _emit_sequence(value, indent, indent, lines)
        else:
            lines.append(f"{lead}{name} {scalar(value, deeper)}")

        lead = indent


def _emit_sequence(data: list[Any], first: str, indent: str, lines: list[str]) -> None:
    lead = first
    for value in data:
        value_type = type(value)
        if value_type is str:
            lines.append(f"{lead}- {_lines[value] or _block(value, indent + '  ')}")
        elif value_type is dict and value:
            _emit_mapping(value, lead + "- ", indent + "  ", lines)
        elif value_type is list and value:
            _emit_sequence(value, lead + "- ", indent + "  ", lines)
        else:
            lines.append(f"{lead}- {scalar(value, indent + '  ')}")

        lead = indent


def scalar(value: Any, indent: str = "  ") -> str:
    """Return a scalar or an empty collection as it follows `key: `; multi-line text as a literal
    block, whose lines have this indentation.
    """
    if value is None:
        return "null"

    value_type = type(value)
    if value_type is bool:
        return "true" if value else "false"
    if value_type is int:
        return str(value)
    if value_type is str:
        return _lines[value] or _block(value, indent)
    if value_type is float:
        return _float(value)
    if value_type is dict and not value:
        return "{}"
    if value_type is list and not value:
        return "[]"

    raise TypeError(f"{value_type.__name__} is not JSON data")


def _float(value: float) -> str:
    if value - value != 0:
        raise TypeError(f"{value} is not JSON data")
    if value.is_integer() and abs(value) < 2**63:
        return str(int(value))
    mantissa, exponent, power = repr(value).partition("e")
    # YAML 1.1 requires a point before an exponent, and a sign in it
    return mantissa + ("" if "." in mantissa else ".0") + exponent + power


def _line(value: str) -> str:
    """Return a string on a single line, quoted if necessary; empty for multi-line text."""
    if "\n" in value:
        return ""
    if not needs_quotes(value):
        return value
    # as in JSON, double quotes would escape characters that single quotes do not
    is_clearer_in_single_quotes = (
        ('"' in value or "\\" in value)
        and "'" not in value
        and value.isprintable()
        and not _escaped.search(value)
    )
    if is_clearer_in_single_quotes:
        return f"'{value}'"
    return double_quote(value)


def _key(key: str) -> str:
    """Return a key with its colon; empty if it is too long for a simple key."""
    text = _lines[key] or double_quote(key)
    return f"{text}:" if len(text) <= _MAX_SIMPLE_KEY else ""


_lines = _Cache(_line, _CACHE_SIZE)
_keys = _Cache(_key, _CACHE_SIZE)


def double_quote(value: str) -> str:
    """Return a string in double quotes with JSON's escapes, which all readers share; no surrogate
    pairs, which kubectl rejects.
    """
    text = json.dumps(value, ensure_ascii=False)
    if text.isascii() and text.isprintable():
        return text
    return _escaped.sub(_escape, text)


def _escape(match: Match[str]) -> str:
    code = ord(match[0])
    # a lone surrogate is not text; Go also writes the replacement character for it
    return "\\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"


def _block(value: str, indent: str) -> str:
    """Return multi-line text as a literal block if that is safe, else quoted."""
    # leading whitespace needs an indentation indicator; readers differ about lines of only
    # whitespace
    if (
        value[0] in " \t\n"
        or value.isspace()
        or _unsafe_literal.search(value)
        or any(line.isspace() for line in value.split("\n"))
    ):
        return double_quote(value)

    body = value.rstrip("\n")
    chomp = {0: "-", 1: ""}.get(len(value) - len(body), "+")
    lines = value.removesuffix("\n").split("\n")
    return "\n".join((f"|{chomp}", *(indent + line if line else "" for line in lines)))
