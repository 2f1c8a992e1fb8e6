"""The backoffLimit is never reached: these restarts are not counted.

PTC720 uncounted-restarts: warning at run (endless), by training-operator.
Needs: backoffLimit ExitCode

What: runPolicy.backoffLimit is set, and every role restarts by ExitCode.

Why: the limit counts restarts of containers within running pods. With ExitCode the operator deletes
the pod and makes a new one, whose count begins at 0, so retries go on forever.

Example: pytorchjob.yaml with

      runPolicy:
        cleanPodPolicy: Running
        backoffLimit: 3  # <--
      pytorchReplicaSpecs:
        Master:
    -     restartPolicy: ExitCode
    +     restartPolicy: OnFailure

Fix: use OnFailure, or limit the job by activeDeadlineSeconds.

Source: training-operator 1.9, PastBackoffLimit; kubeflow/trainer issues 1589 and 2045.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at

_PATH = ("spec", "runPolicy", "backoffLimit")


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "runPolicy")
    restarts = [
        nested_value(replica, "restartPolicy")
        for replica in nested_map(subject.spec, "pytorchReplicaSpecs").values()
    ]
    is_limited = policy.get("activeDeadlineSeconds") is not None or not restarts

    if (
        policy.get("backoffLimit") is not None
        and not is_limited
        and all(restart == "ExitCode" for restart in restarts)
    ):
        yield found_at(
            _PATH,
            "with restartPolicy ExitCode a failed pod is recreated and its restarts count from 0: "
            "the limit is never reached",
            "use OnFailure, or add activeDeadlineSeconds",
        )
