"""Two pods join the rendezvous with the same rank.

What: with a static rendezvous, pods of a job have equal node ranks, for example because all take the default 0.

Why: a static rendezvous assigns no ranks: each node brings its own, from 0 to the number of nodes minus 1. Two with the
same rank overwrite each other, and the missing one never joins.

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
                          - torchrun  # <--
                          - --nnodes=2
    +                     - --node-rank=$(JOB_COMPLETION_INDEX)
                          - --master-addr=train-node-0-0.train
                          - train.py
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: add --node-rank with the pod's index, or use c10d, which gives the ranks itself.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/static_tcp_rendezvous.py; Kubernetes 1.36, Indexed Jobs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes
from ptcompile.simulator.meeting import peers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.meeting import MeetingMember


def _check(subject: Subject) -> Iterator[Finding]:
    for roles in (*subject.rendezvous_groups, *subject.env_groups):
        yield from _check_group(subject, roles)


def _check_group(subject: Subject, roles: tuple[TrainingRole, ...]) -> Iterator[Finding]:
    if roles[0].is_local:  # reported as `Meeting.local_obstacle`
        return
    if any(
        role.rendezvous.backend not in ("static", "env") or role.rendezvous.nodes in (None, (1, 1)) for role in roles
    ):
        return
    peers = peers_of(roles[0].member)
    if count_nodes(roles) == 1 and not peers:
        return
    pods_by_rank = {rank: (member, index) for member in peers for rank, index in _node_ranks(member)}
    for role in roles:
        for rank, index in _node_ranks(role.member):
            if rank in pods_by_rank:
                path = role.path_of("node-rank") if role.source_of("node-rank") != "default" else role.command_path
                yield found_at(
                    path,
                    f"{_pod_name(*pods_by_rank[rank])} and {_pod_name(role.member, index)} both have node rank {rank}",
                    _help(role),
                )
                return
            pods_by_rank[rank] = role.member, index


def _pod_name(member: MeetingMember, index: int) -> str:
    """Return the name of a pod of the role."""
    return member.pod.job.pod(member.role, index).display_name


def _help(role: TrainingRole) -> str:
    if role.is_torchrun:
        return "give each pod its own rank, such as --node-rank=$(JOB_COMPLETION_INDEX), or use c10d"
    return (
        f"give each pod its own {'RANK' if role.is_env_script else role.option_name('node-rank')}, such as "
        "$(JOB_COMPLETION_INDEX)"
    )


def _node_ranks(member: MeetingMember) -> Iterator[tuple[str, int]]:
    """Yield the numeric ranks of the role's first two pods and its last one, each with the pod's index."""
    from ptcompile.simulator.launchers.rendezvous import static_node_rank

    for index in sorted({0, min(1, member.role.count - 1), member.role.count - 1}):
        pod = member.pod.job.pod(member.role, index)
        is_torchrun = member.rendezvous.launcher == "torchrun"
        rank = static_node_rank(pod.launch) if is_torchrun else pod.rendezvous.node_rank
        if rank.isdigit():
            yield rank, index


RULE = Rule("same-node-rank", _check, severity="error", stage="run", authority="torchrun")
