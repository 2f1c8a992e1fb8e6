"""References between the objects of a stream: by name, by selector and by rendezvous."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kinds.templates import job_labels
from ptcompile.kubernetes.index import SERVICE, USER_SERVED
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mapping,
    kind_of,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
    object_name,
)
from ptcompile.linter.rule import Subject
from ptcompile.linter.training_roles import count_nodes
from ptcompile.operators.table import templates_of
from ptcompile.world.workload import Stream


class ServiceUser(NamedTuple):
    """A Pod or a Job whose pods name a Service as their subdomain."""

    title: str
    labels: Mapping[str, str]
    """Labels of the pods, including those that the API server adds."""
    is_job: bool
    template: Json
    manifest: Json


def service_users(subject: Subject) -> list[ServiceUser]:
    """Return the Pods and Jobs of the stream whose subdomain is this Service, in the same
    namespace.
    """
    templates = subject.stream.cached(_templates_by_subdomain)
    users = []
    for manifest, template in templates.get((subject.namespace, subject.name), ()):
        _, kind = kind_of(manifest)
        name = object_name(manifest)
        added = job_labels(name) if kind == "Job" else {}
        labels = {**template_labels(template), **added}
        users.append(ServiceUser(f"{kind}/{name}", labels, bool(added), template, manifest))
    return users


def is_probed(user: ServiceUser, subdomain: str) -> bool:
    """Return whether names are resolved before a pod is ready: by a probe or gate of the pod, or
    an init container.
    """
    spec = nested_map(user.template, "spec")
    init_containers = nested_maps(spec, "initContainers")
    tokens = [
        token
        for container in init_containers
        for token in (*nested_strings(container, "command"), *nested_strings(container, "args"))
    ]
    containers = (*nested_maps(spec, "containers"), *init_containers)
    has_probe = any(container.get("readinessProbe") for container in containers) or bool(
        spec.get("readinessGates")
    )

    return has_probe or any(f".{subdomain}" in token for token in tokens)


def meets_by_name(subject: Subject, service: str) -> bool:
    """Return whether the object's pods meet at a name that a Service with this name would give
    one of them.
    """
    hosts = [
        role.rendezvous.host
        for group in (*subject.rendezvous_groups, *subject.env_groups)
        for role in group
        if count_nodes(group) > 1
    ]
    return any(host.lower().split(".")[1:2] == [service] for host in hosts)


def _templates_by_subdomain(stream: Stream) -> dict[tuple[str, str], list[tuple[Json, Json]]]:
    """Return the pod templates of Pods, then of Jobs, by namespace and subdomain; each with its
    object.
    """
    templates: dict[tuple[str, str], list[tuple[Json, Json]]] = {}
    for kind in USER_SERVED:
        for manifest in stream.objects.of_kind(kind):
            for written in templates_of(manifest):
                template = as_mapping(written.template)
                subdomain = nested_string(template, "spec", "subdomain")
                if subdomain:
                    templates.setdefault((namespace_of(manifest), subdomain), []).append(
                        (manifest, template)
                    )

    return templates


def template_labels(template: Json) -> dict[str, str]:
    """Return the labels of a pod template."""
    return nested_string_map(template, "metadata", "labels")


def endpoint_service(subject: Subject) -> Json | None:
    """Return the Service that the rendezvous endpoint names, in any form, or None."""
    job = subject.job
    rendezvous = subject.rendezvous
    if (
        job is None
        or rendezvous is None
        or not rendezvous.host
        or not subject.neighbors.of_kind(SERVICE)
    ):
        return None

    from ptcompile.simulator.meeting import services_at

    return next(services_at(job, rendezvous.host.removesuffix(".").lower()), None)
