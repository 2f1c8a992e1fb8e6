"""Pods, containers and roles as a controller creates them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_strings,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics import Path


_EMPTY: Mapping[str, str] = MappingProxyType({})


class ContainerView(NamedTuple):
    """One container as the operator writes it: `spec` is the container's JSON."""

    name: str
    init: bool
    spec: Json

    @property
    def image(self) -> str | None:
        """The image, or None if the container has none."""
        return nested_string(self.spec, "image") or None

    @property
    def env(self) -> tuple[Json, ...]:
        """The env entries in order; of two with the same name, the last one wins."""
        return tuple(nested_maps(self.spec, "env"))

    @property
    def ports(self) -> tuple[Json, ...]:
        """The container ports."""
        return tuple(nested_maps(self.spec, "ports"))

    @property
    def command(self) -> tuple[str, ...] | None:
        """The command as written, or None for the image's own."""
        if self.spec.get("command"):
            return tuple(as_strings(self.spec["command"]))
        return None

    @property
    def args(self) -> tuple[str, ...] | None:
        """The arguments as written, or None for the image's own."""
        if self.spec.get("args"):
            return tuple(as_strings(self.spec["args"]))
        return None

    @property
    def argv(self) -> list[str]:
        """The words of command and arguments as written."""
        return [*(self.command or ()), *(self.args or ())]

    @property
    def resources(self) -> Json:
        """Requests, limits and claims."""
        return nested_map(self.spec, "resources")

    @property
    def mounts(self) -> tuple[Json, ...]:
        """The volume mounts."""
        return tuple(nested_maps(self.spec, "volumeMounts"))

    def to_dict(self) -> JsonDict:
        """Return the JSON form."""
        return {
            "name": self.name,
            "init": self.init,
            "image": self.image,
            "command": None if self.command is None else list(self.command),
            "args": None if self.args is None else list(self.args),
            "env": [env_entry(e) for e in self.env],
            "ports": [port_entry(p) for p in self.ports],
            "resources": self.resources,
            "mounts": [nested_string(m, "mountPath") for m in self.mounts],
        }


class PodView(NamedTuple):
    """One pod as the operator creates it. `spec` is the pod's JSON with the operator's
    additions.
    """

    name: str
    """Name without the random part; `random_suffix` says whether the controller appends five
    random characters.
    """
    role: str
    index: int  # type: ignore[assignment]  # not the method that tuples have
    spec: Json
    random_suffix: bool = False
    namespace: str = "default"
    hostname: str | None = None
    """None if not set; the host name is then the pod's name."""
    subdomain: str | None = None
    dns: str | None = None
    """The full name that other pods can resolve, or None if no Service provides one."""
    job: str | None = None
    """The Job that owns the pod, if there is one between the object and the pod."""
    labels: Mapping[str, str] = _EMPTY
    annotations: Mapping[str, str] = _EMPTY
    main: str | None = None
    """The training container; the first one if None or missing."""

    @property
    def restart_policy(self) -> str:
        """The restart policy; Kubernetes' default is Always."""
        return nested_string(self.spec, "restartPolicy") or "Always"

    @property
    def containers(self) -> tuple[ContainerView, ...]:
        """Init containers first, then the others."""
        return tuple(
            [
                ContainerView(nested_string(container, "name"), is_init, container)
                for key, is_init in (("initContainers", True), ("containers", False))
                for container in nested_maps(self.spec, key)
            ]
        )

    @property
    def node_selector(self) -> Json:
        """Labels that a node must have."""
        return nested_map(self.spec, "nodeSelector")

    @property
    def tolerations(self) -> tuple[Json, ...]:
        """Taints that the pod tolerates."""
        return tuple(nested_maps(self.spec, "tolerations"))

    @property
    def volumes(self) -> tuple[Json, ...]:
        """The pod's volumes."""
        return tuple(nested_maps(self.spec, "volumes"))


def main_container_of(
    containers: Sequence[ContainerView], name: str | None
) -> ContainerView | None:
    """Return the training container: the one with this name, else the first, or None without
    containers.
    """
    first = None
    for container in containers:
        if not container.init:
            if container.name == name:
                return container
            first = first or container
    return first


class ExpandedRole(NamedTuple):
    """Pods that differ only in their index. `pod(i)` builds the i-th pod on demand."""

    name: str
    count: int  # type: ignore[assignment]  # not the method that tuples have
    pod: Callable[[int], PodView]


MAX_PODS_PER_ROLE = 2**31 - 1
"""Maximum number of pods per role, because replicas are 32-bit numbers."""

MAX_NAMED_HOSTS = 100_000
"""Maximum number of host names written out in one env value or ConfigMap."""


class Place(NamedTuple):
    """A field of an object."""

    manifest: Json
    path: Path


class FieldOrigin(NamedTuple):
    """Where a part of an object that a controller makes was written. A step of a path into a list
    is the key of the item, such as a container's name.
    """

    path: Path
    """The field of the object that the controller reads; without a writer, what is below it has
    the same path there.
    """
    writer: str = ""
    """Who wrote the value if that field only names or decides it, such as
    `ClusterTrainingRuntime acme`.
    """
    source: Place | None = None
    """Where the other object has it."""


class MadeObject(NamedTuple):
    """An object that a controller makes of another one, which a second controller turns into
    pods.
    """

    manifest: Json
    origins: Sequence[tuple[Path, FieldOrigin]]
    """The origins of its parts, in the order in which they are written. The last one that has a
    value is its origin.
    """


Shares = list[tuple[ExpandedRole, int]]
"""Roles, each with the number of its pods that count."""


class Expansion(NamedTuple):
    """All that an operator creates from one manifest."""

    roles: tuple[ExpandedRole, ...] = ()
    services: tuple[Json, ...] = ()
    """Services as the operator writes them: Kubernetes objects without apiVersion and kind."""
    pod_group: Json | None = None
    configmaps_of: Callable[[], tuple[Json, ...]] = tuple
    """Makes the ConfigMaps on demand, because they name every pod."""
    jobs: tuple[Json, ...] = ()
    """Jobs between the operator's object and the pods: name, role, parallelism, completions,
    mode.
    """
    notes: tuple[str, ...] = ()
    """Assumptions, and facts that the objects do not show."""
    refused: tuple[str, ...] = ()
    """Why nothing is created: the controller fails, or the API server rejects its objects."""
    made: MadeObject | None = None
    """The object between the manifest and the pods that has their templates, if the manifest has
    none itself.
    """

    @property
    def pods(self) -> list[PodView]:
        """Every pod, in the order of the roles."""
        return [role.pod(index) for role in self.roles for index in range(role.count)]

    @property
    def configmaps(self) -> tuple[Json, ...]:
        """ConfigMaps as the operator writes them."""
        return self.configmaps_of()


_KEY_SOURCES = {"secretKeyRef": "secret", "configMapKeyRef": "configmap"}


def env_entry(entry: Json) -> JsonDict:
    """Return an env entry in the JSON form: `{name, value}`, `{name, fieldRef}` or `{name, from}`.

    `from` is `secret:NAME/KEY` or `configmap:NAME/KEY`; other sources keep Kubernetes' form.
    """
    entry_json: JsonDict = {"name": nested_string(entry, "name")}
    source = {k: v for k, v in nested_map(entry, "valueFrom").items() if isinstance(v, Mapping)}
    if entry.get("value") or not source:
        return {**entry_json, "value": nested_string(entry, "value")}
    if "fieldRef" in source:
        return {**entry_json, "fieldRef": nested_string(source["fieldRef"], "fieldPath")}

    key_reference = reference(source)
    if key_reference is None:
        return {**entry_json, **source}

    return {**entry_json, "from": key_reference}


def reference(source: Json) -> str | None:
    """Return the key that a source names, as `secret:NAME/KEY` or `configmap:NAME/KEY`, or None
    for other sources.
    """
    for key, prefix in _KEY_SOURCES.items():
        key_source = source.get(key)
        # checking dict first takes a tenth of the ABC check's time
        if type(key_source) is dict or isinstance(key_source, Mapping):
            return (
                f"{prefix}:{nested_string(key_source, 'name')}/{nested_string(key_source, 'key')}"
            )
    return None


def port_entry(port: Json) -> JsonDict:
    """Return a container port in the JSON form."""
    out: JsonDict = {"containerPort": nested_int(port, "containerPort")}
    if nested_string(port, "name"):
        out = {"name": nested_string(port, "name"), **out}
    return {**out, "protocol": nested_string(port, "protocol") or "TCP"}


def template_parts(template: Any) -> tuple[Json, Json]:
    """Return the metadata and spec of a pod template."""
    return nested_map(template, "metadata"), nested_map(template, "spec")


_MAX_CACHED_PODS = 4
"""Maximum number of cached pods per role, in order of first use: the first ones and the last are
used repeatedly.
"""


def remember_first(build: Callable[[int], PodView]) -> Callable[[int], PodView]:
    """Return the builder with a cache of the first pods that it builds."""
    cached: dict[int, PodView] = {}

    def pod(index: int) -> PodView:
        pod_view = cached.get(index)
        if pod_view is None:
            pod_view = build(index)
            if len(cached) < _MAX_CACHED_PODS:
                cached[index] = pod_view
        return pod_view

    return pod


def unreadable_names(items: Sequence[Json]) -> tuple[str, ...]:
    """Return why the API server rejects items whose names are not strings, such as the boolean
    `n`.
    """
    return tuple(
        f"the API server rejects a name that is not a string, {item['name']!r}"
        for item in items
        if not isinstance(item.get("name", ""), str) and item["name"] is not None
    )
