"""Claims of devices as rules see them: what pods claim, and which object of the stream a claim is made from."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import at, items, namespace, object_name, text
from ptcompile.linting.stream import Stream
from ptcompile.linting.subject import Template
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.untyped import Json

DOMAIN: Final = ("resource.nvidia.com/v1beta1", "ComputeDomain")
GPU_CLASSES: Final = frozenset({"gpu.nvidia.com", "mig.nvidia.com"})
CHANNEL_CLASS: Final = "compute-domain-default-channel.nvidia.com"
_GROUP: Final = "resource.k8s.io/"


class Claimed(NamedTuple):
    """One entry of a pod's `resourceClaims`."""

    path: Path
    """Of the word that names the claim or its template; of the entry where it names none."""
    name: str
    kind: str
    """ResourceClaimTemplate or ResourceClaim."""
    source: str
    """The name of that object."""


class Maker(NamedTuple):
    """An object from which claims are made."""

    kind: str
    """As above. A ComputeDomain makes the template of its channels."""
    name: str
    namespace: str
    classes: frozenset[str]
    """The DeviceClasses that it asks for."""


def claimed(template: Template) -> Iterator[Claimed]:
    """What the pods of a template claim."""
    for index, one in enumerate(items(template.spec.get("resourceClaims"))):
        path: Path = (*template.path, "spec", "resourceClaims", index)
        for kind, word in (
            ("ResourceClaimTemplate", "resourceClaimTemplateName"),
            ("ResourceClaim", "resourceClaimName"),
        ):
            if source := text(one.get(word)):
                yield Claimed((*path, word), text(one.get("name")), kind, source)


def channel_template(domain: Json) -> str:
    """The name of the template that a ComputeDomain makes."""
    return text(at(domain, "spec", "channel", "resourceClaimTemplate").get("name"))


def makers(stream: Stream) -> tuple[Maker, ...]:
    """The objects of the stream from which claims are made."""
    found = []
    for one in stream.objects:
        kind, space = text(one.get("kind")), namespace(one)
        if kind == DOMAIN[1] and one.get("apiVersion") == DOMAIN[0]:
            channels = frozenset({CHANNEL_CLASS})
            found.append(Maker("ResourceClaimTemplate", channel_template(one), space, channels))
        elif kind in {"ResourceClaimTemplate", "ResourceClaim"} and text(one.get("apiVersion")).startswith(_GROUP):
            spec = at(one, "spec", "spec") if kind == "ResourceClaimTemplate" else at(one, "spec")
            found.append(Maker(kind, object_name(one), space, frozenset(_classes(spec))))
    return tuple(found)


def maker_of(stream: Stream, one: Claimed, space: str) -> Maker | None:
    """The object of the stream that a claim is made from, in the namespace of its pods."""
    known = stream.once(_by_name).get((one.kind, one.source), ())
    return next((maker for maker in known if maker.namespace == space), None)


def elsewhere(stream: Stream, one: Claimed) -> Maker | None:
    """An object of that kind and name in whatever namespace."""
    return next(iter(stream.once(_by_name).get((one.kind, one.source), ())), None)


def _by_name(stream: Stream) -> dict[tuple[str, str], list[Maker]]:
    found: dict[tuple[str, str], list[Maker]] = {}
    for maker in stream.once(makers):
        found.setdefault((maker.kind, maker.name), []).append(maker)
    return found


def _classes(spec: Json) -> Iterator[str]:
    for request in items(at(spec, "devices").get("requests")):
        for one in (request, at(request, "exactly"), *items(request.get("firstAvailable"))):
            if name := text(one.get("deviceClassName")):
                yield name
