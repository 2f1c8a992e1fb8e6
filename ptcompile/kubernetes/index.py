"""The objects of a stream, indexed by kind, name, namespace, host and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import is_

from ptcompile._internal.lazy import cached_property
from ptcompile._internal.namedtuple import cast
from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.names import first_label
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mapping,
    kind_of,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    object_name,
    string_map,
    values_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar, overload

    from ptcompile.kubernetes.requests import GroupVersionKind

    K = TypeVar("K")

    T = TypeVar("T")

ObjectIdentity = tuple[str, str, str, str]
"""API group, kind, namespace and name: all versions of a group have the same objects."""

SERVICE = ("v1", "Service")
USER_SERVED = (("v1", "Pod"), ("batch/v1", "Job"))
"""Kinds whose Services users write themselves."""
WRITING_KINDS = frozenset({("v1", "LimitRange"), ("node.k8s.io/v1", "RuntimeClass")})
"""Kinds whose objects make the API server write into pods of other files."""
DATA_KINDS = frozenset({("v1", "ConfigMap"), ("v1", "Secret")})
"""Kinds whose objects have variables and files of pods."""
_KINDS = load_table("kubernetes/kinds.json")
DECIDING = frozenset(_KINDS["deciding"])
"""Kinds whose objects affect objects of other files."""

CLUSTER_WIDE = frozenset(_KINDS["cluster wide"])
"""Kubernetes' own kinds without a namespace (1.36)."""


class Objects(Sequence["Json"]):
    """Objects in the order of their stream, followed by the `related` ones except those whose ids
    are `hidden`.

    Each look-up has an index that is built on first use, so n objects that all look for one another
    take n look-ups rather than n times n comparisons.
    """

    def __init__(
        self,
        objects: Iterable[Json] = (),
        related: Objects | None = None,
        hidden: frozenset[int] = frozenset(),
    ) -> None:
        self._objects = tuple(objects)
        self._related = related
        self._hidden = hidden
        self._by_namespace: dict[str, Objects] = {}
        self._unchanged = False
        self._cache: dict[object, object] = {}

    def cached(self, key: object, compute: Callable[[], T]) -> T:
        """Return `compute()`, computed once for the key, such as an index of one caller."""
        if key not in self._cache:
            self._cache[key] = compute()
        return cast("T", self._cache[key])

    def forget(self, *keys: object) -> None:
        """Drop what `cached` keeps for the keys, or all of it without keys."""
        for key in keys or tuple(self._cache):
            self._cache.pop(key, None)

    def __len__(self) -> int:
        related = () if self._related is None else self._visible(self._related)
        return len(self._objects) + len(related)

    def __iter__(self) -> Iterator[Json]:
        if self._related is None:
            return iter(self._objects)
        return chain(self._objects, self._visible(self._related))

    def _visible(self, matches: Sequence[Json]) -> Sequence[Json]:
        """Return the matches among the related objects without the hidden ones."""
        if self._hidden:
            return [match for match in matches if id(match) not in self._hidden]
        return matches

    def _with_related(
        self, matches: Sequence[Json], look_up: Callable[[Objects], Sequence[Json]]
    ) -> Sequence[Json]:
        """Return the matches, and those that the same question finds among the related objects."""
        if self._related is None:
            return matches
        return [*matches, *self._visible(look_up(self._related))]

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> Json: ...
        @overload
        def __getitem__(self, index: slice) -> Sequence[Json]: ...

    def __getitem__(self, index: int | slice) -> Json | Sequence[Json]:
        return tuple(self)[index]

    def with_change(self, change: Callable[[Json], Json], results: dict[int, Objects]) -> Objects:
        """Return the objects after `change`, or self if it changes none. `results` holds earlier
        results, by id.

        Callers may differ in what they write but not in which objects they change: once nothing has
        changed, the objects are not examined again, because an import asks once per job.
        """
        if self._unchanged:
            return self

        if id(self) not in results:
            if self._related is not None:
                related = self._related.with_change(change, results)
            else:
                related = None
            changed = tuple(map(change, self._objects))
            self._unchanged = related is self._related and all(map(is_, changed, self._objects))
            results[id(self)] = (
                self if self._unchanged else Objects(changed, related, self._hidden_in(related))
            )

        return results[id(self)]

    def _hidden_in(self, related: Objects | None) -> frozenset[int]:
        """Return the ids of the hidden objects among the changed ones."""
        if not self._hidden or self._related is None or related is None:
            return self._hidden
        pairs = zip(self._related, related, strict=True)
        return frozenset(id(after) for before, after in pairs if id(before) in self._hidden)

    def of_kind(self, kind: GroupVersionKind) -> Sequence[Json]:
        """Return the objects of a kind."""
        matches = self._kinds.get(kind, ())
        return self._with_related(matches, lambda related: related.of_kind(kind))

    def of_kinds(self, kinds: frozenset[GroupVersionKind]) -> Sequence[Json]:
        """Return the objects of several kinds, in the order of the stream."""
        matches: list[Json] = []
        if not kinds.isdisjoint(self._kinds):
            matches = [manifest for manifest in self._objects if kind_of(manifest) in kinds]
        return self._with_related(matches, lambda related: related.of_kinds(kinds))

    def has_any(self, kinds: frozenset[GroupVersionKind]) -> bool:
        """Return whether there are objects of one of these kinds."""
        return not kinds.isdisjoint(self._kinds) or (
            self._related is not None and any(map(self.of_kind, kinds))
        )

    def by_name(self, kind: GroupVersionKind, name: str) -> Sequence[Json]:
        """Return the objects of a kind and name, in any namespace."""
        matches = self._names.get((kind, name), ())
        return self._with_related(matches, lambda related: related.by_name(kind, name))

    def find(self, kind: GroupVersionKind, name: str, namespace: str) -> Json | None:
        """Return the object that a reference from a namespace leads to, the last of several, or
        None.
        """
        _, kind_name = kind
        is_anywhere = kind_name in CLUSTER_WIDE
        matches = self.by_name(kind, name) if name else ()
        return next(
            (item for item in matches[::-1] if is_anywhere or namespace_of(item) == namespace), None
        )

    def in_namespace(self, namespace: str) -> Objects:
        """Return the objects of a namespace."""
        subset = self._by_namespace.get(namespace)
        if subset is None:
            local = self._namespaces.get(namespace, ())
            related = self._related.in_namespace(namespace) if self._related is not None else None
            if len(local) == len(self._objects) and related is self._related:
                return self
            subset = self._by_namespace[namespace] = Objects(local, related, self._hidden)
        return subset

    def services_at(self, host: str) -> Sequence[Json]:
        """Return the Services that may answer to a host name in any of its forms: their name is its
        first label.

        Any API group counts: `kind: Service` is enough.
        """
        matches = self._services.get(first_label(host), ())
        return self._with_related(matches, lambda related: related.services_at(host))

    def services_selecting(self, labels: Mapping[str, str]) -> Sequence[Json]:
        """Return the Services whose selectors match pods with these labels."""
        candidates = sorted(i for item in labels.items() for i in self._selectors.get(item, ()))
        services = self._kinds.get(SERVICE, ())
        matches = [
            services[i] for i in candidates if selector(services[i]).items() <= labels.items()
        ]
        return self._with_related(matches, lambda related: related.services_selecting(labels))

    def writes(self, entry: Json) -> bool:
        """Return whether an env entry occurs anywhere in one of the objects."""
        related = self._related if not self._hidden else None
        return _entry(entry) in self._entries or (related is not None and related.writes(entry))

    @cached_property
    def _kinds(self) -> dict[GroupVersionKind, list[Json]]:
        return _group_by_key((kind_of(manifest), manifest) for manifest in self._objects)

    @cached_property
    def _names(self) -> dict[tuple[GroupVersionKind, str], list[Json]]:
        return _group_by_key(
            ((kind, object_name(manifest)), manifest)
            for kind, manifests in self._kinds.items()
            for manifest in manifests
        )

    @cached_property
    def _namespaces(self) -> dict[str, list[Json]]:
        return _group_by_key((namespace_of(manifest), manifest) for manifest in self._objects)

    @cached_property
    def _services(self) -> dict[str, list[Json]]:
        return _group_by_key(
            (first_label(object_name(manifest)), manifest)
            for manifest in self._kinds.get(SERVICE, ())
        )

    @cached_property
    def _selectors(self) -> dict[tuple[str, str], list[int]]:
        """Indexes of the Services, each under the label of its selector that the fewest other
        selectors have.
        """
        selectors = [selector(labels) for labels in self._kinds.get(SERVICE, ())]
        counts = Counter(item for labels in selectors for item in labels.items())
        return _group_by_key(
            (min(labels.items(), key=counts.__getitem__), i)
            for i, labels in enumerate(selectors)
            if labels
        )

    @cached_property
    def _entries(self) -> set[str]:
        return {
            _entry(entry)
            for manifest in (self if self._hidden else self._objects)
            for entry in _env_entries(manifest)
        }


def objects(manifests: Iterable[Json]) -> Objects:
    """Return the objects with their index; an existing index is kept."""
    if isinstance(manifests, Objects):
        return manifests
    return Objects(manifests)


def selector(service: Json) -> dict[str, str]:
    """Return the labels that a Service requires of its pods; without labels it selects none."""
    return string_map(nested_map(service, "spec", "selector"))


def service_selects(service: Json, labels: Mapping[str, str]) -> bool:
    """Return whether a Service selects pods with these labels."""
    required = selector(service)
    return bool(required) and required.items() <= labels.items()


def is_headless(service: Json) -> bool:
    """Return whether a Service gives its pods' addresses rather than its own."""
    return nested_string(service, "spec", "clusterIP") == "None"


def _group_by_key(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def _entry(entry: Json) -> str:
    """Return a text that is equal for env entries of one name and value."""
    return repr((entry.get("name"), entry.get("value"), entry.get("valueFrom")))


def _env_entries(document: Json) -> Iterator[Json]:
    """Yield every env entry of an object, at any depth."""
    for value in values_in(document):
        yield from nested_maps(as_mapping(value), "env")


def with_existing(manifests: Sequence[Json], existing: Iterable[Json]) -> Objects:
    """Return the objects, and the existing ones that none of them replaces: same kind, namespace
    and name.
    """
    written = {_identity(manifest) for manifest in manifests}
    return Objects(
        [*manifests, *(manifest for manifest in existing if _identity(manifest) not in written)]
    )


def _identity(manifest: Json) -> tuple[str, str, str]:
    return kind_of(manifest).name, namespace_of(manifest), object_name(manifest)
