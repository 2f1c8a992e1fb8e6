"""A variable with the names of all pods of a task is too long for Linux.

PTC747 too-long-hosts: error at run (fails), by volcano.
Needs: svc

What: the plugin svc gives every container the variable VC_TASK_HOSTS with the names of all pods of
a task, and the variable is longer than 128 KiB.

Why: Linux takes no longer variable (MAX_ARG_STRLEN): no process of the container starts, "argument
list too long". A pod's name has the job's name in it, twice with the Service's.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: foundation-model-continued-pretraining}
      spec:
        schedulerName: volcano
    -   minAvailable: 2000
    +   minAvailable: 1000
        plugins: {svc: [--publish-not-ready-addresses=true]}
        policies: [{event: PodFailed, action: RestartJob}]
        tasks:
          - name: trainer
            policies: [{event: TaskCompleted, action: CompleteJob}]
    -       replicas: 2000  # <--
    +       replicas: 1000
            template:
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [python, train.py]
                    resources: {requests: {cpu: 8, memory: 64Gi}, limits: {cpu: 8, memory: 64Gi}}

Fix: shorten the names of the job and of the task; from Volcano 1.16 on, --inject-hosts-env=false of
the plugin leaves the variables out.

Source: Volcano 1.16, pkg/controllers/job/plugins/svc/svc.go (GenerateHosts), issue 5471; Linux,
include/uapi/linux/binfmts.h.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.volcano.plugins import hosts_variable
from ptcompile.operators.volcano.rules.reading import flag_value, volcano_job

_LIMIT = 128 * 1024
_SHORTEST = len("a-b-0.a,")


def check(subject: Subject) -> Findings:
    job = volcano_job(subject)
    if "svc" not in job.plugins or flag_value(subject, "svc", "inject-hosts-env") is False:
        return

    for index, task in enumerate(job.tasks):
        if task.replicas * _SHORTEST * 16 < _LIMIT:
            continue

        name = hosts_variable(task)
        hosts = ",".join(job.hosts(task))
        length = len(f"{name}={hosts}") + 1
        if length > _LIMIT:
            yield found_at(
                ("spec", "tasks", index, "replicas"),
                f"{name} with the names of {task.replicas} pods has {length} bytes, but Linux "
                f"takes {_LIMIT} (128 KiB) "
                "in a variable: no process starts, the argument list is too long",
                "shorten the names of the job and of the task",
            )
