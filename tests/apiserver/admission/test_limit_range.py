"""LimitRanges: defaults first, then the bounds of containers, pods and claims."""

from __future__ import annotations

import pytest

import ptcompile
from tests.apiserver.admission.beside import Json, job, limit_range, messages, pod, rejections

CPU = {"limits": {"cpu": "4"}}


@pytest.mark.parametrize(
    ("limits", "resources", "expected"),
    [
        ({"max": {"cpu": 8}}, CPU, []),
        ({"max": {"cpu": 2}}, CPU, ["limits.cpu: maximum cpu usage per Container is 2, but limit is 4"]),
        ({"max": {"cpu": 2}}, {}, []),  # the max is the default
        ({"min": {"cpu": 2}}, {}, []),  # the min is the default request
        ({"max": {"cpu": 2}, "default": {"cpu": 3}}, {}, None),  # the server rejects this LimitRange
        ({"min": {"cpu": 8}}, CPU, ["requests.cpu: minimum cpu usage per Container is 8, but request is 4"]),
        ({"default": {"cpu": 2}}, {"requests": {"cpu": 3}},
         ["requests: Invalid value: \"3\": must be less than or equal to cpu limit of 2"]),
        ({"maxLimitRequestRatio": {"cpu": 2}}, {"limits": {"cpu": 3}, "requests": {"cpu": 1}},
         ["limits.cpu: cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000"]),
        ({"maxLimitRequestRatio": {"cpu": 2}}, {"requests": {"cpu": 1}},
         [": cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0"]),
    ],
)  # fmt: skip
def test_containers_are_checked_against_the_limits(
    limits: Json, resources: Json, expected: list[str] | None
) -> None:
    reported = messages(limit_range({"type": "Container", **limits}), pod(resources))
    assert [
        message.removeprefix("spec.containers[0].resources").removeprefix(".")
        for message in reported
    ] == (expected or [])


@pytest.mark.parametrize(
    ("limits", "spec", "expected"),
    [
        ({"max": {"cpu": 8}}, pod(CPU, CPU), []),
        ({"max": {"cpu": 7}}, pod(CPU, CPU), ["spec: maximum cpu usage per Pod is 7, but limit is 8"]),
        ({"max": {"cpu": 4}}, pod(CPU, init={"limits": {"cpu": 5}}),
         ["spec: maximum cpu usage per Pod is 4, but limit is 5"]),
        ({"max": {"memory": 4}}, pod(CPU), ["spec: maximum memory usage per Pod is 4.  No limit is specified"]),
        ({"min": {"cpu": 5}}, pod(CPU), ["spec: minimum cpu usage per Pod is 5, but request is 4"]),
        ({"max": {"cpu": 4}}, pod({}, resources={"limits": {"cpu": 5}}),
         ["spec.resources.limits.cpu: maximum cpu usage per Pod is 4, but limit is 5"]),
    ],
)  # fmt: skip
def test_the_sums_of_a_pod_are_checked_against_the_limits(
    limits: Json, spec: Json, expected: list[str]
) -> None:
    assert messages(limit_range({"type": "Pod", **limits}), spec) == expected


def test_defaults_count_for_the_pod() -> None:
    limits = limit_range(
        {"type": "Container", "default": {"cpu": 2}}, {"type": "Pod", "max": {"cpu": 3}}
    )
    assert messages(limits, pod({}, {})) == ["spec: maximum cpu usage per Pod is 3, but limit is 4"]


def test_the_size_of_a_claim_is_checked_against_the_limits() -> None:
    limits = limit_range(
        {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "10Gi"}}
    )
    spec: Json = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "11Gi"}}}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c"},
        "spec": spec,
    }
    assert messages(limits, claim) == [
        "spec.resources.requests.storage: maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 11Gi"
    ]


def test_pods_of_a_job_are_rejected_when_they_are_created() -> None:
    (rejection,) = rejections(limit_range({"type": "Container", "max": {"cpu": 2}}), job(CPU))
    assert (rejection.code, rejection.stage) == ("PTC293", "pod")
    assert rejection.path == (
        "spec",
        "template",
        "spec",
        "containers",
        0,
        "resources",
        "limits",
        "cpu",
    )


def test_the_strictest_of_several_counts_and_the_first_default() -> None:
    first = limit_range(
        {"type": "Container", "max": {"cpu": 8}, "default": {"memory": "1Gi"}}, name="a"
    )
    second = limit_range(
        {"type": "Container", "max": {"cpu": 3}, "default": {"memory": "2Gi"}}, name="b"
    )
    third = limit_range({"type": "Pod", "max": {"memory": "1Gi"}}, name="c")
    assert [
        message.rpartition(": ")[2] for message in messages(first, second, third, pod(CPU))
    ] == ["maximum cpu usage per Container is 3, but limit is 4"]


def test_many_defaults_for_many_containers_are_limited() -> None:
    defaults = {f"example.com/r{i}": "1" for i in range(3000)}
    pods = [{**pod({}), "metadata": {"name": f"p{i}"}} for i in range(100)]
    diagnostics = ptcompile.lint(
        [limit_range({"type": "Container", "default": defaults}), *pods]
    ).diagnostics
    assert "PTC591" in {diagnostic.code for diagnostic in diagnostics}


@pytest.mark.parametrize(
    "other",
    [
        {"metadata": {"name": "l", "namespace": "other"}},
        {
            "spec": {
                "limits": [
                    {"type": "Container", "max": {"cpu": 1}},
                    {"type": "Container", "min": {"cpu": 1}},
                ]
            }
        },
    ],
    ids=["another namespace", "a rejected LimitRange"],
)
def test_other_ranges_do_not_count(other: Json) -> None:
    assert (
        messages({**limit_range({"type": "Container", "max": {"cpu": 2}}), **other}, pod(CPU)) == []
    )
