"""A container that trains has nearly the power of root on the node.

PTC877 powerful-capability: warning at style (exposes), by ptcompile.
Needs: capabilities admin/all

What: the container that trains has the capability SYS_ADMIN, or all capabilities.

Why: SYS_ADMIN mounts file systems and leaves namespaces: with it a container is close to
privileged. Training needs neither; RDMA needs IPC_LOCK, profilers SYS_PTRACE or PERFMON.

Example: pod.yaml with

      command: [torchrun, --standalone, train.py]
      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
    - securityContext: {capabilities: {add: [SYS_ADMIN]}}  # <--
    + securityContext: {capabilities: {add: [IPC_LOCK]}}

Fix: remove it, or add only the capability that is needed.

Source: Linux 6.x, capabilities(7); Kubernetes 1.36, Pod Security Standards, baseline.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import as_list, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at

_POWERFUL_CAPABILITIES = ("SYS_ADMIN", "ALL")


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        added = as_list(nested_value(container.spec, "securityContext", "capabilities", "add"))
        if not container.is_main or container.is_privileged:
            continue
        for i, name in enumerate(added):
            if str(name).removeprefix("CAP_") in _POWERFUL_CAPABILITIES:
                yield found_at(
                    (*container.path, "securityContext", "capabilities", "add", i),
                    f"{name} is almost equivalent to privileged: it opens the node to the "
                    "training code",
                    "remove it, or add only the capability that the training needs",
                )
