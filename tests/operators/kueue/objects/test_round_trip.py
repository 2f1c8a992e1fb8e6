"""Objects after the mutating webhook."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.operators.kueue.objects.round_trip import as_kueue_writes
from tests.operators.kueue.objects.making import cluster_queue, messages_of, workload


def test_a_missing_quota_is_zero_and_a_fraction_is_text() -> None:
    queue = cluster_queue(
        {"nominalQuota": None, "borrowingLimit": 1.5}, cohortName="c", fairSharing={"weight": 0.5}
    )
    assert messages_of(queue) == []
    spec = as_kueue_writes(queue, "ClusterQueue")["spec"]
    (quota,) = spec["resourceGroups"][0]["flavors"][0]["resources"]
    assert quota == {"name": "cpu", "nominalQuota": "0", "borrowingLimit": "1500m"}
    assert spec["fairSharing"] == {"weight": "500m"}


def test_the_mutating_webhook_sees_no_updates() -> None:
    (diagnostic,) = ptcompile.diff(
        cluster_queue({}), cluster_queue({"nominalQuota": 1.5})
    ).diagnostics
    assert diagnostic.authority == "kube-apiserver"


def test_fractional_amounts_of_a_workload_are_accepted() -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": 0.5}}}
    manifest = workload({"template": {"spec": {"containers": [container]}}})
    assert messages_of(manifest) == []


@pytest.mark.parametrize(
    "kind", ["ClusterQueue", "Cohort", "ResourceFlavor", "Workload", "LocalQueue"]
)
@pytest.mark.parametrize(
    "spec", [None, [], 1, "x", {}, {"podSets": [None, 1]}, {"resourceGroups": {"a": [1]}}]
)
def test_any_data_raises_nothing(kind: str, spec: Any) -> None:
    manifest = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "spec": spec}
    as_kueue_writes(manifest, kind)
    messages_of(manifest)


def test_an_object_that_is_complete_stays_the_same() -> None:
    queue = cluster_queue({})
    assert as_kueue_writes(queue, "ClusterQueue") is queue
