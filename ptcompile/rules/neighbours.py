"""The other objects of a stream, as rules see them: Services, and the workloads whose pods name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ptcompile.expand.job import job_labels
from ptcompile.plain import Json, at, namespace, object_name, string_map, text
from ptcompile.rules.subject import Subject
from ptcompile.rules.templates import templates_of

if TYPE_CHECKING:
    from ptcompile.simulation.meeting import Meeting

_ALONE = (("v1", "Pod"), ("batch/v1", "Job"))
"""Kinds whose pods have no Service but those that people write."""


class User(NamedTuple):
    """A Pod or a Job whose pods name a Service as their subdomain."""

    title: str
    labels: Mapping[str, str]
    """Those of the pods, with what the API server adds."""
    job: bool


def users_of(subject: Subject) -> Iterator[User]:
    """The Pods and Jobs of the stream whose subdomain is this Service, in the same namespace."""
    if not subject.name:
        return
    for kind in _ALONE:
        for other in subject.neighbours.get(kind, ()):
            for _, template, _, _, _ in templates_of(kind, other):
                if text(at(template, "spec").get("subdomain")) == subject.name:
                    name = object_name(other)
                    added = job_labels(name) if kind[1] == "Job" else {}
                    yield User(f"{kind[1]}/{name}", {**labels_of(template), **added}, bool(added))


def services_of(subject: Subject) -> list[Json]:
    """The Services of the stream in the object's namespace."""
    return subject.neighbours.get(("v1", "Service"), [])


def selected(service: Json, labels: Mapping[str, str]) -> bool:
    """Whether a Service selects pods with these labels."""
    selector = string_map(at(service, "spec").get("selector"))
    return bool(selector) and selector.items() <= labels.items()


def labels_of(template: Json) -> dict[str, str]:
    """The labels that a pod template gives."""
    return string_map(at(template, "metadata").get("labels"))


def endpoint_service(subject: Subject) -> tuple[Json, Meeting] | None:
    """The Service of the stream that the rendezvous is at, by its own name, and the rendezvous."""
    services = services_of(subject)
    made = subject.meeting if services else None
    if made is None or not made.first.host:
        return None
    from ptcompile.simulation.meeting import short_names

    space = namespace(subject.manifest)
    for service in services:
        if made.first.host in short_names(f"{object_name(service)}.{space}.svc.cluster.local", space):
            return service, made
    return None
