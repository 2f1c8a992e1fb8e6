"""No pod of a trial has the primary container of its Experiment.

PTC597 unknown-primary-container: warning at pod, by katib.
Needs: trialSpec primaryContainerName

What: primaryContainerName of an Experiment names a container that the pods of its trials do not
have.

Why: Katib finds the metrics in the output of the primary container, to which its webhook adds a
collector when the pod is created. Without that container it refuses the pod, and the trial is
Running without one until someone looks.

Example:

      apiVersion: kubeflow.org/v1beta1
      kind: Experiment
      metadata: {name: search}
      spec:
        objective: {type: minimize, objectiveMetricName: loss}
        algorithm: {algorithmName: random}
        parameters:
          - {name: lr, parameterType: double, feasibleSpace: {min: "0.01", max: "0.1"}}
        trialTemplate:
    -     primaryContainerName: training-container  # <--
    +     primaryContainerName: pytorch
          trialParameters:
            - {name: learningRate, reference: lr}
          trialSpec:
            apiVersion: batch/v1
            kind: Job
            spec:
              backoffLimit: 0
              template:
                spec:
                  restartPolicy: Never
                  containers:
                    - name: pytorch
                      image: ghcr.io/acme/train:1.0
                      command: [python, train.py, "--lr=${trialParameters.learningRate}"]
                      resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: write the name of the container that trains.

Source: Katib 0.18, pkg/webhook/v1beta1/pod/utils.go, wrapWorkerContainer; kubeflow/katib issue
1544.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kinds.wrapped import wrapped_objects
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.workload import Workload

_NAME: Path = ("spec", "trialTemplate", "primaryContainerName")


def check(subject: Subject) -> Findings:
    name = nested_string(subject.spec, "trialTemplate", "primaryContainerName")
    if not name:
        return

    for trial in wrapped_objects(subject.manifest):
        workload = Workload(trial.manifest, stream=subject.stream)
        views = [view for role in workload.roles for view in role.pod.containers if not view.init]
        names = [*dict.fromkeys(view.name for view in views)]
        if names and name not in names and workload.certainty != "assumed":
            text = (
                f"no pod of the trial has a container {name}: Katib collects no metrics, and the "
                "trial never ends"
            )
            yield found_at(_NAME, text, f"write {' or '.join(names)}")
