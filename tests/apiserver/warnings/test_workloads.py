"""Warnings about the built-in kinds that create pods (Kubernetes 1.36)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.warnings.conftest import Warned

POD = {"containers": [{"name": "a", "image": "i"}], "terminationGracePeriodSeconds": -1}
TEXT = "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"


@pytest.mark.parametrize(
    ("api_version", "kind", "fields", "place"),
    [
        ("v1", "Pod", {"spec": POD}, ""),
        ("v1", "PodTemplate", {"template": {"spec": POD}}, "template."),
        ("v1", "ReplicationController", {"spec": {"template": {"spec": POD}}}, "spec.template."),
        ("apps/v1", "ReplicaSet", {"spec": {"template": {"spec": POD}}}, "spec.template."),
        ("apps/v1", "StatefulSet", {"spec": {"template": {"spec": POD}}}, "spec.template."),
        (
            "batch/v1",
            "CronJob",
            {"spec": {"jobTemplate": {"spec": {"template": {"spec": POD}}}}},
            "spec.jobTemplate.spec.template.",
        ),
    ],
)
def test_warnings_are_at_the_path_of_the_template(
    warned: Warned, api_version: str, kind: str, fields: dict[str, Any], place: str
) -> None:
    assert warned(api_version, kind, fields) == [place + TEXT]


def test_templates_of_custom_resources_get_no_warnings(warned: Warned) -> None:
    spec = {"pytorchReplicaSpecs": {"Worker": {"template": {"spec": POD}}}}
    assert warned("kubeflow.org/v1", "PyTorchJob", {"spec": spec}) == []


@pytest.mark.parametrize(
    ("spec", "is_warned"),
    [
        ({"completions": 100_001, "parallelism": 10_001, "completionMode": "Indexed"}, True),
        ({"completions": 100_001, "parallelism": 10_000, "completionMode": "Indexed"}, False),
        ({"completions": 100_000, "parallelism": 10_001, "completionMode": "Indexed"}, False),
        ({"completions": 100_001, "parallelism": 10_001}, False),
        ({"completions": 100_001, "completionMode": "Indexed"}, False),
    ],
)
def test_jobs_with_many_indexes_are_warned_about(
    warned: Warned, spec: dict[str, Any], is_warned: bool
) -> None:
    text = (
        "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
        "Kubernetes might "
        "not be able to track completedIndexes when a big number of indexes fail"
    )
    assert warned("batch/v1", "Job", {"spec": spec}) == ([f"spec: {text}"] if is_warned else [])
    cron = warned("batch/v1", "CronJob", {"spec": {"jobTemplate": {"spec": spec}}})
    assert cron == ([f"spec.jobTemplate.spec: {text}"] if is_warned else [])


def test_claims_and_revisions_of_stateful_sets_are_warned_about(warned: Warned) -> None:
    claim = {"spec": {"resources": {"requests": {"storage": "500m"}}}}
    spec = {"volumeClaimTemplates": [claim], "revisionHistoryLimit": -1}
    fractional = 'fractional byte value "500m" is invalid, must be an integer'
    assert warned("apps/v1", "StatefulSet", {"spec": spec}) == [
        f"spec.volumeClaimTemplates[0].resources.requests[storage]: {fractional}",
        "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
    ]


@pytest.mark.parametrize(
    ("limit", "kubernetes", "count"),
    [(-1, "1.32", 0), (-1, "1.33", 1), (0, "1.33", 0), (None, "1.33", 0)],
)
def test_a_negative_history_is_warned_about_since_1_33(
    warned: Warned, limit: int | None, kubernetes: str, count: int
) -> None:
    fields = {"spec": {} if limit is None else {"revisionHistoryLimit": limit}}
    assert len(warned("apps/v1", "StatefulSet", fields, kubernetes)) == count


@pytest.mark.parametrize(
    ("completions", "parallelism", "mode", "count"),
    [
        (100_001, 10_001, "Indexed", 1),
        (100_001, 10_000, "Indexed", 0),
        (100_000, 10_001, "Indexed", 0),
        (100_001, None, "Indexed", 0),
        (100_001, 10_001, "NonIndexed", 0),
    ],
)
def test_large_indexed_jobs_are_warned_about(
    warned: Warned, completions: int, parallelism: int | None, mode: str, count: int
) -> None:
    """Kubernetes 1.36, pkg/apis/batch: more completions than 10^5 with a parallelism above 10^4."""
    spec = {"completions": completions, "parallelism": parallelism, "completionMode": mode}
    assert len(warned("batch/v1", "Job", {"spec": spec})) == count
