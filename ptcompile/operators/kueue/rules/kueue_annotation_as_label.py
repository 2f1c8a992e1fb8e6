"""Kueue reads this from an annotation, but it is a label.

PTC221 kueue-annotation-as-label: warning at run (differs), by kueue.
Needs: kueue labels

What: an annotation of Kueue, such as podset-required-topology or pod-group-total-count, is among
the labels of the object or of a pod template.

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

from ptcompile.linter.key_places import unread_keys
from ptcompile.linter.rule import Findings, Subject


def check(subject: Subject) -> Findings:
    return (
        unread.finding
        for unread in subject.cached(unread_keys)
        if unread.rule == "kueue-annotation-as-label"
    )
