"""Claims: devices that pods get through ResourceClaims of a DRA driver instead of a device plugin.

There are three kinds of claims: a channel of the job's ComputeDomain, if the fabric is an NVLink
domain (the driver's controller creates its template); the fabric's own devices, such as the RDMA
ports of A4X Max; and, if the profile claims GPUs, the GPUs and MIG slices that the job requests.
The latter are removed from the job's resources, because the same GPUs must not be requested both
ways. A claim with the same name in the job's pod template is left unchanged.

A required pod affinity keeps the nodes of a ComputeDomain in one rack, unless the job sets its
topology or does not fit into one rack.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from ptcompile.ir import job as device_claims
from ptcompile.ir.job import CHANNEL, DOMAIN_LABEL, GPU, Context, Job, JobClaim, map_templates
from ptcompile.ir.pods import Container, PodTemplate, Resources
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.pod_spec import REQUIRED
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile, GpuClaim

_MIG = "nvidia.com/mig-"


def claims(job: Job, context: Context) -> Job:
    """Add the claims of the fabric and of the profile to the pods, and their templates to the
    job.
    """
    cluster = context.cluster
    fabric = hardware.fabric(cluster, job.fabric, job.accelerator)
    gpu_claim = cluster.spec.gpu.claim
    has_domain = fabric is not None and fabric.compute_domain
    if gpu_claim is None and not has_domain and not (fabric and fabric.claims):
        return job

    devices = fabric.claims if fabric else {}
    fabric_claims = [
        JobClaim(
            name=name,
            template=f"{job.name}-{name}",
            device_class=device.device_class_name,
            count=device.count,
            selectors=tuple(device.selectors),
        )
        for name, device in devices.items()
    ]
    job_claims: dict[JobClaim, None] = dict.fromkeys((*job.claims, *fabric_claims))
    gpu = hardware.gpu_resource(cluster, job.accelerator)

    def attach(template: PodTemplate) -> PodTemplate:
        if gpu_claim is not None:
            gpu_claims = list(_gpu_claims(job.name, template.main.resources, gpu, gpu_claim))
            job_claims.update(dict.fromkeys(claim for _, claim in gpu_claims))
            template = _with_pod_claims(
                _without_resources(template, [name for name, _ in gpu_claims]),
                [claim for _, claim in gpu_claims],
            )
        return template

    def attach_node(template: PodTemplate) -> PodTemplate:
        template = _with_pod_claims(attach(template), fabric_claims)
        if has_domain:
            channel = JobClaim(CHANNEL, device_claims.channel_template(job.name), "", 1)
            template = _with_domain_affinity(_with_pod_claims(template, [channel]), job, cluster)
        return template

    claimed = map_templates(job, attach_node, attach)

    return claimed._replace(claims=tuple(job_claims), compute_domain=has_domain)


def _gpu_claims(
    job: str, resources: Resources, gpu: str, gpu_claim: GpuClaim
) -> Iterator[tuple[str, JobClaim]]:
    """Yield the claims that replace a container's GPU amounts, each after the name of the
    resource that it replaces.
    """
    for name, text in resources.limits.items():
        amount = quantity.parse(text)
        if amount is None or amount.value < 1:
            continue

        if name.startswith(_MIG):
            mig_profile = name.removeprefix(_MIG).replace(".me", "+me")
            claim_name = f"mig-{mig_profile.replace('.', '-').replace('+', '-')}"
            selector = f"device.attributes['gpu.nvidia.com'].profile == '{mig_profile}'"
            selectors = (selector, *gpu_claim.selectors)
            device_class = gpu_claim.slice_device_class_name
        elif name == gpu:
            claim_name = GPU
            selectors = tuple(gpu_claim.selectors)
            device_class = gpu_claim.device_class_name
        else:
            continue

        template = f"{job}-{claim_name}-{amount.value}"
        yield (
            name,
            JobClaim(
                claim_name, template, device_class, amount.value, selectors, accelerators=True
            ),
        )


def _without_resources(template: PodTemplate, names: Collection[str]) -> PodTemplate:
    """Return the template without these resources, and without defaults for them."""
    if not names:
        return template
    return template._replace(
        main=template.main._replace(resources=template.main.resources.without(names))
    )


def _with_pod_claims(template: PodTemplate, job_claims: Iterable[JobClaim]) -> PodTemplate:
    """Return the template with the claims that it lacks by name, on the pod and on the main
    container.
    """
    existing = list(template.extra.get("resourceClaims") or ())
    missing = [
        claim for claim in job_claims if all(entry.get("name") != claim.name for entry in existing)
    ]
    if not missing:
        return template

    added = [{"name": claim.name, "resourceClaimTemplateName": claim.template} for claim in missing]
    return template._replace(
        main=_with_claims(template.main, [claim.name for claim in missing]),
        extra={**template.extra, "resourceClaims": [*existing, *added]},
    )


def _with_claims(main: Container, names: Iterable[str]) -> Container:
    resources = nested_map(main.extra, "resources")
    existing = list(resources.get("claims") or ())
    missing = [
        {"name": name} for name in names if all(entry.get("name") != name for entry in existing)
    ]
    return main._replace(
        extra={**main.extra, "resources": {**resources, "claims": [*existing, *missing]}}
    )


def _with_domain_affinity(template: PodTemplate, job: Job, cluster: ClusterProfile) -> PodTemplate:
    """Return the template with a required affinity to the job's other nodes, by the label of
    their NVLink domain.
    """
    from ptcompile.hardware.nodes import nvlink_domain

    entry = hardware.accelerator(cluster, job.accelerator)
    most = entry.nodes_per_domain if entry is not None else None
    if (
        job.peak_nodes == 1
        or job.topology is not None
        or (most is not None and job.peak_nodes > most)
        or template.affinity.get("podAffinity")
    ):
        return template

    labels = {DOMAIN_LABEL: job.name}
    term = {
        "labelSelector": {"matchLabels": labels},
        "topologyKey": nvlink_domain(cluster.spec.cloud),
    }

    return template._replace(
        labels={**labels, **template.labels},
        affinity={
            **template.affinity,
            "podAffinity": {REQUIRED: [term]},
        },
    )
