"""ClusterQueues beside their quotas."""

from __future__ import annotations

import ptcompile
from tests.operators.kueue.objects.making import cluster_queue, kueue_object, messages_of


def test_checks_name_flavors_of_the_queue() -> None:
    checks = {"admissionChecks": [{"name": "c", "onFlavors": ["f", "g"]}]}
    ((authority, message),) = messages_of(cluster_queue({}, admissionChecksStrategy=checks))
    assert authority == "kueue"
    field = "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1]"
    assert message == f'{field}: Unsupported value: "g": supported values: "f"'


def test_the_checks_of_v1beta1_take_the_place_of_the_strategy() -> None:
    checks = {"admissionChecks": [{"name": "c", "onFlavors": ["g"]}]}
    queue = {
        **cluster_queue({}, admissionChecksStrategy=checks),
        "apiVersion": "kueue.x-k8s.io/v1beta1",
    }
    assert len(messages_of(queue)) == 1
    queue["spec"]["admissionChecks"] = ["c"]
    assert messages_of(queue) == []


def test_v1beta1_names_the_cohort_in_another_field() -> None:
    queue = {
        **cluster_queue({"lendingLimit": 1}, cohort="c"),
        "apiVersion": "kueue.x-k8s.io/v1beta1",
    }
    assert messages_of(queue) == []


def test_a_wrong_namespace_selector_is_rejected() -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]}
    ((authority, message),) = messages_of(cluster_queue({}, namespaceSelector=selector))
    assert authority == "kueue"
    assert message.startswith("spec.namespaceSelector.matchExpressions[0].values: Forbidden: ")


def test_too_many_flavors_in_total_are_rejected() -> None:
    names = [f"f{index}" for index in range(64)]
    groups = [
        {
            "coveredResources": [f"example.com/{group}"],
            "flavors": [
                {
                    "name": f"{name}-{group}",
                    "resources": [{"name": f"example.com/{group}", "nominalQuota": 1}],
                }
                for name in names
            ],
        }
        for group in range(5)
    ]
    assert messages_of(kueue_object("ClusterQueue", {"resourceGroups": groups[:4]})) == []
    ((_, message),) = messages_of(kueue_object("ClusterQueue", {"resourceGroups": groups}))
    assert (
        "total number of flavors across all resourceGroups must be at most 256, got 320" in message
    )


def test_the_policy_of_concurrent_admission_does_not_change() -> None:
    policy = {"migration": {"mode": "TryPreferredFlavors"}}
    old, new = cluster_queue({}), cluster_queue({}, concurrentAdmissionPolicy=policy)
    (diagnostic,) = ptcompile.diff(old, new).diagnostics
    assert (diagnostic.authority, diagnostic.path) == (
        "kueue",
        ("spec", "concurrentAdmissionPolicy"),
    )
    assert not ptcompile.diff(new, new).diagnostics


def test_a_cluster_queue_lends_at_most_its_quota() -> None:
    more, equal = ({"nominalQuota": 1, "lendingLimit": limit} for limit in (2, 1))
    ((authority, message),) = messages_of(cluster_queue(more, cohortName="c"))
    assert authority == "kueue"
    assert message.endswith("must be less than or equal to the nominalQuota")
    assert messages_of(cluster_queue(equal, cohortName="c")) == []
