"""A job that always fails is restarted forever, holding its GPUs.

PTC717 restarts-for-ever: warning at run (endless), by training-operator.
Needs: {VENDORS}

What: a role restarts OnFailure, which is the default, and the job has neither a backoffLimit nor an
activeDeadlineSeconds, and asks for GPUs.

Why: without a backoffLimit the operator does not count restarts. A script that fails in its first
line holds the GPUs until someone notices.

Example: pytorchjob.yaml with

    - runPolicy: {cleanPodPolicy: Running}
    + runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
      pytorchReplicaSpecs:
        Master:
          restartPolicy: OnFailure  # <--

Fix: set runPolicy.backoffLimit or activeDeadlineSeconds, or write restartPolicy: Never.

Source: training-operator 1.9, PastBackoffLimit: a limit that is not set is no limit;
kubeflow/trainer issue 2044.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_value
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_SPECS = ("spec", "pytorchReplicaSpecs")


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "runPolicy")
    if policy.get("backoffLimit") is not None or policy.get("activeDeadlineSeconds") is not None:
        return
    if not any(container.accelerators for container in subject.containers):
        return

    for role, replica in nested_map(subject.spec, "pytorchReplicaSpecs").items():
        restart = nested_value(replica, "restartPolicy")
        if restart in (None, "OnFailure"):
            path = (*_SPECS, role, "restartPolicy") if restart else (*_SPECS, role)
            yield found_at(
                path,
                "OnFailure without a backoffLimit restarts forever and keeps the GPUs",
                "add backoffLimit or activeDeadlineSeconds to runPolicy",
                fix_setting("set backoffLimit to 3", ("spec", "runPolicy", "backoffLimit"), 3),
                on_key=not restart,
            )
            return
