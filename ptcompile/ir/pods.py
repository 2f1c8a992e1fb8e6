"""The compiler's model of a pod template: read, merged and written without loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple, cast
from ptcompile.kubernetes.pod_spec import MERGE_KEYS, OBJECT_KEYS
from ptcompile.kubernetes.resources import never_shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = Mapping[str, Any]
    """A Kubernetes object or a part of one, as plain data. Never changed in place."""


NOTHING: Json = {}

_FIRST = {"cpu": "\0", "memory": "\1", "ephemeral-storage": "\2"}
"""Resources that stand in front of the others, as what they are sorted by."""


class Resources(NamedTuple):
    """Requests and limits by resource name; quantities as text. The name `gpu` stands for the profile's GPU."""

    requests: Mapping[str, str] = NOTHING
    limits: Mapping[str, str] = NOTHING
    nulls: frozenset[tuple[str, str]] = frozenset()
    """What stays empty whatever the levels below say: ("limits", "cpu")."""

    def over(self, below: Resources) -> Resources:
        """These amounts where they name a resource, and `below`'s elsewhere.

        A level that gives an amount names the resource whole: nothing of the level below is mixed in. A missing request
        is the limit, as the API server has it. A missing limit stays missing, except where Kubernetes demands that both
        are equal. In the order cpu, memory, scratch disk, then the others by name.
        """
        own = {**self.requests, **self.limits}
        nulls = self.nulls
        if below.nulls:
            nulls |= {one for one in below.nulls if one[1] not in own}
        requests: dict[str, str] = {}
        limits: dict[str, str] = {}
        for name in sorted({**own, **below.requests, **below.limits}, key=lambda name: _FIRST.get(name, name)):
            level = self if name in own else below
            limit = None if nulls and ("limits", name) in nulls else level.limits.get(name)
            request = None if nulls and ("requests", name) in nulls else level.requests.get(name, limit)
            if limit is None and request is not None and (name == "gpu" or never_shared(name)):
                limit = request
            if request is not None:
                requests[name] = request
            if limit is not None:
                limits[name] = limit
        return Resources(requests, limits, nulls)


def resources(requests: Mapping[str, str | None], limits: Mapping[str, str | None]) -> Resources:
    """Amounts as people give them, where null keeps a half empty."""
    if None not in requests.values() and None not in limits.values():
        return Resources(cast("Mapping[str, str]", requests), cast("Mapping[str, str]", limits))
    halves = {"requests": requests, "limits": limits}
    nulls = frozenset((half, name) for half, amounts in halves.items() for name in amounts if amounts[name] is None)
    given = {half: {k: v for k, v in amounts.items() if v is not None} for half, amounts in halves.items()}
    return Resources(given["requests"], given["limits"], nulls)


class Container(NamedTuple):
    """The container that trains. `extra` keeps every container field that has no place of its own here."""

    name: str
    image: str | None = None
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    env: tuple[Json, ...] = ()
    resources: Resources = Resources()
    mounts: tuple[Json, ...] = ()
    extra: Json = NOTHING

    def with_env(self, env: Iterable[Json]) -> Container:
        """The same with these variables."""
        extra, mounts = self.extra, self.mounts  # each by its place: half of what _replace costs
        return Container(self.name, self.image, self.command, self.args, tuple(env), self.resources, mounts, extra)


class PodTemplate(NamedTuple):
    """A pod template: the fields that passes look at, and in `extra` and `metadata` all the others as they are."""

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
    """What is removed from the finished template, whatever wrote it: a tree of the fields' names, with an item of
    a list by what names it, and as its leaves the places of the spec that say so."""

    def with_main(self, main: Container) -> PodTemplate:
        """The same with another container that trains."""
        return PodTemplate(main, *self[1:])

    def with_env(self, env: Iterable[Json]) -> PodTemplate:
        """The same with these variables of the container that trains."""
        return PodTemplate(self.main.with_env(env), *self[1:])


_CONTAINER_ORDER = (
    "name", "image", "imagePullPolicy", "command", "args", "workingDir", "ports", "envFrom", "env", "resources",
    "volumeMounts",
)  # fmt: skip
_CONTAINER_OWN = frozenset({"name", "image", "command", "args", "env", "resources", "volumeMounts"})
_POD_OWN = frozenset({"containers", "volumes", "tolerations", "nodeSelector", "affinity"})
_POD_FIRST = (
    "restartPolicy", "subdomain", "hostname", "serviceAccountName", "schedulerName", "priorityClassName",
    "hostNetwork", "dnsPolicy", "terminationGracePeriodSeconds", "activeDeadlineSeconds", "imagePullSecrets",
    "securityContext", "nodeSelector", "affinity", "tolerations", "initContainers", "containers", "volumes",
)  # fmt: skip


def read(template: Json, main: str) -> PodTemplate:
    """A template as the compiler holds it. `main` names the container that trains; without it the first one is."""
    spec: Json = template.get("spec") or {}
    metadata: Json = template.get("metadata") or {}
    containers: Sequence[Json] = spec.get("containers") or [{"name": main}]
    called = [container.get("name") for container in containers]
    at = called.index(main) if main in called else 0
    return PodTemplate(
        main=_read_container(containers[at]),
        sidecars=(*containers[:at], *containers[at + 1 :]),
        labels=metadata.get("labels") or {},
        annotations=metadata.get("annotations") or {},
        volumes=tuple(spec.get("volumes") or ()),
        tolerations=tuple(spec.get("tolerations") or ()),
        node_selector=spec.get("nodeSelector") or {},
        affinity=spec.get("affinity") or {},
        metadata={k: v for k, v in metadata.items() if k not in {"labels", "annotations"}} if metadata else metadata,
        extra={k: v for k, v in spec.items() if k not in _POD_OWN},
    )


def _read_container(container: Json) -> Container:
    resources: Json = container.get("resources") or {}
    command, args = container.get("command"), container.get("args")
    extra = {k: v for k, v in container.items() if k not in _CONTAINER_OWN}
    if "claims" in resources:
        extra["resources"] = {"claims": resources["claims"]}
    return Container(
        name=container.get("name", ""),
        image=container.get("image"),
        command=None if command is None else tuple(command),
        args=None if args is None else tuple(args),
        env=tuple(container.get("env") or ()),
        resources=Resources(resources.get("requests") or {}, resources.get("limits") or {}),
        mounts=tuple(container.get("volumeMounts") or ()),
        extra=extra,
    )


def write(template: PodTemplate, *, main: str | None = None, **spec: Any) -> dict[str, Any]:
    """A template as Kubernetes wants it, keys in the usual order. `main` renames the container that trains;
    `spec` adds pod fields that a target decides, such as `restartPolicy`."""
    copy: dict[str, Any] = _copied(write_shared(template, main=main, **spec))
    return copy


def write_shared(template: PodTemplate, *, main: str | None = None, **spec: Any) -> dict[str, Any]:
    """The same as `write`, to be read alone: it shares its parts with the template, and has tuples for lists."""
    pod: dict[str, Any] = {**template.extra}
    for key, value in (
        *spec.items(),
        ("nodeSelector", template.node_selector or None),
        ("affinity", template.affinity or None),
        ("tolerations", template.tolerations or None),
        ("volumes", template.volumes or None),
    ):
        if value is not None:
            pod[key] = value
    pod["containers"] = (_written_container(template.main, main), *template.sidecars)
    whole: dict[str, Any] = {"spec": ordered(pod, _POD_FIRST)}
    metadata = template.metadata
    if template.labels:
        metadata = {**metadata, "labels": template.labels}
    if template.annotations:
        metadata = {**metadata, "annotations": template.annotations}
    if metadata:
        whole = {"metadata": metadata, **whole}
    return without_paths(whole, _called(template, main)) if template.nulls else whole


def stripped(template: PodTemplate) -> PodTemplate:
    """The template without what it keeps empty."""
    if not template.nulls:
        return template
    left = read(write_shared(template), template.main.name)
    amounts = left.main.resources._replace(nulls=template.main.resources.nulls)
    return left._replace(main=left.main._replace(resources=amounts), nulls=template.nulls)


def kept_empty(template: PodTemplate, *place: str) -> bool:
    """Whether the template keeps a place empty, or what holds it."""
    inside: Any = template.nulls
    for part in place:
        inside = inside.get(part, {})
        if isinstance(inside, tuple):
            return True
    return False


def without_paths(value: Any, nulls: Json, key: str = "") -> Any:
    """A value without the places of a tree of nulls. `key` is the field that holds the value."""
    if isinstance(value, Mapping):
        left = {k: inner for k, inner in value.items() if not isinstance(nulls.get(k), tuple)}
        return {k: without_paths(inner, nulls[k], k) if k in nulls else inner for k, inner in left.items()}
    if key not in MERGE_KEYS or not isinstance(value, list | tuple):
        return value
    there = ((item, nulls.get(str(item.get(MERGE_KEYS[key])), {})) for item in value)
    return [without_paths(item, inside) if inside else item for item, inside in there if not isinstance(inside, tuple)]


def absent(nulls: Json, value: Any, key: str = "") -> dict[str, Any]:
    """The part of a tree of nulls that a value has nothing at: what it has was given again."""
    parts = value if isinstance(value, Mapping) else {}
    if key in MERGE_KEYS and isinstance(value, list | tuple):
        parts = {str(item.get(MERGE_KEYS[key])): item for item in value}
    out: dict[str, Any] = {}
    for name, inside in nulls.items():
        if not isinstance(inside, tuple):
            inside = absent(inside, parts.get(name), name)
        elif name in parts:
            continue
        if inside:
            out[name] = inside
    return out


def _called(template: PodTemplate, main: str | None) -> Json:
    """What the template keeps empty, where its container that trains is called `main`."""
    spec = template.nulls.get("spec", {})
    own = spec.get("containers", {}) if isinstance(spec, Mapping) else {}
    if main is None or template.main.name not in own:
        return template.nulls
    containers = {main if name == template.main.name else name: inside for name, inside in own.items()}
    return {**template.nulls, "spec": {**spec, "containers": containers}}


def _copied(value: Any) -> Any:
    """The same data with nothing shared: who edits a manifest edits that one alone."""
    kind = type(value)
    if kind is dict:
        copy = value.copy()
        for key, inner in value.items():
            if type(inner) is not str:
                copy[key] = _copied(inner)
        return copy
    if kind is list or kind is tuple:
        return [inner if type(inner) is str else _copied(inner) for inner in value]
    return _copied({**value}) if isinstance(value, Mapping) else value


def _written_container(container: Container, name: str | None) -> dict[str, Any]:
    resources = container.extra.get("resources", {})
    if container.resources.limits:
        resources = {"limits": container.resources.limits, **resources}
    if container.resources.requests:
        resources = {"requests": container.resources.requests, **resources}
    out: dict[str, Any] = {
        **container.extra,
        "name": name or container.name,
        "image": container.image,
        "command": container.command,
        "args": container.args,
        "env": container.env or None,
        "resources": resources or None,
        "volumeMounts": container.mounts or None,
    }
    return ordered({k: v for k, v in out.items() if v is not None}, _CONTAINER_ORDER)


def ordered(data: Mapping[str, Any], first: Sequence[str]) -> dict[str, Any]:
    """The same mapping with the keys of `first` in front, in that order, and the others behind as they stood."""
    out = {k: data[k] for k in first if k in data}
    return out if len(out) == len(data) else {**out, **data}


def merge(base: Any, patch: Any, key: str | None = None) -> Any:
    """A patch laid over a value: mappings merge, named lists merge by name, other lists and scalars replace.

    null takes a key away, as in a JSON merge patch. `key` is the field that holds the value. Tolerations have no
    name: the patch's are added where an equal one is not there.
    """
    if isinstance(patch, Mapping):
        base = base if isinstance(base, Mapping) else {}
        out = {k: v for k, v in base.items() if patch.get(k, ...) is not None}
        for k, v in patch.items():
            if v is not None:
                out[k] = merge(out.get(k), v, k)
        return out
    if isinstance(base, Sequence) and isinstance(patch, Sequence) and not isinstance(patch, str):
        if key == "tolerations":
            said = set(map(_frozen, base))
            return [*base, *(merge(None, item) for item in patch if _frozen(item) not in said)]
        if key in OBJECT_KEYS:
            return _merge_named(base, patch, OBJECT_KEYS[key])
    return [merge(None, item) for item in patch] if isinstance(patch, list | tuple) else patch


def _merge_named(base: Sequence[Any], patch: Sequence[Any], name: str) -> list[Any]:
    out = list(base)
    places: dict[Any, int] = {}
    for i, old in enumerate(out):
        places.setdefault(_named(old, name), i)
    for item in patch:
        known = _named(item, name)
        at = places.get(known) if known is not None else None
        if at is None:
            places.setdefault(known, len(out))
            out.append(merge(None, item))
        else:
            sourced = "valueFrom" in item or "value" in item
            out[at] = merge(_without_source(out[at]) if sourced else out[at], item)
    return out


def _named(item: Any, name: str) -> Any:
    return _frozen(item.get(name)) if isinstance(item, Mapping) else None


def _frozen(value: Any) -> Any:
    """Plain data that can be looked up: equal where the data is."""
    if isinstance(value, Mapping):
        return frozenset((key, _frozen(inner)) for key, inner in value.items())
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _without_source(entry: Json) -> Json:
    """An env entry has a value or a source, never both: the patch's stands for both."""
    return {k: v for k, v in entry.items() if k not in {"value", "valueFrom"}}


_WHOLE = frozenset({"affinity", "dnsConfig"})
_CONTAINERS = frozenset({"containers", "initContainers"})


def merge_under(template: PodTemplate, base: Json, main: str) -> PodTemplate:
    """The template with another below it, whose container called `main` is the one that trains.

    Mappings merge, an item of a named list that is there stays as it is, and so does an affinity or a dnsConfig (Flyte
    1.16). What is added stands in front.
    """
    laid = read(_beneath(write(template, main=main), base), main)
    own = laid.main._replace(name=template.main.name, resources=template.main.resources)
    return laid._replace(main=own, nulls=template.nulls)


def _beneath(own: Any, base: Any, key: str = "") -> Any:
    """The job's value with another below it. Unlike in a patch a null stays, and half an item of each is none."""
    if isinstance(own, Mapping) and isinstance(base, Mapping) and key not in _WHOLE:
        unsaid = {k: v for k, v in base.items() if k not in own}
        return {**unsaid, **{k: _beneath(v, base.get(k), k) for k, v in own.items()}}
    if key not in MERGE_KEYS or not isinstance(own, list) or not isinstance(base, list):
        return own
    name = MERGE_KEYS[key]
    there = {str(one.get(name)) for one in own}
    added = [one for one in base if str(one.get(name)) not in there]
    if key not in _CONTAINERS:
        return [*added, *own]
    by_name = {str(one.get(name)): one for one in base}
    return [*added, *(_beneath(one, by_name.get(str(one.get(name)))) for one in own)]
