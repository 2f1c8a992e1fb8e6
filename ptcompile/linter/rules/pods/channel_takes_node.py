"""A pod that claims a channel of a ComputeDomain keeps a node's other GPUs from pods of the domain.

PTC155 channel-takes-node: note at style, by ptcompile.
Needs: resourceClaims @ComputeDomain

What: a pod claims an IMEX channel of a ComputeDomain of the same files, and requests fewer GPUs
than the machine type that it selects has.

Why: NVIDIA's DRA driver has one channel for each node, so one pod on each node can have the claim.
The domain's other pods need other nodes, and the rest of the GPUs is left to pods without the
claim.

Example:

      apiVersion: resource.nvidia.com/v1beta1
      kind: ComputeDomain
      metadata: {name: domain}
      spec: {numNodes: 0, channel: {resourceClaimTemplate: {name: channel}}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        nodeSelector: {node.kubernetes.io/instance-type: p6e-gb200.36xlarge}
        resourceClaims:
          - name: channel
            resourceClaimTemplateName: channel  # <--
        volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources:
    -         limits: {cpu: 16, memory: 64Gi, nvidia.com/gpu: 1}
    +         limits: {cpu: 16, memory: 64Gi, nvidia.com/gpu: 4}
              claims: [{name: channel}]
            volumeMounts: [{name: shm, mountPath: /dev/shm}]

Fix: request all GPUs of a node in one pod.

Source: NVIDIA DRA driver 25.12, ComputeDomains; NVIDIA/nvcf#1572.
"""

from __future__ import annotations

from ptcompile.linter.devices import CHANNEL_CLASS, claims_of, count_whole_gpus, source_of_claim
from ptcompile.linter.machines import pinned_machines
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        pins = pinned_machines(template)
        machines = pins.machines if pins is not None else ()
        least = min((machine.devices for machine in machines), default=0)
        gpus = sum(map(count_whole_gpus, template.containers))
        if not 0 < gpus < least:
            continue

        for claim in claims_of(template):
            source = source_of_claim(subject, claim)
            if source is not None and CHANNEL_CLASS in source.classes:
                yield found_at(
                    claim.path,
                    "one pod per node can have a ComputeDomain's channel, and this one uses "
                    f"{gpus} of {least} GPUs",
                    "request all GPUs of a node in one pod",
                )
