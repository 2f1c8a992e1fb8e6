"""A pod requests more than the machine type that it selects has.

What: the pod selects an instance type, or an accelerator, by nodeSelector or required node affinity, and requests more
accelerators, network devices, CPUs or memory than any such machine has.

Why: no node fits, and no autoscaler can make one: the pod stays Pending.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge}
        tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
        volumes: [{name: shm, emptyDir: {medium: Memory}}]
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            volumeMounts: [{name: shm, mountPath: /dev/shm}]
            resources:
              limits:
                cpu: 64
                memory: 512Gi
    -           nvidia.com/gpu: 16  # <--
    +           nvidia.com/gpu: 8

Fix: request no more than the machine has, in more pods.

Source: machine types as of 2026-08: karpenter-provider-aws, cluster-autoscaler, Google Cloud's pages, oci-hpc-oke.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.machines import excess_requests
from ptcompile.linter.rule import Finding, Rule, Subject, found_at


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        for excess in excess_requests(template):
            if excess.misfit.left is None:
                maximum = f"{excess.misfit.has} ({excess.misfit.machine})"
                yield found_at(
                    excess.path,
                    f"{excess.text}: no machine with {excess.pins.label} has more than {maximum}",
                    f"request at most {excess.misfit.has} per pod",
                    severity=None if excess.pins.is_certain else "warning",
                )


RULE = Rule("fits-no-machine", _check, severity="error", stage="run", authority="ptcompile")
