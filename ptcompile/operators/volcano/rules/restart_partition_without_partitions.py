"""A policy restarts partitions of tasks that have none.

PTC730 restart-partition-without-partitions: warning at run (differs), by volcano.
Needs: RestartPartition

What: the action RestartPartition, where no task that the policy is about has a partitionPolicy.

Why: Volcano restarts the pods that share the failed pod's partition label. Without partitions there
is no such label, and nothing is restarted.

Example: volcano_job.yaml with

      minAvailable: 4
      policies:
        - {event: PodFailed, action: RestartPartition}  # <--
      tasks:
        - name: trainer
          replicas: 4
    +     partitionPolicy: {totalPartitions: 2, partitionSize: 2}

Fix: give the task a partitionPolicy, or use RestartTask or RestartJob.

Source: Volcano 1.14 and newer, lifecycle policies.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import lifecycle_policies


def check(subject: Subject) -> Findings:
    for policy in lifecycle_policies(subject):
        if policy.action != "RestartPartition" or not policy.tasks or policy.partitioned:
            continue
        path = (*policy.path, "action")
        yield found_at(
            path,
            f"{', '.join(task.name for _, task in policy.tasks[:3])} has no partitions to restart",
            "use RestartJob, or give the task a partitionPolicy",
            fix_setting("restart the job", path, "RestartJob"),
        )
