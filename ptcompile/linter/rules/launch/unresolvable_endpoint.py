"""The rendezvous endpoint is a name that no pod of the job has.

PTC404 unresolvable-endpoint: error at run (fails), by torchrun.
Needs: @unresolvable-endpoint

What: the address that the pods meet at (--rdzv-endpoint, --master-addr, --main_process_ip,
MASTER_ADDR) resolves to no pod of the job: another index, role, job, subdomain, namespace or
cluster domain, a Service of another namespace, or the name that the job had before Kustomize's
namePrefix. A warning where a Service of another file could still answer to it.

Why: a pod's name resolves only through its Service: <pod>.<subdomain> in an Indexed Job,
<pod>.<jobset> in a JobSet, <job>-worker-0 in a PyTorchJob. Every pod would look for it until the
rendezvous times out.

Example: jobset.yaml with

      command:
        - torchrun
        - --nnodes=2
        - --rdzv-backend=c10d
    -   - --rdzv-endpoint=train-node-0-0:29400  # <--
    +   - --rdzv-endpoint=train-node-0-0.train:29400
        - train.py

Fix: write the name that the operator's Service gives the pod.

Source: training-operator 1.9, one Service per replica; JobSet 0.12 and Trainer 2.3, one headless
Service per JobSet; Volcano 1.16, svc plugin; Kubernetes 1.36, DNS for Pods.
"""

from __future__ import annotations

from ptcompile.linter.hosts import help_of, sentence_of
from ptcompile.linter.rule import Findings, Subject, found_at

_OTHERWISE = "give the pods names that resolve, with a headless Service"


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("unresolvable-endpoint"):
        if obstacle.mistake is not None:
            yield found_at(
                role.endpoint_path,
                f"nothing answers to {role.rendezvous.host}: "
                f"{sentence_of(obstacle.mistake, subject)}",
                help_of(obstacle.mistake, subject, _OTHERWISE),
                severity=None if obstacle.is_certain else "warning",
            )
