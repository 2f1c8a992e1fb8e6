"""A PodGroup has another priority than its pods.

PTC256 pod-group-priority: warning at run (differs), by kube-apiserver.
Needs: PodGroup

What: the pods name a priorityClassName, and their PodGroup none or another one.

Why: kube-scheduler queues and preempts a group by the priority of the PodGroup. Without a class it
is that of the cluster's default class, or 0: the pods' class has no effect on when the group is
scheduled.

Example: gang_job.yaml with

      apiVersion: scheduling.k8s.io/v1beta1
      kind: PodGroup
      metadata: {name: train}
      spec:
    +   priorityClassName: high
        schedulingPolicy:  # <--
          gang: {minCount: 4}
      ---
      restartPolicy: Never
      priorityClassName: high

Fix: write the pods' priorityClassName into the PodGroup.

Source: Kubernetes 1.37, PodGroupSpec.priorityClassName; kubernetes/enhancements#5710.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.kube_scheduler.rules.reading import members_of

_HAS_PRIORITY = (1, 37)
"""The release without a feature gate for it (docs/facts/gangs.md#releases)."""


def check(subject: Subject) -> Findings:
    if subject.kind.name != "PodGroup" or subject.stream.versions.kubernetes < _HAS_PRIORITY:
        return

    classes = {member.priority_class for member in members_of(subject)}
    group_class = subject.spec.get("priorityClassName")
    pod_class = min(classes, default="")
    if len(classes) != 1 or not pod_class or subject.spec.get("priority") is not None:
        return
    if group_class == pod_class:
        return

    path = ("spec", "priorityClassName")
    yield found_at(
        path if group_class else ("spec", "schedulingPolicy"),
        f"its pods have the priority class {pod_class}, but the group, which is what the scheduler "
        f"queues, has {group_class or 'none'}",
        f"set priorityClassName of the PodGroup to {pod_class}",
        fix_setting(f"set priorityClassName to {pod_class}", path, pod_class),
        on_key=not group_class,
    )
