"""Kueue refuses the value of this label.

What: kueue.x-k8s.io/queue-name is no DNS subdomain, or kueue.x-k8s.io/max-exec-time-seconds is no number above 0.

Why: the API server takes any label value. Kueue's webhook wants the name of a LocalQueue, and refuses the job when it
is created.

Bad:

    apiVersion: batch/v1
    kind: Job
    metadata:
      name: train
      labels:
        kueue.x-k8s.io/queue-name: Research_Team  # <--
    spec:
      backoffLimit: 0
      template:
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
        spec:
          restartPolicy: Never
          containers:
            - name: pytorch
              image: ghcr.io/acme/train:1.0
              command: [python, train.py]
              resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: write the name of the LocalQueue as it is in the namespace: lower case letters, digits, dashes and dots.

Source: Kueue 0.19, pkg/controller/jobframework, validation of labels.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import field_path
from ptcompile.kubernetes import names
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.untyped import string_map
from ptcompile.linting.queues import PREFIX, QUEUE, queue
from ptcompile.linting.rule import Found, Rule
from ptcompile.linting.subject import Subject

_TIME = f"{PREFIX}max-exec-time-seconds"


def _check(subject: Subject) -> Iterator[Found]:
    name = queue(subject.metadata)
    if name and not names.is_dns_subdomain(name):
        path = ("metadata", "labels", QUEUE)
        yield Found(
            path,
            f"{field_path(path)}: {name!r} cannot be the name of a LocalQueue, and Kueue refuses it",
            "write the name of the LocalQueue",
        )
    seconds = string_map(subject.metadata.get("labels")).get(_TIME)
    if seconds is not None and (atoi(seconds) or 0) < 1:
        path = ("metadata", "labels", _TIME)
        yield Found(
            path,
            f"{field_path(path)}: {seconds!r} is no number above 0, and Kueue refuses it",
            "write seconds",
        )


RULE = Rule("refused-queue-label", _check, severity="error", stage="run", authority="kueue")
