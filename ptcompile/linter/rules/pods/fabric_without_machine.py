"""A pod uses a network that the machines it selects do not have.

PTC178 fabric-without-machine: warning at run (waits), by ptcompile.
Needs: instance/accelerator efa/GPUDIRECTTCPX/FASTRAK/NET

What: the pod selects an instance type or an accelerator, and requests vpc.amazonaws.com/efa or sets
the variables of GPUDirect-TCPX, -TCPXO or gIB, which the cloud offers only on other machines.

Why: no such node has the device, and the pod stays Pending; or its plugin is missing, and NCCL
falls back to TCP or stops when the first collective starts.

Example: pod.yaml with

      spec:
    -   nodeSelector: {node.kubernetes.io/instance-type: g6.4xlarge}
    +   nodeSelector: {node.kubernetes.io/instance-type: g6.8xlarge}
        containers:
          - name: pytorch
            securityContext: {capabilities: {add: [IPC_LOCK]}}
            resources:
              limits:
                cpu: 8
                memory: 32Gi
                nvidia.com/gpu: 1
                vpc.amazonaws.com/efa: 1  # <--

Fix: select machines that have the network, or use the one they have.

Source: machine types as of 2026-08: karpenter-provider-aws and Google Cloud's pages on
accelerator-optimized machines.
"""

from __future__ import annotations

from ptcompile.hardware.fabric_machines import (
    accelerators_with,
    fabrics_of,
    home_of,
    shorten,
    without_fabric,
)
from ptcompile.linter.machines import missing_fabrics
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for usage in missing_fabrics(template):
            cloud = usage.pins.cloud
            if home_of(usage.fabric) == cloud:
                offered = fabrics_of([machine.name for machine in usage.pins.machines])
                reason = without_fabric(usage.fabric, cloud, usage.pins.label, offered)
                suitable = shorten(accelerators_with(usage.fabric, cloud))
                yield found_at(
                    usage.path,
                    f"{usage.text} is for {usage.fabric}, but {reason}",
                    f"select machines that have it, such as those with {suitable}",
                )
