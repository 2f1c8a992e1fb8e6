"""Manifests with their secrets hidden (`masking` says what is one)."""

from __future__ import annotations

import copy
from typing import Any

from ptcompile.diffing.values import Change, Fact
from ptcompile.kubernetes.untyped import Json
from ptcompile.secrets.masking import hide_of, places
from ptcompile.secrets.names import HIDDEN
from ptcompile.simulation.hidden import without


def hidden(manifest: Json) -> Json:
    """The object with its secrets hidden; itself where it has none."""
    found = [secret.path for secret in places(manifest)]
    if not found:
        return manifest
    out = copy.deepcopy(manifest)
    for *path, last in found:
        box: Any = out
        for part in path:
            box = box[part]
        box[last] = HIDDEN
    return out


def without_secrets(
    facts: tuple[Fact, ...], changes: tuple[Change, ...], objects: tuple[Json, Json]
) -> tuple[tuple[Fact, ...], tuple[Change, ...]]:
    """What differs between two objects without their secrets, wherever they turn up: in a command line, say."""
    hide = hide_of(objects)
    if hide is None:
        return facts, changes
    return (
        tuple(one._replace(before=without(one.before, hide), after=without(one.after, hide)) for one in facts),
        tuple(one._replace(before=without(one.before, hide), after=without(one.after, hide)) for one in changes),
    )
