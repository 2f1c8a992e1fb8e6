"""The pod that the others look for is hidden until its readiness probe passes.

PTC445 unready-hosts: warning at run (fails), by volcano.
Needs: readinessProbe

What: a pod that others have to reach has a readinessProbe, and the svc plugin does not publish
addresses of pods that are not ready.

Why: DNS has no address for a pod that is not ready. Where the probe passes only after the ranks
have met, they never meet.

Example: volcano_roles.yaml with

    - plugins: {pytorch: [], svc: []}
    + plugins: {pytorch: [], svc: [--publish-not-ready-addresses]}
      tasks:
        - name: master
          template:
            spec:
              containers:
                - name: pytorch
                  readinessProbe: {tcpSocket: {port: 8000}}  # <--
                  resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
        - name: worker
          replicas: 2
          template:
            spec:
              restartPolicy: Never
              containers:
                - name: pytorch
                  image: ghcr.io/acme/train:1.0
                  resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: give the svc plugin --publish-not-ready-addresses, or remove the probe.

Source: Volcano 1.16, svc plugin; Kubernetes, publishNotReadyAddresses; jobset#504.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.volcano.rules.reading import (
    fix_with_argument,
    flag_value,
    pytorch_tasks,
    tasks_with_pods,
    volcano_job,
)


def check(subject: Subject) -> Findings:
    plugin_tasks = pytorch_tasks(subject)
    if "svc" not in volcano_job(subject).plugins or flag_value(
        subject, "svc", "publish-not-ready-addresses"
    ):
        return

    if plugin_tasks:
        needed_tasks = {plugin_tasks[0].name}
    else:
        needed_tasks = {task.name for _, task in tasks_with_pods(subject)}

    for template in subject.templates:
        for container in template.running_containers:
            has_probe = nested_map(container.spec, "readinessProbe")
            if has_probe and template.role in needed_tasks and subject.min_nodes_to_start > 1:
                title = "publish addresses of pods that are not ready"
                yield found_at(
                    (*container.path, "readinessProbe"),
                    f"until it passes, the name of a pod of {template.role} does not resolve, and "
                    f"{subject.min_nodes_to_start} pods wait for one another",
                    "give the svc plugin --publish-not-ready-addresses",
                    fix_with_argument(title, subject, "svc", "--publish-not-ready-addresses"),
                    on_key=True,
                )
