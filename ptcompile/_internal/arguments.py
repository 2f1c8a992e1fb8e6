"""Checks of arguments of the public functions: a wrong type is a TypeError that names the
parameter.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from ptcompile._internal import files as disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    StreamSource = str | bytes | os.PathLike[str] | Mapping[str, Any] | Sequence[Mapping[str, Any]]
    """A stream in any form except a Spec."""
    ProfileSource = str | bytes | os.PathLike[str] | Mapping[str, Any]
    """A cluster profile in any form except a ClusterProfile."""

_SOURCE = "text, bytes, an os.PathLike, a mapping, a list of mappings, or a Spec"
_TEXTS = ("target", "name", "filename", "namespace", "cluster_filename", "kubernetes")


def source(value: Any, parameter: str) -> Any:
    """Return a source as text, bytes, a mapping, a list or a Spec. A path is read.

    Raises TypeError for anything else, and OSError for a path that cannot be read.
    """
    # a Spec has `metadata`, whether pydantic read it or not
    if isinstance(value, str | bytes | Mapping | list) or hasattr(value, "metadata"):
        return value
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return list(value)
    if isinstance(value, os.PathLike):
        return disk.read(value)
    raise TypeError(f"{parameter} must be {_SOURCE}, not {_type_name(value)}")


def filename(value: Any, name: str | None) -> str | None:
    """Return the name of a source in findings: `name` if set, else the source's path, or None if
    it has none.
    """
    if name is None and isinstance(value, os.PathLike):
        return os.fsdecode(os.fspath(value))
    return name


def check(**arguments: Any) -> None:
    """Raise TypeError for an argument of the wrong type, by the parameter's name: strings, lists,
    extensions, `pause`.
    """
    for parameter, value in arguments.items():
        if parameter in _TEXTS:
            _check_text(parameter, value)
        elif parameter == "extensions":
            _check_extensions(value)
        elif parameter == "pause":
            if value is not None and not callable(value):
                raise TypeError(f"pause must be a function or None, not {_type_name(value)}")
        elif isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise TypeError(f"{parameter} must be a list, not {_type_name(value)}")


def _check_text(parameter: str, value: Any) -> None:
    if value is None or isinstance(value, str):
        return

    hint = ""
    # a version without quotes is a number in Python, YAML and TOML
    if parameter == "kubernetes" and isinstance(value, float):
        hint = f": write {str(value)!r}"
    raise TypeError(f"{parameter} must be a string or None, not {_type_name(value)}{hint}")


def _check_extensions(value: Any) -> None:
    """Raise TypeError for extensions that a caller has made with an argument of the wrong type."""
    if value is None:
        return
    # by name, because importing the class would load the plugins' module for each call
    if type(value).__name__ != "Extensions":
        raise TypeError(
            f"extensions must be the result of ptcompile.extensions or None, not {_type_name(value)}"
        )

    shapes = {
        "plugins": ("a tuple of Loaded", lambda item: hasattr(item, "version")),
        "rules": ("a tuple of Rule", lambda item: hasattr(item, "check")),
        "passes": (
            'a tuple of pairs of a name and a function, such as (("cost_center", cost_center),)',
            lambda item: isinstance(item, tuple) and len(item) == 2 and callable(item[1]),
        ),
    }
    for field, (shape, is_item) in shapes.items():
        items = getattr(value, field)
        if not isinstance(items, tuple) or not all(map(is_item, items)):
            raise TypeError(f"the {field} of Extensions must be {shape}, not {_type_name(items)}")

    if not isinstance(value.targets, Mapping):
        raise TypeError(
            "the targets of Extensions must be a mapping from names, not "
            f"{_type_name(value.targets)}"
        )


def pairs(value: Any, parameter: str) -> list[tuple[Any, Any]]:
    """Return `value` as a list of pairs. Raises TypeError for anything else."""
    check(**{parameter: value})
    items = list(value)
    for item in items:
        if not isinstance(item, tuple | list) or len(item) != 2:
            raise TypeError(f"{parameter} must be a list of pairs, but contains {_type_name(item)}")
    return [(first, second) for first, second in items]


def mapping(value: Any, parameter: str) -> Mapping[Any, Any]:
    """Return `value` if it is a mapping, and an empty one for None. Raises TypeError for
    anything else.
    """
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(f"{parameter} must be a mapping or None, not {_type_name(value)}")
    return value or {}


def mappings(value: Any, parameter: str) -> list[Mapping[str, Any]]:
    """Return `value` as a list of mappings. Raises TypeError for anything else."""
    return _items(value, parameter, Mapping, "mappings")


def paths(value: Any, parameter: str) -> tuple[str | os.PathLike[str], ...]:
    """Return `value`, a path or a list of paths, as a tuple. Raises TypeError for anything else."""
    if isinstance(value, str | os.PathLike):
        return (value,)
    return tuple(_items(value, parameter, str | os.PathLike, "paths"))


def strings(value: Any, parameter: str) -> list[str]:
    """Return `value` as a list of strings. Raises TypeError for a single string or for an item
    that is not a string.
    """
    return _items(value, parameter, str, "strings")


def _items(value: Any, parameter: str, kind: Any, noun: str) -> list[Any]:
    """Return the items of a list. Raises TypeError for anything else, and for an item of another
    kind.
    """
    check(**{parameter: value})
    items = list(value)
    for item in items:
        if not isinstance(item, kind):
            raise TypeError(
                f"{parameter} must be a list of {noun}, but contains {_type_name(item)}"
            )
    return items


def _type_name(value: object) -> str:
    return type(value).__name__
