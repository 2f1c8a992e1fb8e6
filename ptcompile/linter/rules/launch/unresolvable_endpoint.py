"""The rendezvous endpoint is a name that no pod of the job has.

What: the address that the pods meet at (--rdzv-endpoint, --master-addr, --main_process_ip, MASTER_ADDR) resolves to no
pod of the job: another index, role, job, subdomain, namespace or cluster domain, or a Service of another namespace. A
warning where a Service of another file could still answer to it.

Why: a pod's name resolves only through its Service: <pod>.<subdomain> in an Indexed Job, <pod>.<jobset>
in a JobSet, <job>-worker-0 in a PyTorchJob. Every pod would look for it until the rendezvous times out.

Example:

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
    -                     - --rdzv-endpoint=train-node-0-0:29400  # <--
    +                     - --rdzv-endpoint=train-node-0-0.train:29400
                          - train.py
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: write the name that the operator's Service gives the pod.

Source: training-operator 1.9, one Service a replica; JobSet 0.12 and Trainer 2.3, one headless Service a JobSet;
Volcano 1.16, svc plugin; Kubernetes 1.36, DNS for Pods.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.hosts import wrong
from ptcompile.linter.references import peers_in_other_objects
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole, count_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.launchers.rendezvous import Rendezvous

_MET_AT_A_POD = ("static", "c10d", "env")
"""Backends whose endpoint is one of the pods that meet."""


def _check(subject: Subject) -> Iterator[Finding]:
    for found in (*subject.groups, *subject.plain):
        yield from _of(subject, found)


def _of(subject: Subject, found: tuple[TrainingRole, ...]) -> Iterator[Finding]:
    first = found[0]
    seen, total = first.seen, count_nodes(found)
    if first.local or seen.backend not in _MET_AT_A_POD or not seen.nodes or seen.nodes[1] < 2:
        return
    alone = not subject.record.meeting.across_objects or not peers_in_other_objects(subject, first)
    why = wrong(subject, first.pod, seen.host, complete=alone and total == seen.nodes[1] and total > 1)
    if why is not None and _last(first).host == seen.host:  # own-host-endpoint
        path = first.place("rdzv-endpoint" if first.options.get("rdzv-endpoint") else "master-addr")
        yield found_at(
            path,
            f"nothing answers to {seen.host}: {why.reason}",
            f"write {why.right}" if why.right else "give the pods names that resolve, with a headless Service",
            severity=None if why.certain else "warning",
        )


def _last(one: TrainingRole) -> Rendezvous:
    """How the last pod of a role meets the others."""
    return one.pod.job.pod(one.role, one.role.count - 1).rendezvous


RULE = Rule("unresolvable-endpoint", _check, severity="error", stage="run", authority="torchrun")
