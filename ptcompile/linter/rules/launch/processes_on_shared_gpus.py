"""A launcher starts several processes on GPUs that pods share.

PTC154 processes-on-shared-gpus: warning at run (fails), by ptcompile.
Needs: {NODE_LAUNCHERS} nvidia shared/sharing/@ConfigMap/@Node/@NodePool

What: a container of several processes requests more than one device of nodes that share their GPUs:
a `.shared` resource, a product label that ends in -SHARED, GKE's or NVIDIA's label of a sharing
strategy, time slicing or MPS in the ConfigMap of NVIDIA's device plugin in the same files, or
`gpu.sharing` in the profile. The labels are those that the pod selects, or those of all nodes or
pools that take it.

Why: such a device is a share of a GPU, and two of them may be of one: NCCL ends with "Duplicate GPU
detected", or the ranks share its memory. With `failRequestsGreaterThanOne`, with MPS (device plugin
up to 0.19, and by default later) and on GKE, the kubelet refuses the pod: "maximum request size for
shared resources is 1".

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        nodeSelector:
    -     nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB-SHARED
    +     nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB
        volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [torchrun, --standalone, --nproc-per-node=4, train.py]
            resources:
              limits:
                cpu: 8
                memory: 64Gi
                nvidia.com/gpu: 4  # <--
            volumeMounts: [{name: shm, mountPath: /dev/shm}]

Fix: select nodes with whole GPUs, or run one process in each pod.

Source: NVIDIA/k8s-device-plugin 0.20, README.md and internal/rm/rm.go (`ValidateRequest`); NCCL
2.27, init.cc.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.sharing import shares_of


def check(subject: Subject) -> Findings:
    for role in subject.training_roles:
        if not role.member.is_modeled or (role.rendezvous.processes or 0) < 2:
            continue
        for resource, count in role.pod.devices.items():
            shares = shares_of(role.pod.view.spec, resource, subject.stream) if count > 1 else None
            if shares is None or shares.strategy == "mig":
                continue

            why = "two of them may be of one GPU, which NCCL refuses (Duplicate GPU detected)"
            if shares.is_refused:
                why = "the kubelet refuses a request above 1 of shared GPUs"
            yield found_at(
                (*role.path, "resources", "limits", resource),
                f"{count} shares of GPUs ({shares.text}): {why}",
                "select nodes with whole GPUs, or run one process in each pod",
            )
