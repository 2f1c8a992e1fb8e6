"""The first pod waits for itself.

What: an init container, in all pods alike, waits until the port of the rendezvous answers on the very pod that serves
it.

Why: that pod's own init container waits too, and its training, which would open the port, starts only after it. No
pod ever starts.

Bad:

    apiVersion: v1
    kind: Service
    metadata: {name: train}
    spec:
      clusterIP: None
      publishNotReadyAddresses: true
      selector: {batch.kubernetes.io/job-name: train}
    ---
    apiVersion: batch/v1
    kind: Job
    metadata: {name: train}
    spec:
      completionMode: Indexed
      completions: 2
      parallelism: 2
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          subdomain: train
          initContainers:
            - name: wait
              image: docker.io/library/busybox:1.37
              command: [sh, -c, "until nc -z train-0.train 29500; do sleep 2; done"]  # <--
              resources: {limits: {cpu: 100m, memory: 64Mi}}
          containers:
            - name: pytorch
              image: ghcr.io/acme/train:1.0
              command:
                - torchrun
                - --nnodes=2
                - --nproc-per-node=1
                - --node-rank=$(JOB_COMPLETION_INDEX)
                - --master-addr=train-0.train
                - --master-port=29500
                - train.py
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Good:

    apiVersion: v1
    kind: Service
    metadata: {name: train}
    spec:
      clusterIP: None
      publishNotReadyAddresses: true
      selector: {batch.kubernetes.io/job-name: train}
    ---
    apiVersion: batch/v1
    kind: Job
    metadata: {name: train}
    spec:
      completionMode: Indexed
      completions: 2
      parallelism: 2
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          subdomain: train
          initContainers:
            - name: wait
              image: docker.io/library/busybox:1.37
              command: [sh, -c, "until nslookup train-0.train; do sleep 2; done"]
              resources: {limits: {cpu: 100m, memory: 64Mi}}
          containers:
            - name: pytorch
              image: ghcr.io/acme/train:1.0
              command:
                - torchrun
                - --nnodes=2
                - --nproc-per-node=1
                - --node-rank=$(JOB_COMPLETION_INDEX)
                - --master-addr=train-0.train
                - --master-port=29500
                - train.py
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: wait for the name and not for the port, or not at all: torchrun waits for its rendezvous by itself.

Source: Kubernetes 1.36, init containers end before the containers start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptcompile.diagnostics import field_path
from ptcompile.rules.rule import Found, Rule
from ptcompile.rules.subject import Container, Subject, Word

_WAITS = re.compile(r"\bnc(?:at)? .*-\w*z|/dev/tcp/|wait-for-it|\bcurl\b|\bwget\b|\btelnet\b")
_BY_INDEX = re.compile(r"COMPLETION_INDEX|RANK|HOSTNAME|hostname|TASK_INDEX")


def _check(subject: Subject) -> Iterator[Found]:
    waiting = [(one, word) for one in subject.containers if one.init for word in _scripts(one)]
    made = subject.meeting if waiting else None
    job = subject.job if made is not None else None
    if made is None or job is None or len(made.first.host) < 3:
        return
    from ptcompile.simulation.meeting import resolve

    port = made.first.endpoint.rpartition(":")[2]
    for role, pod in job.firsts():
        names = {view.name for view in pod.containers if view.init}
        if len(subject.templates) > 1 and role.name.lower() not in {one.role.lower() for one in subject.templates}:
            continue
        if resolve(job, made.first.host, pod) != pod.shown:
            continue
        for container, word in waiting:
            own = len(subject.templates) == 1 or _role_of(subject, container).lower() == role.name.lower()
            if own and container.name in names and made.first.host in word.text and port in word.text:
                yield Found(
                    word.path,
                    f"{field_path(word.path)}: {pod.shown} waits for its own {made.first.endpoint}, which it opens "
                    "after its init containers",
                    "wait for the name by nslookup, or not at all",
                )


def _scripts(container: Container) -> list[Word]:
    """The scripts of a container that wait for a port, in every pod alike."""
    if container.spec.get("restartPolicy") == "Always":
        return []
    return [word for word in container.argv if _WAITS.search(word.text) and not _BY_INDEX.search(word.text)]


def _role_of(subject: Subject, container: Container) -> str:
    return next((one.role for one in subject.templates if container in one.containers), "")


RULE = Rule("waits-for-itself", _check, severity="error", stage="run", authority="kubelet")
