"""A pod uses the network of one cloud but selects machines of another.

PTC177 fabric-of-another-cloud: error at run (waits), by ptcompile.
Needs: instance/accelerator efa/GPUDIRECTTCPX/FASTRAK/NET

What: the pod selects an instance type or an accelerator of one cloud, and requests
vpc.amazonaws.com/efa or sets the variables of GPUDirect-TCPX, -TCPXO or gIB, which only another
cloud has.

Why: no node of that cloud has the device, and the pod stays Pending; or its plugin is missing, and
NCCL stops when the first collective starts.

Example: pod.yaml with

      spec:
        nodeSelector: {cloud.google.com/gke-accelerator: nvidia-h100-80gb}
        volumes: [{name: shm, emptyDir: {medium: Memory}}]
        containers:
          - name: pytorch
            volumeMounts: [{name: shm, mountPath: /dev/shm}]
            resources:
              limits:
                cpu: 64
                memory: 512Gi
                nvidia.com/gpu: 8
    -           vpc.amazonaws.com/efa: 32  # <--

Fix: use the network of the cloud that the pod runs on, and remove the settings of the other cloud.

Source: EKS user guide, node-efa; GoogleCloudPlatform/container-engine-accelerators, gpudirect-tcpx,
gpudirect-tcpxo and gpudirect-rdma (2026-06).
"""

from __future__ import annotations

from ptcompile.hardware.fabric_machines import home_of
from ptcompile.linter.machines import missing_fabrics
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for usage in missing_fabrics(template):
            home = home_of(usage.fabric)
            if home != usage.pins.cloud:
                yield found_at(
                    usage.path,
                    f"{usage.text} is for {usage.fabric}, which only nodes of {home} have, but the "
                    f"pod selects {usage.pins.label} of {usage.pins.cloud}",
                    f"remove it, or select machines of {home}",
                )
