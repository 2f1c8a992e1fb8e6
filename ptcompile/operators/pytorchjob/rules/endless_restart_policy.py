"""A job whose deciding pods are restarted even when they succeed never ends.

PTC721 endless-restart-policy: error at run (endless), by training-operator.
Needs: Always

What: restartPolicy is Always on the Master, or on the Workers of a job without a Master.

Why: the kubelet also restarts a container that succeeds. The pod never reaches Succeeded, which is
what the operator waits for: the training starts again from the beginning.

Example: pytorchjob.yaml with

    - restartPolicy: Always  # <--
    + restartPolicy: OnFailure

Fix: write OnFailure.

Source: training-operator 1.9, UpdateJobStatus: success is the Succeeded phase of pods; Kubernetes
1.36, pod lifecycle.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_value
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    replicas = nested_map(subject.spec, "pytorchReplicaSpecs")
    role = "Master" if replicas.get("Master") is not None else "Worker"
    if nested_value(replicas, role, "restartPolicy") == "Always":
        path = ("spec", "pytorchReplicaSpecs", role, "restartPolicy")
        yield found_at(
            path,
            f"Always also restarts the {role} after success, so the job never succeeds",
            "write OnFailure",
            fix_setting("write OnFailure", path, "OnFailure", safe=True),
        )
