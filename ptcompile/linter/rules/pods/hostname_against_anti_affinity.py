"""Pods must avoid one another's nodes, but are pinned to fewer nodes than there are pods.

PTC270 hostname-against-anti-affinity: error at run (waits), by kube-apiserver.
Needs: hostname

What: a nodeSelector or required affinity pins pods of one object to nodes by
kubernetes.io/hostname, and a required podAntiAffinity on that label selects the same pods, or all
use the same port of the node. An error if the pods wait for one another before they train.

Why: each node takes one of the pods. The others stay Pending ("didn't match pod anti-affinity
rules"), and the ranks that run wait for them.

Example: indexed_torchrun.yaml with

      template:
        metadata: {labels: {app: train}}
        spec:
    -     nodeSelector: {kubernetes.io/hostname: gpu-7}  # <--
    +     nodeSelector: {acme.example/pool: gpu}
          affinity:
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                - labelSelector: {matchLabels: {app: train}}
                  topologyKey: kubernetes.io/hostname
          containers:
            - name: pytorch
              command:
                - torchrun
                - --nnodes=2
                - --nproc-per-node=1
                - --node-rank=$(JOB_COMPLETION_INDEX)
                - --master-addr=train-0.train
                - --master-port=29500
                - train.py

Fix: select the nodes by a label that enough of them have, or drop one of the two rules.

Source: Kubernetes 1.36, inter-pod anti-affinity; the scheduler's plugins NodeAffinity,
InterPodAffinity and NodePorts.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.hardware.nodes import HOST
from ptcompile.kubernetes.pod_spec import pinned_values
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.pod import Pod, repel


class _PinnedRole(NamedTuple):
    """A role whose pods are pinned to nodes by name."""

    pod: Pod
    pods: int
    path: Path
    hosts: frozenset[str]


def check(subject: Subject) -> Findings:
    roles = list(_pinned_roles(subject))
    for first in roles:
        clique: list[_PinnedRole] = []
        for role in (first, *roles):
            if role not in clique and all(
                repel(role.pod, member.pod) for member in (first, *clique)
            ):
                clique.append(role)

        pods = sum(role.pods if repel(role.pod, role.pod) else 1 for role in clique)
        hosts = frozenset().union(*(role.hosts for role in clique))
        if pods > len(hosts) > 0:
            names = ", ".join(sorted(hosts))
            pending = pods - len(hosts)
            verb = "stays" if pending == 1 else "stay"
            yield found_at(
                first.path,
                f"{pods} pods must run on different nodes, but are pinned to {names}: "
                f"{pending} of them {verb} Pending",
                "select the nodes by a label that enough of them have",
                severity=None if subject.min_nodes_to_start > len(hosts) else "warning",
            )
            return


def _pinned_roles(subject: Subject) -> Iterator[_PinnedRole]:
    for role, pod, template in subject.roles:
        for path, hosts in pinned_values(pod.view.spec, HOST):
            if template is not None:
                yield _PinnedRole(
                    pod=pod,
                    pods=role.count,
                    path=(*template.spec_path, *path),
                    hosts=frozenset(hosts),
                )
                break
