"""A runtime cannot suspend its TrainJobs.

PTC845 idle-suspend: warning at style, by trainer.
Needs: suspend

What: the runtime's JobSet has suspend: true.

Why: Trainer writes the TrainJob's own spec.suspend there, which is false where nothing is written.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: ClusterTrainingRuntime
      metadata: {name: acme-torch, labels: {trainer.kubeflow.org/framework: torch}}
      spec:
        mlPolicy: {torch: {}}
        template:
          spec:
    -       suspend: true  # <--
            replicatedJobs:
              - name: node
                template:
                  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                  spec:
                    template:
                      spec:
                        restartPolicy: Never
                        containers:
                          - name: node
                            image: ghcr.io/acme/train:1.0
                            resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: remove it; set spec.suspend of the TrainJob.

Source: Trainer 2.3, JobSet builder.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.operators.trainer.rules.runtime.reading import JOBSET, jobset_spec


def check(subject: Subject) -> Findings:
    if jobset_spec(subject).get("suspend") is True:
        path = (*JOBSET, "suspend")
        yield found_at(
            path,
            "replaced by the TrainJob's own suspend",
            "remove it, and set spec.suspend of the TrainJob",
            fix_removing("remove suspend", path, safe=True),
        )
