"""The objects from which a job's pods claim devices: its ComputeDomain, and a ResourceClaimTemplate for each claim.

resource.k8s.io is v1 since Kubernetes 1.34, where claims of devices are on by default; 1.33 has v1beta2 and 1.32
v1beta1, behind the feature gate DynamicResourceAllocation. A ComputeDomain brings the template of its channels by
itself (dra-driver-nvidia-gpu, api/nvidia.com/resource/v1beta1/computedomain.go, 2026-08). Its numNodes is 0 since 25.8:
torchrun waits for the nodes. Older drivers hold the pods back until so many nodes joined.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.job.device_claims import Claim, channel_template
from ptcompile.job.model import Job
from ptcompile.kubernetes.versions import Version
from ptcompile.operators.common.emitting import SPEC, cannot, object_metadata
from ptcompile.vocabulary.cluster import hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.vocabulary.cluster.model import ClusterProfile

_ON_BY_DEFAULT: Version = (1, 34)
_FIRST: Version = (1, 32)
_NO_WAITING: Version = (25, 8)


def device_objects(job: Job, cluster: ClusterProfile) -> list[dict[str, Any]]:
    """The objects that must be there before the job's pods are, in the order in which they are applied."""
    domain = [_compute_domain(job, cluster)] if job.compute_domain else []
    return [*domain, *(_template(job, claim, cluster.versions().kubernetes) for claim in job.claims)]


def _compute_domain(job: Job, cluster: ClusterProfile) -> dict[str, Any]:
    nodes = job.most_nodes if waits_for_nodes(cluster.versions().nvidia_dra) else 0
    return {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomain",
        "metadata": object_metadata(job),
        "spec": {"numNodes": nodes, "channel": {"resourceClaimTemplate": {"name": channel_template(job.name)}}},
    }


def waits_for_nodes(release: Version) -> bool:
    """Whether the driver holds pods back until numNodes nodes joined; its releases after 25.12 are numbered 0.x."""
    return (1, 0) < release < _NO_WAITING


def _template(job: Job, claim: Claim, kubernetes: Version) -> dict[str, Any]:
    exactly: dict[str, Any] = {"deviceClassName": claim.device_class, "allocationMode": "ExactCount"}
    exactly["count"] = claim.count
    if claim.selectors:
        exactly["selectors"] = [{"cel": {"expression": one}} for one in claim.selectors]
    flat = kubernetes < (1, 33)
    request = {"name": claim.name, **(exactly if flat else {"exactly": exactly})}
    version = "v1" if kubernetes >= _ON_BY_DEFAULT else "v1beta1" if flat else "v1beta2"
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaimTemplate",
        "metadata": {**object_metadata(job), "name": claim.template},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


def unsupported(job: Job, cluster: ClusterProfile) -> Iterator[Problem]:
    """What the cluster's Kubernetes cannot express of a job's claims; paths are those of a spec."""
    if job.fabric is None and cluster.spec.gpu.claim is None:
        return
    path, have = _claims_at(job, cluster), cluster.versions().kubernetes
    if path is None or have >= _ON_BY_DEFAULT:
        return
    release = f"{have[0]}.{have[1]}"
    if have < _FIRST:
        yield cannot(path, f"claims of devices need Kubernetes 1.32, and this is {release}", "use Kubernetes 1.34")
        return
    message = f"Kubernetes {release} drops claims of devices unless the feature gate DynamicResourceAllocation is on"
    text = f"{field_path(path)}: {message}"
    help = "turn the gate on, or use Kubernetes 1.34"
    yield Problem("kubernetes-too-old", path, text, help, severity="warning", stage="run", authority="kube-apiserver")


def _claims_at(job: Job, cluster: ClusterProfile) -> Path | None:
    """The word of the spec because of which pods claim devices; None where they claim none."""
    found = hardware.fabric(cluster, job.fabric, job.accelerator)
    if found is not None and (found.compute_domain or found.claims):
        return (*SPEC, "fabric")
    asks = any(hardware.accelerators_in(cluster, one.template.main.resources.limits) for one in job.roles)
    by_claim = cluster.spec.gpu.claim is not None
    return (*SPEC, "resources") if by_claim and (asks or job.resources.limits) else None
