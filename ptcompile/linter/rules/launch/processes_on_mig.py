"""Several processes of a pod train on slices of a GPU.

PTC176 processes-on-mig: warning at run (fails), by ptcompile.
Needs: {NODE_LAUNCHERS} mig/nvidia mig/@Node/@NodePool

What: a launcher starts several processes in a container whose devices are MIG slices: by their
resource name, or on nodes whose product label has -MIG-, where nvidia.com/gpu counts slices
(strategy single).

Why: CUDA shows a process one MIG slice, the first, and NCCL does not connect slices of one GPU. The
processes find one device, or none.

Example: pod.yaml with

      containers:
        - name: pytorch
          command:
            - torchrun
            - --standalone
    -       - --nproc-per-node=2  # <--
    +       - --nproc-per-node=1
            - train.py
    -     resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/mig-1g.5gb: 2}}
    -     volumeMounts: [{name: shm, mountPath: /dev/shm}]
    - volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]
    +     resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/mig-1g.5gb: 1}}

Fix: run one process per pod on a slice, or request whole GPUs.

Source: NVIDIA MIG user guide, R570: a CUDA process enumerates one MIG device; NCCL 2.27, no P2P
between MIG devices.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import Json
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.sharing import shares_of
from ptcompile.world.workload import Stream


def check(subject: Subject) -> Findings:
    for role in subject.training_roles:
        processes = role.rendezvous.processes or 0
        if processes < 2 or not role.member.is_modeled:
            continue

        slices = [
            name
            for name in role.pod.devices
            if _are_slices(name, role.pod.view.spec, subject.stream)
        ]
        if slices:
            yield found_at(
                role.path_of("nproc-per-node"),
                f"{processes} processes on {slices[0]}: each sees one MIG slice, and NCCL cannot "
                "connect slices",
                "run one process per pod, or request whole GPUs",
            )


def _are_slices(name: str, spec: Json, stream: Stream) -> bool:
    shares = shares_of(spec, name, stream)
    return name.startswith("nvidia.com/mig-") or (shares is not None and shares.strategy == "mig")
