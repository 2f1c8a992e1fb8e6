"""A task's subdomain has no Service, so its pods have no DNS name.

PTC444 unserved-subdomain: warning at run (fails), by volcano.
Needs: subdomain

What: a template's `subdomain` differs from the job's name while the svc plugin is on, and the
stream has no Service of that name.

Why: the plugin creates one headless Service, named after the job. The hosts that it lists for such
a task end in the other subdomain and do not resolve.

Example: volcano_job.yaml with

      minAvailable: 2
      plugins: {svc: []}
      tasks:
        - name: trainer
          replicas: 2
          template:
            spec:
              restartPolicy: Never
    -         subdomain: trainers  # <--

Fix: remove subdomain, or create a headless Service of that name.

Source: Volcano 1.16, svc plugin; Kubernetes, DNS for Services and Pods.
"""

from __future__ import annotations

from ptcompile.kubernetes.index import SERVICE
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.volcano.rules.reading import pod_path, tasks_with_pods, volcano_job


def check(subject: Subject) -> Findings:
    job = volcano_job(subject)
    if "svc" not in job.plugins or not job.name:
        return

    for i, task in tasks_with_pods(subject):
        name = nested_string(task.spec, "subdomain")
        if name and name != job.name and not subject.neighbors.by_name(SERVICE, name):
            path = pod_path(i, "subdomain")
            yield found_at(
                path,
                f"the svc plugin creates the Service {job.name} and none named {name}: the hosts "
                f"of {task.name} do not resolve",
                "remove subdomain",
                fix_removing("remove subdomain", path),
            )
