"""A group of pods needs its name and its size.

What: a Pod has the label kueue.x-k8s.io/pod-group-name without the annotation pod-group-total-count, or the
annotation without the label, or a size that is no number above 0.

Why: Kueue's webhook refuses a Pod with one of the two: it has to know how many pods to wait for.

Bad:

    apiVersion: v1
    kind: Pod
    metadata:
      name: train
      labels:
        kueue.x-k8s.io/queue-name: research
        kueue.x-k8s.io/pod-group-name: train  # <--
    spec:
      restartPolicy: Never
      containers:
        - name: pytorch
          image: ghcr.io/acme/train:1.0
          command: [python, train.py]
          resources: {limits: {cpu: 8, memory: 64Gi}}

Good:

    apiVersion: v1
    kind: Pod
    metadata:
      name: train
      labels:
        kueue.x-k8s.io/queue-name: research
        kueue.x-k8s.io/pod-group-name: train
      annotations:
        kueue.x-k8s.io/pod-group-total-count: "2"
    spec:
      restartPolicy: Never
      containers:
        - name: pytorch
          image: ghcr.io/acme/train:1.0
          command: [python, train.py]
          resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: give every Pod of the group both, the size as text.

Source: Kueue 0.19, plain pods, groups of pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import field_path
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.untyped import string_map
from ptcompile.linting.queues import PREFIX
from ptcompile.linting.rule import Found, Rule
from ptcompile.linting.subject import Subject
from ptcompile.linting.trainers import POD

_NAME = f"{PREFIX}pod-group-name"
_TOTAL = f"{PREFIX}pod-group-total-count"


def _check(subject: Subject) -> Iterator[Found]:
    if subject.kind != POD:
        return
    name = string_map(subject.metadata.get("labels")).get(_NAME)
    total = string_map(subject.metadata.get("annotations")).get(_TOTAL)
    if name is not None and total is None:
        path = ("metadata", "labels", _NAME)
        said = f"Kueue refuses a group without the annotation {_TOTAL}"
        yield Found(path, f"{field_path(path)}: {said}", "say how many Pods the group has", on_key=True)
    elif total is not None and name is None:
        path = ("metadata", "annotations", _TOTAL)
        said = f"Kueue refuses it without the label {_NAME}"
        yield Found(path, f"{field_path(path)}: {said}", "name the group in the label", on_key=True)
    elif total is not None and (atoi(total) or 0) < 1:
        path = ("metadata", "annotations", _TOTAL)
        yield Found(path, f"{field_path(path)}: {total!r} is no number above 0, and Kueue refuses it",
                    "write how many Pods the group has", on_key=True)  # fmt: skip


RULE = Rule("unpaired-pod-group", _check, severity="error", stage="run", authority="kueue")
