"""Pods, containers and roles as a controller makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.unstructured import as_int, as_mapping, as_mappings, as_string, as_strings, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, overload

    from ptcompile.kubernetes.unstructured import Json


_EMPTY: Final[Mapping[str, str]] = MappingProxyType({})


class ContainerView(NamedTuple):
    """One container as the operator writes it: `spec` is the container's own JSON."""

    name: str
    init: bool
    spec: Json

    @property
    def image(self) -> str | None:
        """The image, or None where the container has none."""
        return as_string(self.spec.get("image")) or None

    @property
    def env(self) -> tuple[Json, ...]:
        """The env entries in the order they are written; of two with one name the last one counts."""
        return tuple(as_mappings(self.spec.get("env")))

    @property
    def ports(self) -> tuple[Json, ...]:
        """The container ports."""
        return tuple(as_mappings(self.spec.get("ports")))

    @property
    def command(self) -> tuple[str, ...] | None:
        """The command as written, or None for the image's own."""
        return tuple(as_strings(self.spec["command"])) if self.spec.get("command") else None

    @property
    def args(self) -> tuple[str, ...] | None:
        """The arguments as written, or None for the image's own."""
        return tuple(as_strings(self.spec["args"])) if self.spec.get("args") else None

    @property
    def resources(self) -> Json:
        """Requests, limits and claims."""
        return as_mapping(self.spec.get("resources"))

    @property
    def mounts(self) -> tuple[Json, ...]:
        """The volume mounts."""
        return tuple(as_mappings(self.spec.get("volumeMounts")))

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "name": self.name,
            "init": self.init,
            "image": self.image,
            "command": None if self.command is None else list(self.command),
            "args": None if self.args is None else list(self.args),
            "env": [env_entry(e) for e in self.env],
            "ports": [port_entry(p) for p in self.ports],
            "resources": self.resources,
            "mounts": [as_string(m.get("mountPath")) for m in self.mounts],
        }


class PodView(NamedTuple):
    """One pod as the operator asks for it. `spec` is the pod's own JSON, with what the operator adds."""

    name: str
    """Without the random part; `random_suffix` says whether the controller puts five random characters behind it."""
    role: str
    index: int  # type: ignore[assignment]  # not the method that tuples have
    spec: Json
    random_suffix: bool = False
    namespace: str = "default"
    hostname: str | None = None
    """None where nothing sets one: then the host name is the pod's own name."""
    subdomain: str | None = None
    dns: str | None = None
    """The full name that other pods can resolve, or None when no Service gives it one."""
    job: str | None = None
    """The Job that owns the pod, where one stands between."""
    labels: Mapping[str, str] = _EMPTY
    annotations: Mapping[str, str] = _EMPTY
    main: str | None = None
    """The container that trains; the first one when None or not there."""

    @property
    def restart_policy(self) -> str:
        """Always where nothing is said (Kubernetes' default)."""
        return as_string(self.spec.get("restartPolicy")) or "Always"

    @property
    def containers(self) -> tuple[ContainerView, ...]:
        """Init containers first, then the others."""
        inits, others = as_mappings(self.spec.get("initContainers")), as_mappings(self.spec.get("containers"))
        return (
            *[ContainerView(as_string(one.get("name")), True, one) for one in inits],
            *[ContainerView(as_string(one.get("name")), False, one) for one in others],
        )

    @property
    def main_container(self) -> ContainerView | None:
        """The container that trains, or None in a pod without containers."""
        return main_of(self.containers, self.main)

    @property
    def node_selector(self) -> Json:
        """Labels that a node must have."""
        return as_mapping(self.spec.get("nodeSelector"))

    @property
    def tolerations(self) -> tuple[Json, ...]:
        """Taints that the pod bears."""
        return tuple(as_mappings(self.spec.get("tolerations")))

    @property
    def volumes(self) -> tuple[Json, ...]:
        """The pod's volumes."""
        return tuple(as_mappings(self.spec.get("volumes")))


def main_of(containers: Sequence[ContainerView], name: str | None) -> ContainerView | None:
    """The container of a pod that trains: the one of a name, else the first; None in a pod without containers."""
    first = None
    for one in containers:
        if not one.init:
            if one.name == name:
                return one
            first = first or one
    return first


class ExpandedRole(NamedTuple):
    """Pods that differ by their index alone. `pod(i)` builds the i-th; nothing is built before it is asked for."""

    name: str
    count: int  # type: ignore[assignment]  # not the method that tuples have
    pod: Callable[[int], PodView]


MOST_PODS = 2**31 - 1
"""Of a role: replicas are 32-bit numbers, and more is garbage."""

MOST_NAMED = 100_000
"""Host names that are written out one by one in one env value or ConfigMap."""


class PodSequence(Sequence[PodView]):
    """The pods of all roles, one after another; built when asked for."""

    __slots__ = ("roles",)

    def __init__(self, roles: Sequence[ExpandedRole]) -> None:
        self.roles = tuple(roles)

    def __len__(self) -> int:
        return sum(min(role.count, MOST_PODS) for role in self.roles)

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, index: int) -> PodView: ...
        @overload
        def __getitem__(self, index: slice) -> list[PodView]: ...

    def __getitem__(self, index: int | slice) -> PodView | list[PodView]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        left = index if index >= 0 else len(self) + index
        for role in self.roles:
            if 0 <= left < role.count:
                return role.pod(left)
            left -= role.count
        raise IndexError(index)

    def __iter__(self) -> Iterator[PodView]:
        return (role.pod(i) for role in self.roles for i in range(role.count))

    def folded(self, edge: int = 2) -> Iterator[PodView]:
        """The first `edge` pods and the last one of each role."""
        for role in self.roles:
            shown = range(role.count) if role.count <= edge + 1 else (*range(edge), role.count - 1)
            yield from (role.pod(i) for i in shown)


class Expansion(NamedTuple):
    """All that an operator creates from one manifest."""

    roles: tuple[ExpandedRole, ...] = ()
    services: tuple[Json, ...] = ()
    """Services as the operator writes them: Kubernetes objects without apiVersion and kind."""
    pod_group: Json | None = None
    configmaps_of: Callable[[], tuple[Json, ...]] = tuple
    """Makes the ConfigMaps: they name every pod, so they are made only when asked for."""
    jobs: tuple[Json, ...] = ()
    """Jobs between the operator's object and the pods: name, role, parallelism, completions, mode."""
    notes: tuple[str, ...] = ()
    """What was assumed, and what does not show in the objects."""
    refused: tuple[str, ...] = ()
    """Why nothing is created: the controller fails, or the API server refuses what it creates."""

    @property
    def pods(self) -> PodSequence:
        """Every pod, in the order of the roles."""
        return PodSequence(self.roles)

    @property
    def configmaps(self) -> tuple[Json, ...]:
        """ConfigMaps as the operator writes them."""
        return self.configmaps_of()


_REFERENCES = {"secretKeyRef": "secret", "configMapKeyRef": "configmap"}


def env_entry(entry: Json) -> dict[str, Any]:
    """One env entry in the JSON form: `{name, value}`, `{name, fieldRef}` or `{name, from}`.

    `from` is `secret:NAME/KEY` or `configmap:NAME/KEY`; any other source stands as Kubernetes writes it.
    """
    out: dict[str, Any] = {"name": as_string(entry.get("name"))}
    source = {k: v for k, v in as_mapping(entry.get("valueFrom")).items() if isinstance(v, Mapping)}
    if entry.get("value") or not source:
        return {**out, "value": as_string(entry.get("value"))}
    if "fieldRef" in source:
        return {**out, "fieldRef": as_string(source["fieldRef"].get("fieldPath"))}
    known = reference(source)
    return {**out, **source} if known is None else {**out, "from": known}


def reference(source: Json) -> str | None:
    """The key that a source names, as `secret:NAME/KEY` or `configmap:NAME/KEY`; None for other sources."""
    for key, word in _REFERENCES.items():
        one = source.get(key)
        if type(one) is dict or isinstance(one, Mapping):  # a dict first: a tenth of an ABC's time
            return f"{word}:{as_string(one.get('name'))}/{as_string(one.get('key'))}"
    return None


def port_entry(port: Json) -> dict[str, Any]:
    """One container port in the JSON form."""
    out: dict[str, Any] = {"containerPort": as_int(port.get("containerPort"))}
    if as_string(port.get("name")):
        out = {"name": as_string(port.get("name")), **out}
    return {**out, "protocol": as_string(port.get("protocol")) or "TCP"}


def template_parts(template: Any) -> tuple[Json, Json]:
    """Metadata and spec of a pod template."""
    return nested_map(template, "metadata"), nested_map(template, "spec")


_REMEMBERED = 4
"""Pods of a role that are not built again, those asked first: the first ones and the last are asked again and again."""


def remember_first(build: Callable[[int], PodView]) -> Callable[[int], PodView]:
    """Return the same builder, which keeps the first pods it was asked for."""
    known: dict[int, PodView] = {}

    def pod(index: int) -> PodView:
        found = known.get(index)
        if found is None:
            found = build(index)
            if len(known) < _REMEMBERED:
                known[index] = found
        return found

    return pod
