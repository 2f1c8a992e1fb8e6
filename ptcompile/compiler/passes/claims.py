"""Claims: devices that pods get by claim, of a DRA driver, where no device plugin counts them.

Three kinds. A channel of the job's ComputeDomain, where the fabric is an NVLink domain: the driver's controller makes
its template. The fabric's own devices, such as the RDMA ports of A4X Max. And, where the profile says that GPUs are
claimed, the GPUs and MIG slices that the job asks for, which then are no longer counted among its resources: the same
GPUs must not be asked for in both ways. A claim of that name that the job's pod template has stays as it is.

The nodes of a ComputeDomain are kept in one rack by a required affinity to each other, unless the job says how near its
pods are, or does not fit into one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile.ir import job as device_claims
from ptcompile.ir.job import CHANNEL, DOMAIN_LABEL, GPU, Context, Job, JobClaim, map_templates
from ptcompile.ir.pods import Container, PodTemplate, Resources
from ptcompile.kubernetes import quantity
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.pods import Json
    from ptcompile.spec.cluster_profile import ClusterProfile, GpuClaim

_MIG = "nvidia.com/mig-"


def claims(job: Job, context: Context) -> Job:
    """Pods claim what their fabric and the profile have them claim, and the job knows the templates."""
    cluster = context.cluster
    found, by_claim = hardware.fabric(cluster, job.fabric, job.accelerator), cluster.spec.gpu.claim
    domain = found is not None and found.compute_domain
    if by_claim is None and not domain and not (found and found.claims):
        return job
    of_fabric = [
        JobClaim(name, f"{job.name}-{name}", one.device_class_name, one.count, tuple(one.selectors))
        for name, one in (found.claims if found else {}).items()
    ]
    made: dict[JobClaim, None] = dict.fromkeys((*job.claims, *of_fabric))
    gpu = hardware.gpu_resource(cluster, job.accelerator)

    def attach(template: PodTemplate) -> PodTemplate:
        if by_claim is not None:
            own = list(_of_gpus(job.name, template.main.resources, gpu, by_claim))
            made.update(dict.fromkeys(claim for _, claim in own))
            template = _claiming(_without(template, [name for name, _ in own]), [claim for _, claim in own])
        return template

    def attach_node(template: PodTemplate) -> PodTemplate:
        template = _claiming(attach(template), of_fabric)
        if domain:
            channel = JobClaim(CHANNEL, device_claims.channel_template(job.name), "", 1)
            template = _near(_claiming(template, [channel]), job, cluster)
        return template

    done = map_templates(job, attach_node, attach)
    return done._replace(claims=tuple(made), compute_domain=domain)


def _of_gpus(job: str, resources: Resources, gpu: str, said: GpuClaim) -> Iterator[tuple[str, JobClaim]]:
    """The claims that stand for GPUs among a container's amounts, each with the resource that it replaces."""
    for name, text in resources.limits.items():
        amount = quantity.parse(text)
        if amount is None or amount.value < 1:
            continue
        if name.startswith(_MIG):
            part = name.removeprefix(_MIG).replace(".me", "+me")
            called = f"mig-{part.replace('.', '-').replace('+', '-')}"
            selector = f"device.attributes['gpu.nvidia.com'].profile == '{part}'"
            selectors = (selector, *said.selectors)
            yield name, JobClaim(called, f"{job}-{called}-{amount.value}", said.slice_device_class_name, amount.value,
                              selectors, accelerators=True)  # fmt: skip
        elif name == gpu:
            template = f"{job}-{GPU}-{amount.value}"
            yield name, JobClaim(GPU, template, said.device_class_name, amount.value, tuple(said.selectors),
                              accelerators=True)  # fmt: skip


def _without(template: PodTemplate, names: Iterable[str]) -> PodTemplate:
    """The template without these resources, nor from a level below."""
    gone = frozenset(names)
    if not gone:
        return template
    amounts = template.main.resources
    requests, limits = ({k: v for k, v in half.items() if k not in gone} for half in (amounts.requests, amounts.limits))
    nulls = amounts.nulls | {(half, name) for half in ("requests", "limits") for name in gone}
    return template._replace(main=template.main._replace(resources=Resources(requests, limits, nulls)))


def _claiming(template: PodTemplate, wanted: Iterable[JobClaim]) -> PodTemplate:
    """The template with claims that it has not by name, of the pod and of the container that trains."""
    there = list(template.extra.get("resourceClaims") or ())
    new = [one for one in wanted if all(claim.get("name") != one.name for claim in there)]
    if not new:
        return template
    added = [{"name": one.name, "resourceClaimTemplateName": one.template} for one in new]
    return template._replace(
        main=_with_claims(template.main, [one.name for one in new]),
        extra={**template.extra, "resourceClaims": [*there, *added]},
    )


def _with_claims(main: Container, names: Iterable[str]) -> Container:
    resources: Json = main.extra.get("resources") or {}
    there = list(resources.get("claims") or ())
    new = [{"name": name} for name in names if all(one.get("name") != name for one in there)]
    return main._replace(extra={**main.extra, "resources": {**resources, "claims": [*there, *new]}})


def _near(template: PodTemplate, job: Job, cluster: ClusterProfile) -> PodTemplate:
    """The template with a required affinity to the other nodes of the job, by the label of their NVLink domain."""
    from ptcompile.hardware.nodes import nvlink_domain

    entry = hardware.accelerator(cluster, job.accelerator)
    most = entry.nodes_per_domain if entry is not None else None
    if job.peak_nodes == 1 or job.topology is not None or (most is not None and job.peak_nodes > most):
        return template
    if template.affinity.get("podAffinity"):
        return template
    ours = {DOMAIN_LABEL: job.name}
    term = {"labelSelector": {"matchLabels": ours}, "topologyKey": nvlink_domain(cluster.spec.cloud)}
    return template._replace(
        labels={**ours, **template.labels},
        affinity={**template.affinity, "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
    )
