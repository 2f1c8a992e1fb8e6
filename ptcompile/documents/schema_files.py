"""The files of `schemas/`, wherever they are: package data in a wheel, beside the package in a checkout."""

from __future__ import annotations

import os
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Schema = dict[str, Any]

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS: Final = (os.path.join(_PACKAGE, "_schemas"), os.path.join(os.path.dirname(_PACKAGE), "schemas"))


def schema_text(name: str) -> str:
    """The text of a schema, for example `kubernetes/core.json`. Raises FileNotFoundError when there is none."""
    for folder in FOLDERS:
        try:
            with open(os.path.join(folder, *name.split("/")), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            continue
    raise FileNotFoundError(f"no schema {name} in {' or '.join(FOLDERS)}")


@cache
def load(name: str) -> Schema:
    """A schema as data. It is shared and must not be changed."""
    schema: Schema = _read(schema_text(name))
    return schema


class _AsUsual:
    """What the scanner of json asks of its decoder."""

    strict, object_hook, object_pairs_hook = True, None, None
    parse_float, parse_int, parse_constant = float, int, float


def _read(text: str) -> Any:
    """`json.loads` by the part of it that is in C: an import of json takes re with it, a seventh of a cold lint."""
    try:
        from _json import make_scanner
    except ImportError:  # not CPython
        import json

        return json.loads(text)
    usual: Any = _AsUsual
    return make_scanner(usual)(text, 0)[0]
