"""A container that trains is privileged.

What: the container that trains has `privileged: true`.

Why: a privileged container is root on its node: it sees all devices, the GPUs of other pods among them, and can escape
its container. RDMA needs only the capability IPC_LOCK and the device plugin's resource.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
            securityContext:
    -         privileged: true  # <--
    +         capabilities: {add: [IPC_LOCK]}

Fix: add the capabilities that are needed: IPC_LOCK for RDMA.

Source: Kubernetes 1.36, Pod Security Standards (baseline); NVIDIA network operator 25, RDMA shared devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import as_strings, nested_map
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.templates import ManifestContainer


def _check(subject: Subject) -> Iterator[Finding]:
    for container in subject.containers:
        if container.is_main and nested_map(container.spec, "securityContext").get("privileged") is True:
            path = (*container.path, "securityContext", "privileged")
            yield found_at(
                path,
                "the container is root on its node and sees all of its devices",
                "remove it; for RDMA add the capability IPC_LOCK",
                Fix("add only the capability IPC_LOCK", tuple(_edits(container, path)), safe=False),
            )


def _edits(container: ManifestContainer, path: Path) -> Iterator[Edit]:
    yield Edit("remove", path)
    added = nested_map(container.spec, "securityContext", "capabilities").get("add")
    capabilities_path = (*path[:-1], "capabilities", "add")
    if not isinstance(added, list):
        yield Edit("set", capabilities_path, ["IPC_LOCK"])
    elif "IPC_LOCK" not in as_strings(added):
        yield Edit("append", capabilities_path, "IPC_LOCK")


RULE = Rule("privileged-training", _check, severity="warning", stage="style", authority="ptcompile")
