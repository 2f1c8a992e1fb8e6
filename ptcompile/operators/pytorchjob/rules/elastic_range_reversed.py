"""The minimum of replicas is above the maximum.

PTC135 elastic-range-reversed: error at run (fails), by torchrun.
Needs: elasticPolicy

What: elasticPolicy.minReplicas is above maxReplicas, or below 1.

Why: the operator passes the range to torchrun as PET_NNODES unchecked. torchrun asserts 0 < MIN <=
MAX and crashes on every pod.

Example: elastic_pytorchjob.yaml with

    - minReplicas: 4  # <--
    - maxReplicas: 2
    + minReplicas: 2
    + maxReplicas: 4

Fix: make minReplicas the fewest nodes that the job can run with and maxReplicas the most.

Source: training-operator 1.9, which checks neither; PyTorch 2.13, torch/distributed/run.py,
config_from_args.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.pytorchjob.pods import elastic_range

_POLICY = ("spec", "elasticPolicy")


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "elasticPolicy")
    min_nodes, max_nodes = elastic_range(policy, 1)
    launchers = {role.rendezvous.launcher for role in subject.training_roles}

    if (min_nodes > max_nodes or min_nodes < 1) and launchers & {"torchrun", "image"}:
        path = (*_POLICY, "maxReplicas" if policy.get("minReplicas") is None else "minReplicas")
        swap = Fix(
            "swap minReplicas and maxReplicas",
            (
                Edit("set", (*_POLICY, "minReplicas"), max_nodes),
                Edit("set", (*_POLICY, "maxReplicas"), min_nodes),
            ),
        )
        yield found_at(
            path,
            f"torchrun does not start with {min_nodes}:{max_nodes} nodes: it needs 0 < MIN <= MAX",
            "write the fewest nodes in minReplicas and the most in maxReplicas",
            swap if min_nodes > max_nodes > 0 else None,
        )
