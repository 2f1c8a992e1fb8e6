"""A group waits for more pods than there are.

PTC253 gang-above-pods: warning at run (waits), by kube-apiserver.
Needs: minCount

What: minCount of a PodGroup is above the number of pods in the stream that name it.

Why: kube-scheduler keeps every pod of the group back until minCount of them exist. They stay
Pending indefinitely, and nothing fails.

Example: gang_job.yaml with

      apiVersion: scheduling.k8s.io/v1beta1
      kind: PodGroup
      metadata: {name: train}
      spec:
        schedulingPolicy:
          gang:
    -       minCount: 8  # <--
    +       minCount: 4
      ---
      kind: Job

Fix: set minCount to the number of pods, or to the minimum of an elastic range.

Source: Kubernetes 1.37, pkg/scheduler/framework/plugins/gangscheduling, PreEnqueue.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.kube_scheduler.rules.reading import group_sizes


def check(subject: Subject) -> Findings:
    for path, size, members in group_sizes(subject):
        total = sum(member.pods for member in members)
        if size > total:
            yield found_at(
                path,
                f"the group waits for {size} pods, but at most {total} name it at a time: none of "
                "them is scheduled",
                f"set minCount to {total}",
                fix_setting(f"set minCount to {total}", path, total) if total else None,
            )
