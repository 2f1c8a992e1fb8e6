"""The number of Workers is outside the elastic range.

PTC136 elastic-replicas-out-of-range: warning at run (differs), by torchrun.
Needs: elasticPolicy

What: Worker.replicas is below elasticPolicy.minReplicas or above maxReplicas, and no metrics scale
the job.

Why: with fewer Workers the rendezvous is never complete; with more Workers some wait outside,
holding their GPUs.

Example: elastic_pytorchjob.yaml with

    - elasticPolicy: {maxRestarts: 3, minReplicas: 3, maxReplicas: 4}
    + elasticPolicy: {maxRestarts: 3, minReplicas: 2, maxReplicas: 4}
      pytorchReplicaSpecs:
        Worker:
          replicas: 2  # <--

Fix: set replicas to a number in the range.

Source: training-operator 1.9, which does not compare them; PyTorch 2.13, dynamic rendezvous.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.kubernetes.unstructured import nested_int, nested_map, nested_value
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.pytorchjob.pods import elastic_range

_REPLICAS = ("spec", "pytorchReplicaSpecs", "Worker", "replicas")


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "elasticPolicy")
    if not policy or policy.get("metrics"):
        return

    workers = nested_int(subject.spec, "pytorchReplicaSpecs", "Worker", "replicas", default=1)
    pods = workers + (nested_value(subject.spec, "pytorchReplicaSpecs", "Master") is not None)
    min_nodes, max_nodes = elastic_range(policy, workers)
    if (
        min_nodes > max_nodes
        or min_nodes < 1
        or any("nnodes" in role.launch.options for role in subject.training_roles)
    ):
        return

    if pods < min_nodes:
        why = "the rendezvous waits for more"
    else:
        why = f"{workers - max_nodes} wait outside the rendezvous"
    if pods < min_nodes or workers > max_nodes:
        replicas = min_nodes if pods < min_nodes else max_nodes
        yield found_at(
            _REPLICAS,
            f"{pluralize(workers, 'Worker')} for a range of {min_nodes} to {max_nodes} nodes: "
            f"{why}",
            "set replicas to a number in the range",
            fix_setting(f"set replicas to {replicas}", _REPLICAS, replicas),
        )
