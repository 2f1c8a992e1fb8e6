"""Cohorts: no mutating webhook fills in their quotas."""

from __future__ import annotations

from tests.operators.kueue.objects.making import cluster_queue, kueue_object, said


def test_a_cohort_needs_its_quota_written() -> None:
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{"name": "cpu"}]}]}
    ((authority, message),) = said(kueue_object("Cohort", {"resourceGroups": [group]}))
    assert authority == "kube-apiserver"
    assert message == "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Required value"


def test_its_weight() -> None:
    ((authority, _),) = said(kueue_object("Cohort", {"fairSharing": {"weight": "-1"}}))
    assert authority == "kueue"


def test_only_a_cluster_queue_lends_at_most_its_quota() -> None:
    more, equal = ({"nominalQuota": 1, "lendingLimit": limit} for limit in (2, 1))
    ((authority, message),) = said(cluster_queue(more, cohortName="c"))
    assert authority == "kueue"
    assert message.endswith("must be less than or equal to the nominalQuota")
    assert said(cluster_queue(equal, cohortName="c")) == []
    groups = cluster_queue(more)["spec"]["resourceGroups"]
    assert said(kueue_object("Cohort", {"resourceGroups": groups, "parentName": "p"})) == []
