"""Methods that specs and profiles have whether pydantic or `reader` built them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.kubernetes.versions import Versions, parse_version
from ptcompile.spec.checks import nnodes_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from ptcompile.spec.training_job import Elastic, Names, RoleSpec, Volcano


class SpecFields:
    """Base of objects with fields: attributes in snake_case, keys in YAML in camelCase."""

    __slots__ = ()

    def non_null_fields(self) -> JsonDict:
        """Return the fields that are not null, by YAML name; nested values are left unchanged."""
        return {yaml_name(name): value for name, value in vars(self).items() if value is not None}


@cache
def yaml_name(name: str) -> str:
    """Return the name of a field in YAML: `nprocPerNode` for `nproc_per_node`."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def typed_amounts(amounts: Mapping[str, str | int | float]) -> dict[str, str]:
    """Return the amounts unchanged, typed as the text that models and the reader always produce."""
    return amounts  # type: ignore[return-value]


def typed_nullable_amounts(
    amounts: Mapping[str, str | int | float | None],
) -> dict[str, str | None]:
    """Return the amounts unchanged, typed as text or null; null keeps an amount empty."""
    return amounts  # type: ignore[return-value]


class ResourceFields(SpecFields):
    """Amounts by resource."""

    __slots__ = ()

    if TYPE_CHECKING:
        devices: Mapping[str, str | int | float | None]
        model_fields_set: set[str]

    def amounts_by_name(self) -> dict[str, str | None]:
        """Return the amounts that are set, null included, by Kubernetes resource name. The
        profile resolves `gpu`.
        """
        set_fields = self.model_fields_set
        if not set_fields:
            return {}

        amounts = {
            name: getattr(self, field)
            for name, field in _RESOURCE_FIELDS.items()
            if field in set_fields
        }
        if self.devices:
            return amounts | typed_nullable_amounts(self.devices)

        return amounts


_RESOURCE_FIELDS = {
    "cpu": "cpu",
    "memory": "memory",
    "ephemeral-storage": "ephemeral_storage",
    "gpu": "gpu",
}
"""Kubernetes resource name -> field."""


class AuxiliaryRole(SpecFields):
    """Pods that do not train."""

    __slots__ = ()


class Nodes(SpecFields):
    """Properties of a job that depend on its nodes."""

    __slots__ = ()

    if TYPE_CHECKING:
        nodes: int | None
        elastic: Elastic | None
        master: RoleSpec | None
        worker: RoleSpec | None
        names: Names
        volcano: Volcano

    def node_range(self) -> tuple[int, int]:
        """Return the minimum and maximum number of nodes, whichever fields set them."""
        if self.master is not None or self.worker is not None:
            nodes = 1 + (self.worker.replicas if self.worker else 0)
            return nodes, nodes
        if self.elastic is not None and self.elastic.nnodes is not None:
            return nnodes_range(self.elastic.nnodes)
        return self.nodes or 1, self.nodes or 1

    def has_part_names(self) -> bool:
        """Return whether the job names any of its parts."""
        return bool(self.names.model_fields_set or self.volcano.model_fields_set)

    def part_names(self) -> dict[tuple[str, str], str]:
        """Return the names of the parts by their paths in the spec; those of `names` follow the
        older `volcano` fields.
        """
        legacy_names = self.volcano
        names = {
            ("volcano", "masterTask"): legacy_names.master_task,
            ("volcano", "workerTask"): legacy_names.worker_task,
        }
        for part, name in self.names.non_null_fields().items():
            names["names", part] = name
        return names

    def node_names(self) -> tuple[str, str]:
        """Return the names for the pods of node 0 and of the other nodes, where the operator
        leaves the choice.
        """
        return (
            self.names.master or self.volcano.master_task,
            self.names.worker or self.volcano.worker_task,
        )

    def initial_nodes(self) -> int:
        """Return the number of nodes that the job starts with."""
        minimum, maximum = self.node_range()
        if self.nodes is None:
            return maximum
        return min(max(self.nodes, minimum), maximum)


class Profile(SpecFields):
    """A cluster profile."""

    __slots__ = ()

    if TYPE_CHECKING:
        spec: Any

    def versions(self) -> Versions:
        """Return the operator versions, the profile's or else the newest known, and the
        profile's feature gates.
        """
        versions = self.spec.versions
        gates = self.spec.feature_gates
        parsed = _parse_versions(tuple(vars(versions).items()) if versions.model_fields_set else ())
        if not self.spec.model_fields_set.isdisjoint(("platform", "cluster_domain")):
            parsed = parsed._replace(platform=self.spec.platform, domain=self.spec.cluster_domain)
        if (sharing := self.spec.gpu.sharing) is not None:
            parsed = parsed._replace(gpu_shares=(sharing.strategy, sharing.refuses_several))
        if not gates.model_fields_set:
            return parsed

        rows = (
            (software, gate, value)
            for software, by_name in vars(gates).items()
            for gate, value in by_name.items()
        )

        return parsed._replace(gates=tuple(rows))


@lru_cache(256)
def _parse_versions(versions: tuple[tuple[str, str | None], ...]) -> Versions:
    parsed: dict[str, Any] = {
        name: parse_version(text) for name, text in versions if text is not None
    }
    return Versions(**parsed, declared=frozenset(parsed))


class PlainObject(SpecFields):
    """An object with the attributes of a model. It is immutable by convention only."""

    __slots__ = ("__dict__", "model_fields_set")

    model_fields_set: set[str]
    """Fields that the document sets, as in pydantic."""

    def __init__(self, values: JsonDict, set_fields: set[str]) -> None:
        self.__dict__ = values  # not copied: the caller does not use it again
        self.model_fields_set = set_fields

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def replace(self, **changes: Any) -> Self:
        """Return a copy with these fields replaced."""
        return type(self)({**vars(self), **changes}, self.model_fields_set | changes.keys())

    def document(self, *, only_set: bool = False) -> JsonDict:
        """Return the object as decoded YAML, with all defaults or with only the fields that are
        set.
        """
        names = [name for name in vars(self) if not only_set or name in self.model_fields_set]
        return {
            yaml_name(name): _to_plain(getattr(self, name), only_set=only_set) for name in names
        }


def _to_plain(value: Any, *, only_set: bool) -> Any:
    if isinstance(value, PlainObject):
        return value.document(only_set=only_set)
    if isinstance(value, dict):
        return {key: _to_plain(item, only_set=only_set) for key, item in value.items()}
    if isinstance(value, list):
        return [_to_plain(item, only_set=only_set) for item in value]
    return value


class PlainJob(PlainObject, Nodes):
    """A `JobSpec`."""

    __slots__ = ()


class PlainSideRole(PlainObject, AuxiliaryRole):
    """A `SideRole`."""

    __slots__ = ()


class PlainAmounts(PlainObject, ResourceFields):
    """A `ResourceList` or `Resources`."""

    __slots__ = ()


class PlainProfile(PlainObject, Profile):
    """A `ClusterProfile`."""

    __slots__ = ()


CLASSES: dict[str, type[PlainObject]] = {
    "JobSpec": PlainJob,
    "SideRole": PlainSideRole,
    "ResourceList": PlainAmounts,
    "Resources": PlainAmounts,
    "ClusterProfile": PlainProfile,
}
"""Model name -> class of the plain object, for models with methods."""
