"""Workloads: their pod sets, and what may not change while quota is reserved."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.operators.kueue.objects.making import Json, messages_of, problems_of, workload

RESERVED = {
    "conditions": [
        {
            "type": "QuotaReserved",
            "status": "True",
            "reason": "r",
            "message": "",
            "lastTransitionTime": "t",
        }
    ]
}


def template(spec: Json, **metadata: Any) -> Json:
    return {
        "template": {
            "metadata": metadata,
            "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
        }
    }


@pytest.mark.parametrize(
    ("pod_set", "path"),
    [
        (
            template({"resources": {"requests": {"pods": "1"}}}),
            ("template", "spec", "resources", "requests", "pods"),
        ),
        (
            template({"resources": {"limits": {"cpu": "-1"}}}),
            ("template", "spec", "resources", "limits", "cpu"),
        ),
        (template({}, labels={"a b": "c"}), ("template", "metadata", "labels", "a b")),
        (template({}, annotations={"a b": "c"}), ("template", "metadata", "annotations", "a b")),
        ({"topologyRequest": {"podSetSliceSize": 2}}, ("topologyRequest", "podSetSliceSize")),
        (
            {"topologyRequest": {"podSetSliceRequiredTopology": "r"}},
            ("topologyRequest", "podSetSliceSize"),
        ),
        (
            {"topologyRequest": {"podSetSliceRequiredTopology": "r", "podSetSliceSize": 0}},
            ("topologyRequest", "podSetSliceSize"),
        ),
    ],
)
def test_each_mistake_of_a_pod_set_is_reported(pod_set: Json, path: tuple[Any, ...]) -> None:
    (problem,) = problems_of(workload(pod_set))
    assert (problem.authority, problem.path) == ("kueue", ("spec", "podSets", 0, *path))


def test_containers_are_checked_too() -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"pods": "1"}}}
    pod_set = template({"containers": [container], "initContainers": [container]})
    assert [
        (authority, message.partition(":")[0])
        for authority, message in messages_of(workload(pod_set))
    ] == [
        ("kueue", f"spec.podSets[0].template.spec.{kind}[0].resources.requests[pods]")
        for kind in ("initContainers", "containers")
    ]


def test_at_most_one_pod_set_has_a_minimum() -> None:
    assert messages_of(workload({"minCount": 1}, {})) == []
    ((_, message),) = messages_of(workload({"minCount": 1}, {"minCount": 1}))
    assert message.endswith("at most one podSet can use minCount")


def test_an_elastic_job_has_no_minimum() -> None:
    elastic = {"kueue.x-k8s.io/elastic-job": "true"}
    assert messages_of(workload({}, annotations=elastic)) == []
    ((_, message),) = messages_of(workload({"minCount": 1}, annotations=elastic))
    assert message.endswith("partial admission and elastic job cannot be used together")


@pytest.mark.parametrize(("kueue", "most"), [((0, 17), 8), ((0, 18), 10), ((0, 19), 18)])
def test_the_number_of_pod_sets_depends_on_the_release(kueue: tuple[int, int], most: int) -> None:
    assert messages_of(workload(*[{}] * most), kueue) == []
    ((authority, message),) = messages_of(workload(*[{}] * (most + 1)), kueue)
    assert authority == "kube-apiserver"
    assert message == f"spec.podSets: Too many: {most + 1}: must have at most {most} items"


def reserved(manifest: Json) -> Json:
    return {**manifest, "status": RESERVED}


@pytest.mark.parametrize(
    ("after", "is_valid"),
    [
        (workload({"count": 1}), True),
        (workload({"count": 3}), False),
        (workload({"name": "other"}), False),
        (workload({}, {}), False),
    ],
)
def test_pod_sets_with_reserved_quota_are_immutable(after: Json, is_valid: bool) -> None:
    """The new object has no status: the server keeps the old one."""
    assert bool(ptcompile.diff(reserved(workload({})), after).diagnostics) != is_valid
    assert not ptcompile.diff(workload({}), after).diagnostics


def test_an_equal_amount_is_not_a_change() -> None:
    old, new = (
        workload(
            template(
                {
                    "containers": [
                        {"name": "c", "image": "i", "resources": {"requests": {"cpu": amount}}}
                    ]
                }
            )
        )
        for amount in ("1", "1000m")
    )
    assert not ptcompile.diff(reserved(old), new).diagnostics


@pytest.mark.parametrize("status", [{}, RESERVED])
def test_the_last_pod_set_stays(status: Json) -> None:
    (diagnostic,) = ptcompile.diff({**workload({}), "status": status}, workload()).diagnostics
    assert diagnostic.message == "spec.podSets: Invalid value: 0: must have at least 1 items"


def test_the_queue_of_reserved_quota_does_not_change() -> None:
    old, new = workload({}), workload({})
    old["spec"]["queueName"], new["spec"]["queueName"] = "a", "b"
    (diagnostic,) = ptcompile.diff(reserved(old), new).diagnostics
    assert (
        diagnostic.message == "Invalid value: queueName is immutable while workload quota reserved"
    )
    assert diagnostic.path == ("spec", "queueName")
    assert not ptcompile.diff(old, new).diagnostics


@pytest.mark.parametrize(
    ("kind", "status", "is_reserved"),
    [
        ("QuotaReserved", "True", True),
        ("QuotaReserved", "False", False),
        ("Admitted", "True", False),
    ],
)
def test_only_reserved_quota_keeps_the_pod_sets(kind: str, status: str, is_reserved: bool) -> None:
    condition = {
        "type": kind,
        "status": status,
        "reason": "r",
        "message": "",
        "lastTransitionTime": "t",
    }
    old = {**workload({}), "status": {"conditions": [condition]}}
    assert bool(ptcompile.diff(old, workload({"count": 3})).diagnostics) is is_reserved
