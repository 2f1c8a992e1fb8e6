"""Data to YAML that kubectl, YAML 1.1 and YAML 1.2 readers all read alike, in the style that kubectl prints.

Block style, keys in the order given, lists not indented under their key, no line wrapping, no aliases. A string is
quoted where any reader would take it for something else; text of several lines is a literal block where that is safe.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from ptcompile._internal.lazy import Pattern, _Cache
from ptcompile.source.scalars import needs_quotes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Match
    from typing import Any, Final

# Readers take a key for a key only within 1,024 characters; longer ones need the explicit `? ` form.
_MAX_SIMPLE_KEY: Final = 900
_MOST_KEPT: Final = 4096

# What cannot stand raw between double quotes: controls, breaks that some readers fold, marks that editors hide.
_escaped = Pattern("[\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
# Lines that a literal block can hold for every reader: printable, no tab or space to begin or end the text with.
_unsafe_literal = Pattern("[\x00-\x08\x0b-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def emit(data: Any) -> str:
    """One document as YAML, without `---`, with a newline at the end.

    Raises `TypeError` for what JSON has no word for (our bug): other types, keys that are not strings, infinities.
    """
    out: list[str] = []
    if type(data) is dict and data:
        _mapping(data, "", "", out)
    elif type(data) is list and data:
        _sequence(data, "", "", out)
    else:
        out.append(_leaf(data, "  "))
    out.append("")
    return "\n".join(out)


def emit_all(documents: Iterable[Any]) -> str:
    """Documents as one YAML stream, with `---` between them."""
    return "---\n".join(map(emit, documents))


def scalar(value: Any) -> str:
    """A scalar or an empty collection as it stands behind `key: `; text of several lines as a literal block."""
    return _leaf(value, "  ")


def quoted(text: str) -> str:
    """A string in double quotes, as JSON and every reader of YAML take it."""
    return _quoted(text)


def _mapping(data: dict[Any, Any], first: str, indent: str, out: list[str]) -> None:
    """Write `key: value` lines; `first` begins the first line (`- ` within a list), `indent` the others."""
    lead, below = first, indent + "  "
    for key, value in data.items():
        if type(key) is not str:
            raise TypeError(f"a key of a YAML mapping must be a string, not {type(key).__name__}")
        name = _keys[key]
        if not name:
            out.append(f"{lead}? {_quoted(key)}")
            lead, name = indent, ":"
        kind = type(value)
        if kind is str:
            out.append(f"{lead}{name} {_lines[value] or _block(value, below)}")
        elif kind is dict and value:
            out.append(lead + name)
            _mapping(value, below, below, out)
        elif kind is list and value:
            out.append(lead + name)
            _sequence(value, indent, indent, out)
        else:
            out.append(f"{lead}{name} {_leaf(value, below)}")
        lead = indent


def _sequence(data: list[Any], first: str, indent: str, out: list[str]) -> None:
    lead = first
    for value in data:
        kind = type(value)
        if kind is str:
            out.append(f"{lead}- {_lines[value] or _block(value, indent + '  ')}")
        elif kind is dict and value:
            _mapping(value, lead + "- ", indent + "  ", out)
        elif kind is list and value:
            _sequence(value, lead + "- ", indent + "  ", out)
        else:
            out.append(f"{lead}- {_leaf(value, indent + '  ')}")
        lead = indent


def _leaf(value: Any, indent: str) -> str:
    """A scalar or an empty collection; `indent` is where the lines of a literal block begin."""
    if value is None:
        return "null"
    kind = type(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if kind is str:
        return _lines[value] or _block(value, indent)
    if kind is float:
        return _float(value)
    if kind is dict and not value:
        return "{}"
    if kind is list and not value:
        return "[]"
    raise TypeError(f"{kind.__name__} is not JSON data")


def _float(value: float) -> str:
    if value - value != 0:
        raise TypeError(f"{value} is not JSON data")
    if value.is_integer() and abs(value) < 2**63:
        return str(int(value))
    mantissa, exponent, power = repr(value).partition("e")
    # YAML 1.1 takes an exponent only after a point and with a sign.
    return mantissa + ("" if "." in mantissa else ".0") + exponent + power


def _line(value: str) -> str:
    """A string as it stands in a line, in quotes where it needs them; nothing for text of several lines."""
    if "\n" in value:
        return ""
    return _quoted(value) if needs_quotes(value) else value


def _key(key: str) -> str:
    """A key with its colon; nothing for one that is too long to stand before it."""
    text = _lines[key] or _quoted(key)
    return f"{text}:" if len(text) <= _MAX_SIMPLE_KEY else ""


_lines: Final = _Cache(_line, _MOST_KEPT)
_keys: Final = _Cache(_key, _MOST_KEPT)


def _quoted(value: str) -> str:
    """Double quotes with JSON's escapes, which all readers share; never surrogate pairs, which kubectl refuses."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() and text.isprintable() else _escaped.sub(_escape, text)


def _escape(match: Match[str]) -> str:
    code = ord(match[0])
    # A lone surrogate is not text; Go writes the replacement character for it too.
    return "\\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"


def _block(value: str, indent: str) -> str:
    """Text of several lines: a literal block where that is safe."""
    if not _literal_is_safe(value):
        return _quoted(value)
    body = value.rstrip("\n")
    chomp = {0: "-", 1: ""}.get(len(value) - len(body), "+")
    lines = value.split("\n") if chomp == "-" else value[:-1].split("\n")
    return "\n".join((f"|{chomp}", *(indent + line if line else "" for line in lines)))


def _literal_is_safe(value: str) -> bool:
    # A first line that begins with a blank needs an indentation indicator; a line of blanks alone is read variously.
    if value[0] in " \t\n" or value.isspace() or _unsafe_literal.search(value):
        return False
    return not any(line.isspace() for line in value.split("\n"))
