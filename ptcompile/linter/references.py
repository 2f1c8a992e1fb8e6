"""Which objects of a stream name, select or meet one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.index import SERVICE, selector
from ptcompile.kubernetes.unstructured import (
    as_mapping,
    as_mappings,
    as_string,
    as_strings,
    kind_of,
    namespace_of,
    nested_map,
    object_name,
    string_map,
)
from ptcompile.linter.subject import Subject, subject_of
from ptcompile.linter.trainers import TrainingRole, count_nodes
from ptcompile.linter.workload import Stream
from ptcompile.registry.table import kind_named, templates_of
from ptcompile.registry.templates import job_labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.simulator.launchers.rendezvous import Rendezvous


_USER_SERVED = (("v1", "Pod"), ("batch/v1", "Job"))
"""Kinds whose pods have no Service but those that people write."""


class ServiceUser(NamedTuple):
    """A Pod or a Job whose pods name a Service as their subdomain."""

    title: str
    labels: Mapping[str, str]
    """Those of the pods, with what the API server adds."""
    is_job: bool
    is_probed: bool
    """Whether names are looked up before a pod is ready: by a probe or gate of its own, or an init container."""
    manifest: Json


def service_users(subject: Subject) -> Iterator[ServiceUser]:
    """The Pods and Jobs of the stream whose subdomain is this Service, in the same namespace."""
    found = subject.stream.cached(_templates_by_subdomain)
    for one, template in found.get((namespace_of(subject.manifest), subject.name), ()):
        kind, name = kind_of(one)[1], object_name(one)
        added = job_labels(name) if kind == "Job" else {}
        yield ServiceUser(
            f"{kind}/{name}",
            {**template_labels(template), **added},
            bool(added),
            _is_probed(template, subject.name),
            one,
        )


def _is_probed(template: Json, subdomain: str) -> bool:
    spec = nested_map(template, "spec")
    before = as_mappings(spec.get("initContainers"))
    words = [word for one in before for word in (*as_strings(one.get("command")), *as_strings(one.get("args")))]
    running = (*as_mappings(spec.get("containers")), *before)
    probed = any(one.get("readinessProbe") for one in running) or bool(spec.get("readinessGates"))
    return probed or any(f".{subdomain}" in word for word in words)


def meets_by_name(subject: Subject, user: ServiceUser) -> bool:
    """Whether the pods of a user of this Service meet at a name that the Service gives one of them."""
    found = subject_of(user.manifest, subject.stream)
    hosts = [
        one.rendezvous.host
        for group in (*found.rendezvous_groups, *found.env_groups)
        for one in group
        if count_nodes(group) > 1
    ]
    return any(host.split(".")[1:2] == [subject.name] for host in hosts)


def _templates_by_subdomain(stream: Stream) -> dict[tuple[str, str], list[tuple[Json, Json]]]:
    """The pod templates of Pods, then of Jobs, by namespace and subdomain; each with its object."""
    found: dict[tuple[str, str], list[tuple[Json, Json]]] = {}
    for kind in _USER_SERVED:
        for one in stream.objects.of_kind(kind):
            for found_at in templates_of(kind, one):
                template = as_mapping(found_at.template)
                subdomain = as_string(nested_map(template, "spec").get("subdomain"))
                if subdomain:
                    found.setdefault((namespace_of(one), subdomain), []).append((one, template))
    return found


def service_selects(service: Json, labels: Mapping[str, str]) -> bool:
    """Whether a Service selects pods with these labels."""
    wanted = selector(service)
    return bool(wanted) and wanted.items() <= labels.items()


def template_labels(template: Json) -> dict[str, str]:
    """The labels that a pod template gives."""
    return string_map(nested_map(template, "metadata").get("labels"))


def endpoint_service(subject: Subject) -> tuple[Json, Rendezvous] | None:
    """The Service of the stream that the rendezvous is at, by its own name, and the rendezvous."""
    met = subject.rendezvous if subject.neighbors.of_kind(SERVICE) else None
    if met is None or not met.host:
        return None
    return next(((one, met) for one in endpoint_services(subject, met.host)), None)


def endpoint_services(subject: Subject, host: str) -> list[Json]:
    """Return the Services in the pods' namespace of which a host is the name, in any of its forms."""
    from ptcompile.simulator.meeting import short_names

    space = namespace_of(subject.manifest)
    return [
        one
        for one in subject.neighbors.services_at(host)
        if kind_of(one) == SERVICE and host in short_names(f"{object_name(one)}.{space}.svc.cluster.local", space)
    ]


_POD_HOSTED_BACKENDS = ("static", "c10d", "env")
"""Backends whose endpoint is one of the pods that meet."""


def meets_at_a_pod(members: tuple[TrainingRole, ...]) -> bool:
    """Return whether several nodes meet at a pod that they all name alike; own-host-endpoint reports other names."""
    first = members[0]
    seen = first.rendezvous
    if first.is_local or seen.backend not in _POD_HOSTED_BACKENDS or not seen.nodes or seen.nodes[1] < 2:
        return False
    return first.pod.job.pod(first.expanded, first.expanded.count - 1).rendezvous.host == seen.host


def has_all_pods(subject: Subject, members: tuple[TrainingRole, ...]) -> bool:
    """Return whether all nodes that meet are pods of this object."""
    first, total = members[0], count_nodes(members)
    alone = not subject.record.meeting.across_objects or not peers_in_other_objects(subject, first)
    return alone and first.rendezvous.nodes is not None and total == first.rendezvous.nodes[1] and total > 1


def peers_in_other_objects(subject: Subject, first: TrainingRole) -> tuple[TrainingRole, ...]:
    """The trainers of other objects of the stream that meet at the same endpoint, in the same namespace."""
    if subject.is_alone:
        return ()
    met = subject.stream.cached(_roles_by_endpoint)
    here = id(subject.manifest)
    return tuple(one for one in met.get(_endpoint_key(first), ()) if id(one.manifest) != here)


def _roles_by_endpoint(stream: Stream) -> dict[tuple[str, ...], list[TrainingRole]]:
    """All trainers of a stream that wait for others, by where they meet."""
    found: dict[tuple[str, ...], list[TrainingRole]] = {}
    for manifest in stream.objects:
        for one in (
            subject_of(manifest, stream).training_roles if kind_named(kind_of(manifest)).meeting.across_objects else ()
        ):
            if (one.is_modeled or one.is_env_script) and not one.is_local and not one.is_standalone:
                found.setdefault(_endpoint_key(one), []).append(one)
    return found


def _endpoint_key(one: TrainingRole) -> tuple[str, ...]:
    space = namespace_of(one.manifest)
    host = (
        one.rendezvous.host.removesuffix(".")
        .removesuffix(".cluster.local")
        .removesuffix(".svc")
        .removesuffix(f".{space}")
    )
    return (space, one.rendezvous.backend, host)


def selects(selector: Json, labels: Json) -> bool:
    """Whether a label selector selects these labels; an empty one selects all. An unknown operator is taken to hold."""
    if not string_map(selector.get("matchLabels")).items() <= labels.items():
        return False
    return all(_is_satisfied(one, labels) for one in as_mappings(selector.get("matchExpressions")))


def _is_satisfied(expression: Json, labels: Json) -> bool:
    key, values = as_string(expression.get("key")), as_strings(expression.get("values"))
    known: dict[str, bool] = {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return known.get(as_string(expression.get("operator")), True)
