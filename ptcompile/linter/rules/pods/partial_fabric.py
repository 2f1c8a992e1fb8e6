"""A pod has only some of the settings that its network fabric needs.

What: the variables of RDMA, EFA or GPUDirect are set but the device, capability, network or daemon that they need is
missing; or the reverse; or a variable turns off the device that the container requests.

Why: NCCL falls back to TCP, silently and ten times slower, or stops when the first collective starts.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        failurePolicy: {maxRestarts: 3}
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 2
                parallelism: 2
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        command:
                          - torchrun
                          - --nnodes=2
                          - --rdzv-backend=c10d
                          - --rdzv-endpoint=train-node-0-0.train:29400
                          - train.py
    -                   env:
    -                     - {name: NCCL_IB_DISABLE, value: "1"}  # <--
                        securityContext: {capabilities: {add: [IPC_LOCK]}}
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1, rdma/hca: 1}}

Fix: add the missing setting that the message names, or remove the other settings.

Source: NCCL 2.27 environment variables; aws-ofi-nccl 1.15; RDMA shared device plugin 1.5; GKE's GPUDirect guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.hardware.fabric_gaps import gaps
from ptcompile.kubernetes.unstructured import as_string, get, nested_map
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.world.templates import ManifestTemplate


def _check(subject: Subject) -> Iterator[Finding]:
    has_accelerators = any(container.accelerators for container in subject.containers)
    for template in subject.templates:
        if has_accelerators and not _has_devices(template):
            continue  # a head or a driver passes the variables on
        for gap in gaps(template.data):
            path = (*template.path, *gap.path)
            if not _is_loopback(subject, path):
                yield found_at(path, f"{gap.message}", gap.help)


def _has_devices(template: ManifestTemplate) -> bool:
    """Return whether a container of the template requests or claims any device."""
    return any(
        nested_map(container.spec, "resources").get("claims") or any("/" in name for name in container.limits)
        for container in template.containers
    )


def _is_loopback(subject: Subject, path: tuple[str | int, ...]) -> bool:
    """Return whether the value is lo, which loopback-interface reports."""
    return as_string(get(subject.manifest, path)).lstrip("=") == "lo"


RULE = Rule("partial-fabric", _check, severity="warning", stage="run", authority="ptcompile")
