"""A task's pods know the master's address but get no rank.

PTC442 task-without-rank: warning at run (apart), by volcano.
Needs: pytorch

What: the pytorch plugin is on, and a task is neither its --master nor its --worker, while no task
is the worker, or the task runs the very program of the worker; or Volcano is older than 1.12, and
the scripts of the others read WORLD_SIZE.

Why: such pods get MASTER_ADDR and MASTER_PORT, but no RANK, and WORLD_SIZE does not count them:
they cannot join, and the others do not wait for them. Before 1.12, WORLD_SIZE counts all pods, and
scripts without a launcher wait for it.

Example:

      apiVersion: batch.volcano.sh/v1alpha1
      kind: Job
      metadata: {name: train}
      spec:
        minAvailable: 3
    -   plugins: {pytorch: [--master=master]}
    +   plugins: {pytorch: [--master=master, --worker=trainer]}
        policies: [{events: [PodFailed, PodEvicted], action: RestartJob}]
        tasks:
          - name: master
            replicas: 1
            policies: [{event: TaskCompleted, action: CompleteJob}]
            template: &pod
              spec:
                restartPolicy: Never
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - name: trainer  # <--
            replicas: 2
            template: *pod

Fix: name the workers' task with --worker=NAME, or put all workers into one task.

Source: Volcano 1.16, pytorch plugin; WORLD_SIZE counts master and worker alone since 1.12
(volcano#4238).
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.table import has_feature
from ptcompile.operators.volcano.plugins import VolcanoTask
from ptcompile.operators.volcano.rules.reading import (
    fix_with_argument,
    flag_value,
    pytorch_tasks,
    tasks_with_pods,
)


def check(subject: Subject) -> Findings:
    plugin_tasks = pytorch_tasks(subject)
    if plugin_tasks is None:
        return

    _, worker = plugin_tasks
    waiting = _waiting_for_all(subject)
    unranked = [(i, task) for i, task in tasks_with_pods(subject) if task not in plugin_tasks]
    for i, task in unranked:
        path = ("spec", "tasks", i, "name")
        if worker is not None and _programs(task) != _programs(worker):
            if waiting:
                yield found_at(
                    path,
                    f"Volcano before 1.12 counts the pods of {task.name} in WORLD_SIZE: {waiting}",
                    f"use Volcano 1.12, or put {task.name} into another Job",
                )
            continue

        is_only_one = worker is None and len(unranked) == 1
        fix = None
        if is_only_one:
            title = f"name {task.name} as the worker"
            fix = fix_with_argument(title, subject, "pytorch", f"--worker={task.name}")

        master_flag = flag_value(subject, "pytorch", "master")
        worker_flag = flag_value(subject, "pytorch", "worker")
        yield found_at(
            path,
            f"the pytorch plugin knows {master_flag} and {worker_flag}, not {task.name}: its "
            f"{task.replicas} pods get MASTER_ADDR and no RANK, and WORLD_SIZE does not count them",
            f"write --worker={task.name}"
            if is_only_one
            else "put all workers into one task, and name it with --worker=NAME",
            fix,
        )


def _waiting_for_all(subject: Subject) -> str:
    """Return how scripts wait for the pods that WORLD_SIZE counts and that have no rank, or an
    empty string.
    """
    if subject.job is None or has_feature("volcano-world-size", subject.versions):
        return ""
    certain = (
        item.sentence
        for item in subject.job.obstacles
        if item.is_certain and item.name == "world-size-differs"
    )
    return next(certain, "")


def _programs(task: VolcanoTask) -> list[object]:
    """Return what the task's containers run. A task with another program, such as a parameter
    server, need not join.
    """
    return [
        [container.get(key) for key in ("image", "command", "args")]
        for container in nested_maps(task.spec, "containers")
    ]
