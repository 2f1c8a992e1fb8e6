"""No replicatedJob of the runtime is the trainer.

What: the runtime has an mlPolicy, and no replicatedJob carries the label trainer.kubeflow.org/trainjob-ancestor-step:
trainer in its Job template. A note where no TrainJob of the stream names the runtime; nothing where those that do say
nothing of their trainer.

Why: Trainer finds by that label where a TrainJob's image, command, env and number of nodes belong. Without it they are
dropped, and no PET_* variable is set.

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

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import as_string, nested_map
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.rules.runtime.reading import job_path, jobs, policy_of, trainers

LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"


def _check(subject: Subject) -> Iterator[Finding]:
    listed = jobs(subject)
    if policy_of(subject) is None or not listed or trainers(subject):
        return
    asked = _asked(subject)
    if asked is False:
        return  # nothing is lost
    place = next((i for i, replicated in listed if replicated.get("name") == "node"), listed[-1][0])
    path = job_path(place)
    unlabelled = not runtimes.step_label(listed[place][1])
    edit = Edit("set", job_path(place, "template", "metadata", "labels", LABEL), "trainer")
    yield found_at(
        path,
        f"no replicatedJob has the label {LABEL}: trainer: what a TrainJob sets under spec.trainer reaches no pod",
        f"set the label {LABEL}: trainer in its template.metadata",
        Fix("label it as the trainer", (edit,), safe=False) if unlabelled else None,
        severity="warning" if asked else None,
    )


def _asked(subject: Subject) -> bool | None:
    """Whether a TrainJob of the stream with this runtime says something of its trainer; None where there is none."""
    named = [
        one
        for one in subject.others.of((runtimes.API_VERSION, "TrainJob"))
        if nested_map(one, "spec", "runtimeRef").get("name") == subject.name
        and (as_string(nested_map(one, "spec", "runtimeRef").get("kind")) or "ClusterTrainingRuntime")
        == subject.kind[1]
    ]
    return any(nested_map(one, "spec", "trainer") for one in named) if named else None


RULE = Rule("missing-trainer-step", _check, severity="note", stage="run", authority="trainer")
