"""Accelerators of a container or a pod: counted, visible, claimed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from ptcompile._internal.lazy import Pattern, bounded_cache
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import is_short_number
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.resources import count
from ptcompile.kubernetes.unstructured import (
    Json,
    kind_of,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
    object_name,
)
from ptcompile.world.templates import ManifestContainer, ManifestTemplate
from ptcompile.world.workload import Stream, Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.pod import Pod


WHOLE_GPUS = ("nvidia.com/gpu", "amd.com/gpu")
"""Resource names of whole GPUs: no slices, shares or other accelerators."""


def count_whole_gpus(container: ManifestContainer) -> int:
    """Return the number of whole GPUs in the container's limits, or 0 if unreadable."""
    limits = container.limits
    return sum(count(limits[name]) for name in WHOLE_GPUS if name in limits)


class Stack(NamedTuple):
    """The resources, images and words of one vendor's devices."""

    name: str
    resources: list[str]
    """Prefixes of the names of their resources."""
    image_words: list[str]
    """What the names of images that are built for them contain, one of which is needed."""
    images: Pattern
    """Finds the images that are built for them, in lower case."""
    backends: list[str]
    """Their backends of torch.distributed, the best first."""
    visible: list[str]
    """Variables with the numbers of the devices that a process sees."""
    files: list[str]
    """Prefixes of their device files."""


@cache
def stacks() -> tuple[Stack, ...]:
    """Return the stacks of all vendors; `stacks.json` has the sources."""
    rows = load_table("linter/stacks.json")["stacks"]
    return tuple(Stack(**{**row, "images": Pattern(row["images"])}) for row in rows)


def stack_of(resources: Iterable[str]) -> Stack | None:
    """Return the vendor's stack of the first resource that has one."""
    return next((stack for stack in map(_stack_of_resource, resources) if stack is not None), None)


@bounded_cache(256)
def _stack_of_resource(name: str) -> Stack | None:
    domain_name = str(name)
    return next((stack for stack in stacks() if domain_name.startswith((*stack.resources,))), None)


@bounded_cache(256)
def stack_of_image(image: str) -> Stack | None:
    """Return the stack that an image is built for by its name, or None if that is unknown."""
    name = image.lower()
    matches = [
        stack
        for stack in stacks()
        if any(word in name for word in stack.image_words) and stack.images.search(name)
    ]
    return matches[0] if len(matches) == 1 else None


COMPUTE_DOMAIN = ("resource.nvidia.com/v1beta1", "ComputeDomain")
GPU_CLASSES = frozenset({"gpu.nvidia.com", "mig.nvidia.com"})
CHANNEL_CLASS = "compute-domain-default-channel.nvidia.com"
_API_GROUP = "resource.k8s.io/"


class ClaimEntry(NamedTuple):
    """One entry of a pod's `resourceClaims`."""

    path: Path
    """Path of the field that names the claim or its template."""
    name: str
    kind: str
    """ResourceClaimTemplate or ResourceClaim."""
    object_name: str
    """The name of that object."""


class ClaimSource(NamedTuple):
    """An object that claims are made from."""

    kind: str
    """ResourceClaimTemplate or ResourceClaim. A ComputeDomain makes the template of its
    channels.
    """
    name: str
    namespace: str
    classes: frozenset[str]
    """The DeviceClasses that it requests."""


def claims_of(template: ManifestTemplate) -> Iterator[ClaimEntry]:
    """Yield the claims of a template's pods."""
    for index, entry in enumerate(nested_maps(template.spec, "resourceClaims")):
        path: Path = (*template.spec_path, "resourceClaims", index)
        for kind, field in (
            ("ResourceClaimTemplate", "resourceClaimTemplateName"),
            ("ResourceClaim", "resourceClaimName"),
        ):
            if source := nested_string(entry, field):
                yield ClaimEntry((*path, field), nested_string(entry, "name"), kind, source)


def channel_template(domain: Json) -> str:
    """Return the name of the template that a ComputeDomain makes."""
    return nested_string(domain, "spec", "channel", "resourceClaimTemplate", "name")


def claim_sources(stream: Stream) -> tuple[ClaimSource, ...]:
    """Return the objects of the stream from which claims are made."""
    sources = []
    for manifest in stream.objects:
        kind = nested_string(manifest, "kind")
        space = namespace_of(manifest)
        if kind_of(manifest) == COMPUTE_DOMAIN:
            channels = frozenset({CHANNEL_CLASS})
            sources.append(
                ClaimSource("ResourceClaimTemplate", channel_template(manifest), space, channels)
            )
        elif _makes_claims(manifest):
            sources.append(
                ClaimSource(
                    kind, object_name(manifest), space, frozenset(requested_classes(manifest))
                )
            )

    return tuple(sources)


def _makes_claims(manifest: Json) -> bool:
    is_of_group = nested_string(manifest, "apiVersion").startswith(_API_GROUP)
    return is_of_group and manifest.get("kind") in ("ResourceClaimTemplate", "ResourceClaim")


def requested_classes(manifest: Json) -> Iterator[str]:
    """Yield the DeviceClasses that a ResourceClaim or a ResourceClaimTemplate requests; none for
    another object.
    """
    if not _makes_claims(manifest):
        return

    parents = ("spec", "spec") if manifest["kind"] == "ResourceClaimTemplate" else ("spec",)
    for request in nested_maps(manifest, *parents, "devices", "requests"):
        for device in (
            request,
            nested_map(request, "exactly"),
            *nested_maps(request, "firstAvailable"),
        ):
            if name := nested_string(device, "deviceClassName"):
                yield name


def source_of_claim(workload: Workload, claim: ClaimEntry) -> ClaimSource | None:
    """Return the object in the pods' namespace that the claim is made from, or None."""
    sources = workload.stream.cached(_sources_by_name).get((claim.kind, claim.object_name), ())
    return next((source for source in sources if source.namespace == workload.namespace), None)


def find_in_any_namespace(stream: Stream, claim: ClaimEntry) -> ClaimSource | None:
    """Return an object of the claim's kind and name in any namespace, or None."""
    return next(
        iter(stream.cached(_sources_by_name).get((claim.kind, claim.object_name), ())), None
    )


def _sources_by_name(stream: Stream) -> dict[tuple[str, str], list[ClaimSource]]:
    sources: dict[tuple[str, str], list[ClaimSource]] = {}
    for source in stream.cached(claim_sources):
        sources.setdefault((source.kind, source.name), []).append(source)
    return sources


_ONE_PROCESS_DEVICES = frozenset(
    {"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/xe", "gpu.intel.com/i915", "habana.ai/gaudi"}
)
"""Resource names of devices that one process drives each."""


def count_one_process_devices(pod: Pod) -> int:
    """Return the number of devices in the pod's main container that one process drives each; 0 if
    it has others too.

    Slices, shares, TPUs and Neuron cores are counted by their own runtimes, in ways that a manifest
    does not show.
    """
    devices = pod.devices
    if not devices:
        return _claimed_gpus(pod)
    if _ONE_PROCESS_DEVICES.issuperset(devices):
        return sum(devices.values())
    return 0


def _claimed_gpus(pod: Pod) -> int:
    """Return how many whole GPUs the claims of the pod's main container have; 0 if the files do
    not tell.
    """
    from ptcompile.simulator.pod import device_claims

    names = {claim.get("name") for claim in nested_maps(pod.resources, "claims")}
    if not names:
        return 0

    requests = [
        device.split(" ", 1)
        for claim in device_claims(pod)
        if claim.name in names
        for device in claim.devices
    ]
    counts = [
        int(number)
        for number, device in requests
        if is_short_number(number) and device.startswith("gpu.")
    ]

    return sum(counts) if len(counts) == len(requests) else 0


def may_see_devices(pod: Pod) -> bool:
    """Return whether a container of the pod has accelerators, or may have them without
    requesting a number.
    """
    from ptcompile.kubernetes.amounts import visible_accelerators

    spec = pod.view.spec
    main = pod.main
    main_spec = main.spec if main is not None else {}
    claims = spec.get("resourceClaims") or nested_value(main_spec, "resources", "claims")
    by_runtime = "NVIDIA_VISIBLE_DEVICES" in pod.env or spec.get("runtimeClassName") is not None
    privileged = nested_value(main_spec, "securityContext", "privileged") is True
    is_requested = any(
        sum(visible_accelerators(nested_map(container, "resources")).values())
        for container in nested_maps(spec, "containers")
    )

    return bool(claims) or by_runtime or privileged or is_requested
