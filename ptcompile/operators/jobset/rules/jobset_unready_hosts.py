"""Host names are hidden until a readiness probe passes.

PTC447 jobset-unready-hosts: warning at run (fails), by jobset.
Needs: publishNotReadyAddresses readinessProbe

What: network.publishNotReadyAddresses is false, pods wait for one another, and a container has a
readinessProbe.

Why: DNS has no address for a pod that is not ready. Where the probe passes only after the ranks
have met, they never meet.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        network:
    -     publishNotReadyAddresses: false  # <--
    +     publishNotReadyAddresses: true
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
                          - --node-rank=$(JOB_COMPLETION_INDEX)
                          - --master-addr=train-node-0-0.train
                          - train.py
                        readinessProbe: {tcpSocket: {port: 8000}}
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: remove publishNotReadyAddresses: true is its default.

Source: JobSet 0.12; jobset#504; Kubernetes, publishNotReadyAddresses.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_value
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    if (
        nested_value(subject.spec, "network", "publishNotReadyAddresses") is not False
        or subject.min_nodes_to_start < 2
    ):
        return

    if any(
        nested_map(container.spec, "readinessProbe")
        for container in subject.containers
        if not container.is_init
    ):
        path = ("spec", "network", "publishNotReadyAddresses")
        yield found_at(
            path,
            f"no host name resolves before its pod is ready, and {subject.min_nodes_to_start} "
            "pods wait for one another",
            "remove it: true is the default",
            fix_setting("publish addresses of pods that are not ready", path, True),
        )
