"""A task's pods go to a different scheduler than the job.

PTC235 foreign-scheduler: warning at run (differs), by volcano.
Needs: schedulerName

What: a template's schedulerName differs from the job's, which is volcano where none is written.

Why: the template's wins. Another scheduler does not know the gang: it starts these pods one by one,
and Volcano counts on pods that it does not place.

Example: volcano_job.yaml with

      spec:
        schedulerName: volcano
        minAvailable: 2
        tasks:
          - name: trainer
            replicas: 2
            template:
              spec:
                restartPolicy: Never
    -           schedulerName: default-scheduler  # <--

Fix: remove schedulerName from the template.

Source: Volcano 1.16, job controller (createJobPod).
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.volcano.rules.reading import pod_path, tasks_with_pods


def check(subject: Subject) -> Findings:
    job_scheduler = nested_string(subject.spec, "schedulerName") or "volcano"
    for i, task in tasks_with_pods(subject):
        name = nested_string(task.spec, "schedulerName")
        if name and name != job_scheduler:
            path = pod_path(i, "schedulerName")
            yield found_at(
                path,
                f"the pods of {task.name} go to {name}, but the job to {job_scheduler}: the gang "
                "and the queue do not apply to them",
                "remove schedulerName from the template",
                fix_removing("remove schedulerName", path),
            )
