"""What a spec keeps empty: its nulls, as places of the finished pod template (`PodTemplate.nulls`)."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.job.pod_words import POD_WORDS
from ptcompile.kubernetes.merge_keys import MERGE_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.findings.diagnostics import Path
    from ptcompile.vocabulary.pod_fields import PodFields

    Tree = dict[str, Any]

Place = tuple[str, ...]

_NULLABLE = tuple(one for one in POD_WORDS if one.nullable)


def of_fields(fields: PodFields, at: Path, main: str) -> Tree:
    """What the words of a block keep empty. `at` is the block's path, `main` what its container is called."""
    tree: Tree = {}
    holders: dict[str, Place] = {"metadata": ("metadata",), "spec": ("spec",), "main": ("spec", "containers", main)}
    given = fields.model_fields_set
    for word, attribute, holder, field, _, _ in [one for one in _NULLABLE if one.attribute in given]:
        value = getattr(fields, attribute)
        if value is None:
            _put(tree, (*holders[holder], field), (*at, word))
        elif value and isinstance(value, Mapping) and None in value.values():
            for key in [key for key, one in value.items() if one is None]:
                _put(tree, (*holders[holder], field, key), (*at, word, key))
    return tree


def of_patch(patch: Any, at: Path, field: str = "") -> Tree:
    """What a pod template patch keeps empty. `at` is the patch's path, `field` what holds the value."""
    out: Tree = {}
    if isinstance(patch, Mapping):
        for key, value in patch.items():
            inner: Any = (*at, key) if value is None else of_patch(value, (*at, key), key)
            if inner:
                out[key] = inner
    elif field in MERGE_KEYS and isinstance(patch, list):
        for index, item in enumerate(patch):
            if inner := of_patch(item, (*at, index)):
                name = str(item.get(MERGE_KEYS[field]))
                out[name] = merged(out.get(name, {}), inner)
    return out


def merged(tree: Tree, over: Tree) -> Tree:
    """Both; what one keeps empty as a whole stands before the other's parts of it."""
    out = {**tree, **over}
    for key in tree.keys() & over.keys():
        if isinstance(tree[key], dict) and isinstance(over[key], dict):
            out[key] = merged(tree[key], over[key])
        elif isinstance(tree[key], tuple):
            out[key] = tree[key]
    return out


def _put(tree: Tree, place: Place, said: Path) -> None:
    for part in place[:-1]:
        tree = tree.setdefault(part, {})
    tree[place[-1]] = said
