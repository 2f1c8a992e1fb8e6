"""Pod templates inside an object, and the sentences that operators share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.index import SERVICE, objects, selector
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, nested_map, string_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json


_RESTART: dict[str, str] = {
    "Always": "a container that ends is restarted in its pod by the kubelet, forever, even after success",
    "OnFailure": "a container that fails is restarted in its pod by the kubelet",
    "Never": "a container that fails is not restarted in its pod",
}


def pod_restart(template: Json, default: str) -> str:
    """What the kubelet does with a container that ends, by the pod's restartPolicy."""
    policy = as_string(template.get("restartPolicy")) or default
    return f"restartPolicy {policy}: {_RESTART.get(policy, 'unknown policy')}"


def limit_sentences(spec: Json, what: str, *, ttl: str = "deletes it with its pods") -> Iterator[str]:
    """The deadline and the time that a finished object is kept, where the spec has them."""
    deadline, keep = spec.get("activeDeadlineSeconds"), spec.get("ttlSecondsAfterFinished")
    if deadline is not None:
        yield f"activeDeadlineSeconds {deadline}: {what} fails when it has run that long"
    if keep is not None:
        yield f"ttlSecondsAfterFinished {keep}: that long after its end the cluster {ttl}"


def job_labels(name: str) -> dict[str, str]:
    """What the API server adds to the pod template's labels (Kubernetes 1.27 and later)."""
    return {"batch.kubernetes.io/job-name": name, "job-name": name}


COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


def with_containers(spec: Json, change: Callable[[Json], Json], *, init: bool) -> dict[str, Any]:
    """The pod spec with `change` made to each container, or to each init container where `init`."""
    key = "initContainers" if init else "containers"
    return {**spec, key: [change(c) for c in as_mappings(spec.get(key))]} if spec.get(key) else dict(spec)


def with_env(container: Json, entries: Iterable[Json]) -> dict[str, Any]:
    """The container with env entries behind its own; a name that is already there stays there, twice."""
    added = [*as_mappings(container.get("env")), *entries]
    return {**container, "env": added} if added else dict(container)


def upsert_env(container: Json, entries: Iterable[Json]) -> dict[str, Any]:
    """The container with env entries behind its own; one of the same name takes the old one's place."""
    return {**container, "env": upsert(as_mappings(container.get("env")), entries)}


def upsert(old: Iterable[Json], entries: Iterable[Json]) -> list[Json]:
    """A list of named items with others put in by name: in the old one's place, or behind."""
    out: dict[str, Json] = {}
    for entry in (*old, *entries):
        out[as_string(entry.get("name"))] = entry
    return list(out.values())


def value(name: str, content: str) -> dict[str, Any]:
    """An env entry with a value."""
    return {"name": name, "value": content}


def field(name: str, path: str) -> dict[str, Any]:
    """An env entry from a field of the pod."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def with_items(spec: Json, key: str, added: Sequence[Json]) -> dict[str, Any]:
    """The mapping with items behind those of the list under `key`."""
    return {**spec, key: [*as_mappings(spec.get(key)), *added]} if added else dict(spec)


def merged(*maps: Any) -> dict[str, str]:
    """Labels or annotations laid over one another, later ones win."""
    out: dict[str, str] = {}
    for one in maps:
        out.update(string_map(one))
    return out


def fqdn(hostname: str, subdomain: str | None, namespace: str) -> str:
    """The full cluster name of a pod with a host name, or of a Service where `subdomain` is None."""
    middle = f"{hostname}.{subdomain}" if subdomain else hostname
    return f"{middle}.{namespace}.svc.cluster.local"


def headless_for(others: Collection[Json], name: str | None, labels: Mapping[str, str], space: str) -> Json | None:
    """The headless Service of this name and namespace whose selector fits the labels, or None.

    Only such a one makes `<hostname>.<subdomain>` resolve; the pod must be ready too, unless the Service
    publishes addresses that are not (Kubernetes 1.36 DNS).
    """
    if not name or not others:
        return None
    known = objects(others)
    if not known.named(SERVICE, name):
        return None
    for other in known.within(space).named(SERVICE, name):
        wanted = selector(other)
        if (
            as_string(nested_map(other, "spec").get("clusterIP")) == "None"
            and wanted
            and wanted.items() <= labels.items()
        ):
            return other
    return None


class Template(NamedTuple):
    """One pod template where it is written."""

    path: Path
    template: Any
    """As it is written: a mapping, if nothing is wrong with it; None where there is none."""
    role: str = ""
    """The operator's name of the pods: a task, a replica type, a replicatedJob; empty where there is one kind alone."""
    replicas: int = 1
    main: str | None = None
    """The container that trains, where the operator looks for it by name; else it is the first."""


def indexed_mappings(value: object) -> Iterator[tuple[int, Json]]:
    """The items of a list with their indexes, each a mapping."""
    for i, one in enumerate(value if isinstance(value, list) else ()):
        yield i, as_mapping(one)
