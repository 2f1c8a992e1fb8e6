"""Sentences about failing pods."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.simulator.world import simulate
from tests.simulator.worlds import jobset, only, pod_of, pytorchjob, volcano


def _job(action: str | None = None) -> dict[str, Any]:
    """Return a Job with a rule for lost Kubernetes nodes; an unset condition status means True."""
    rules = (
        [{"action": action, "onPodConditions": [{"type": "DisruptionTarget"}]}] if action else []
    )
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}}
    codes = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
    spec = {"template": template, "podFailurePolicy": {"rules": [codes, *rules]}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": spec}


def _never() -> dict[str, Any]:
    manifest = pytorchjob()
    for replica in manifest["spec"]["pytorchReplicaSpecs"].values():
        replica["restartPolicy"] = "Never"
    return manifest


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (pod_of({}), "restartPolicy Always: a container that ends is restarted in its pod by the kubelet, forever"),
        # docs/facts/training-operator.md#restarts-and-the-end
        (pytorchjob(), "no backoffLimit: restarts are unlimited"),
        (pytorchjob(runPolicy={"backoffLimit": 0}), "backoffLimit 0: the first restart of a container fails"),
        (pytorchjob(runPolicy={"cleanPodPolicy": "All"}), "cleanPodPolicy All: at the end all pods are deleted"),
        (pytorchjob(runPolicy={"ttlSecondsAfterFinished": 0}), "ttlSecondsAfterFinished 0"),
        (pytorchjob(), "the job succeeds with its Master"),
        (pytorchjob(), "Worker, a lost node: the pod is recreated and not counted"),
        (_never(), "Master, a lost node: the job fails"),
        # docs/facts/volcano.md#policies
        (volcano(policies=[{"event": "PodFailed", "action": "RestartJob"}]), "the policy for PodFailed never applies"),
        (volcano(), "no policy for PodEvicted: only the pod is recreated, and it is not counted"),
        (volcano(maxRetry=2**31 - 1), "maxRetry 2147483647: restarts are unlimited"),
        (volcano(maxRetry=0), "maxRetry 3: "),
        (volcano(minSuccess=3), "minSuccess 3: the job is done when that many pods succeeded"),
        (volcano(), "no policy for PodFailed: a failed pod is not recreated"),
        (volcano(policies=[{"events": ["PodFailed"], "action": "RestartJob"}]), "any task: PodFailed -> RestartJob"),
        (volcano(), "maxRetry 3"),
        # docs/facts/jobset.md#failure-and-success
        (jobset(["x"]), "no failurePolicy: the first Job that fails fails the JobSet"),
        (jobset(["x"], failurePolicy={"maxRestarts": 4}), "failurePolicy: a failed Job starts all Jobs again, at most"),
        (jobset(["x"], failurePolicy={"maxRestarts": 0}), "failurePolicy: a failed Job fails the JobSet"),
        # Kubernetes 1.36, "Handling retriable and non-retriable pod failures"
        (_job(), "a lost node: the pod counts as failed"),
        (_job("Ignore"), "a lost node: the pod is recreated and not counted"),
        (_job("FailJob"), "a lost node: the Job fails"),
        (pod_of({}), "a lost node: no new pod is created"),
        (jobset(["x"]), "workers: backoffLimit 0: the first failure fails the Job"),
        ({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "spec": {"activeDeadlineSeconds": 9}},
         "activeDeadlineSeconds 9: then the TrainJob fails"),
    ],
)  # fmt: skip
def test_each_operator_has_a_sentence_about_failures(
    manifest: dict[str, Any], sentence: str
) -> None:
    sentences = only(simulate([manifest])).failure
    assert any(text.startswith(sentence) for text in sentences), sentences


def test_a_policy_for_failed_pods_silences_the_warning() -> None:
    sentences = only(simulate([volcano(policies=[{"event": "*", "action": "RestartJob"}])])).failure
    assert not any(text.startswith("no policy") for text in sentences)


def test_a_policy_that_can_act_is_not_reported_as_dead() -> None:
    never = volcano(policies=[{"event": "PodFailed", "action": "RestartJob"}])
    for task in never["spec"]["tasks"]:
        task["template"]["spec"]["restartPolicy"] = "Never"
    assert not any("dead" in text for text in only(simulate([never])).failure)


def test_tasks_without_a_policy_for_lost_nodes_are_named() -> None:
    """docs/facts/volcano.md#policies: a task's policies come before the job's."""
    manifest = volcano()
    first, *remaining = manifest["spec"]["tasks"]
    first["policies"] = [{"event": "PodEvicted", "action": "RestartJob"}]
    names = ", ".join(task["name"] for task in remaining)
    (sentences,) = [
        text for text in only(simulate([manifest])).failure if "no policy for PodEvicted" in text
    ]
    assert sentences.startswith(f"{names}: no policy for PodEvicted")


def _grouped_pod(section: str, key: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", section: {key: "gang"}},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("version", "section", "key", "scheduler"),
    [
        ("scheduling.volcano.sh/v1beta1", "annotations", "scheduling.k8s.io/group-name", "volcano"),
        ("scheduling.x-k8s.io/v1alpha1", "labels", "scheduling.x-k8s.io/pod-group", "coscheduling"),
    ],
)
def test_the_pod_group_that_pods_name_is_found(
    version: str, section: str, key: str, scheduler: str
) -> None:
    pod = _grouped_pod(section, key)
    spec = {"minMember": 3, "minResources": {"cpu": "2"}, "queue": "q", "other": 1}
    group = {"apiVersion": version, "kind": "PodGroup", "metadata": {"name": "gang"}, "spec": spec}
    job = next(job for job in simulate([pod, group]).jobs if job.manifest is pod)
    assert job.pod_group == {
        "name": "gang", "scheduler": scheduler, "minMember": 3, "queue": "q", "minResources": {"cpu": "2"},
    }  # fmt: skip
    missing = {"name": "gang", "scheduler": scheduler, "minMember": None, "missing": True}
    assert only(simulate([pod])).pod_group == missing


def test_other_keys_make_no_group() -> None:
    assert only(simulate([_grouped_pod("annotations", "team")])).pod_group is None
    assert (
        only(simulate([_grouped_pod("labels", "scheduling.k8s.io/group-name")])).pod_group is None
    )


def test_a_gang_s_resources_are_the_user_s_or_the_sum_of_its_pods() -> None:
    """docs/facts/training-operator.md#gangs."""
    own = {"cpu": "1"}
    policy = {"schedulingPolicy": {"minAvailable": 2, "minResources": own}}
    group = only(simulate([pytorchjob(runPolicy=policy)])).pod_group
    assert group is not None
    assert group["minResources"] == own
    del policy["schedulingPolicy"]["minResources"]
    group = only(simulate([pytorchjob(runPolicy=policy)])).pod_group
    assert group is not None
    assert (group["minMember"], group["minResources"]["cpu"]) == (2, "64")
