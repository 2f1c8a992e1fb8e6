"""More pods have to succeed than exist.

PTC724 min-success-above-pods: error at run (fails), by volcano.
Needs: minSuccess

What: minSuccess is above the number of all tasks' replicas.

Why: when all pods have succeeded the number is still not reached, and Volcano says that the job
failed.

Example: volcano_job.yaml with

      minAvailable: 2
    - minSuccess: 3  # <--
    + minSuccess: 2
      tasks:
        - name: trainer
          replicas: 2

Fix: set minSuccess to at most the number of pods, or remove it.

Source: Volcano 1.16, job state running; no webhook looks at it.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import tasks_with_pods


def check(subject: Subject) -> Findings:
    min_success = nested_int(subject.spec, "minSuccess")
    total = sum(task.replicas for _, task in tasks_with_pods(subject))
    if min_success > total > 0:
        path = ("spec", "minSuccess")
        yield found_at(
            path,
            f"{min_success} pods have to succeed but there are only {total}: the job fails when "
            "all have",
            f"set minSuccess to at most {total}",
            fix_setting(f"set minSuccess to {total}", path, total),
        )
