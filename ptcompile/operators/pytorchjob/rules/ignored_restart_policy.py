"""The pod template's restartPolicy is not used.

PTC718 ignored-restart-policy: warning at run (differs), by training-operator.
Needs: restartPolicy

What: a pod template of a PyTorchJob has a restartPolicy that differs from that of its replica.

Why: the operator overwrites it with the replica's restartPolicy, OnFailure where that is not
written, and only an event reports it.

Example: pytorchjob.yaml with

      template:
        spec:
    -     restartPolicy: Never  # <--
          containers:

Fix: write the policy next to replicas, and remove it from the template.

Source: training-operator 1.9, setRestartPolicy.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_string, nested_value
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at

_POLICIES = ("Always", "OnFailure", "Never", "ExitCode")


def check(subject: Subject) -> Findings:
    for role, replica in nested_map(subject.spec, "pytorchReplicaSpecs").items():
        policy = nested_string(replica, "restartPolicy") or "OnFailure"
        template_policy = nested_value(replica, "template", "spec", "restartPolicy")
        if policy not in _POLICIES:  # the API server rejects the pods
            continue

        pod_policy = "Never" if policy == "ExitCode" else policy
        is_set = isinstance(template_policy, str) and template_policy
        if is_set and template_policy != pod_policy:
            path = ("spec", "pytorchReplicaSpecs", role, "template", "spec", "restartPolicy")
            yield found_at(
                path,
                f"{template_policy} is overwritten by the {role}'s own restartPolicy, {policy}",
                "write the policy next to replicas, and remove it here",
                fix_removing("remove it", path, safe=True),
            )
