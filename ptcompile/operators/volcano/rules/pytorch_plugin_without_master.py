"""The pytorch plugin finds no master task and does nothing.

PTC440 pytorch-plugin-without-master: error at run (apart), by volcano.
Needs: pytorch

What: no task of the job has the name in the plugin's --master, which defaults to `master`.

Why: Volcano then gives no pod MASTER_ADDR, MASTER_PORT, WORLD_SIZE or RANK, and only its
controller's log says so: each pod trains alone, or waits for an address that it never gets.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
        minAvailable: 3
        plugins:
    -     pytorch: [--worker=worker]  # <--
    +     pytorch: [--master=leader, --worker=worker]
        policies: [{events: [PodFailed, PodEvicted], action: RestartJob}]
        tasks:
          - name: leader
            replicas: 1
            policies: [{event: TaskCompleted, action: CompleteJob}]
            template: &pod
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - {name: worker, replicas: 2, template: *pod}

Fix: name the master's task with --master=NAME, or name the task master.

Source: Volcano 1.16, pytorch plugin (OnPodCreate returns early without a master task).
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest_match
from ptcompile.kubernetes.unstructured import as_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.volcano.rules.reading import (
    fix_with_argument,
    flag_value,
    pytorch_tasks,
    volcano_job,
)


def check(subject: Subject) -> Findings:
    if "pytorch" not in volcano_job(subject).plugins or pytorch_tasks(subject) is not None:
        return

    path = ("spec", "plugins", "pytorch")
    master = flag_value(subject, "pytorch", "master")
    task_names = [task.name for task in volcano_job(subject).tasks]
    single = [task.name for task in volcano_job(subject).tasks if task.replicas == 1]
    suggestion = closest_match(as_string(master), task_names) or (
        single[0] if len(single) == 1 and len(task_names) > 1 else None
    )
    fix = None
    help = "name the master's task with --master=NAME"
    if suggestion:
        argument = f"--master={suggestion}"
        help = f"write {argument}"
        fix = fix_with_argument(f"name {suggestion} as the master", subject, "pytorch", argument)

    yield found_at(
        path,
        f"no task is named {master!r} (there is {', '.join(task_names[:5]) or 'no task'}): the "
        "plugin gives no pod MASTER_ADDR, MASTER_PORT, WORLD_SIZE or RANK",
        help,
        fix,
        on_key=True,
    )
