"""A pod bypasses the scheduler.

What: a pod template of a job, or a Pod that requests accelerators, sets nodeName.

Why: no scheduler checks whether the node has room. If it does not, the kubelet rejects the pod (OutOfcpu,
UnexpectedAdmissionError) and the pod fails; all pods of a template go to the one node; queues and gangs are
bypassed.

Example:

      apiVersion: batch/v1
      kind: Job
      metadata: {name: train}
      spec:
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
    -       nodeName: gpu-node-7  # <--
    +       nodeSelector: {kubernetes.io/hostname: gpu-node-7}
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command: [python, train.py]
                resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: choose the node with nodeSelector, so that the scheduler checks its free resources.

Source: Kubernetes 1.36, assigning pods to nodes; kubelet 1.36, admission of pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import as_string
from ptcompile.linter.devices import accelerators
from ptcompile.linter.rule import Finding, Rule, Subject, found_at

_HOSTNAME = "kubernetes.io/hostname"


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        node = as_string(template.spec.get("nodeName"))
        if not node or (not template.path and not any(accelerators(container) for container in template.containers)):
            continue  # a Pod that was read back from a cluster has a nodeName too
        path = (*template.path, "spec", "nodeName")
        selector = (*template.path, "spec", "nodeSelector", _HOSTNAME)
        yield found_at(
            path,
            f"{node} bypasses the scheduler, whether or not the node has room",
            f"use nodeSelector {_HOSTNAME}: {node}",
            Fix("choose the node with nodeSelector", (Edit("remove", path), Edit("set", selector, node)), safe=False),
        )


RULE = Rule("node-name-set", _check, severity="warning", stage="run", authority="kubelet")
