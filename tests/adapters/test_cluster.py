"""Compiled manifests, applied and followed with the real client of the package `kubernetes`."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.adapters import cluster
from ptcompile.operators.targets import TARGETS
from tests.adapters.fake_api import FakeApi

SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec: {image: "registry.example.com/x:1", script: train.py, resources: {cpu: 1, memory: 1Gi}}
"""


def _submitted(api: Any, target: str) -> tuple[ptcompile.Result, Any]:
    text = SPEC if target == "pod" else SPEC.replace("script:", "nodes: 3, script:")
    result = ptcompile.compile(text, target=target)
    return result, cluster.submit(api, result, "team-a")


@pytest.mark.parametrize("target", TARGETS)
def test_every_object_is_created_in_order_and_owned_by_the_job(
    target: str, fake: FakeApi, api: Any
) -> None:
    result, live = _submitted(api, target)
    created = [path.rpartition("/")[2] for method, path in fake.asked if method == "POST"]
    assert created == [obj.plural for obj in result.handle.objects]
    assert live["metadata"]["namespace"] == "team-a"
    for handled in result.handle.objects[:-1]:
        beside = cluster.find(api, handled._replace(namespace="team-a"))
        assert beside is not None
        (owner,) = beside["metadata"]["ownerReferences"]
        assert (owner["uid"], owner["kind"]) == (live["metadata"]["uid"], result.handle.job.kind)


@pytest.mark.parametrize("target", TARGETS)
def test_pods_are_in_rank_order_with_their_logs(target: str, api: Any) -> None:
    _, live = _submitted(api, target)
    pods = cluster.replicas(api, live)
    assert [pod.rank for pod in pods] == list(range(1 if target == "pod" else 3))
    container = "node" if target == "trainjob" else "pytorch"
    for pod in pods:
        name = pod.pod["metadata"]["name"]
        assert list(cluster.log(api, pod)) == [f"{name} {container} one", f"{name} épilogue"]
    assert list(cluster.log(api, pods[0], follow=True, since_seconds=5))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("well", [True, False])
def test_follow_returns_the_end(target: str, *, well: bool, fake: FakeApi, api: Any) -> None:
    result, _ = _submitted(api, target)
    job = cluster.reference(target, "team-a", "train")
    assert job == result.handle.job._replace(namespace="team-a")
    assert cluster.target_of(job) == target
    assert not ptcompile.status(cluster.find(api, job) or {}).done
    fake.ends = well
    assert ptcompile.status(cluster.find(api, job) or {}).state == (
        "succeeded" if well else "failed"
    )


@pytest.mark.parametrize("target", TARGETS)
def test_deleting_the_job_deletes_all_objects(target: str, fake: FakeApi, api: Any) -> None:
    result, _ = _submitted(api, target)
    job = cluster.reference(target, "team-a", "train")
    cluster.delete(api, job, result.handle.propagation)
    assert fake.objects == {}
    assert fake.deletions == [(f"{job.plural}/train", result.handle.propagation)]
    assert cluster.find(api, job) is None
    cluster.delete(api, job)


def test_a_failed_creation_leaves_no_objects(fake: FakeApi, api: Any) -> None:
    from kubernetes.client import ApiException

    result, _ = _submitted(api, "job")
    before = dict(fake.objects)
    with pytest.raises(ApiException) as raised:
        cluster.submit(api, result, "team-a")
    assert raised.value.status == 409
    assert fake.objects == before
    fake.objects.clear()
    fake.create("batch/v1", "jobs", "team-a", {**result.manifests[-1]})
    with pytest.raises(ApiException):
        cluster.submit(api, result, "team-a")
    assert fake.names("services") == []


def test_a_client_without_patch_permission_leaves_no_objects(fake: FakeApi, api: Any) -> None:
    from kubernetes.client import ApiException

    fake.forbidden = frozenset({"PATCH"})
    with pytest.raises(ApiException) as raised:
        _submitted(api, "job")
    assert raised.value.status == 403
    assert fake.objects == {}


def test_the_newest_of_recreated_pods_counts(fake: FakeApi, api: Any) -> None:
    _, live = _submitted(api, "job")
    (key, first), *_ = [item for item in fake.objects.items() if item[0][1] == "pods"]
    newer = {
        **first,
        "metadata": {
            **first["metadata"],
            "name": "again",
            "creationTimestamp": "2026-01-02T00:00:00Z",
        },
    }
    fake.objects = {(*key[:3], "again"): newer, **fake.objects}
    index = int(first["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"])
    assert [replica.pod["metadata"]["name"] for replica in cluster.replicas(api, live)][
        index
    ] == "again"


def test_jobs_are_listed_by_label(api: Any) -> None:
    result = ptcompile.compile(SPEC, target="job", overrides=[("metadata.labels.a", "b")])
    cluster.submit(api, result, "team-a")
    jobs = cluster.reference("job", "", "")
    assert [job["kind"] for job in cluster.find_all(api, jobs, "a=b")] == ["Job"]
    assert cluster.find_all(api, jobs, "a=c") == []
    assert cluster.find_all(api, jobs._replace(api_version="x.y/v1", plural="others"), "a=b") == []


def test_an_unknown_target_is_a_caller_error() -> None:
    with pytest.raises(ValueError, match="no target 'x'"):
        cluster.reference("x", "a", "b")


def test_a_name_becomes_a_valid_label() -> None:
    assert cluster.label("My_DAG.Task!") == "my-dag-task"
    assert cluster.label("__") == "job"
    assert len(cluster.label("x" * 100)) == 30


@pytest.mark.parametrize("namespace", ["", "Team_A", "a/b"])
def test_a_namespace_that_cannot_exist_is_rejected_before_any_request(
    namespace: str, fake: FakeApi, api: Any
) -> None:
    with pytest.raises(ValueError, match="no namespace can be named"):
        cluster.submit(api, ptcompile.compile(SPEC), namespace)
    assert fake.asked == []


def test_submitting_into_another_namespace_is_an_error(fake: FakeApi, api: Any) -> None:
    result = ptcompile.compile(SPEC.replace("{name: train}", "{name: train, namespace: research}"))
    with pytest.raises(
        ValueError, match="the manifests are for the namespace research, not team-a"
    ):
        cluster.submit(api, result, "team-a")
    assert fake.asked == []
    assert cluster.submit(api, result, "research")["metadata"]["namespace"] == "research"


def test_waiting_ends_in_time(api: Any) -> None:
    result, _ = _submitted(api, "job")
    job = result.handle.job._replace(namespace="team-a")
    with pytest.raises(TimeoutError, match="is not over after"):
        cluster.wait(api, job, poll_interval=0.02, timeout=0.05)
