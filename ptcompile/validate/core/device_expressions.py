"""CEL selectors of devices: what can be told of them without the server's type checker."""

from __future__ import annotations

from ptcompile.kubernetes.patterns import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_KNOWN: Final = frozenset(
    [
        "device",
        "true",
        "false",
        "null",
        "in",
        "has",
        "size",
        "cel",
        "math",
        "sets",
        "int",
        "uint",
        "double",
        "string",
        "bool",
        "bytes",
        "type",
        "dyn",
    ]
)
_FUNCTIONS: Final = frozenset(
    [
        "quantity",
        "isQuantity",
        "semver",
        "isSemver",
        "url",
        "isURL",
        "ip",
        "isIP",
        "cidr",
        "isCIDR",
        "duration",
        "timestamp",
    ]
)
_STRING: Final = Pattern(r"[rRbB]{0,2}(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')")
_WORD: Final = Pattern(r"(?<![\w.?])[A-Za-z_]\w*")
_MACRO: Final = Pattern(
    r"\.(?:all|exists|exists_one|existsOne|filter|map|transformList|transformMap)\s*\(\s*(\w+)(?:\s*,\s*(\w+)(?=\s*,))?"
)
_BIND: Final = Pattern(r"cel\.bind\s*\(\s*(\w+)")


def why_not_device_expression(text: str) -> str | None:
    """Why the server cannot compile a selector, as far as its words say; None where nothing is wrong for sure."""
    if not text.strip():
        return "compilation failed: the expression is empty"
    plain = _STRING.sub("''", text)
    own = {name for found in (*_MACRO.findall(plain), *((one,) for one in _BIND.findall(plain))) for name in found}
    for match in _WORD.finditer(plain):
        word = match.group()
        if word not in _KNOWN and word not in _FUNCTIONS and word not in own:
            return f"compilation failed: undeclared reference to '{word}'"
    return None
