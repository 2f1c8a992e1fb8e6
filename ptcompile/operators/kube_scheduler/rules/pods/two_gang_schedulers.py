"""Pods name a group of kube-scheduler, but another scheduler places them.

PTC255 two-gang-schedulers: warning at run (differs), by kube-apiserver.
Needs: schedulingGroup/workloadRef

What: a pod template has schedulingGroup or workloadRef, and also the mark of another gang
scheduler's group, its schedulerName, or it belongs to a Volcano Job.

Why: each scheduler reads its own groups alone. Volcano and KAI ignore a PodGroup of
scheduling.k8s.io, and kube-scheduler ignores theirs: one of the two gangs, with its minimum and its
topology, has no effect.

Example: gang_job.yaml with

      apiVersion: scheduling.k8s.io/v1beta1
      kind: PodGroup
      metadata: {name: train}
      spec:
        schedulingPolicy: {gang: {minCount: 4}}
      ---
      restartPolicy: Never
    - schedulerName: volcano
      schedulingGroup: {podGroupName: train}  # <--

Fix: keep one gang scheduler: remove schedulingGroup and its PodGroup, or schedulerName and the
other mark.

Source: Kubernetes 1.37, pkg/scheduler/framework/plugins/gangscheduling; Volcano 1.16 and KAI 0.15,
whose schedulers have their own PodGroups.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kube_scheduler.rules.reading import (
    SCHEDULER,
    group_of_template,
    groups_of_template,
)
from ptcompile.operators.table import BY_GANG_SCHEDULER
from ptcompile.world.templates import ManifestTemplate


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        group = group_of_template(template, subject)
        if group is None:
            continue

        path = (*template.path, *group.path)
        *_, field, _ = group.path
        placer = _other_scheduler(template, subject)
        schedulers = [item.scheduler for item in groups_of_template(template, subject)]
        other = next((name for name in schedulers if name != SCHEDULER), None)
        if placer:
            yield found_at(
                path,
                f"{placer}, which does not read the {group.kind} {group.name}",
                f"remove {field}, or let kube-scheduler place the pods",
            )
        elif other is not None:
            yield found_at(
                path,
                f"the pods name a group of kube-scheduler and one of {other}: only one of "
                "them places the pods",
                f"remove {field}, or the group of {other}",
            )


def _other_scheduler(template: ManifestTemplate, subject: Subject) -> str:
    """Return the clause about the other scheduler that places the pods, or ""."""
    name = nested_value(template.data, "spec", "schedulerName") or subject.spec.get("schedulerName")
    if name in {operator.gangs().scheduler_name for operator in BY_GANG_SCHEDULER.values()} - {""}:
        return f"schedulerName is {name}"
    if subject.kind.api_version.startswith("batch.volcano.sh/"):
        return "Volcano schedules its Jobs itself"
    return ""
