"""Values that must not be shown: those of variables whose names say that they are secrets."""

from __future__ import annotations

HIDDEN = "***"
"""What is shown instead."""

_ENDINGS = ("_TOKEN", "_KEY")
_PARTS = ("PASSWORD", "SECRET")


def is_secret(name: str) -> bool:
    """Whether a variable's name says that its value is a secret: *_TOKEN, *_KEY, *PASSWORD*, *SECRET*, in any case."""
    upper = name.upper()
    return upper.endswith(_ENDINGS) or any(part in upper for part in _PARTS)


def masked(name: str, value: str) -> str:
    """The value as it may be shown: `HIDDEN` for a secret that has one, else the value itself."""
    return HIDDEN if value and is_secret(name) else value
