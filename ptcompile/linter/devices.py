"""Accelerators of a container or a pod: counted, visible, claimed."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.resources import count
from ptcompile.kubernetes.unstructured import as_mappings, as_string, namespace_of, nested_map, object_name
from ptcompile.linter.templates import ManifestContainer, ManifestTemplate
from ptcompile.linter.workload import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.simulator.pod import Pod


def accelerators(container: ManifestContainer) -> int:
    """Accelerators, or slices of them, in a container's limits, else in its requests; 0 where nothing can be read."""
    return container.accelerators


WHOLE_GPUS = ("nvidia.com/gpu", "amd.com/gpu")
"""Whole GPUs: neither slices nor shares, and no other accelerators."""


def count_whole_gpus(container: ManifestContainer) -> int:
    """Whole GPUs in a container's limits; 0 where nothing can be read."""
    limits = container.limits
    return sum(count(limits[name]) for name in WHOLE_GPUS if name in limits)


COMPUTE_DOMAIN: Final = ("resource.nvidia.com/v1beta1", "ComputeDomain")
GPU_CLASSES: Final = frozenset({"gpu.nvidia.com", "mig.nvidia.com"})
CHANNEL_CLASS: Final = "compute-domain-default-channel.nvidia.com"
_API_GROUP: Final = "resource.k8s.io/"


class ClaimEntry(NamedTuple):
    """One entry of a pod's `resourceClaims`."""

    path: Path
    """Of the word that names the claim or its template; of the entry where it names none."""
    name: str
    kind: str
    """ResourceClaimTemplate or ResourceClaim."""
    object_name: str
    """The name of that object."""


class ClaimSource(NamedTuple):
    """An object from which claims are made."""

    kind: str
    """As above. A ComputeDomain makes the template of its channels."""
    name: str
    namespace: str
    classes: frozenset[str]
    """The DeviceClasses that it asks for."""


def claims_of(template: ManifestTemplate) -> Iterator[ClaimEntry]:
    """What the pods of a template claim."""
    for index, one in enumerate(as_mappings(template.spec.get("resourceClaims"))):
        path: Path = (*template.path, "spec", "resourceClaims", index)
        for kind, word in (
            ("ResourceClaimTemplate", "resourceClaimTemplateName"),
            ("ResourceClaim", "resourceClaimName"),
        ):
            if source := as_string(one.get(word)):
                yield ClaimEntry((*path, word), as_string(one.get("name")), kind, source)


def channel_template(domain: Json) -> str:
    """The name of the template that a ComputeDomain makes."""
    return as_string(nested_map(domain, "spec", "channel", "resourceClaimTemplate").get("name"))


def claim_sources(stream: Stream) -> tuple[ClaimSource, ...]:
    """The objects of the stream from which claims are made."""
    found = []
    for one in stream.objects:
        kind, space = as_string(one.get("kind")), namespace_of(one)
        if kind == COMPUTE_DOMAIN[1] and one.get("apiVersion") == COMPUTE_DOMAIN[0]:
            channels = frozenset({CHANNEL_CLASS})
            found.append(ClaimSource("ResourceClaimTemplate", channel_template(one), space, channels))
        elif kind in {"ResourceClaimTemplate", "ResourceClaim"} and as_string(one.get("apiVersion")).startswith(
            _API_GROUP
        ):
            spec = nested_map(one, "spec", "spec") if kind == "ResourceClaimTemplate" else nested_map(one, "spec")
            found.append(ClaimSource(kind, object_name(one), space, frozenset(_device_classes(spec))))
    return tuple(found)


def source_of_claim(stream: Stream, one: ClaimEntry, space: str) -> ClaimSource | None:
    """The object of the stream that a claim is made from, in the namespace of its pods."""
    known = stream.cached(_sources_by_name).get((one.kind, one.object_name), ())
    return next((maker for maker in known if maker.namespace == space), None)


def find_in_any_namespace(stream: Stream, one: ClaimEntry) -> ClaimSource | None:
    """An object of that kind and name in whatever namespace."""
    return next(iter(stream.cached(_sources_by_name).get((one.kind, one.object_name), ())), None)


def _sources_by_name(stream: Stream) -> dict[tuple[str, str], list[ClaimSource]]:
    found: dict[tuple[str, str], list[ClaimSource]] = {}
    for maker in stream.cached(claim_sources):
        found.setdefault((maker.kind, maker.name), []).append(maker)
    return found


def _device_classes(spec: Json) -> Iterator[str]:
    for request in as_mappings(nested_map(spec, "devices").get("requests")):
        for one in (request, nested_map(request, "exactly"), *as_mappings(request.get("firstAvailable"))):
            if name := as_string(one.get("deviceClassName")):
                yield name


_ONE_PROCESS_DEVICES = frozenset(
    {"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/xe", "gpu.intel.com/i915", "habana.ai/gaudi"}
)
"""Resource names of devices of which one process drives one."""


def count_one_process_devices(pod: Pod) -> int:
    """How many devices a pod's main container has of which one process drives one; 0 where it has others too.

    Slices, shares, TPUs and Neuron cores are counted by their own runtimes, in ways that a manifest does not show.
    """
    found = pod.devices
    return sum(found.values()) if _ONE_PROCESS_DEVICES.issuperset(found) else 0


def may_see_devices(pod: Pod) -> bool:
    """Whether a pod has accelerators in any container, or may have them in a way that shows no number."""
    from ptcompile.simulator.amounts import visible_accelerators

    spec, main = pod.view.spec, pod.main
    own = main.spec if main is not None else {}
    claimed = spec.get("resourceClaims") or nested_map(own, "resources").get("claims")
    by_runtime = "NVIDIA_VISIBLE_DEVICES" in pod.env or spec.get("runtimeClassName") is not None
    privileged = nested_map(own, "securityContext").get("privileged") is True
    asked = any(
        sum(visible_accelerators(nested_map(container, "resources")).values())
        for container in as_mappings(spec.get("containers"))
    )
    return bool(claimed) or by_runtime or privileged or asked
