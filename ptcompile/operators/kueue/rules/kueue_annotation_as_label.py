"""Kueue reads this from an annotation, but it is a label.

What: an annotation of Kueue, such as podset-required-topology or pod-group-total-count, is among the labels of
the object or of a pod template.

Why: Kueue ignores the label: the pods are placed anywhere, or the group is rejected as incomplete.

Example:

      apiVersion: batch/v1
      kind: Job
      metadata:
        name: train
        labels:
          kueue.x-k8s.io/queue-name: research
      spec:
        backoffLimit: 0
        template:
          metadata:
    -       labels:
    +       annotations:
              kueue.x-k8s.io/podset-required-topology: rack  # <--
          spec:
            restartPolicy: Never
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command: [python, train.py]
                resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: make it an annotation.

Source: Kueue 0.19, labels and annotations; topology aware scheduling; plain pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import nested_map, string_map
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.operators.kueue.queues import ANNOTATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


def _check(subject: Subject) -> Iterator[Finding]:
    yield from _check_holder((), subject.manifest)
    for template in subject.templates:
        if template.path:
            yield from _check_holder(template.path, template.data)


def _check_holder(base: Path, holder: Json) -> Iterator[Finding]:
    labels = string_map(nested_map(holder, "metadata").get("labels"))
    annotations = nested_map(holder, "metadata", "annotations")
    for name in ANNOTATIONS:
        if name in labels and name not in annotations:
            path = (*base, "metadata", "labels", name)
            edits = (Edit("set", (*base, "metadata", "annotations", name), labels[name]), Edit("remove", path))
            yield found_at(
                path,
                "Kueue reads it from the annotations, and ignores the label",
                "make it an annotation",
                Fix("make it an annotation", edits, safe=False),
                on_key=True,
            )


RULE = Rule("kueue-annotation-as-label", _check, severity="warning", stage="run", authority="kueue")
