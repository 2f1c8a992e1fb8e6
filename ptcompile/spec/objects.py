"""What an object of our vocabularies can be asked, whether pydantic made it or `reader`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from ptcompile.kubernetes.versions import Versions, parse_version
from ptcompile.spec.checks import nnodes_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, Protocol, Self

    class _Elastic(Protocol):
        @property
        def nnodes(self) -> int | str | None: ...

    class _Role(Protocol):
        @property
        def replicas(self) -> int: ...


class SpecFields:
    """Anything with fields: they are its attributes, snake_case in Python and camelCase in YAML."""

    __slots__ = ()

    def given(self) -> dict[str, Any]:
        """The fields that are not null, under their YAML names; one level, as they are."""
        return {yaml_name(name): value for name, value in vars(self).items() if value is not None}


@cache
def yaml_name(name: str) -> str:
    """`nproc_per_node` -> `nprocPerNode`."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def as_text(amounts: Mapping[str, str | int | float]) -> dict[str, str]:
    """Amounts as a model or the reader by schema left them: all text already. This tells type checkers so."""
    return amounts  # type: ignore[return-value]


def as_text_or_null(amounts: Mapping[str, str | int | float | None]) -> dict[str, str | None]:
    """The same, where null is an amount that nothing may fill in."""
    return amounts  # type: ignore[return-value]


class ResourceFields(SpecFields):
    """Amounts by resource."""

    __slots__ = ()

    if TYPE_CHECKING:
        cpu: str | int | float | None
        memory: str | int | float | None
        gpu: str | int | float | None
        ephemeral_storage: str | int | float | None
        devices: Mapping[str, str | int | float | None]
        model_fields_set: set[str]

    def by_name(self) -> dict[str, str | None]:
        """What was given, null included, by Kubernetes' names; `gpu` is left for the profile to name."""
        given = self.model_fields_set
        if not given:
            return {}
        named: dict[str, Any] = {name: getattr(self, field) for name, field in _AMOUNTS.items() if field in given}
        return named | as_text_or_null(self.devices) if self.devices else named


_AMOUNTS: Final = {"cpu": "cpu", "memory": "memory", "ephemeral-storage": "ephemeral_storage", "gpu": "gpu"}
"""Kubernetes' names of resources, each with its field."""


class AuxiliaryRole(SpecFields):
    """Pods that do not train."""

    __slots__ = ()


class Nodes(SpecFields):
    """A job, by its nodes."""

    __slots__ = ()

    if TYPE_CHECKING:
        nodes: int | None
        elastic: _Elastic | None
        master: _Role | None
        worker: _Role | None
        names: Any
        volcano: Any

    def node_range(self) -> tuple[int, int]:
        """Fewest and most nodes, whichever way they are given."""
        if self.master is not None or self.worker is not None:
            total = 1 + (self.worker.replicas if self.worker else 0)
            return total, total
        if self.elastic is not None and self.elastic.nnodes is not None:
            return nnodes_range(self.elastic.nnodes)
        return self.nodes or 1, self.nodes or 1

    def names_parts(self) -> bool:
        """Whether it gives any part a name."""
        return bool(self.names.model_fields_set or self.volcano.model_fields_set)

    def names_of_parts(self) -> dict[tuple[str, str], str]:
        """The names of the parts by their places in the spec: those of `names`, behind the older words for two."""
        older = self.volcano
        found = {("volcano", "masterTask"): older.master_task, ("volcano", "workerTask"): older.worker_task}
        for part, name in self.names.given().items():
            found["names", part] = name
        return found

    def names_of_nodes(self) -> tuple[str, str]:
        """What the pods of node 0 and those of the others are called where the operator leaves the choice."""
        return self.names.master or self.volcano.master_task, self.names.worker or self.volcano.worker_task

    def first_nodes(self) -> int:
        """The number of nodes that the job starts with."""
        least, most = self.node_range()
        return most if self.nodes is None else min(max(self.nodes, least), most)


class Profile(SpecFields):
    """A cluster profile."""

    __slots__ = ()

    if TYPE_CHECKING:
        spec: Any

    def versions(self) -> Versions:
        """The versions in force: those given, else the newest known."""
        given = self.spec.versions
        return _releases(tuple(vars(given).items()) if given.model_fields_set else ())


@lru_cache(256)
def _releases(given: tuple[tuple[str, str | None], ...]) -> Versions:
    return Versions(**{name: parse_version(text) for name, text in given if text is not None})


class Plain(SpecFields):
    """An object with a model's attributes. Nobody changes it, though nothing forbids it."""

    __slots__ = ("__dict__", "model_fields_set")

    model_fields_set: set[str]
    """The fields that the document gives, as pydantic has it."""

    def __init__(self, values: dict[str, Any], given: set[str]) -> None:
        self.__dict__ = values  # not copied: the caller does not use it again
        self.model_fields_set = given

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def but(self, **changes: Any) -> Self:
        """The same with other values in these fields."""
        return type(self)({**vars(self), **changes}, self.model_fields_set | changes.keys())

    def document(self, *, given: bool = False) -> dict[str, Any]:
        """The object as its YAML would be decoded: with its defaults, or only what was `given`."""
        names = [name for name in vars(self) if not given or name in self.model_fields_set]
        return {yaml_name(name): _decoded(getattr(self, name), given) for name in names}


def _decoded(value: Any, given: bool) -> Any:
    if isinstance(value, Plain):
        return value.document(given=given)
    if isinstance(value, dict):
        return {key: _decoded(one, given) for key, one in value.items()}
    if isinstance(value, list):
        return [_decoded(one, given) for one in value]
    return value


class PlainJob(Plain, Nodes):
    """A `JobSpec`."""

    __slots__ = ()


class PlainSideRole(Plain, AuxiliaryRole):
    """A `SideRole`."""

    __slots__ = ()


class PlainAmounts(Plain, ResourceFields):
    """A `ResourceList` or `Resources`."""

    __slots__ = ()


class PlainProfile(Plain, Profile):
    """A `ClusterProfile`."""

    __slots__ = ()


CLASSES: Final[dict[str, type[Plain]]] = {
    "JobSpec": PlainJob,
    "SideRole": PlainSideRole,
    "ResourceList": PlainAmounts,
    "Resources": PlainAmounts,
    "ClusterProfile": PlainProfile,
}
"""What a model is here, where it can be asked more than its fields."""
