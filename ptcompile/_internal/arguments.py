"""What the library's functions are given: a wrong type is a TypeError that names the parameter."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from ptcompile._internal import files as disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Given = str | bytes | os.PathLike[str] | Mapping[str, Any] | Sequence[Mapping[str, Any]]
    """A stream in any form but a Spec."""

_SOURCE: Final = "text, bytes, an os.PathLike, a mapping, a list of mappings, or a Spec"
_TEXTS: Final = ("target", "name", "filename", "cluster_filename", "kubernetes")


def source(given: Any, parameter: str) -> Any:
    """A source as text, bytes, a mapping, a list, or a Spec. A path is read; nothing else is.

    Raises TypeError for anything else, and OSError for a path that cannot be read.
    """
    if isinstance(given, str | bytes | Mapping | list) or hasattr(
        given, "metadata"
    ):  # a Spec, read with pydantic or not
        return given
    if isinstance(given, tuple) and not hasattr(given, "_fields"):
        return list(given)
    if isinstance(given, os.PathLike):
        return disk.read(given)
    raise TypeError(f"{parameter} must be {_SOURCE}, not {_name(given)}")


def filename(given: Any, told: str | None) -> str | None:
    """The name of a source in findings: the one told, or else its path."""
    return os.fsdecode(os.fspath(given)) if told is None and isinstance(given, os.PathLike) else told


def check(**given: Any) -> None:
    """Raise TypeError for a text that is none (`target`, `name`, `kubernetes` ...), or a list that is none."""
    for parameter, value in given.items():
        if parameter in _TEXTS:
            if value is not None and not isinstance(value, str):
                hint = f": write {str(value)!r}" if parameter == "kubernetes" and isinstance(value, float) else ""
                raise TypeError(f"{parameter} must be a string or None, not {_name(value)}{hint}")
        elif parameter == "extensions":
            if value is not None and type(value).__name__ != "Extensions":
                raise TypeError(f"extensions must be what ptcompile.extensions gives, or None, not {_name(value)}")
        elif parameter == "pause":
            if value is not None and not callable(value):
                raise TypeError(f"pause must be a function or None, not {_name(value)}")
        elif type(value) not in (list, tuple) and _is_no_list(value):
            raise TypeError(f"{parameter} must be a list, not {_name(value)}")


def _is_no_list(value: object) -> bool:
    return isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable)


def pairs(value: Any, parameter: str) -> list[tuple[Any, Any]]:
    """A list of pairs. Raises TypeError for anything else."""
    check(**{parameter: value})
    out = list(value)
    for one in out:
        if not isinstance(one, tuple | list) or len(one) != 2:
            raise TypeError(f"{parameter} must be a list of pairs, and has {_name(one)}")
    return [(one[0], one[1]) for one in out]


def mappings(value: Any, parameter: str) -> list[Mapping[str, Any]]:
    """A list of decoded objects. Raises TypeError for anything else."""
    check(**{parameter: value})
    out = list(value)
    for one in out:
        if not isinstance(one, Mapping):
            raise TypeError(f"{parameter} must be a list of mappings, and has {_name(one)}")
    return out


def strings(value: Any, parameter: str) -> list[str]:
    """A list of strings. Raises TypeError for one string, and for what is no list of strings."""
    check(**{parameter: value})
    out = list(value)
    for one in out:
        if not isinstance(one, str):
            raise TypeError(f"{parameter} must be a list of strings, and has {_name(one)}")
    return out


def _name(value: object) -> str:
    return type(value).__name__
