"""The address of the master is not the pod with rank 0.

What: with a static rendezvous the endpoint is a pod of the job, and that pod's node rank is not 0.

Why: the node with rank 0 opens the store. Nothing listens at the address of another pod, and every node waits there.

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
                          - --node-rank=$(JOB_COMPLETION_INDEX)
    -                     - --master-addr=train-node-0-1.train  # <--
    +                     - --master-addr=train-node-0-0.train
                          - train.py
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: write the name of the pod that has rank 0.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/static_tcp_rendezvous.py: the store is on the node with
rank 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.job import SimulatedJob
    from ptcompile.simulator.pod import Pod


def _check(subject: Subject) -> Iterator[Finding]:
    for roles in (*subject.rendezvous_groups, *subject.env_groups):
        yield from _check_group(subject, roles)


def _check_group(subject: Subject, roles: tuple[TrainingRole, ...]) -> Iterator[Finding]:
    job = subject.job
    if job is None or count_nodes(roles) < 2:
        return
    first = roles[0]
    if first.rendezvous.backend != "static" or first.rendezvous.nodes in (None, (1, 1)):
        return
    pod = _pod_named(job, first.rendezvous.host)
    rank = pod.rendezvous.node_rank if pod is not None else "0"
    if pod is not None and rank.isdigit() and int(rank):
        path = first.path_of("rdzv-endpoint" if first.options.get("rdzv-endpoint") else "master-addr")
        yield found_at(
            path,
            f"{pod.display_name} has node rank {rank}, but the pod with rank 0 opens the store",
            "write the name of the pod that has rank 0",
        )


def _pod_named(job: SimulatedJob, host: str) -> Pod | None:
    """Return the pod that has this DNS name, or None."""
    from ptcompile.simulator.meeting import dns_names

    number = host.partition(".")[0].rpartition("-")[2]
    index = int(number) if number.isdigit() and len(number) < 10 else 0
    pods = (job.pod(role, index) for role in job.roles if index < role.count)
    return next((pod for pod in pods if host and host in dns_names(pod)), None)


RULE = Rule("master-without-rank-0", _check, severity="error", stage="run", authority="torchrun")
