"""No replicatedJob of the runtime is the trainer.

PTC456 missing-trainer-step: note at run (differs), by trainer.

What: the runtime has an mlPolicy, and no replicatedJob carries the label
trainer.kubeflow.org/trainjob-ancestor-step: trainer in its Job template. It is a note if no
TrainJob of the stream names the runtime, and not reported if those that do have no spec.trainer.

Why: Trainer finds by that label where a TrainJob's image, command, env and number of nodes belong.
Without it they are dropped, and no PET_* variable is set.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: ClusterTrainingRuntime
      metadata: {name: acme-torch, labels: {trainer.kubeflow.org/framework: torch}}
      spec:
        mlPolicy: {torch: {}}
        template:
          spec:
            replicatedJobs:
              - name: node  # <--
                template:
    +             metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                  spec:
                    template:
                      spec:
                        restartPolicy: Never
                        containers:
                          - name: node
                            image: ghcr.io/acme/train:1.0
                            resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: label the Job template of the nodes.

Source: Trainer 2.3, runtime framework (ancestor label).
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.rules.runtime.reading import (
    job_path,
    policy_of,
    replicated_jobs,
    trainer_jobs,
)

LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"


def check(subject: Subject) -> Findings:
    job_list = replicated_jobs(subject)
    if policy_of(subject) is None or not job_list or trainer_jobs(subject):
        return

    is_used = _has_trainer_settings(subject)
    if is_used is False:
        return  # the TrainJob has no settings that would be lost

    index = next(
        (i for i, replicated in job_list if replicated.get("name") == "node"), job_list[-1][0]
    )
    path = job_path(index)
    has_no_step = not runtimes.step_label(job_list[index][1])
    label_path = job_path(index, "template", "metadata", "labels", LABEL)
    fix = fix_setting("label it as the trainer", label_path, "trainer") if has_no_step else None
    yield found_at(
        path,
        f"no replicatedJob has the label {LABEL}: trainer: what a TrainJob sets under "
        "spec.trainer reaches no pod",
        f"set the label {LABEL}: trainer in its template.metadata",
        fix,
        severity="warning" if is_used else None,
    )


def _has_trainer_settings(subject: Subject) -> bool | None:
    """Return whether a TrainJob of the stream with this runtime sets spec.trainer, or None if no
    TrainJob names it.
    """
    settings = []
    for train_job in subject.objects.of_kind((runtimes.API_VERSION, "TrainJob")):
        reference = nested_map(train_job, "spec", "runtimeRef")
        kind = runtimes.referenced_kind(reference)
        if reference.get("name") == subject.name and kind == subject.kind.name:
            settings.append(nested_map(train_job, "spec", "trainer"))

    return any(settings) if settings else None
