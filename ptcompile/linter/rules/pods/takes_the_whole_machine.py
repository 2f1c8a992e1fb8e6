"""A pod requests all CPUs or all memory of the machine type that it selects.

PTC199 takes-the-whole-machine: warning at run (waits), by kubelet.
Needs: instance/accelerator/product

What: the pod selects an instance type or an accelerator, and requests more CPU or memory than such
a machine has for pods after the reservations of the kubelet and the system.

Why: pods cannot use the part that the kubelet reserves: the machine is large enough, but its node
never is. The pod stays Pending.

Example: pod.yaml with

      spec:
        nodeSelector: {node.kubernetes.io/instance-type: p5.48xlarge}
        tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
        volumes: [{name: shm, emptyDir: {medium: Memory}}]
        containers:
          - name: pytorch
            volumeMounts: [{name: shm, mountPath: /dev/shm}]
            resources:
              limits:
    -           cpu: 192  # <--
    +           cpu: 180
                memory: 512Gi
                nvidia.com/gpu: 8

Fix: request less; DaemonSets need their share too.

Source: reservations of GKE, EKS and AKS as Karpenter's providers compute them (2026-08).
"""

from __future__ import annotations

from ptcompile.linter.machines import excess_requests
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for excess in excess_requests(template):
            if excess.misfit.left is not None:
                has = f"{excess.misfit.has}, {excess.misfit.machine}"
                allocatable = excess.misfit.left
                yield found_at(
                    excess.path,
                    f"{excess.text}: of its {has} leaves {allocatable}",
                    "request less: DaemonSets need their share too",
                )
