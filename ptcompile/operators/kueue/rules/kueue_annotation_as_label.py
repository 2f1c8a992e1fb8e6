"""Kueue reads this from an annotation, but it is a label.

PTC221 kueue-annotation-as-label: warning at run (differs), by kueue.
Needs: kueue labels

What: an annotation of Kueue, such as podset-required-topology or pod-group-total-count, is among
the labels of the object or of a pod template.

Why: Kueue ignores the label: the pods are placed anywhere, or the group is rejected as incomplete.

Example: job.yaml with

      metadata:
        name: train
        labels:
          kueue.x-k8s.io/queue-name: research
      spec:
        template:
          metadata:
    -       labels:
    +       annotations:
              kueue.x-k8s.io/podset-required-topology: rack  # <--
          spec:

Fix: make it an annotation.

Source: Kueue 0.19, labels and annotations; topology aware scheduling; plain pods.
"""

from __future__ import annotations

from ptcompile.linter.key_places import unread_findings
from ptcompile.linter.rule import Findings, Subject


def check(subject: Subject) -> Findings:
    return unread_findings(subject, "kueue-annotation-as-label")
