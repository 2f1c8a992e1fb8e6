"""Devices that pods claim of DRA drivers, with what the templates of the stream say of them (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile.kubernetes.untyped import at, integer, items, namespace, object_name, text
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json
    from ptcompile.simulation.pod import Pod


class DeviceClaim(NamedTuple):
    """One claim of a pod."""

    name: str
    kind: str
    """ResourceClaimTemplate, of which each pod gets a claim of its own, or ResourceClaim, which pods share."""
    source: str
    devices: tuple[str, ...]
    """What it asks for, such as `8 gpu.nvidia.com`; empty where no object of the stream says it."""


def device_claims(pod: Pod) -> Iterator[DeviceClaim]:
    """The claims of a pod, in the order in which it names them."""
    for one in items(pod.view.spec.get("resourceClaims")):
        template, claim = text(one.get("resourceClaimTemplateName")), text(one.get("resourceClaimName"))
        kind = "ResourceClaimTemplate" if template else "ResourceClaim"
        devices = _devices(pod.job.given, kind, template or claim, pod.view.namespace)
        yield DeviceClaim(text(one.get("name")), kind, template or claim, devices)


def claim_text(name: str, kind: str, source: str, devices: tuple[str, ...]) -> str:
    """A claim in words, such as `gpu: 8 gpu.nvidia.com (template llama-gpu-8)`."""
    what = ", ".join(devices) or "devices that the stream does not name"
    return f"{name}: {what} ({'template' if kind == 'ResourceClaimTemplate' else 'shared claim'} {source})"


def _devices(given: Iterable[Json], kind: str, name: str, space: str) -> tuple[str, ...]:
    for one in given:
        if namespace(one) != space:
            continue
        domain = at(one, "spec", "channel", "resourceClaimTemplate")
        if one.get("kind") == "ComputeDomain" and kind == "ResourceClaimTemplate" and domain.get("name") == name:
            every = at(one, "spec", "channel").get("allocationMode") == "All"
            return (f"{'all channels' if every else '1 channel'} of ComputeDomain {object_name(one)}",)
        if one.get("kind") == kind and object_name(one) == name:
            spec = at(one, "spec", "spec") if kind == "ResourceClaimTemplate" else at(one, "spec")
            return tuple(_request(request) for request in items(at(spec, "devices").get("requests")))
    return ()


def _request(request: Json) -> str:
    """One request in words; of alternatives the first."""
    choices = items(request.get("firstAvailable"))
    exact = at(request, "exactly") or (choices[0] if choices else request)
    every = exact.get("allocationMode") == "All"
    return f"{'all' if every else integer(exact.get('count'), 1)} {text(exact.get('deviceClassName'))}"
