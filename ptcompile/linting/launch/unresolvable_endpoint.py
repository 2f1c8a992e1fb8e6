"""The rendezvous endpoint names a pod that has no such name.

What: the endpoint is the name of one of the job's pods, and no Service gives that pod this name, or there is no such
pod.

Why: a pod's name resolves only with the Service that stands for it: <pod>.<jobset> in a JobSet, <job>-worker-0 in a
PyTorchJob. Every pod would look for it until the rendezvous times out.

Bad:

    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: train}
    spec:
      failurePolicy: {maxRestarts: 3}
      replicatedJobs:
        - name: node
          template:
            spec:
              completions: 2
              parallelism: 2
              backoffLimit: 0
              template:
                spec:
                  restartPolicy: Never
                  containers:
                    - name: pytorch
                      image: ghcr.io/acme/train:1.0
                      command:
                        - torchrun
                        - --nnodes=2
                        - --rdzv-backend=c10d
                        - --rdzv-endpoint=train-node-0-0:29400  # <--
                        - train.py
                      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Good:

    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: train}
    spec:
      failurePolicy: {maxRestarts: 3}
      replicatedJobs:
        - name: node
          template:
            spec:
              completions: 2
              parallelism: 2
              backoffLimit: 0
              template:
                spec:
                  restartPolicy: Never
                  containers:
                    - name: pytorch
                      image: ghcr.io/acme/train:1.0
                      command:
                        - torchrun
                        - --nnodes=2
                        - --rdzv-backend=c10d
                        - --rdzv-endpoint=train-node-0-0.train:29400
                        - train.py
                      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: write the name that the operator's Service gives the pod.

Source: training-operator 1.9, one Service a replica; JobSet 0.12 and Trainer 2.3, one headless Service a JobSet;
Volcano 1.16, svc plugin; Kubernetes 1.36, DNS for Pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptcompile.findings.diagnostics import field_path
from ptcompile.linting.rule import Found, Rule
from ptcompile.linting.subject import Subject
from ptcompile.linting.trainers import POD, Trainer, count

if TYPE_CHECKING:
    from ptcompile.simulation import Job


def _check(subject: Subject) -> Iterator[Found]:
    for found in subject.parties:
        yield from _of(subject, found)


def _of(subject: Subject, found: tuple[Trainer, ...]) -> Iterator[Found]:
    job = subject.job
    # A Service of another file may stand for the pods of a plain Pod or Job, and nobody here can tell.
    if job is None or count(found) < 2 or subject.kind in (POD, ("batch/v1", "Job")):
        return
    first = found[0]
    host = first.seen.host
    if first.local or not _ours(job, host) or _resolves(subject, job, first, host):
        return
    if job.pod(first.role, first.role.count - 1).rendezvous.host != host:  # own-host-endpoint
        return
    from ptcompile.simulation.meeting import names

    path = first.place("rdzv-endpoint" if first.options.get("rdzv-endpoint") else "master-addr")
    right = next((names(pod)[-1] for _, pod in job.firsts() if names(pod)), None)
    yield Found(
        path,
        f"{field_path(path)}: no pod of the job is found under the name {host}",
        f"write {right}" if right else "give the pods names that resolve, with a headless Service",
    )


def _ours(job: Job, host: str) -> bool:
    """Whether a name is made as those of the job's pods: one of theirs but for the index, alone or with a domain."""
    label = host.partition(".")[0]
    stem, _, index = label.rpartition("-")
    stems = {(pod.hostname or "").rpartition("-")[0] for _, pod in job.firsts()}
    return bool(stem) and index.isdigit() and stem in stems


def _resolves(subject: Subject, job: Job, first: Trainer, host: str) -> bool:
    from ptcompile.simulation.meeting import names, resolve

    if resolve(job, host, first.pod) is not None:
        return True
    if subject.metadata.get("namespace") is not None:
        return False
    # Without a namespace in the file any namespace may be meant by <pod>.<service>.<namespace>.
    short = [names(pod)[-1] for role in job.roles for pod in (job.pod(role, i) for i in _index(host, role.count))
             if names(pod)]  # fmt: skip
    return any(host.startswith(name + ".") for name in short)


def _index(host: str, most: int) -> list[int]:
    """The index that a host name ends in, where a role has so many pods."""
    number = host.partition(".")[0].rpartition("-")[2]
    return [int(number)] if number.isdigit() and len(number) < 10 and int(number) < most else []


RULE = Rule("unresolvable-endpoint", _check, severity="error", stage="run", authority="torchrun")
