"""Shared memory may fill the whole node.

PTC303 unbounded-shm: warning at run (risks), by kubelet.
Needs: emptyDir

What: a volume in memory without a sizeLimit is mounted in a pod that requests memory, and a
container has no memory limit.

Why: such a volume is bounded by its sizeLimit, or else by the pod's memory limits if every
container has one. With neither it can take all of the node's memory: the kernel then kills
processes of this pod and of other pods.

Example: gpu_pod.yaml with

      volumes:
        - name: dshm
    -     emptyDir: {medium: Memory}  # <--
    +     emptyDir: {medium: Memory, sizeLimit: 16Gi}
      containers:
        - name: pytorch
          resources: {requests: {cpu: 8, memory: 64Gi}}

Fix: give the volume a sizeLimit, or every container a memory limit.

Source: Kubernetes 1.36, emptyDir of medium Memory (its size is the least of the node's allocatable
memory, the pod's memory limit and the sizeLimit).
"""

from __future__ import annotations

from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import nested_string, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import is_in_memory
from ptcompile.world.templates import ManifestTemplate


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        mounted = {
            nested_string(mount, "name")
            for container in template.containers
            for _, mount in container.mounts
        }
        for name, (volume_path, volume) in template.volumes.items():
            if not is_in_memory(volume) or quantity.parse(
                nested_value(volume, "emptyDir", "sizeLimit")
            ):
                continue
            if name in mounted and _sets_memory(template) and not _is_bounded(template):
                yield found_at(
                    (*volume_path, "emptyDir"),
                    "no sizeLimit, and not every container has a memory limit: files in it can "
                    "fill the node's memory",
                    "add a sizeLimit",
                )


def _sets_memory(template: ManifestTemplate) -> bool:
    """Return whether the pod sets any memory request or limit. A pod without one is evicted
    first in any case.
    """
    return any(
        name == "memory" and amount
        for container in template.containers
        for _, name, amount in container.resources
    )


def _is_bounded(template: ManifestTemplate) -> bool:
    """Return whether the memory of the whole pod has a limit."""
    if nested_value(template.spec, "resources", "limits", "memory"):
        return True
    return all(container.limits.get("memory") for container in template.running_containers)
