"""The manifests of a job for several targets as one.

Most of a manifest is a pod template, and targets write the same one. A list that is the same in
several places, such as the variables of a container, is one list here: what holds for its values
holds in each place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.compiler.trace import Origin, Trace, leaf_origins
from ptcompile.diagnostics import Path
from ptcompile.explainer.sensitivity import replace_at
from ptcompile.explainer.values import (
    ShownLeaf,
    changed_leaves,
    innermost_lists,
    shown_leaves,
    value_at,
)
from ptcompile.kubernetes.unstructured import Json

TYPE_CHECKING = False
if TYPE_CHECKING:
    _Manifests = Sequence[Json]


class PlacedValue(NamedTuple):
    """A value of the manifests, or a common list."""

    leaf: ShownLeaf
    origin: Origin
    manifest: int
    path: Path
    """The number of the target and the path in its manifests; in a common list, the number and the
    field of the list and the path there.
    """


class CommonList:
    """A list of a pod template that is the same in some places. In the manifests it is a leaf,
    equal to its items.
    """

    def __init__(self, path: Path, items: list[Any], origins: Sequence[Origin]) -> None:
        self.path = path
        """Its number and its field."""
        self.items = items
        self.origins = origins
        self.places: list[Path] = []
        self._new = items
        self._changes: dict[Path, Any] = {}

    def __eq__(self, other: object) -> bool:
        return self.items == other

    def __repr__(self) -> str:
        return repr(self.items)

    def values(self, place: PlacedValue, path: Path) -> Iterator[PlacedValue]:
        """Yield the values of the list, with their paths in the list; `path` is that of the list."""
        leaves = shown_leaves(self.items, keys=place.leaf.keys, field=str(path[-1]))
        for leaf, origin in zip(leaves, self.origins, strict=True):
            yield PlacedValue(
                leaf=leaf,
                origin=origin,
                manifest=place.manifest,
                path=(*path, *leaf.path),
            )

    def changes(self, new: Any) -> dict[Path, Any]:
        """Return the values that are missing or different in another list, by their paths here."""
        # the places mostly have the same one
        if new != self._new:
            self._new = new
            self._changes = dict(changed_leaves(self.items, new, str(self.path[-1])))
        return self._changes


class JointManifests:
    """The manifests of some targets with their common lists."""

    def __init__(self, targets: Sequence[_Manifests], traces: Sequence[Trace]) -> None:
        self.values: list[list[PlacedValue]] = []
        """The values of each target, with common lists as values."""
        self.lists: dict[int | str, CommonList] = {}
        """The common lists by their numbers, which follow those of the targets."""
        self.apart: set[int | str] = set()
        """The numbers of lists that a variant changed in some of their places, or differently."""
        self._manifests: list[list[Json]] = []
        self._places: dict[Path, CommonList] = {}
        known: dict[object, CommonList] = {}
        for target, (manifests, trace) in enumerate(zip(targets, traces, strict=True)):
            self.values.append([])
            self._manifests.append([])
            # roles of one target have the same lists, and a variant may lack one of the roles
            equal: Counter[object] = Counter()
            for index, manifest in enumerate(manifests):
                traced = trace.manifests[index]
                found: dict[Path, CommonList] = {}
                for path, items in innermost_lists(manifest):
                    origins = tuple(leaf_origins(value_at(traced, path)))
                    place = (target, index, *path)
                    is_of_pods = all(origin.writer and origin.role for origin in origins)
                    content = (path[-1], repr(items), origins) if is_of_pods else place
                    number = len(targets) + len(known)
                    new = CommonList((number, path[-1]), items, origins)
                    common = known.setdefault((content, equal[content]), new)
                    equal[content] += 1
                    common.places.append(place)
                    found[path] = self._places[place] = self.lists[common.path[0]] = common

                manifest = replace_at(manifest, found)
                self._manifests[-1].append(manifest)
                leaves = zip(
                    shown_leaves(manifest), leaf_origins(replace_at(traced, found)), strict=True
                )
                self.values[-1] += [
                    PlacedValue(
                        leaf=leaf,
                        origin=origin,
                        manifest=index,
                        path=(target, index, *leaf.path),
                    )
                    for leaf, origin in leaves
                ]

    @property
    def copied(self) -> frozenset[Path]:
        """The lines of the spec that the trace finds in the manifests as they are."""
        origins = [value.origin for of_target in self.values for value in of_target]
        for common in self.lists.values():
            origins += common.origins
        return frozenset(path for origin in origins if origin.is_exact for path in origin.paths)

    def settled(self, paths: Iterable[Path]) -> frozenset[Path]:
        """Return the paths of values, with all places of lists that were found to differ later."""
        return frozenset(
            (*place, *path[2:])
            for path in paths
            for place in (self.lists[path[0]].places if path[0] in self.apart else [path[:2]])
        )

    def changes(self, targets: Sequence[_Manifests]) -> dict[Path, Any]:
        """Return the values that are missing or different in other manifests of the targets: the
        new value by path, `MISSING` without one.
        """
        changed: dict[Path, Any] = {}
        in_lists: dict[Path, dict[Path, Any]] = {}
        for target, (base, new) in enumerate(zip(self._manifests, targets, strict=True)):
            for path, value in changed_leaves(base, new):
                place = (target, *path)
                if place in self._places:
                    in_lists[place] = self._places[place].changes(value)
                else:
                    changed[place] = value

        for number, common in self.lists.items():
            by_place = {place: in_lists.get(place, {}) for place in common.places}
            first, *others = by_place.values()
            if any(other != first for other in others):
                self.apart.add(number)
            if number not in self.apart:
                by_place = {common.path: first}
            for start, of_list in by_place.items():
                changed |= {(*start, *path): value for path, value in of_list.items()}

        return changed
