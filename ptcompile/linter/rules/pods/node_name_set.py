"""A pod bypasses the scheduler.

PTC202 node-name-set: warning at run (risks), by kubelet.
Needs: nodeName

What: a pod template of a job, or a Pod that requests accelerators, sets nodeName.

Why: no scheduler checks whether the node has room. If it does not, the kubelet rejects the pod
(OutOfcpu, UnexpectedAdmissionError) and the pod fails; on a node without the device plugin the
kubelet drops the request, and the pod starts without a GPU; all pods of a template go to the one
node; queues and gangs are bypassed.

Example: job.yaml with

      restartPolicy: Never
    - nodeName: gpu-node-7  # <--
    + nodeSelector: {kubernetes.io/hostname: gpu-node-7}
      containers:
        - name: pytorch
          resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: choose the node with nodeSelector, so that the scheduler checks its free resources.

Source: Kubernetes 1.36, assigning pods to nodes; kubelet 1.36, pkg/kubelet/lifecycle/predicate.go
(removeMissingExtendedResources).
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.resources import count, is_accelerator
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import ManifestTemplate

_HOSTNAME = "kubernetes.io/hostname"


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        node = nested_string(template.spec, "nodeName")
        if not node or not (template.path or template.accelerators):
            continue  # a Pod that was read back from a cluster has a nodeName too

        path = (*template.spec_path, "nodeName")
        selector = (*template.spec_path, "nodeSelector", _HOSTNAME)
        yield found_at(
            path,
            f"{node} bypasses the scheduler, whether or not the node has room{_need_of(template)}",
            f"use nodeSelector {_HOSTNAME}: {node}",
            Fix(
                "choose the node with nodeSelector",
                (Edit("remove", path), Edit("set", selector, node)),
            ),
        )


def _need_of(template: ManifestTemplate) -> str:
    """Return what the node must have for all pods of the template, as a clause, or ""."""
    limits = {
        name: amount
        for container in template.main_containers
        for name, amount in container.limits.items()
    }
    resource = next((name for name in limits if is_accelerator(name)), None)
    if resource is None:
        return ""

    pods = "the pod" if template.replicas == 1 else f"its {template.replicas} pods"
    return (
        f" for the {count(limits[resource]) * template.replicas} {resource} of {pods}: the kubelet "
        f"refuses a pod that finds too few (OutOf{resource}), and starts it without any where no "
        "device plugin runs"
    )
