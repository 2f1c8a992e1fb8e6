"""Jobs as import reads them: equal nodes, and the Service that names them."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.index import Objects
from ptcompile.operators.batch.read import read
from tests.counting import steps

Json = dict[str, Any]


def _job(pods: int | None = 2, **spec: Any) -> Json:
    containers = [{"name": "sidecar", "image": "s"}, {"name": "pytorch", "image": "i"}]
    pod = {"restartPolicy": "Never", "subdomain": "train", "containers": containers}
    counts = {} if pods is None else {"completions": pods, "parallelism": pods}
    body = {"completionMode": "Indexed", **counts, "template": {"spec": pod}, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": body}


def _service(name: str = "train", namespace: str | None = None, **spec: Any) -> Json:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    body = {"clusterIP": "None", "selector": {"job-name": "train", "team": "ml"}, **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": body}


@pytest.mark.parametrize(("pods", "nodes"), [(None, 1), (0, 1), (1, 1), (2, 2), (8, 8)])
def test_completions_become_nodes(pods: int | None, nodes: int) -> None:
    (job,) = read(_job(pods), Objects([_service()]))
    (role,) = job.pods
    assert (job.target, job.fields["nodes"], role.role, role.main) == (
        "job",
        nodes,
        "node",
        "pytorch",
    )


@pytest.mark.parametrize(
    ("parallelism", "completions", "is_read"),
    [(2, 2, True), (3, 2, True), (1, 2, False), (0, 1, False)],
)
def test_a_job_whose_nodes_run_one_after_the_other_is_not_read(
    parallelism: int, completions: int, is_read: bool
) -> None:
    (job,) = read(_job(None, parallelism=parallelism, completions=completions), Objects())
    assert bool(job.pods) is is_read
    if not is_read:
        (problem,) = job.problems
        assert problem.path == ("spec", "completions")
        assert f"{parallelism} of {completions} pods run at a time" in problem.message


def test_set_fields_of_the_job_are_its_run_policy() -> None:
    (job,) = read(
        _job(1, ttlSecondsAfterFinished=5, activeDeadlineSeconds=60, suspend=True, backoffLimit=3),
        Objects(),
    )
    assert job.fields["runPolicy"] == {
        "ttlSecondsAfterFinished": 5,
        "activeDeadlineSeconds": 60,
        "suspend": True,
    }


def test_the_headless_service_of_the_subdomain_names_the_pods() -> None:
    (job,) = read(_job(), Objects([_service("other"), _service()]))
    assert "manifest" not in job.fields
    assert "names" not in job.fields
    (service,) = job.objects
    assert service["metadata"]["name"] == "train"
    assert service["spec"]["selector"] == {"batch.kubernetes.io/job-name": "train", "team": "ml"}


@pytest.mark.parametrize(
    "services",
    [(), (_service("other"),), (_service(clusterIP="10.0.0.1"),), (_service(namespace="other"),)],
    ids=["none", "another name", "not headless", "another namespace"],
)
def test_without_a_service_the_pods_have_no_names(services: tuple[Json, ...]) -> None:
    (job,) = read(_job(), Objects(services))
    assert job.fields["manifest"] == {"job/Service": None}
    assert job.objects == ()


def test_a_subdomain_of_another_name_names_the_service() -> None:
    job = _job()
    job["spec"]["template"]["spec"]["subdomain"] = "hosts"
    (read_job,) = read(job, Objects([_service("hosts")]))
    assert read_job.fields["names"] == {"service": "hosts"}
    assert len(read_job.objects) == 1


def test_a_single_node_needs_no_service() -> None:
    (job,) = read(_job(1), Objects([_service()]))
    assert "manifest" not in job.fields
    assert job.objects == ()


def test_a_job_looks_at_no_service_of_another_name() -> None:
    def work(others: int) -> int:
        services = Objects([_service(f"other-{n}") for n in range(others)] + [_service()])
        list(read(_job(), services))  # makes the index
        return steps(lambda: list(read(_job(), services)))

    assert work(200) == work(2)
