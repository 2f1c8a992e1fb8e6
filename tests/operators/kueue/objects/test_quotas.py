"""Quotas of ClusterQueues and Cohorts."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver import validate
from tests.operators.kueue.objects.making import (
    cluster_queue,
    kueue_object,
    messages_of,
    problems_of,
)

QUOTA = "spec.resourceGroups[0].flavors[0].resources[0]"


@pytest.mark.parametrize(
    ("quota", "field", "reason"),
    [
        ({"name": "memory"}, "name", "must match the name in coveredResources"),
        ({"nominalQuota": -1}, "nominalQuota", "must be greater than or equal to 0"),
        ({"borrowingLimit": "-1"}, "borrowingLimit", "must be greater than or equal to 0"),
        ({"lendingLimit": "-1"}, "lendingLimit", "must be greater than or equal to 0"),
        ({"lendingLimit": 10}, "lendingLimit", "must be less than or equal to the nominalQuota"),
    ],
)
def test_a_wrong_quota_is_rejected_with_its_reason(
    quota: dict[str, Any], field: str, reason: str
) -> None:
    ((authority, message),) = messages_of(cluster_queue(quota, cohortName="c"))
    assert authority == "kueue"
    assert message.startswith(f"{QUOTA}.{field}: Invalid value: ")
    assert message.endswith(reason)


@pytest.mark.parametrize(
    "quota", [{}, {"lendingLimit": 9}, {"borrowingLimit": 0}, {"nominalQuota": "1e3"}]
)
def test_a_valid_quota_is_accepted(quota: dict[str, Any]) -> None:
    assert messages_of(cluster_queue(quota, cohortName="c")) == []


@pytest.mark.parametrize("field", ["borrowingLimit", "lendingLimit"])
def test_a_limit_needs_a_cohort(field: str) -> None:
    """The CRD says the same of the whole spec for one of them; the finding stands at the limit."""
    (problem,) = problems_of(cluster_queue({field: 5}))
    assert problem.path[-1] == field
    assert problem.message.endswith("must be nil when cohort is empty")
    assert problem.help is not None
    assert "spec.cohortName" in problem.help


def test_without_webhooks_the_crd_says_that_a_limit_needs_a_cohort() -> None:
    (problem,) = validate(cluster_queue({"borrowingLimit": 5}), webhooks=False)
    assert (problem.authority, problem.path) == ("kube-apiserver", ("spec",))
    assert problem.help == "set spec.cohortName, or remove borrowingLimit"


@pytest.mark.parametrize("field", ["nominalQuota", "borrowingLimit", "lendingLimit"])
def test_an_amount_that_only_the_crd_accepts_is_rejected(field: str) -> None:
    ((authority, message),) = messages_of(cluster_queue({field: "1e1.5"}, cohortName="c"))
    assert authority == "kueue"
    assert message.startswith(f'{QUOTA}.{field}: Invalid value: "1e1.5": ')


def test_a_cohort_may_lend_more_than_its_own_quota_but_needs_a_parent() -> None:
    quota = {"name": "cpu", "nominalQuota": 1, "lendingLimit": 5}
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [quota]}]}
    assert messages_of(kueue_object("Cohort", {"parentName": "p", "resourceGroups": [group]})) == []
    ((_, message),) = messages_of(kueue_object("Cohort", {"resourceGroups": [group]}))
    assert message.endswith("must be nil when parent is empty")


def test_a_resource_and_a_flavor_belong_to_one_group() -> None:
    queue = cluster_queue({})
    queue["spec"]["resourceGroups"] *= 2
    assert [message for _, message in messages_of(queue)] == [
        'spec.resourceGroups[1].coveredResources[0]: Duplicate value: "cpu"',
        'spec.resourceGroups[1].flavors[0].name: Duplicate value: "f"',
    ]


def test_a_covered_resource_is_a_resource_name() -> None:
    ((_, message),) = messages_of(cluster_queue({"name": "bad key!"}, covered=("bad key!",)))
    assert message.startswith(
        'spec.resourceGroups[0].coveredResources[0]: Invalid value: "bad key!"'
    )


@pytest.mark.parametrize(
    ("weight", "is_valid"),
    [("0", True), ("2n", True), (3, True), ("1n", False), ("-1", False), (None, True)],
)
def test_only_valid_weights_are_accepted(weight: Any, is_valid: bool) -> None:
    messages = messages_of(cluster_queue({}, fairSharing={"weight": weight}))
    assert [message.partition(":")[0] for _, message in messages] == (
        [] if is_valid else ["spec.fairSharing"]
    )


def test_a_cohort_needs_its_quota_written() -> None:
    """No mutating webhook fills it in."""
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "f", "resources": [{"name": "cpu"}]}],
    }
    ((authority, message),) = messages_of(kueue_object("Cohort", {"resourceGroups": [group]}))
    assert authority == "kube-apiserver"
    assert message == "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Required value"


def test_a_negative_weight_of_a_cohort_is_rejected() -> None:
    ((authority, _),) = messages_of(kueue_object("Cohort", {"fairSharing": {"weight": "-1"}}))
    assert authority == "kueue"


def test_a_cohort_may_lend_more_than_its_quota() -> None:
    groups = cluster_queue({"nominalQuota": 1, "lendingLimit": 2})["spec"]["resourceGroups"]
    assert messages_of(kueue_object("Cohort", {"resourceGroups": groups, "parentName": "p"})) == []
