"""A container that trains is privileged.

PTC820 privileged-training: warning at style (exposes), by ptcompile.
Needs: privileged

What: the container that trains has `privileged: true`.

Why: a privileged container is root on its node: it sees all devices, the GPUs of other pods among
them, and can escape its container. RDMA through a device plugin needs only the capability IPC_LOCK
and the plugin's resource. A pod that takes its devices from a hostPath such as /dev/infiniband, as
the guides of some clouds do, cannot open them otherwise: then this is a note.

Example: pod.yaml with

      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
      securityContext:
    -   privileged: true  # <--
    +   capabilities: {add: [IPC_LOCK]}

Fix: add the capabilities that are needed: IPC_LOCK for RDMA. For devices of a hostPath, install a
device plugin first.

Source: Kubernetes 1.36, Pod Security Standards (baseline); NVIDIA network operator 25, RDMA shared
devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import as_strings, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.volumes import node_devices
from ptcompile.world.templates import ManifestContainer


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        devices = node_devices(template)
        for container in template.main_containers:
            if not container.is_privileged:
                continue

            path = (*container.path, "securityContext", "privileged")
            if devices:
                yield found_at(
                    path,
                    f"the container is root on its node, to open what it takes from {devices} of "
                    "the node",
                    "to run without privileges, request the devices from a device plugin",
                    severity="note",
                )
                continue

            yield found_at(
                path,
                "the container is root on its node and sees all of its devices",
                "remove it; for RDMA add the capability IPC_LOCK",
                Fix("add only the capability IPC_LOCK", tuple(_edits(container, path))),
            )


def _edits(container: ManifestContainer, path: Path) -> Iterator[Edit]:
    """Yield the edits that replace `privileged` by the capability that RDMA needs."""
    yield Edit("remove", path)
    added = nested_value(container.spec, "securityContext", "capabilities", "add")
    capabilities_path = (*path[:-1], "capabilities", "add")
    if not isinstance(added, list):
        yield Edit("set", capabilities_path, ["IPC_LOCK"])
    elif "IPC_LOCK" not in as_strings(added):
        yield Edit("append", capabilities_path, "IPC_LOCK")
