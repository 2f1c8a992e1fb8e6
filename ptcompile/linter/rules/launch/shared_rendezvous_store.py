"""A recreated or late pod fails the whole job.

PTC468 shared-rendezvous-store: warning at run (risks), by torchrun.
Needs: {TORCHRUN} {MULTI_POD_KINDS} c10d/elasticPolicy

What: torchrun's agents meet by c10d and may meet again, with --max-restarts or a range of nodes,
and TORCH_DISABLE_SHARE_RDZV_TCP_STORE is not 1, on PyTorch 2.4 or newer. An official tag of
pytorch/pytorch says which it is, else the profile's versions.torch, else the newest known.

Why: the agents keep the store of their first rendezvous. In a later rendezvous a new agent looks
for keys that no store has, and the others look for its own: after 60 seconds all exit with status
1. After a process fails, the addresses of the first rendezvous are stale, and each restart may fail
until none is left. Measured on 2.13: 11 jobs of 11 failed, with the variable none of 7. PyTorch 2.4
and 2.5 share the store of the rendezvous itself: some jobs of theirs recover, after a restart or
three.

Example: one_node_jobset.yaml with

      completions: 4
      parallelism: 4
      template:
        spec:
          containers:
            - name: pytorch
              image: pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime
              command:
                - torchrun
                - --nnodes=2:4
                - --rdzv-backend=c10d
                - --rdzv-endpoint=train-node-0-0.train:29400
                - --max-restarts=3  # <--
                - train.py
    +         env: [{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: "1"}]
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: set TORCH_DISABLE_SHARE_RDZV_TCP_STORE to 1 in the environment of every pod that trains.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/dynamic_rendezvous.py; pull request
128096 (2.4); issues 135712 and 147064; `ptcompile rehearse FILE --kill 1,back=8s` shows it.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter.rule import Finding, Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes, torch_version
from ptcompile.simulator.launchers.torchrun import OWN_STORE, shares_store


def check(subject: Subject) -> Findings:
    for roles in subject.torchrun_groups:
        if count_nodes(roles) > 1:
            sharing = (
                role
                for role in roles
                if can_meet_again(role)
                and shares_store(role.launch.env, torch_version(role, subject.versions))
            )
            first = next(sharing, None)
            if first is not None:
                yield _finding(first)


def can_meet_again(role: TrainingRole) -> bool:
    """Return whether the role's agents may join a second rendezvous."""
    nodes = role.rendezvous.nodes
    if not role.meets_by_c10d or nodes is None or nodes.most < 2:
        return False
    return role.rendezvous.is_range or role.restarts > 0


def _finding(role: TrainingRole) -> Finding:
    restarts = role.rendezvous.max_restarts != "0" and role.source_of("max-restarts") != "default"
    path = role.path_of("max-restarts" if restarts else "nnodes")
    # if the image does not show its torch version, the newest is assumed
    is_known = torch_version(role, Versions(torch=(0, 0))) != (0, 0)
    entry = {"name": OWN_STORE, "value": "1"}
    if role.user_entry(OWN_STORE) is not None:
        fix = None
    else:
        fix = Fix(f"set {OWN_STORE} to 1", (Edit("append", (*role.path, "env"), entry),))

    return found_at(
        path,
        "a recreated or late pod fails the others: their torchrun keeps the store of the first "
        "rendezvous, and all exit with status 1 after 60 seconds",
        f"set {OWN_STORE} to 1 in env",
        fix if role.spec.get("env") else None,
        severity=None if is_known else "note",
    )
