"""No machine type that a pod selects, or no node pool of the cluster, takes the pod.

PTC198 fits-no-machine: error at run (waits), by ptcompile.
Needs: instance/accelerator/product/@Node/@NodePool

What: the pod selects an instance type, or an accelerator, by nodeSelector or required node
affinity, and requests more accelerators, network devices, CPUs or memory than any such machine has.
Or no node pool of the profile takes it: the finding counts the pools by their first reason, in
kube-scheduler's order: taints, labels, resources. If the profile lists no pools, those of the files
count: Node objects and Karpenter's NodePools.

Why: no node fits, and no autoscaler can make one: the pod stays Pending. It is a warning if the
cluster may have other nodes: with `otherPools: true` in the profile, and if the profile lists no
pools.

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
                cpu: 64
                memory: 512Gi
    -           nvidia.com/gpu: 16  # <--
    +           nvidia.com/gpu: 8

Fix: request no more than the machine has, in more pods; tolerate the taint; select labels that the
nodes have.

Source: machine types as of 2026-08: karpenter-provider-aws, cluster-autoscaler, Google Cloud's
pages, oci-hpc-oke; Kubernetes 1.36, pkg/scheduler/framework/plugins; Karpenter 1.14,
pkg/controllers/provisioning/scheduling.
"""

from __future__ import annotations

from ptcompile.linter.machines import excess_requests
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import ManifestTemplate


def check(subject: Subject) -> Findings:
    pools = subject.stream.pools
    of_machines = []
    # listed pools are compared with their own machines below, as compile does
    if pools is None or not pools.is_listed:
        of_machines = [
            each for template in subject.templates for each in _machine_misfits(template)
        ]
    yield from of_machines
    if pools is not None and not of_machines:
        from ptcompile.linter.placement import pod_misfits

        yield from pod_misfits(subject, pools)


def _machine_misfits(template: ManifestTemplate) -> Findings:
    for excess in excess_requests(template):
        if excess.misfit.left is None:
            maximum = f"{excess.misfit.has} ({excess.misfit.machine})"
            yield found_at(
                excess.path,
                f"{excess.text}: no machine with {excess.pins.label} has more than {maximum}",
                f"request at most {excess.misfit.has} per pod",
                severity=None if excess.pins.is_certain else "warning",
            )
