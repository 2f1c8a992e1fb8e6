"""Fabric: everything that `spec.fabric` requires in the pods of training roles.

Adds devices to requests and limits, capabilities, annotations and variables; the rest comes from a
pod template that is merged under the job's. The job wins: a device amount, variable or annotation
that it sets, a capability that it drops. The profile's default variables win as well. Huge pages
are omitted if the pod requests neither cpu nor memory (Kubernetes would reject it), and
NCCL_SOCKET_IFNAME on the host network, whose interfaces have other names. The number of devices is
the one in the profile's entry, else the number on a whole node with the named accelerator, else the
fabric's minimum. The pass `shm` provides /dev/shm, for every job.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.spelling import is_short_number
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Context, Job, keep_template, map_templates
from ptcompile.ir.pods import Container, PodTemplate, Resources
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.spec import devices as hardware
from ptcompile.spec.checks import MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import Fabric

_INTERFACE = "NCCL_SOCKET_IFNAME"


def fabric(job: Job, context: Context) -> Job:
    """Add the devices, capabilities, annotations, variables and sidecars of the job's fabric to
    its training roles.
    """
    definition = hardware.fabric(context.cluster, job.fabric, job.accelerator)
    if definition is None:
        return job

    default_env = context.cluster.spec.defaults.env

    def attach(template: PodTemplate) -> PodTemplate:
        limits = template.main.resources.limits
        amounts = hardware.fabric_amounts(
            context.cluster,
            job.fabric,
            job.accelerator,
            hardware.count_accelerators(context.cluster, limits),
        )
        host = bool(template.extra.get("hostNetwork"))
        env = {
            k: v
            for k, v in definition.env.items()
            if k not in default_env and not (host and k == _INTERFACE)
        }
        main = _with_capabilities(template.main, definition)
        main = main.with_env((*main.missing_env(env), *main.env))
        main = main._replace(resources=_with_devices(main.resources, amounts))
        annotations = {
            **definition.annotations,
            **_network_annotation(definition, amounts),
            **template.annotations,
        }
        attached = template._replace(main=main, annotations=annotations)
        if definition.pod_template:
            return pod_template.merge_under(attached, definition.pod_template, MAIN)

        return attached

    return map_templates(job, attach, keep_template)


def _network_annotation(fabric: Fabric, amounts: Mapping[str, str]) -> dict[str, str]:
    """Return Multus' annotation, which repeats the fabric's device network once per device."""
    if not fabric.device_network:
        return {}
    count = max([int(amount) for amount in amounts.values() if is_short_number(amount)], default=1)
    return {"k8s.v1.cni.cncf.io/networks": ", ".join([fabric.device_network] * count)}


def _with_devices(resources: Resources, amounts: Mapping[str, str]) -> Resources:
    """Return the resources with the fabric's devices that they do not set, as equal requests and
    limits.
    """
    allows_huge_pages = bool({"cpu", "memory"} & {*resources.requests, *resources.limits})
    existing = {*resources.requests, *resources.limits}
    missing = {
        k: v
        for k, v in amounts.items()
        if k not in existing and (allows_huge_pages or not k.startswith("hugepages-"))
    }
    if missing:
        return resources.over(Resources(missing, missing))
    return resources


def _with_capabilities(main: Container, fabric: Fabric) -> Container:
    """Return the container with the fabric's capabilities that it neither adds nor drops; a
    privileged one has them all.
    """
    context = nested_map(main.extra, "securityContext")
    capabilities = nested_map(context, "capabilities")
    added, dropped = (list(capabilities.get(half) or ()) for half in ("add", "drop"))
    mentioned = {str(capability).removeprefix("CAP_") for capability in (*added, *dropped)}
    missing = [capability for capability in fabric.capabilities if capability not in mentioned]
    if not missing or context.get("privileged") or "ALL" in added:
        return main
    security_context = {**context, "capabilities": {**capabilities, "add": [*added, *missing]}}
    return main._replace(extra={**main.extra, "securityContext": security_context})
