"""Volcano's queue is named where Trainer does not look.

PTC246 runtime-queue-misplaced: warning at run (differs), by trainer.
Needs: podGroupPolicy queue

What: podGroupPolicy.volcano, and the annotation scheduling.volcano.sh/queue-name on the runtime
itself or on a pod template.

Why: Trainer takes the PodGroup's queue from the annotations of spec.template.metadata. Here it is
default.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: ClusterTrainingRuntime
    - metadata:
    -   name: acme-torch
    -   labels: {trainer.kubeflow.org/framework: torch}
    -   annotations:
    -     scheduling.volcano.sh/queue-name: research  # <--
    + metadata: {name: acme-torch, labels: {trainer.kubeflow.org/framework: torch}}
      spec:
        mlPolicy: {torch: {}}
        podGroupPolicy: {volcano: {}}
        template:
    +     metadata:
    +       annotations:
    +         scheduling.volcano.sh/queue-name: research
          spec:
            replicatedJobs:
              - name: node
                template:
                  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                  spec:
                    template:
                      spec:
                        restartPolicy: Never
                        schedulerName: volcano
                        containers:
                          - name: node
                            image: ghcr.io/acme/train:1.0
                            resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: move the annotation to spec.template.metadata.annotations.

Source: Trainer 2.3, volcano plugin.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import nested_string_map, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at

_KEY = "scheduling.volcano.sh/queue-name"
_QUEUE_PATH: Path = ("spec", "template", "metadata", "annotations", _KEY)


def check(subject: Subject) -> Findings:
    if nested_value(subject.spec, "podGroupPolicy", "volcano") is None:
        return

    queue = nested_string_map(subject.spec, "template", "metadata", "annotations").get(_KEY)
    for metadata_path, mapping in subject.metadata_parts():
        value = nested_string_map(mapping, "annotations").get(_KEY)
        if value and value != queue:
            path = (*metadata_path, "annotations", _KEY)
            yield found_at(
                path,
                f"the queue is an annotation of spec.template.metadata, which is "
                f"{queue or 'absent, so the queue is default'}",
                "move it to spec.template.metadata.annotations",
                Fix(
                    "move the annotation",
                    (Edit("set", _QUEUE_PATH, value), Edit("remove", path)),
                ),
            )
