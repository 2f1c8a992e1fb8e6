"""A policy on PodPending has no timeout and is ignored.

PTC728 pending-policy-without-timeout: warning at run (differs), by volcano.
Needs: PodPending

What: a policy names the event PodPending and no timeout.

Why: the event is sent when a pod has been pending for the policy's timeout; without one it is never
sent.

Example: volcano_job.yaml with

      minAvailable: 1
      policies:
    -   - {event: PodPending, action: RestartJob}  # <--
    +   - {event: PodPending, action: RestartJob, timeout: 10m}

Fix: write a timeout.

Source: Volcano 1.12 and newer, lifecycle policies.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import lifecycle_policies


def check(subject: Subject) -> Findings:
    for policy in lifecycle_policies(subject):
        if "PodPending" in policy.events and not policy.data.get("timeout"):
            yield found_at(
                policy.path,
                f"PodPending without a timeout never fires, so {policy.action} never happens",
                "write a timeout, such as 10m",
                fix_setting("set timeout to 10m", (*policy.path, "timeout"), "10m"),
            )
