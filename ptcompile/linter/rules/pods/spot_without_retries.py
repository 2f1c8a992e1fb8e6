"""A job on preemptible machines ends with the first preemption.

PTC777 spot-without-retries: warning at run (risks), by ptcompile.
Needs: spot/preemptible/scalesetpriority/capacityType/capacity

What: the pods run only on spot or preemptible nodes, and when one is lost, nothing recreates it.

Why: with most operators a preemption counts as a failed pod. With no retries left the job fails,
regardless of its progress.

Example: job.yaml with

    - backoffLimit: 0  # <--
    + backoffLimit: 6
      template:
        spec:
          nodeSelector: {cloud.google.com/gke-spot: "true"}
          containers:
            - name: pytorch
              command: [torchrun, --standalone, train.py]
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: allow retries, or ignore pods with the condition DisruptionTarget in podFailurePolicy.

Source: Kubernetes 1.36, backoffLimit and pod disruption conditions; labels of GKE, AKS, EKS and
Karpenter.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.spot import spot_label

_LIMIT_PATHS: tuple[Path, ...] = (("spec", "backoffLimit"), ("spec", "runPolicy", "backoffLimit"))


def check(subject: Subject) -> Findings:
    if subject.kind.name == "Pod":
        return  # a bare Pod has no retries

    for template in subject.templates:
        label = spot_label(template)
        if label is None:
            continue
        lost = subject.lost_pod(template.role)
        if lost is not None and lost.recreated == "none":
            limits = (
                path
                for path in _LIMIT_PATHS
                if path[-1] in nested_map(subject.manifest, *map(str, path[:-1]))
            )
            path = next(limits, template.spec_path)
            yield found_at(
                path,
                f"the pods run on machines that can be preempted ({label}), but no pod is "
                "recreated: the first preemption ends the job",
                "allow retries",
            )
            return
