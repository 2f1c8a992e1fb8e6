"""A pod group of Kueue waits for pods that the files do not have, or has more than it counts.

PTC283 incomplete-pod-group: warning at run (waits), by kueue.
Needs: kueue count

What: Pods of one group have the annotation kueue.x-k8s.io/pod-group-total-count with another number
than the files have Pods of that group.

Why: Kueue admits a group when all its pods exist. With fewer they keep their scheduling gate; pods
above the number are deleted.

Example:

      apiVersion: v1
      kind: Pod
      metadata:
        name: train-0
        labels: {kueue.x-k8s.io/queue-name: research, kueue.x-k8s.io/pod-group-name: train}
        annotations:
    -     kueue.x-k8s.io/pod-group-total-count: "3"  # <--
    +     kueue.x-k8s.io/pod-group-total-count: "2"
      spec:
        restartPolicy: Never
        containers: [{name: pytorch, image: "ghcr.io/acme/train:1.0", resources: {requests: {cpu: 1, memory: 1Gi}}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata:
        name: train-1
        labels: {kueue.x-k8s.io/queue-name: research, kueue.x-k8s.io/pod-group-name: train}
        annotations: {kueue.x-k8s.io/pod-group-total-count: "2"}
      spec:
        restartPolicy: Never
        containers: [{name: pytorch, image: "ghcr.io/acme/train:1.0", resources: {requests: {cpu: 1, memory: 1Gi}}}]

Fix: write the number of pods, or add the missing ones.

Source: Kueue 0.19, pkg/controller/jobs/pod/pod_controller.go ("fewer runnable pods than expected";
excess pods).
"""

from __future__ import annotations

from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kueue.queues import GROUP, GROUP_SIZE

_POD = ("v1", "Pod")


def check(subject: Subject) -> Findings:
    group = nested_string_map(subject.metadata, "labels").get(GROUP)
    total = atoi(nested_string_map(subject.metadata, "annotations").get(GROUP_SIZE, ""))
    if subject.kind != _POD or not group or total is None:
        return

    count = 0
    for pod in subject.neighbors.of_kind(_POD):
        count += nested_string_map(pod, "metadata", "labels").get(GROUP) == group
    if count > 1 and count != total:
        if count < total:
            fate = "all of them wait for the others"
        else:
            fate = f"Kueue deletes {count - total} of them"

        yield found_at(
            ("metadata", "annotations", GROUP_SIZE),
            f"the group {group} counts {total} pods, but the files have {count}: {fate}",
            f"write {count}, or make it {total} pods",
            on_key=True,
        )
