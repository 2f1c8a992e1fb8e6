"""A Pod is its own template, expansion and reading; what happens when it fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile.kubernetes.unstructured import at, namespace, object_name, string_map, text
from ptcompile.registry import templates
from ptcompile.registry.model import Request
from ptcompile.registry.pods import Expansion, PodView, Role
from ptcompile.registry.reading import MAIN, Pods, Read, given, main_container, names, restart_policy
from ptcompile.registry.templates import Template, headless_for, limit_sentences, pod_restart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


def expand(manifest: Json, request: Request) -> Expansion:
    """One pod. It has a DNS name where a headless Service of the same stream is named as its subdomain."""
    metadata, spec = at(manifest, "metadata"), at(manifest, "spec")
    name, space = object_name(manifest), namespace(manifest)
    labels = string_map(metadata.get("labels"))
    hostname, subdomain = text(spec.get("hostname")) or None, text(spec.get("subdomain")) or None
    service = headless_for(request.others, subdomain, labels, space)
    view = PodView(
        name=name,
        role="pod",
        index=0,
        namespace=space,
        hostname=hostname,
        subdomain=subdomain,
        dns=templates.fqdn(hostname or name, subdomain, space) if service and subdomain else None,
        labels=labels,
        annotations=string_map(metadata.get("annotations")),
        spec=spec,
    )
    return Expansion((Role("pod", 1, lambda _: view),), (service,) if service else ())


def read(manifest: Json, _others: tuple[Json, ...]) -> Iterator[Read]:
    """The pod as a job of one node. Its labels and annotations are those of the object."""
    template = {"spec": at(manifest, "spec")}
    main = main_container(template, MAIN)
    run_policy = given({"activeDeadlineSeconds": at(manifest, "spec").get("activeDeadlineSeconds")})
    spec = {key: value for key, value in template["spec"].items() if key != "activeDeadlineSeconds"}
    pods = Pods("node", 1, {"spec": spec}, (), main, restart_policy(template, "Always"))
    yield Read("pod", (pods,), {"nodes": 1, "runPolicy": run_policy, **names(container=main)})


def of(manifest: Json) -> Iterator[Template]:
    """A Pod is its own template."""
    yield Template((), manifest)


def sentences(manifest: Json, _others: Sequence[Json]) -> Iterator[str]:
    """The sentences for a Pod."""
    spec = at(manifest, "spec")
    yield pod_restart(spec, "Always")
    yield from limit_sentences({"activeDeadlineSeconds": spec.get("activeDeadlineSeconds")}, "the pod")
    yield "a lost node: no new pod is created"
