"""Fabric: the one word of the spec as all that it takes, in every pod that trains.

Devices in requests and limits, capabilities, annotations, variables and, for the rest, a pod template below the job's.
What the job says stands: a device it counts, a variable it sets, an annotation, a capability it drops. So do the
profile's default variables. Huge pages are left out where the pod asks for neither cpu nor memory (Kubernetes refuses
them then), and NCCL_SOCKET_IFNAME on the host's network, whose interfaces have other names. As many devices are asked
for as the profile's entry says, else as come with the named accelerator on a whole node, else what the fabric has as
its least. /dev/shm is the pass of that name's, for every job.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Context, Job, keep_template, map_templates
from ptcompile.ir.pods import Container, PodTemplate, Resources
from ptcompile.spec import devices as hardware
from ptcompile.spec.checks import MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.pods import Json
    from ptcompile.spec.cluster_profile import Fabric

_INTERFACE = "NCCL_SOCKET_IFNAME"


def fabric(job: Job, context: Context) -> Job:
    """Each role's pods get the devices, capabilities, annotations, variables and daemons of the job's fabric."""
    found = hardware.fabric(context.cluster, job.fabric, job.accelerator)
    if found is None:
        return job
    theirs = context.cluster.spec.defaults.env

    def attach(template: PodTemplate) -> PodTemplate:
        limits = template.main.resources.limits
        amounts = hardware.fabric_amounts(
            context.cluster, job.fabric, job.accelerator, hardware.accelerators_in(context.cluster, limits)
        )
        host = bool(template.extra.get("hostNetwork"))
        env = {k: v for k, v in found.env.items() if k not in theirs and not (host and k == _INTERFACE)}
        main = _with_env(_with_capabilities(template.main, found), env)
        main = main._replace(resources=_with_devices(main.resources, amounts))
        annotations = {**found.annotations, **_networks(found, amounts), **template.annotations}
        whole = template._replace(main=main, annotations=annotations)
        return pod_template.merge_under(whole, found.pod_template, MAIN) if found.pod_template else whole

    return map_templates(job, attach, keep_template)


def _networks(found: Fabric, amounts: Mapping[str, str]) -> dict[str, str]:
    """The annotation of Multus, in which the network of the fabric's devices stands once for each."""
    if not found.device_network:
        return {}
    count = max([int(amount) for amount in amounts.values() if amount.isdigit()], default=1)
    return {"k8s.v1.cni.cncf.io/networks": ", ".join([found.device_network] * count)}


def _with_devices(resources: Resources, amounts: Mapping[str, str]) -> Resources:
    """The amounts with those of the fabric where they say nothing, equal in both halves."""
    pages = bool({"cpu", "memory"} & {*resources.requests, *resources.limits})
    there = {*resources.requests, *resources.limits}
    new = {k: v for k, v in amounts.items() if k not in there and (pages or not k.startswith("hugepages-"))}
    return resources.over(Resources(new, new)) if new else resources


def _with_env(main: Container, env: Mapping[str, str]) -> Container:
    there = {entry.get("name") for entry in main.env}
    front: list[Json] = [{"name": k, "value": v} for k, v in env.items() if k not in there]
    return main._replace(env=(*front, *main.env))


def _with_capabilities(main: Container, found: Fabric) -> Container:
    """The container with the capabilities that it lacks and does not drop by name; a privileged one has them all."""
    context: Json = main.extra.get("securityContext") or {}
    capabilities: Json = context.get("capabilities") or {}
    added, dropped = (list(capabilities.get(half) or ()) for half in ("add", "drop"))
    said = {str(one).removeprefix("CAP_") for one in (*added, *dropped)}
    new = [one for one in found.capabilities if one not in said]
    if not new or context.get("privileged") or "ALL" in added:
        return main
    wanted = {**context, "capabilities": {**capabilities, "add": [*added, *new]}}
    return main._replace(extra={**main.extra, "securityContext": wanted})
