"""Jobs that share an etcd would join the same rendezvous.

PTC420 etcd-without-id: warning at run (risks), by torchrun.
Needs: {TORCHRUN} etcd

What: the rendezvous backend is etcd, and no rendezvous id is given.

Why: the id keeps the jobs of one etcd apart. torchrun uses "none" for all that set none, so a
second job joins the rendezvous of the first, or finds it closed.

Example: jobset.yaml with

      command:
        - torchrun
        - --nnodes=2
        - --rdzv-backend=etcd-v2  # <--
        - --rdzv-endpoint=etcd.infra.svc.cluster.local:2379
    +   - --rdzv-id=train
        - train.py

Fix: give each job its own id, such as its name: --rdzv-id, PET_RDZV_ID or elasticPolicy.rdzvId.

Source: PyTorch 2.13, torch/distributed/run.py: rdzv-id defaults to none; training-operator 1.9,
which never makes one.
"""

from __future__ import annotations

from ptcompile.diagnostics import Fix
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        is_etcd = role.rendezvous.backend in ("etcd", "etcd-v2")
        if (
            is_etcd
            and role.options.get("rdzv-id") in ("none", "")
            and not role.is_uncertain("rdzv-id", "rdzv-backend")
        ):
            yield found_at(
                role.path_of("rdzv-backend"),
                f"no rendezvous id is set for {role.rendezvous.backend}: all jobs without one "
                "join the same rendezvous",
                "give the job its own id, such as its name",
                _fix(subject)
                if role.source_of("rdzv-backend") == "operator" and subject.name
                else None,
            )


def _fix(subject: Subject) -> Fix | None:
    """Return a fix that sets the id in the operator's field, if the kind has one."""
    for path in subject.record.launch_fields.options.get("rdzv-id", ()):
        return fix_setting(f"set {path[-1]} to {subject.name}", path, subject.name)
    return None
