"""Which object of one side belongs to which of the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from ptcompile.kubernetes.unstructured import kind_of, namespace_of, object_name
from ptcompile.registry.table import RUNS_PODS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

ObjectPair = tuple["Json | None", "Json | None"]


def makes_pods(manifest: Json) -> bool:
    """Whether an object is a job of some operator."""
    return kind_of(manifest) in RUNS_PODS


def _kind(manifest: Json) -> tuple[str, str]:
    """Group and kind: a new version is the same object."""
    version, kind = kind_of(manifest)
    return version.rpartition("/")[0], kind


_LEVELS: tuple[Callable[[Json], Hashable | None], ...] = (
    lambda one: (_kind(one), namespace_of(one), object_name(one)),
    lambda one: (_kind(one), object_name(one)),
    lambda one: (object_name(one),) if makes_pods(one) else None,
)
"""From the nearest kin to the farthest: the same object, one that moved to another namespace, another operator's."""

_LONE: tuple[Callable[[Json], Hashable | None], ...] = (_kind, lambda one: "job" if makes_pods(one) else None)
"""What is left over and the only one of its sort on both sides: the same object with another name."""


def pairs(before: Sequence[Json], after: Sequence[Json]) -> list[ObjectPair]:
    """Every object once, with its other or alone; jobs first, then in the order of `before` and `after`."""
    left, right = list(before), list(after)
    found: list[tuple[Json, Json]] = []
    for level in _LEVELS:
        _take(left, right, level, found)
    for level in _LONE:
        _take(left, right, level, found, only=True)
    order = {id(one): i for i, one in enumerate((*before, *after))}
    out: list[ObjectPair] = [*found, *((one, None) for one in left), *((None, one) for one in right)]
    return sorted(out, key=lambda pair: (not _is_job(pair), min(order[id(one)] for one in pair if one is not None)))


def same_objects(before: Sequence[Json], after: Sequence[Json]) -> list[tuple[Json, Json]]:
    """The objects that an apply would change: those of one group, kind, namespace and name on both sides."""
    there = {_LEVELS[0](one): one for one in before if object_name(one)}
    return [(there[key], one) for one in after if (key := _LEVELS[0](one)) in there]


def _is_job(pair: ObjectPair) -> bool:
    return any(one is not None and makes_pods(one) for one in pair)


def _take(
    left: list[Json],
    right: list[Json],
    key: Callable[[Json], Hashable | None],
    found: list[tuple[Json, Json]],
    *,
    only: bool = False,
) -> None:
    """Move the pairs with one key from both lists to `found`; with `only`, where each side has one such."""
    theirs: dict[Hashable, list[Json]] = {}
    for other in right:
        theirs.setdefault(key(other), []).append(other)
    count = Counter(key(one) for one in left)
    taken: set[int] = set()
    for one in left:
        wanted = key(one)
        others = theirs.get(wanted, []) if wanted is not None else []
        if others and (not only or len(others) == count[wanted] == 1):
            other = others.pop(0)
            found.append((one, other))
            taken |= {id(one), id(other)}
    left[:] = [one for one in left if id(one) not in taken]
    right[:] = [one for one in right if id(one) not in taken]
