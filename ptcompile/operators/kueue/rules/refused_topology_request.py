"""Kueue refuses this topology request.

What: a pod template asks for more than one of required, preferred and unconstrained topology, or for slices without
their size or their topology, or for slices larger than the pod set.

Why: Kueue's webhook refuses the job when it is created: a pod set has one topology request, and its slices have a
topology and a size from 1 to the number of pods.

Bad:

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
          annotations:
            kueue.x-k8s.io/podset-required-topology: rack
            kueue.x-k8s.io/podset-preferred-topology: block  # <--
        spec:
          restartPolicy: Never
          containers:
            - name: pytorch
              image: ghcr.io/acme/train:1.0
              command: [python, train.py]
              resources: {limits: {cpu: 8, memory: 64Gi}}

Good:

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
          annotations:
            kueue.x-k8s.io/podset-preferred-topology: block
        spec:
          restartPolicy: Never
          containers:
            - name: pytorch
              image: ghcr.io/acme/train:1.0
              command: [python, train.py]
              resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: keep one request; give slices both a topology and a size.

Source: Kueue 0.19, pkg/controller/jobframework, validation of topology requests.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import field_path
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.untyped import at, string_map
from ptcompile.linting.queues import PREFIX, REQUESTS
from ptcompile.linting.rule import Found, Rule
from ptcompile.linting.subject import Subject, Template

_SLICE = f"{PREFIX}podset-slice-required-topology"
_SIZE = f"{PREFIX}podset-slice-size"


def _check(subject: Subject) -> Iterator[Found]:
    for template in subject.templates:
        annotations = string_map(at(template.data, "metadata").get("annotations"))
        asked = [name for name in annotations if name in REQUESTS]
        for name in asked[1:]:
            said = f"{asked[0].removeprefix(PREFIX)} is asked for already, and Kueue refuses two"
            yield _found(template, name, said, "keep one of them")
        if (_SLICE in annotations) != (_SIZE in annotations):
            name, other = (_SLICE, _SIZE) if _SLICE in annotations else (_SIZE, _SLICE)
            yield _found(template, name, f"Kueue refuses it without {other.removeprefix(PREFIX)}", f"add {other}")
        elif _SIZE in annotations:
            size = atoi(annotations[_SIZE])
            if size is None or not 1 <= size <= template.replicas:
                said = f"{annotations[_SIZE]!r} is no number from 1 to {template.replicas}, the pods of the set"
                yield _found(template, _SIZE, f"{said}, and Kueue refuses it", "write how many pods a slice has")


def _found(template: Template, name: str, said: str, help: str) -> Found:
    path = (*template.path, "metadata", "annotations", name)
    return Found(path, f"{field_path(path)}: {said}", help, on_key=True)


RULE = Rule("refused-topology-request", _check, severity="error", stage="run", authority="kueue")
