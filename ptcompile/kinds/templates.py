"""Pod templates in an object, and sentences that operators share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.index import SERVICE, is_headless, objects, service_selects
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_list,
    as_mapping,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
)

_RESTART: dict[str, str] = {
    "Always": "a container that ends is restarted in its pod by the kubelet, forever, even after success",
    "OnFailure": "a container that fails is restarted in its pod by the kubelet",
    "Never": "a container that fails is not restarted in its pod",
}


def restart_sentence(template: Json, default: str) -> str:
    """Return what the kubelet does when a container exits, according to the pod's restartPolicy."""
    policy = nested_string(template, "restartPolicy") or default
    return f"restartPolicy {policy}: {_RESTART.get(policy, 'unknown policy')}"


def restart_sentences(template: Json, default: str) -> Iterator[str]:
    """Yield what the kubelet does when a container exits, by the pod's restartPolicy and the
    containers' own policies and rules (Kubernetes 1.35; docs/facts/gangs.md#restarts-in-place).
    """
    yield restart_sentence(template, default)
    is_counted = (nested_string(template, "restartPolicy") or default) == "OnFailure"
    limit = "" if is_counted else ", and no limit counts that"

    for container in nested_maps(template, "containers"):
        name = nested_string(container, "name")
        policy = nested_string(container, "restartPolicy")
        rules = nested_maps(container, "restartPolicyRules")
        for rule in rules:
            effect = _RULE_EFFECTS.get(nested_string(rule, "action"), "unknown action")
            yield (
                f"container {name}, {_exit_codes(nested_map(rule, 'exitCodes'))}: {effect}{limit}"
            )

        if policy:
            otherwise = "any other exit status: " if rules else ""
            yield (
                f"container {name}, {otherwise}restartPolicy {policy}: "
                f"{_RESTART.get(policy, 'unknown policy')}"
            )


_RULE_EFFECTS = {
    "Restart": "the kubelet restarts it in its pod",
    "RestartAllContainers": "the kubelet restarts all containers of the pod in place, init containers too",
}
"""By the action of a container's restartPolicyRules."""


def _exit_codes(codes: Json) -> str:
    values = codes.get("values")
    listed = ", ".join(map(str, values)) if isinstance(values, list) else ""
    if codes.get("operator") == "In":
        return f"exit status {listed}"
    return f"any exit status except {listed}"


def restarts_by_rule(template: Json, exit_code: int | None) -> bool:
    """Return whether the kubelet restarts the first container in its pod by the container's own
    rules or policy, which override the pod's; `exit_code` is None if the pod is lost.
    """
    container = next(iter(nested_maps(template, "containers")), {})
    if exit_code is None or not container.get("restartPolicy"):
        return False

    for rule in nested_maps(container, "restartPolicyRules"):
        codes = nested_map(rule, "exitCodes")
        values = codes.get("values")
        is_listed = isinstance(values, list) and exit_code in values
        if is_listed == (codes.get("operator") == "In"):
            return True

    return container.get("restartPolicy") != "Never"


def limit_sentences(spec: Json, subject: str) -> Iterator[str]:
    """Yield sentences on the deadline and the time to live of a finished object, if the spec
    sets them.
    """
    deadline = spec.get("activeDeadlineSeconds")
    keep = spec.get("ttlSecondsAfterFinished")
    if deadline is not None:
        yield f"activeDeadlineSeconds {deadline}: {subject} fails when it has run that long"
    if keep is not None:
        yield (
            f"ttlSecondsAfterFinished {keep}: that long after its end the cluster deletes it with "
            "its pods"
        )


def suspension_notes(spec: Json, path: str = "spec") -> tuple[str, ...]:
    """Return a sentence if `spec`, which is at a path of the object, suspends it."""
    is_suspended = spec.get("suspend") is True
    if is_suspended:
        return (f"suspended: the pods are created when {path}.suspend becomes false",)
    return ()


def job_labels(name: str) -> dict[str, str]:
    """Return the labels that the API server adds to the pod template (Kubernetes 1.27 and
    later).
    """
    return {"batch.kubernetes.io/job-name": name, "job-name": name}


COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


def with_containers(spec: Json, change: Callable[[Json], Json], *, init: bool = False) -> JsonDict:
    """Return the pod spec with `change` applied to each main container; if `init`, to the init
    containers too.
    """
    changed = dict(spec)
    for key in ("initContainers", "containers") if init else ("containers",):
        if spec.get(key):
            changed[key] = [change(c) for c in nested_maps(spec, key)]
    return changed


def with_env(container: Json, entries: Iterable[Json]) -> JsonDict:
    """Return the container with env entries appended; entries of the same name remain as
    duplicates.
    """
    added = [*nested_maps(container, "env"), *entries]
    return {**container, "env": added} if added else dict(container)


def upsert_env(container: Json, entries: Iterable[Json]) -> JsonDict:
    """Return the container with env entries appended; an entry of the same name replaces the old
    one.
    """
    return {**container, "env": upsert(nested_maps(container, "env"), entries)}


def upsert(old: Iterable[Json], entries: Iterable[Json]) -> list[Json]:
    """Return a list of named items with others added by name, in place of the old item or at the
    end.
    """
    by_name: dict[str, Json] = {}
    for entry in (*old, *entries):
        by_name[nested_string(entry, "name")] = entry
    return list(by_name.values())


def env_value(name: str, content: str) -> JsonDict:
    """Return an env entry with a value."""
    return {"name": name, "value": content}


def env_from_field(name: str, path: str) -> JsonDict:
    """Return an env entry that reads a field of the pod."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def with_items(spec: Json, key: str, added: Sequence[Json]) -> JsonDict:
    """Return the mapping with items appended to the list under `key`."""
    if added:
        return {**spec, key: [*nested_maps(spec, key), *added]}
    return dict(spec)


def with_port(container: Json, port: Json) -> Json:
    """Return the container with a port, unless it has one with that number under any name."""
    number = port["containerPort"]
    if any(nested_int(held, "containerPort") == number for held in nested_maps(container, "ports")):
        return container
    return with_items(container, "ports", [port])


def cluster_host_name(
    hostname: str, subdomain: str | None, namespace: str, domain: str = "cluster.local"
) -> str:
    """Return the full cluster name of a pod with a host name, or of a Service if `subdomain` is
    None.
    """
    middle = f"{hostname}.{subdomain}" if subdomain else hostname
    return f"{middle}.{namespace}.svc.{domain}"


def find_headless_service(
    related: Collection[Json], name: str | None, labels: Mapping[str, str], space: str
) -> Json | None:
    """Return the headless Service of this name and namespace whose selector matches the labels, or
    None.

    Only a headless Service makes `<hostname>.<subdomain>` resolve; the pod must be ready too,
    unless the Service publishes addresses that are not (Kubernetes 1.36 DNS).
    """
    if not name or not related:
        return None
    index = objects(related)
    if not index.by_name(SERVICE, name):
        return None
    for service in index.in_namespace(space).by_name(SERVICE, name):
        if is_headless(service) and service_selects(service, labels):
            return service
    return None


class Template(NamedTuple):
    """One pod template, with its path in the object."""

    path: Path
    template: Any
    """The template as written: a mapping if valid, or None if missing."""
    role: str = ""
    """The operator's name for the pods (a task, a replica type, a replicatedJob); empty if there
    is only one kind.
    """
    replicas: int = 1
    main: str | None = None
    """The training container, if the operator finds it by name; otherwise it is the first."""


def indexed_mappings(value: object) -> Iterator[tuple[int, Json]]:
    """Yield the items of a list as mappings, with their indexes."""
    for i, item in enumerate(as_list(value)):
        yield i, as_mapping(item)
