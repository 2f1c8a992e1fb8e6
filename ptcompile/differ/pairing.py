"""Pairing of corresponding objects of two sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes.unstructured import (
    Json,
    kind_of,
    namespace_of,
    nested_map,
    nested_value,
    object_name,
)
from ptcompile.operators.table import JOB_KINDS

ObjectPair = tuple["Json | None", "Json | None"]


def makes_pods(manifest: Json) -> bool:
    """Return whether the object is a job of some operator."""
    return kind_of(manifest) in JOB_KINDS


def _identity(manifest: Json) -> Hashable:
    return group_and_kind(manifest), namespace_of(manifest), object_name(manifest)


def _kind_and_name(manifest: Json) -> Hashable:
    return group_and_kind(manifest), object_name(manifest)


_LEVELS = (
    _identity,
    _kind_and_name,
    lambda manifest: (object_name(manifest),) if makes_pods(manifest) else None,
)
"""Pairing keys, strictest first: the same object, one moved to another namespace, another
operator's job of that name.
"""

_LONE_LEVELS = (
    group_and_kind,
    lambda manifest: "job" if makes_pods(manifest) else None,
)
"""Keys for objects left unpaired that are the only ones of their kind on both sides: the same
object under another name.
"""


def pairs(before: Sequence[Json], after: Sequence[Json]) -> list[ObjectPair]:
    """Return every object once, paired or alone: jobs first, then in the order of `before` and
    `after`.
    """
    left = list(before)
    right = list(after)
    paired: list[tuple[Json, Json]] = []
    for level in _LEVELS:
        _take_pairs(left, right, level, paired)
    for level in _LONE_LEVELS:
        _take_pairs(left, right, level, paired, only=True)
    order = {id(manifest): i for i, manifest in enumerate((*before, *after))}
    out = [
        *paired,
        *((manifest, None) for manifest in left),
        *((None, manifest) for manifest in right),
    ]

    return sorted(
        out,
        key=lambda pair: (
            not any(manifest is not None and makes_pods(manifest) for manifest in pair),
            min(order[id(manifest)] for manifest in pair if manifest is not None),
        ),
    )


def same_objects(
    before: Sequence[Json], after: Sequence[Json], namespace: str | None
) -> list[tuple[Json, Json]]:
    """Return the objects that an apply would change: those with equal group, kind, namespace and
    name on both sides.

    An object without a namespace is in `namespace`, kubectl's `-n`; without that, it is also the
    only object of its kind and name in whatever namespace.
    """
    existing = {_identity(manifest): manifest for manifest in before if _has_name(manifest)}
    by_name: dict[Hashable, list[Json]] = {}
    for manifest in existing.values():
        by_name.setdefault(_kind_and_name(manifest), []).append(manifest)

    def counterpart(manifest: Json) -> Json | None:
        is_placed = "namespace" in nested_map(manifest, "metadata")
        if namespace is not None and not is_placed:
            return existing.get((group_and_kind(manifest), namespace, object_name(manifest)))

        same = existing.get(_identity(manifest))
        candidates = by_name.get(_kind_and_name(manifest), ())
        if same is None and not is_placed and len(candidates) == 1:
            (same,) = candidates
        return same

    named = filter(_has_name, after)

    return [(old, manifest) for manifest in named if (old := counterpart(manifest)) is not None]


def is_created(manifest: Json) -> bool:
    """Return whether the server names each new object (`generateName`): kubectl creates it and
    cannot apply it.

    Source: kubectl 1.37 pkg/cmd/apply/apply.go, `cannot use generate name with apply`.
    """
    return bool(object_name(manifest)) and not _has_name(manifest)


def _has_name(manifest: Json) -> bool:
    return bool(nested_value(manifest, "metadata", "name"))


def _take_pairs(
    left: list[Json],
    right: list[Json],
    key: Callable[[Json], Hashable | None],
    paired: list[tuple[Json, Json]],
    *,
    only: bool = False,
) -> None:
    """Move the pairs with equal keys from both lists to `paired`; with `only`, keys must be
    unique on each side.
    """
    theirs: dict[Hashable, list[Json]] = {}
    for counterpart in right:
        theirs.setdefault(key(counterpart), []).append(counterpart)
    count = Counter(key(manifest) for manifest in left)
    taken: set[int] = set()
    for manifest in left:
        pair_key = key(manifest)
        candidates = theirs.get(pair_key, []) if pair_key is not None else []
        if candidates and (not only or len(candidates) == count[pair_key] == 1):
            counterpart = candidates.pop(0)
            paired.append((manifest, counterpart))
            taken |= {id(manifest), id(counterpart)}

    left[:] = [manifest for manifest in left if id(manifest) not in taken]
    right[:] = [manifest for manifest in right if id(manifest) not in taken]
