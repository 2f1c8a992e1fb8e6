"""A script passes the launcher a variable that nothing sets.

PTC485 unset-shell-variable: warning at run (fails), by torchrun.
Needs: {NODE_LAUNCHERS} $

What: an option of the launcher is $RANK, $WORLD_SIZE, $MASTER_ADDR or another variable of an
operator, or its endpoint contains any variable, such as $PORT; the script does not set it, and
neither does the container or its operator.

Why: the shell puts nothing in its place, and the launcher rejects an empty number or meets at an
empty host. Only an image that sets the variable would run.

Example: jobset.yaml with

      metadata: {name: job}
      spec:
        replicatedJobs:
          - name: node
            template:
              spec:
                template:
                  spec:
                    containers:
                      - name: pytorch
                        command:
                          - bash
                          - -c
    -                     - torchrun --nnodes=2 --node-rank=$RANK --master-addr=job-node-0-0.job t.py  # <--
    +                     - torchrun --nnodes=2 --node-rank=$JOB_COMPLETION_INDEX --master-addr=job-node-0-0.job t.py

Fix: set the variable, or use one that the operator sets.

Source: Kubernetes 1.36, Job controller: JOB_COMPLETION_INDEX; training-operator 1.9 and Volcano
1.16 set RANK and MASTER_ADDR.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole

_OPERATOR_VARIABLES = (
    "RANK|NODE_RANK|WORLD_SIZE|NNODES|MASTER_ADDR|MASTER_PORT|JOB_COMPLETION_INDEX|PET_[A-Z_]+"
)
_VARIABLE_REFERENCE = Pattern(rf"\$\{{?(?P<name>{_OPERATOR_VARIABLES})\b(?!:?-)")
_ANY_REFERENCE = Pattern(r"\$\{?(?!SLURM|OMPI|V[CK]_)(?P<name>[A-Za-z_]\w*)\b(?!:?-)")
_ENDPOINTS = frozenset({"rdzv-endpoint", "master-addr", "master-port"})


def check(subject: Subject) -> Findings:
    for role in subject.training_roles:
        if (
            role.launch.in_shell
            and not role.is_uncertain(*role.launch.options)
            and role.member.is_modeled
        ):
            yield from _check_role(role)


def _check_role(role: TrainingRole) -> Findings:
    for option, value in role.launch.options.items():
        reference = _ANY_REFERENCE if option in _ENDPOINTS else _VARIABLE_REFERENCE
        match = reference.search(value)
        if match is not None and "$(" not in value and "`" not in value:
            name = match["name"]
            yield found_at(
                role.flag_path(option),
                f"nothing sets {name}, so it is empty in --{role.member.option_name(option)}",
                f"set {name}, or use a variable that the operator sets",
            )
            return
