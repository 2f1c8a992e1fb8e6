"""minAvailable 0 is treated as all pods.

PTC233 min-available-zero: warning at run (differs), by volcano.
Needs: minAvailable

What: the job's minAvailable is written as 0.

Why: the webhook cannot tell 0 from unset, and fills in the sum over the tasks: instead of no gang
it is the whole job.

Example: volcano_job.yaml with

    - minAvailable: 0  # <--
    + minAvailable: 1
      tasks:
        - name: trainer
          replicas: 4

Fix: write 1 for pods that start one by one, or leave it out for a gang of all.

Source: Volcano 1.16, mutating webhook.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import volcano_job


def check(subject: Subject) -> Findings:
    min_available = subject.spec.get("minAvailable")
    if type(min_available) is int and min_available == 0:
        path = ("spec", "minAvailable")
        total = sum(task.min_available for task in volcano_job(subject).tasks)
        yield found_at(
            path,
            f"0 is treated as unset and becomes {total}: the whole job has to fit at once",
            "set minAvailable to 1 to start pods one by one, or remove it for a gang",
            fix_setting("set minAvailable to 1", path, 1),
        )
