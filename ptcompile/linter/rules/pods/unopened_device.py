"""A container mounts device files of its node that it may not open.

PTC121 unopened-device: warning at run (slows), by kubelet.
Needs: hostPath dev

What: a hostPath volume brings the device files of accelerators or of RDMA, such as /dev/infiniband,
and a container that mounts it is neither privileged nor requests the devices.

Why: the container sees the files, but its device cgroup allows only the devices that a device
plugin gives it: opening one of the others fails with "Operation not permitted". NCCL then falls
back to TCP, or a process finds no device.

Example: pod.yaml with

      spec:
    -   volumes: [{name: ib, hostPath: {path: /dev/infiniband}}]  # <--
        containers:
          - name: pytorch
            securityContext: {capabilities: {add: [IPC_LOCK]}}
    -       volumeMounts: [{name: ib, mountPath: /dev/infiniband}]
    -       resources: {limits: {cpu: 8, memory: 64Gi}}
    +       resources: {limits: {cpu: 8, memory: 64Gi, rdma/ib: 1}}

Fix: request the device of a device plugin, or make the container privileged.

Source: opencontainers/runc 1.3, libcontainer/specconv (the allowed devices); siderolabs/docs issue
566.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_string
from ptcompile.linter.devices import stacks
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        marks = nested_map(template.data, "metadata", "annotations")
        if template.spec.get("resourceClaims") or any("/container." in str(key) for key in marks):
            continue  # claims, and the annotations of GKE's injector, let containers open devices

        for name, (path, volume) in template.volumes.items():
            files = nested_string(volume, "hostPath", "path").rstrip("/")
            resources = tuple(
                prefix
                for stack in stacks()
                if files.startswith((*stack.files,))
                for prefix in stack.resources
            )
            if not resources:
                continue

            for container in template.containers:
                if not any(mount.get("name") == name for _, mount in container.mounts):
                    continue
                if not container.is_privileged and not any(
                    str(resource).startswith(resources) for resource in container.limits
                ):
                    yield found_at(
                        (*path, "hostPath"),
                        f"container {container.name} is not privileged: its device cgroup does "
                        f"not let it open {files}",
                        "request the device of a device plugin, or set securityContext.privileged",
                    )
