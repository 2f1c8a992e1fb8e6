"""Data that ships with the package, as JSON: tables of facts next to their readers, and the files
of `schemas/`.

The schemas are package data in a wheel, and a folder next to the package in a checkout.
"""

from __future__ import annotations

import json
import os
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = dict[str, Any]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = (os.path.join(_PACKAGE, "_schemas"), os.path.join(os.path.dirname(_PACKAGE), "schemas"))


def schema_text(name: str) -> str:
    """Return the text of a schema, such as `kubernetes/core.json`. Raises FileNotFoundError for
    an unknown name.
    """
    for folder in FOLDERS:
        try:
            with open(os.path.join(folder, *name.split("/")), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            continue
    raise FileNotFoundError(f"no schema {name} in {' or '.join(FOLDERS)}")


@cache
def load(name: str) -> Schema:
    """Return a schema as data. It is shared and must not be changed."""
    schema: Schema = json.loads(schema_text(name))
    return schema


def package_text(name: str) -> str:
    """Return a text by its path in the package, such as `spec/starters/eks.yaml`."""
    with open(os.path.join(_PACKAGE, *name.split("/")), encoding="utf-8") as file:
        return file.read()


@cache
def load_table(name: str) -> Schema:
    """Return a table by its path in the package, such as `hardware/machines.json`. It is shared and
    must not be changed.
    """
    table: Schema = json.loads(package_text(name))
    return table
