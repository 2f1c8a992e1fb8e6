"""What happens when a pod fails."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.simulation import simulate
from tests.simulation.worlds import jobset, only, pod_of, pytorchjob, volcano


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (pod_of({}), "restartPolicy Always: a container that ends is restarted in its pod by the kubelet, for ever"),
        # kubeflow.md 1.7
        (pytorchjob(), "no backoffLimit: restarts are not counted and go on for ever"),
        (pytorchjob(runPolicy={"backoffLimit": 0}), "backoffLimit 0: the job fails when"),
        (pytorchjob(runPolicy={"cleanPodPolicy": "All"}), "cleanPodPolicy All: at the end all pods are deleted"),
        (pytorchjob(runPolicy={"ttlSecondsAfterFinished": 0}), "ttlSecondsAfterFinished 0"),
        (pytorchjob(), "the job succeeds with its Master"),
        # volcano.md 1.5
        (volcano(), "no policy for PodFailed: a failed pod is not made again"),
        (volcano(policies=[{"events": ["PodFailed"], "action": "RestartJob"}]), "any task: PodFailed -> RestartJob"),
        (volcano(), "maxRetry 3"),
        # kubeflow.md 3.3
        (jobset(["x"]), "no failurePolicy: the first Job that fails fails the JobSet"),
        (jobset(["x"], failurePolicy={"maxRestarts": 4}), "failurePolicy: a failed Job starts all Jobs again, at most"),
        (jobset(["x"]), "workers: backoffLimit 0: the first failure fails the Job"),
        ({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "spec": {"activeDeadlineSeconds": 9}},
         "activeDeadlineSeconds 9: then the TrainJob fails"),
    ],
)  # fmt: skip
def test_on_failure(manifest: dict[str, Any], sentence: str) -> None:
    said = only(simulate([manifest])).failure
    assert any(one.startswith(sentence) for one in said), said


def test_a_policy_for_failed_pods_silences_the_warning() -> None:
    said = only(simulate([volcano(policies=[{"event": "*", "action": "RestartJob"}])])).failure
    assert not any(one.startswith("no policy") for one in said)
