"""The pods of a task share one host name.

PTC443 shared-hostname: warning at run (fails), by volcano.
Needs: hostname

What: a task with several replicas whose template sets `hostname`.

Why: the svc plugin names pods after themselves only where the template has no hostname. Now all
pods share one name: a client reaches any of them, and VC_<TASK>_HOSTS lists one host and
VC_<TASK>_NUM is 1.

Example: volcano_job.yaml with

      minAvailable: 2
      plugins: {svc: []}
      tasks:
        - name: trainer
          replicas: 2
          template:
            spec:
              restartPolicy: Never
    -         hostname: trainer  # <--

Fix: remove hostname.

Source: Volcano 1.16, svc plugin.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.volcano.rules.reading import pod_path, tasks_with_pods


def check(subject: Subject) -> Findings:
    for i, task in tasks_with_pods(subject):
        name = nested_string(task.spec, "hostname")
        if name and task.replicas > 1:
            path = pod_path(i, "hostname")
            yield found_at(
                path,
                f"the {task.replicas} pods of {task.name} all have the host name {name}: no "
                "single one can be reached",
                "remove hostname: the svc plugin gives each pod its own",
                fix_removing("remove hostname", path),
            )
