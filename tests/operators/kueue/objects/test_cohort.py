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


def test_it_may_lend_more_than_its_quota() -> None:
    groups = cluster_queue({"nominalQuota": 1, "lendingLimit": 2})["spec"]["resourceGroups"]
    assert said(kueue_object("Cohort", {"resourceGroups": groups, "parentName": "p"})) == []
