"""The compiler's model of a pod template: read, merged and written without loss."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple, cast
from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.pod_spec import MERGE_KEYS
from ptcompile.kubernetes.resources import never_shared
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_mapping,
    nested_map,
    without_keys,
    without_none,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    """A Kubernetes object or a part of one, as plain data. Never changed in place."""


NOTHING: Json = {}

_FIRST = {"cpu": "\0", "memory": "\1", "ephemeral-storage": "\2"}
"""Resources that come first, each with its sort key."""


class Resources(NamedTuple):
    """Requests and limits by resource name; quantities as text. The name `gpu` stands for the
    profile's GPU.
    """

    requests: Mapping[str, str] = NOTHING
    limits: Mapping[str, str] = NOTHING
    nulls: frozenset[tuple[str, str]] = frozenset()
    """What stays empty whatever lower levels set: ("limits", "cpu")."""

    def over(self, fallback: Resources) -> Resources:
        """Return these quantities, and `fallback`'s for resources that they do not name.

        A level that gives a quantity names the resource as a whole: nothing of the fallback is
        mixed in. A missing request equals the limit, as on the API server. A missing limit stays
        missing, unless Kubernetes requires both to be equal. The order is cpu, memory, scratch
        disk, then the others by name.
        """
        named = {**self.requests, **self.limits}
        nulls = self.nulls
        if fallback.nulls:
            nulls |= {(half, name) for half, name in fallback.nulls if name not in named}

        requests: dict[str, str] = {}
        limits: dict[str, str] = {}
        names = {**named, **fallback.requests, **fallback.limits}
        for name in sorted(names, key=lambda name: _FIRST.get(name, name)):
            level = self if name in named else fallback
            limit = None if nulls and ("limits", name) in nulls else level.limits.get(name)
            if nulls and ("requests", name) in nulls:
                request = None
            else:
                request = level.requests.get(name, limit)
            if limit is None and request is not None and (name == "gpu" or never_shared(name)):
                limit = request
            if request is not None:
                requests[name] = request
            if limit is not None:
                limits[name] = limit

        return Resources(requests, limits, nulls)

    def without(self, names: Collection[str]) -> Resources:
        """Return these quantities without those of some resources, which stay empty whatever
        lower levels set.
        """
        requests = without_keys(self.requests, *names)
        limits = without_keys(self.limits, *names)
        nulls = self.nulls | {(half, name) for half in ("requests", "limits") for name in names}
        return Resources(requests, limits, nulls)


def resources(requests: Mapping[str, str | None], limits: Mapping[str, str | None]) -> Resources:
    """Return the resources that a user gave; a null keeps a request or limit empty."""
    if None not in requests.values() and None not in limits.values():
        return Resources(cast("Mapping[str, str]", requests), cast("Mapping[str, str]", limits))

    halves = {"requests": requests, "limits": limits}
    nulls = frozenset(
        (half, name)
        for half, amounts in halves.items()
        for name in amounts
        if amounts[name] is None
    )
    set_halves = {half: without_none(amounts) for half, amounts in halves.items()}

    return Resources(set_halves["requests"], set_halves["limits"], nulls)


class Container(NamedTuple):
    """The main container. `extra` holds every container field without an attribute here."""

    name: str
    image: str | None = None
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    env: tuple[Json, ...] = ()
    resources: Resources = Resources()
    mounts: tuple[Json, ...] = ()
    extra: Json = NOTHING

    def missing_env(self, variables: Mapping[str, str]) -> list[Json]:
        """Return the entries of those variables that the container does not have."""
        names = {entry.get("name") for entry in self.env}
        return [
            {"name": name, "value": value} for name, value in variables.items() if name not in names
        ]

    def with_env(self, env: Iterable[Json]) -> Container:
        """Return the container with these variables."""
        return self._replace(env=tuple(env))


class PodTemplate(NamedTuple):
    """A pod template: the fields that passes read, and all others unchanged in `extra` and
    `metadata`.
    """

    main: Container
    sidecars: tuple[Json, ...] = ()
    labels: Mapping[str, str] = NOTHING
    annotations: Mapping[str, str] = NOTHING
    volumes: tuple[Json, ...] = ()
    tolerations: tuple[Json, ...] = ()
    node_selector: Mapping[str, str] = NOTHING
    affinity: Json = NOTHING
    metadata: Json = NOTHING
    extra: Json = NOTHING
    nulls: Json = NOTHING
    """What is removed from the finished template, whatever wrote it: a tree of field names (list
    items by their merge key) whose leaves are the spec paths of the nulls.
    """

    def with_main(self, main: Container) -> PodTemplate:
        """Return the template with another main container."""
        return self._replace(main=main)

    def with_env(self, env: Iterable[Json]) -> PodTemplate:
        """Return the template with these variables in its main container."""
        return self._replace(main=self.main.with_env(env))


_FIELDS = load_table("ir/pods.json")


def read(template: Json, main: str) -> PodTemplate:
    """Return a Kubernetes template as the compiler's. `main` names the main container, which
    defaults to the first.
    """
    spec = nested_map(template, "spec")
    metadata = nested_map(template, "metadata")
    containers: Sequence[Json] = spec.get("containers") or [{"name": main}]
    names = [container.get("name") for container in containers]
    index = names.index(main) if main in names else 0

    return PodTemplate(
        main=_read_container(containers[index]),
        sidecars=(*containers[:index], *containers[index + 1 :]),
        labels=nested_map(metadata, "labels"),
        annotations=nested_map(metadata, "annotations"),
        volumes=tuple(spec.get("volumes") or ()),
        tolerations=tuple(spec.get("tolerations") or ()),
        node_selector=nested_map(spec, "nodeSelector"),
        affinity=nested_map(spec, "affinity"),
        metadata=without_keys(metadata, "labels", "annotations") if metadata else metadata,
        extra=without_keys(spec, *_FIELDS["ownPod"]),
    )


def _read_container(container: Json) -> Container:
    resources = nested_map(container, "resources")
    command = container.get("command")
    args = container.get("args")
    extra = without_keys(container, *_FIELDS["ownContainer"])
    if "claims" in resources:
        extra["resources"] = {"claims": resources["claims"]}

    return Container(
        name=container.get("name", ""),
        image=container.get("image"),
        command=None if command is None else tuple(command),
        args=None if args is None else tuple(args),
        env=tuple(container.get("env") or ()),
        resources=Resources(nested_map(resources, "requests"), nested_map(resources, "limits")),
        mounts=tuple(container.get("volumeMounts") or ()),
        extra=extra,
    )


def write(template: PodTemplate, *, main: str | None = None, **spec: Any) -> JsonDict:
    """Return a template as Kubernetes requires it, with its keys in the usual order. It shares
    parts with the template.

    `main` renames the main container; `spec` adds pod fields that a target sets, such as
    `restartPolicy`.
    """
    pod = {**template.extra}
    for key, value in (
        *spec.items(),
        ("nodeSelector", template.node_selector or None),
        ("affinity", template.affinity or None),
        ("tolerations", [*template.tolerations] or None),
        ("volumes", [*template.volumes] or None),
    ):
        if value is not None:
            pod[key] = value

    pod["containers"] = [_write_container(template.main, main), *template.sidecars]
    whole: JsonDict = {"spec": with_keys_first(pod, _FIELDS["pod"])}
    metadata = template.metadata
    if template.labels:
        metadata = {**metadata, "labels": template.labels}
    if template.annotations:
        metadata = {**metadata, "annotations": template.annotations}
    if metadata:
        whole = {"metadata": metadata, **whole}

    return without_paths(whole, _nulls_with_main(template, main)) if template.nulls else whole


def without_nulled_fields(template: PodTemplate) -> PodTemplate:
    """Return the template without the fields that it keeps empty."""
    if not template.nulls:
        return template
    written = write(template._replace(nulls=NOTHING))
    kept = without_paths(written, template.nulls)
    if kept == written:
        return template
    remaining = read(kept, template.main.name)
    amounts = remaining.main.resources._replace(nulls=template.main.resources.nulls)
    return remaining._replace(main=remaining.main._replace(resources=amounts), nulls=template.nulls)


def is_nulled(template: PodTemplate, *key_path: str) -> bool:
    """Return whether the template keeps a field, or one that contains it, empty."""
    inside: Any = template.nulls
    for part in key_path:
        inside = inside.get(part, {})
        if isinstance(inside, tuple):
            return True
    return False


def without_paths(value: Any, nulls: Json, key: str = "") -> Any:
    """Return a value without the paths of a tree of nulls. `key` is the field that holds the
    value.
    """
    if isinstance(value, Mapping):
        kept = {k: inner for k, inner in value.items() if not isinstance(nulls.get(k), tuple)}
        return {
            k: without_paths(inner, nulls[k], k) if k in nulls else inner
            for k, inner in kept.items()
        }
    if key not in MERGE_KEYS or not isinstance(value, list | tuple):
        return value

    items = ((item, nulls.get(str(item.get(MERGE_KEYS[key])), {})) for item in value)
    return [
        without_paths(item, inside) if inside else item
        for item, inside in items
        if not isinstance(inside, tuple)
    ]


def absent_nulls(nulls: Json, value: Any, key: str = "") -> JsonDict:
    """Return the nulls of a tree that a value does not set again."""
    parts = as_mapping(value)
    if key in MERGE_KEYS and isinstance(value, list | tuple):
        parts = {str(item.get(MERGE_KEYS[key])): item for item in value}
    remaining: JsonDict = {}
    for name, inside in nulls.items():
        if not isinstance(inside, tuple):
            inside = absent_nulls(inside, parts.get(name), name)
        elif name in parts:
            continue
        if inside:
            remaining[name] = inside

    return remaining


def _nulls_with_main(template: PodTemplate, main: str | None) -> Json:
    """Return the template's nulls with its main container renamed to `main`."""
    spec = nested_map(template.nulls, "spec")
    container_nulls = nested_map(spec, "containers")
    if main is None or template.main.name not in container_nulls:
        return template.nulls
    containers = {
        main if name == template.main.name else name: inside
        for name, inside in container_nulls.items()
    }
    return {**template.nulls, "spec": {**spec, "containers": containers}}


def unshared(value: Any) -> Any:
    """Return the data with nothing shared, so editing one manifest never changes another."""
    value_type = type(value)
    if value_type is dict:
        copy = value.copy()
        for key, inner in value.items():
            if type(inner) is not str:
                copy[key] = unshared(inner)
        return copy
    if value_type is list or value_type is tuple:
        return [inner if type(inner) is str else unshared(inner) for inner in value]

    if isinstance(value, Mapping):
        return unshared({**value})
    return value


def _write_container(container: Container, name: str | None) -> JsonDict:
    resources = container.extra.get("resources", {})
    if container.resources.limits:
        resources = {"limits": container.resources.limits, **resources}
    if container.resources.requests:
        resources = {"requests": container.resources.requests, **resources}
    fields = {
        **container.extra,
        "name": name or container.name,
        "image": container.image,
        "command": None if container.command is None else [*container.command],
        "args": None if container.args is None else [*container.args],
        "env": [*container.env] or None,
        "resources": resources or None,
        "volumeMounts": [*container.mounts] or None,
    }

    return with_keys_first(without_none(fields), _FIELDS["container"])


def with_keys_first(data: Json, first: Sequence[str]) -> JsonDict:
    """Return the mapping with the keys of `first` first, in that order, and the others after
    them in their order.
    """
    result = {k: data[k] for k in first if k in data}
    return result if len(result) == len(data) else {**result, **data}


_WHOLE = frozenset({"affinity", "dnsConfig"})
_CONTAINERS = frozenset({"containers", "initContainers"})


def merge_under(template: PodTemplate, base: Json, main: str) -> PodTemplate:
    """Return the template merged over a base whose container `main` is the main one.

    Mappings merge; an item of a named list, an affinity or a dnsConfig that exists is kept
    unchanged (Flyte 1.16). Added items come first.
    """
    merged = read(_merge_over_base(write(template, main=main), base), main)
    main_container = merged.main._replace(
        name=template.main.name, resources=template.main.resources
    )
    return merged._replace(main=main_container, nulls=template.nulls)


def _merge_over_base(value: Any, base: Any, key: str = "") -> Any:
    """Return a value of the job merged over a base. Unlike in a patch a null stays, and halves of
    items are not mixed.
    """
    if isinstance(value, Mapping) and isinstance(base, Mapping) and key not in _WHOLE:
        added_fields = without_keys(base, *value)
        return {
            **added_fields,
            **{k: _merge_over_base(v, base.get(k), k) for k, v in value.items()},
        }
    if key not in MERGE_KEYS or not isinstance(value, list) or not isinstance(base, list):
        return value

    name = MERGE_KEYS[key]
    names = {str(item.get(name)) for item in value}
    added = [item for item in base if str(item.get(name)) not in names]
    if key not in _CONTAINERS:
        return [*added, *value]

    by_name = {str(item.get(name)): item for item in base}
    return [*added, *(_merge_over_base(item, by_name.get(str(item.get(name)))) for item in value)]
