"""Target job: an Indexed Job and the headless Service that gives its pods DNS names."""

from __future__ import annotations

from typing import Any

import pytest

from tests import making
from tests.making import compiled, errors_of, manifest, smallest, text

OLD = making.profile({"versions": {"kubernetes": "1.35"}})
BEFORE_SUCCESS_POLICY = making.profile({"versions": {"kubernetes": "1.32"}})
RANGE = "elastic: {nnodes: '2:4', nprocPerNode: 2}"


def test_service_precedes_the_job() -> None:
    service, job = compiled(smallest("nodes: 2"), "job").manifests
    assert (service["kind"], job["kind"]) == ("Service", "Job")
    assert service["metadata"]["name"] == job["spec"]["template"]["spec"]["subdomain"] == "train"


def test_service_resolves_pods_before_they_are_ready() -> None:
    """Source: docs/facts/kubernetes.md#indexed-jobs."""
    service = compiled(smallest("nodes: 2"), "job").manifests[0]
    assert service["spec"] == {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {"batch.kubernetes.io/job-name": "train"},
    }


def test_service_and_job_share_a_namespace() -> None:
    source = smallest("nodes: 2").replace("{name: train}", "{name: train, namespace: research}")
    assert {one["metadata"]["namespace"] for one in compiled(source, "job").manifests} == {
        "research"
    }


def test_all_ranks_run_at_once() -> None:
    """The API server sets parallelism to 1 by default.

    Source: docs/facts/api-server.md#jobs; docs/facts/kubernetes.md#indexed-jobs.
    """
    spec = manifest(smallest("nodes: 4"), "job")["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 4, 4)


def test_one_node_needs_no_service() -> None:
    (job,) = compiled(smallest(), "job").manifests
    assert "subdomain" not in job["spec"]["template"]["spec"]
    assert job["spec"]["completions"] == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [("", 0), ("runPolicy: {backoffLimit: 0}", 0), ("runPolicy: {backoffLimit: 3}", 3)],
)
def test_retries_only_if_the_spec_sets_them(given: str, expected: int) -> None:
    """The server's default of 6 retries would leave the other pods waiting.

    Source: docs/facts/kubernetes.md#indexed-jobs.
    """
    assert manifest(smallest(f"nodes: 2\n{given}"), "job")["spec"]["backoffLimit"] == expected


def test_zeros_in_the_run_policy_are_kept() -> None:
    """Source: docs/facts/flyte.md#defects 1."""
    body = "nodes: 2\nrunPolicy: {ttlSecondsAfterFinished: 0, backoffLimit: 0}"
    spec = manifest(smallest(body), "job")["spec"]
    assert (spec["ttlSecondsAfterFinished"], spec["backoffLimit"]) == (0, 0)


def test_unset_run_policy_fields_are_omitted() -> None:
    assert (
        not {"ttlSecondsAfterFinished", "activeDeadlineSeconds", "suspend"}
        & manifest(smallest(), "job")["spec"].keys()
    )


def test_a_job_has_the_fields_of_the_run_policy() -> None:
    body = "runPolicy: {activeDeadlineSeconds: 60, suspend: true, cleanPodPolicy: Running}"
    spec = manifest(smallest(body), "job")["spec"]
    assert spec["activeDeadlineSeconds"] == 60
    assert spec["suspend"] is True


@pytest.mark.parametrize(
    ("body", "policy"), [("", "Never"), ("restartPolicy: OnFailure", "OnFailure")]
)
def test_restart_policy_is_always_set(body: str, policy: str) -> None:
    """A Job's template must set one, and Always is rejected.

    Source: docs/facts/api-server.md#jobs.
    """
    assert manifest(smallest(body), "job")["spec"]["template"]["spec"]["restartPolicy"] == policy


def test_elastic_job_ends_with_node_0() -> None:
    spec = manifest(smallest(RANGE), "job")["spec"]
    assert spec["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    assert spec["parallelism"] == 4


def test_fixed_job_ends_with_all_nodes() -> None:
    assert "successPolicy" not in manifest(smallest("nodes: 4"), "job")["spec"]


def test_queue_is_a_kueue_label_on_the_job_only() -> None:
    service, job = compiled(smallest("nodes: 2\nqueue: research"), "job").manifests
    assert job["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "research"}
    assert "labels" not in service["metadata"]


def test_plain_command_gets_its_rank_from_the_index() -> None:
    """`$(JOB_COMPLETION_INDEX)` in a value stays literal, but a fieldRef is resolved.

    Source: docs/facts/kubernetes.md#indexed-jobs.
    """
    source = text("image: img:1\ncommand: [python, x.py]\nnodes: 2")
    (container,) = manifest(source, "job")["spec"]["template"]["spec"]["containers"]
    rank = next(variable for variable in container["env"] if variable["name"] == "RANK")
    field = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
    assert rank["valueFrom"] == {"fieldRef": {"fieldPath": field}}


ROLES = "master: {}\nworker: {replicas: 2, restartPolicy: Always}"
REFUSED = [
    ("restartPolicy: Always", ("spec", "restartPolicy")),
    ("restartPolicy: ExitCode", ("spec", "restartPolicy")),
    ("restartPolicy: Always\nmaster: {}\nworker: {replicas: 2}", ("spec", "restartPolicy")),
    ("master: {restartPolicy: Always}", ("spec", "master", "restartPolicy")),
    ("runPolicy: {cleanPodPolicy: All}", ("spec", "runPolicy", "cleanPodPolicy")),
    ("master: {image: other}\nworker: {replicas: 2}", ("spec", "worker")),
    ("master: {}\nworker: {replicas: 2, resources: {cpu: 2}}", ("spec", "worker")),
    ("master: {}\nworker: {replicas: 2, restartPolicy: OnFailure}", ("spec", "worker")),
]


@pytest.mark.parametrize(("body", "path"), REFUSED)
def test_unsupported_fields_are_rejected_once(body: str, path: tuple[str, ...]) -> None:
    assert errors_of("job", body) == [("unsupported-by-target", path)]


def test_equal_roles_share_one_template() -> None:
    spec = manifest(smallest("master: {}\nworker: {replicas: 2}"), "job")["spec"]
    assert spec["completions"] == 3


def test_success_policy_needs_a_newer_kubernetes() -> None:
    assert errors_of("job", RANGE) == []
    assert errors_of("job", RANGE, BEFORE_SUCCESS_POLICY) == [
        ("unsupported-by-target", ("spec", "elastic", "nnodes"))
    ]


BUDGETS = [
    ("nodes: 2", 61),
    ("nodes: 10", 61),
    ("nodes: 11", 60),
    ("nodes: 100", 60),
    ("nodes: 101", 59),
]


@pytest.mark.parametrize(("body", "room"), BUDGETS)
def test_a_name_is_accepted_up_to_its_limit(body: str, room: int) -> None:
    """The host name `<job>-<last index>` is a DNS label of at most 63 characters.

    Source: docs/facts/kubernetes.md#indexed-jobs.
    """
    assert errors_of("job", body, name="a" * room) == []
    assert errors_of("job", body, name="a" * (room + 1)) == [
        ("name-too-long", ("metadata", "name"))
    ]


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [(making.DEFAULT_CLUSTER, []), (OLD, [("spec-invalid-value", ("metadata", "name"))])],
)
def test_service_name_may_start_with_a_digit_since_1_36(cluster: Any, expected: list[Any]) -> None:
    """The feature gate is RelaxedServiceNameValidation.

    Source: docs/facts/volcano.md#names.
    """
    assert errors_of("job", "nodes: 2", cluster, name="7b-sft") == expected
    assert errors_of("job", "", cluster, name="7b-sft") == [], "one node has no Service"
