"""Manifests with their secrets hidden (`masking` says what is one)."""

from __future__ import annotations

import copy
from typing import Any

from ptcompile.masking import places
from ptcompile.plain import Json
from ptcompile.secrets import HIDDEN


def hidden(manifest: Json) -> Json:
    """The object with its secrets hidden; itself where it has none."""
    found = [path for path, _ in places(manifest)]
    if not found:
        return manifest
    out = copy.deepcopy(manifest)
    for *path, last in found:
        box: Any = out
        for part in path:
            box = box[part]
        box[last] = HIDDEN
    return out
