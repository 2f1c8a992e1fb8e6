"""Small changes to a pod template, each giving new data: what every operator does to the pods it creates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ptcompile.kubernetes.untyped import items, string_map, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


def with_containers(spec: Json, change: Callable[[Json], Json], *, init: bool) -> dict[str, Any]:
    """The pod spec with `change` made to each container, or to each init container where `init`."""
    key = "initContainers" if init else "containers"
    return {**spec, key: [change(c) for c in items(spec.get(key))]} if spec.get(key) else dict(spec)


def with_env(container: Json, entries: Iterable[Json]) -> dict[str, Any]:
    """The container with env entries behind its own; a name that is already there stays there, twice."""
    added = [*items(container.get("env")), *entries]
    return {**container, "env": added} if added else dict(container)


def upsert_env(container: Json, entries: Iterable[Json]) -> dict[str, Any]:
    """The container with env entries behind its own; one of the same name takes the old one's place."""
    return {**container, "env": upserted(items(container.get("env")), entries)}


def upserted(old: Iterable[Json], entries: Iterable[Json]) -> list[Json]:
    """A list of named items with others put in by name: in the old one's place, or behind."""
    out: dict[str, Json] = {}
    for entry in (*old, *entries):
        out[text(entry.get("name"))] = entry
    return list(out.values())


def value(name: str, content: str) -> dict[str, Any]:
    """An env entry with a value."""
    return {"name": name, "value": content}


def field(name: str, path: str) -> dict[str, Any]:
    """An env entry from a field of the pod."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def with_items(spec: Json, key: str, added: Sequence[Json]) -> dict[str, Any]:
    """The mapping with items behind those of the list under `key`."""
    return {**spec, key: [*items(spec.get(key)), *added]} if added else dict(spec)


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
