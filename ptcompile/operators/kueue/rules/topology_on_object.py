"""Kueue reads the topology from the pod template, but it is on the object.

PTC223 topology-on-object: warning at run (differs), by kueue.
Needs: kueue topology/slice/podset

What: a podset topology annotation is in the metadata of a job and not in that of its pod template.

Why: Kueue looks at the pod template of each pod set. The annotation on the object has no effect,
and the pods are spread over the data center.

Example: job.yaml with

      metadata:
        name: train
        labels:
          kueue.x-k8s.io/queue-name: research
    -   annotations:
    -     kueue.x-k8s.io/podset-preferred-topology: rack  # <--
      spec:
        template:
    +     metadata:
    +       annotations:
    +         kueue.x-k8s.io/podset-preferred-topology: rack
          spec:

Fix: move it to the metadata of the pod template.

Source: Kueue 0.19, topology aware scheduling: the annotations are of the PodSet's template.
"""

from __future__ import annotations

from ptcompile.linter.key_places import unread_findings
from ptcompile.linter.rule import Findings, Subject


def check(subject: Subject) -> Findings:
    return unread_findings(subject, "topology-on-object")
