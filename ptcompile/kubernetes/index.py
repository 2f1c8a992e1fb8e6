"""The objects of a stream as others find them: by kind, name, namespace, host or labels, put in order once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import is_

from ptcompile._internal.lazy import cached_property
from ptcompile.kubernetes.unstructured import (
    as_mapping,
    as_mappings,
    kind_of,
    namespace_of,
    nested_map,
    object_name,
    string_map,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar, overload

    from ptcompile.kubernetes.unstructured import Json

    K = TypeVar("K")

    T = TypeVar("T")

GroupVersionKind = tuple[str, str]
"""apiVersion and kind."""

SERVICE: GroupVersionKind = ("v1", "Service")


class Objects(Sequence["Json"]):
    """Some objects in the order of their stream, and behind them those of another one, except the `hidden` ones (ids).

    Each way to find objects has an index, made when it is first asked for: a stream of n objects that all look for one
    another takes the time of n look-ups, not of n times n objects.
    """

    def __init__(
        self, objects: Iterable[Json] = (), beside: Objects | None = None, hidden: frozenset[int] = frozenset()
    ) -> None:
        self._own = tuple(objects)
        self._beside = beside
        self._hidden = hidden
        self._spaces: dict[str, Objects] = {}
        self._unchanged = False

    def __len__(self) -> int:
        return len(self._own) + (sum(1 for _ in self._behind(self._beside)) if self._beside is not None else 0)

    def __iter__(self) -> Iterator[Json]:
        return iter(self._own) if self._beside is None else chain(self._own, self._behind(self._beside))

    def _behind(self, found: Sequence[Json]) -> Sequence[Json]:
        """Return what was found among the objects behind, without the hidden ones."""
        return [one for one in found if id(one) not in self._hidden] if self._hidden else found

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> Json: ...
        @overload
        def __getitem__(self, index: slice) -> Sequence[Json]: ...

    def __getitem__(self, index: int | slice) -> Json | Sequence[Json]:
        return tuple(self)[index]

    def changed(self, change: Callable[[Json], Json], known: dict[int, Objects]) -> Objects:
        """The same objects after a function; itself where none differs. `known` holds earlier results, by id.

        Functions may differ in what they write, not in which objects they change: objects of which none changed are
        not looked at again, since an import asks once for each of its jobs.
        """
        if self._unchanged:
            return self
        if id(self) not in known:
            beside = self._beside.changed(change, known) if self._beside is not None else None
            own = tuple(map(change, self._own))
            self._unchanged = beside is self._beside and all(map(is_, own, self._own))
            known[id(self)] = self if self._unchanged else Objects(own, beside, self._hidden_in(beside))
        return known[id(self)]

    def _hidden_in(self, beside: Objects | None) -> frozenset[int]:
        """The ids of the hidden objects among the changed ones."""
        if not self._hidden or self._beside is None or beside is None:
            return self._hidden
        pairs = zip(self._beside, beside, strict=True)
        return frozenset(id(after) for before, after in pairs if id(before) in self._hidden)

    def of(self, kind: GroupVersionKind) -> Sequence[Json]:
        """All of one kind."""
        found = self._kinds.get(kind, ())
        return found if self._beside is None else [*found, *self._behind(self._beside.of(kind))]

    def named(self, kind: GroupVersionKind, name: str) -> Sequence[Json]:
        """Those of one kind and name, of whatever namespace."""
        found = self._names.get((kind, name), ())
        return found if self._beside is None else [*found, *self._behind(self._beside.named(kind, name))]

    def within(self, space: str) -> Objects:
        """Those of one namespace."""
        found = self._spaces.get(space)
        if found is None:
            own = self._namespaces.get(space, ())
            beside = self._beside.within(space) if self._beside is not None else None
            found = self._spaces[space] = Objects(own, beside, self._hidden)
        return found

    def services_at(self, host: str) -> Sequence[Json]:
        """The Services that may answer to a host name, in any of its forms: those whose names begin as it does.

        Of whatever API: `kind: Service` is enough.
        """
        found = self._services.get(host.partition(".")[0], ())
        return found if self._beside is None else [*found, *self._behind(self._beside.services_at(host))]

    def selecting(self, labels: Mapping[str, str]) -> list[Json]:
        """The Services whose selectors fit pods with these labels."""
        near = sorted(i for item in labels.items() for i in self._selectors.get(item, ()))
        own = self._kinds.get(SERVICE, ())
        found = [own[i] for i in near if selector(own[i]).items() <= labels.items()]
        return found if self._beside is None else [*found, *self._behind(self._beside.selecting(labels))]

    def writes(self, entry: Json) -> bool:
        """Whether an env entry stands in one of the objects, wherever that is."""
        behind = self._beside if not self._hidden else None
        return _entry(entry) in self._entries or (behind is not None and behind.writes(entry))

    @cached_property
    def _kinds(self) -> dict[GroupVersionKind, list[Json]]:
        return _grouped((kind_of(one), one) for one in self._own)

    @cached_property
    def _names(self) -> dict[tuple[GroupVersionKind, str], list[Json]]:
        return _grouped(((kind_of(one), object_name(one)), one) for one in self._own)

    @cached_property
    def _namespaces(self) -> dict[str, list[Json]]:
        return _grouped((namespace_of(one), one) for one in self._own)

    @cached_property
    def _services(self) -> dict[str, list[Json]]:
        return _grouped((object_name(one).partition(".")[0], one) for one in self._own if one.get("kind") == "Service")

    @cached_property
    def _selectors(self) -> dict[tuple[str, str], list[int]]:
        """The places of Services, each under the item of its selector that the fewest others have."""
        selectors = [selector(one) for one in self._kinds.get(SERVICE, ())]
        counts = Counter(item for one in selectors for item in one.items())
        return _grouped((min(one.items(), key=counts.__getitem__), i) for i, one in enumerate(selectors) if one)

    @cached_property
    def _entries(self) -> set[str]:
        return {_entry(entry) for one in (self if self._hidden else self._own) for entry in _env_entries(one)}


def objects(given: Iterable[Json]) -> Objects:
    """The same objects with their order, which is kept where they have it."""
    return given if isinstance(given, Objects) else Objects(given)


def selector(service: Json) -> dict[str, str]:
    """The labels that a Service asks of its pods; it selects none where there are none."""
    return string_map(nested_map(service, "spec").get("selector"))


def _grouped(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    out: dict[K, list[T]] = {}
    for key, one in pairs:
        out.setdefault(key, []).append(one)
    return out


def _entry(entry: Json) -> str:
    return repr((entry.get("name"), entry.get("value"), entry.get("valueFrom")))


def _env_entries(document: Json) -> Iterator[Json]:
    """Every env entry of an object, wherever it stands."""
    left: list[object] = [as_mapping(document)]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield from as_mappings(node.get("env"))
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)
