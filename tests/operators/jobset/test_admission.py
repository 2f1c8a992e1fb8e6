"""The webhooks of JobSet 0.12.

Source: docs/facts/jobset.md#fields, #admission, #cases.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.jobset.admission import validate_update
from tests.operators.admission import admission, errors_of, later, only
from tests.operators.making import Json, container, jobset, replicated, template

KIND = ("jobset.x-k8s.io/v1alpha2", "JobSet")
WHOLE = {"job": {"template": template()}}


def rule(**fields: Any) -> Json:
    return {"rules": [{"action": "FailJobSet", **fields}]}


def with_coordinator(**fields: Any) -> Json:
    return jobset(replicated("w", replicas=2, pods=2), coordinator={"replicatedJob": "w", **fields})


CLAIM = {"metadata": {"name": "data"}, "spec": {}}
MOUNTED = template(container(volumeMounts=[{"name": "data", "mountPath": "/d"}]))


def with_claims(*claims: Json, pod: Json | None = None) -> Json:
    job = {"template": pod or MOUNTED}
    return jobset(replicated("w", job=job), volumeClaimPolicies=[{"templates": list(claims)}])


REFUSED = [
    pytest.param(
        jobset(replicated("rj", replicas=101), name="a" * 62),
        ("replicatedJobs", 0, "name"),
        id="63",
    ),
    pytest.param(jobset(replicated("rj"), name="a" * 56), ("replicatedJobs", 0, "name"), id="64"),
    pytest.param(jobset(replicated("username.llama65b")), ("replicatedJobs", 0, "name"), id="65"),
    pytest.param(
        jobset(replicated("a", groupName="g" * 64)), ("replicatedJobs", 0, "groupName"), id="66"
    ),
    pytest.param(
        jobset(replicated("a"), network={"subdomain": "s" * 64}), ("network", "subdomain"), id="67"
    ),
    pytest.param(
        jobset(replicated("a"), managedBy="notDomainPrefixedPath"), ("managedBy",), id="68"
    ),
    pytest.param(
        jobset(replicated("a"), managedBy="foo.bar/" + "a" * 63), ("managedBy",), id="68 long"
    ),
    pytest.param(
        jobset(replicated("a"), failurePolicy=rule(onJobFailureReasons=["fakeReason"])),
        ("failurePolicy", "rules", 0, "onJobFailureReasons", 0),
        id="69 reason",
    ),
    pytest.param(
        jobset(replicated("a"), failurePolicy=rule(targetReplicatedJobs=["fakeReplicatedJob"])),
        ("failurePolicy", "rules", 0, "targetReplicatedJobs", 0),
        id="69 target",
    ),
    pytest.param(
        jobset(replicated("a"), failurePolicy=rule(name="a" * 129)),
        ("failurePolicy", "rules", 0, "name"),
        id="69 length",
    ),
    pytest.param(
        jobset(replicated("a"), failurePolicy=rule(name="1rule..")),
        ("failurePolicy", "rules", 0, "name"),
        id="69 name",
    ),
    pytest.param(
        jobset(replicated("a"), failurePolicy=rule(name="..rule,")),
        ("failurePolicy", "rules", 0, "name"),
        id="69 end",
    ),
    pytest.param(
        jobset(
            replicated("a"), failurePolicy={"rules": [{"name": "r", "action": "FailJobSet"}] * 2}
        ),
        ("failurePolicy", "rules", 1, "name"),
        id="69 twice",
    ),
    pytest.param(
        jobset(replicated("a"), failurePolicy=rule(action="RestartJob")),
        ("failurePolicy", "rules", 0, "action"),
        id="3.2 gate",
    ),
    pytest.param(
        jobset(replicated("a"), coordinator={"replicatedJob": "x"}),
        ("coordinator", "replicatedJob"),
        id="70 job",
    ),
    pytest.param(
        jobset(replicated("a", pods=None), coordinator={"replicatedJob": "a"}),
        ("coordinator", "replicatedJob"),
        id="70 completions",
    ),
    pytest.param(with_coordinator(jobIndex=2), ("coordinator", "jobIndex"), id="70 jobIndex"),
    pytest.param(with_coordinator(podIndex=2), ("coordinator", "podIndex"), id="70 podIndex"),
    pytest.param(
        jobset(
            replicated("w"),
            name="a" * 40,
            coordinator={"replicatedJob": "w"},
            network={"subdomain": "s" * 20},
        ),
        ("coordinator",),
        id="70 long",
    ),
    pytest.param(
        jobset(
            replicated("a"),
            replicated("b", dependsOn=[{"name": "c", "status": "Ready"}]),
            replicated("c"),
        ),
        ("replicatedJobs", 1, "dependsOn", 0, "name"),
        id="75 later",
    ),
    pytest.param(
        jobset(replicated("a"), replicated("b", dependsOn=[{"name": "x", "status": "Ready"}])),
        ("replicatedJobs", 1, "dependsOn", 0, "name"),
        id="75 unknown",
    ),
    pytest.param(
        jobset(replicated("a", dependsOn=[{"name": "b", "status": "Ready"}]), replicated("b")),
        ("replicatedJobs", 0, "dependsOn"),
        id="75 first",
    ),
    pytest.param(
        {**jobset(replicated("replicated-job")), "metadata": {"generateName": "a" * 49 + "-"}},
        ("replicatedJobs", 0, "name"),
        id="77",
    ),
    pytest.param(
        jobset(replicated("a"), failurePolicy={"restartStrategy": "InPlaceRestart"}),
        ("failurePolicy", "restartStrategy"),
        id="80 gate",
    ),
    pytest.param(
        jobset(replicated("a", replicas=2, pods=2**30 + 1, job={"completions": None})),
        ("replicatedJobs", 0, "replicas"),
        id="3.2 sum",
    ),
    pytest.param(
        jobset(replicated("a"), successPolicy={"operator": "All", "targetReplicatedJobs": ["x"]}),
        ("successPolicy", "targetReplicatedJobs", 0),
        id="3.2 success",
    ),
    pytest.param(
        with_claims(CLAIM, pod=template()),
        ("volumeClaimPolicies", 0, "templates", 0, "metadata", "name"),
        id="3.2 claim unmounted",
    ),
    pytest.param(
        with_claims({"spec": {}}),
        ("volumeClaimPolicies", 0, "templates", 0, "metadata", "name"),
        id="3.2 claim unnamed",
    ),
    pytest.param(
        with_claims(CLAIM, CLAIM),
        ("volumeClaimPolicies", 0, "templates", 1, "metadata", "name"),
        id="3.2 claim twice",
    ),
]


@pytest.mark.parametrize(("manifest", "path"), REFUSED)
def test_the_webhook_rejects_mistakes_at_their_path(manifest: Json, path: tuple[Any, ...]) -> None:
    problem = only(errors_of(manifest))
    assert problem.path == ("spec", *path)
    assert (problem.name, problem.stage, problem.authority) == (
        "webhook-refusal",
        "apply",
        "jobset",
    )
    assert problem.help


ALLOWED = [
    pytest.param(jobset(replicated("a")), id="plain"),
    pytest.param(
        jobset(replicated("a"), replicated("b", dependsOn=[{"name": "a", "status": "Ready"}])),
        id="75 in order",
    ),
    pytest.param(with_coordinator(jobIndex=1, podIndex=1), id="70"),
    pytest.param(jobset(replicated("rj"), name="a" * 50), id="length: 54 in all"),
    pytest.param(
        jobset(replicated("rj", pods=None), name="a" * 56), id="no pod names without completions"
    ),
    pytest.param(with_claims(CLAIM), id="claims"),
]


@pytest.mark.parametrize("manifest", ALLOWED)
def test_the_webhook_accepts_what_the_server_does(manifest: Json) -> None:
    assert [p.message for p in errors_of(manifest)] == []


def default(manifest: Json) -> Json:
    return dict(admission(manifest).default(manifest)["spec"])


def test_unset_fields_get_defaults() -> None:
    """Case 78 of docs/facts/jobset.md#cases."""
    spec = default(
        jobset(
            replicated("a"), failurePolicy={"rules": [{"action": "FailJobSet"}, {"name": "b"}, {}]}
        )
    )
    assert spec["successPolicy"] == {"operator": "All"}
    assert spec["startupPolicy"] == {"startupPolicyOrder": "AnyOrder"}
    assert spec["network"] == {"enableDNSHostnames": True, "publishNotReadyAddresses": True}
    assert [r["name"] for r in spec["failurePolicy"]["rules"]] == [
        "failurePolicyRule0",
        "b",
        "failurePolicyRule2",
    ]
    job = spec["replicatedJobs"][0]
    assert (job["replicas"], job["groupName"]) == (1, "default")
    assert job["template"]["spec"]["completionMode"] == "Indexed"
    assert job["template"]["spec"]["template"]["spec"]["restartPolicy"] == "OnFailure"
    assert "managedBy" not in spec


def test_explicit_values_are_kept() -> None:
    """Case 78 of docs/facts/jobset.md#cases."""
    job = {"completionMode": "NonIndexed", "template": template(restartPolicy="Never")}
    given = jobset(
        replicated("a", job=job),
        network={"enableDNSHostnames": False, "publishNotReadyAddresses": False},
        successPolicy={"operator": "Any", "targetReplicatedJobs": ["a"]},
        startupPolicy={"startupPolicyOrder": "InOrder"},
    )
    spec = default(given)
    assert spec["network"] == given["spec"]["network"]
    assert spec["successPolicy"] == given["spec"]["successPolicy"]
    assert spec["startupPolicy"] == given["spec"]["startupPolicy"]
    made = spec["replicatedJobs"][0]["template"]["spec"]
    assert (made["completionMode"], made["template"]["spec"]["restartPolicy"]) == (
        "NonIndexed",
        "Never",
    )


def test_jobset_name_is_a_label_of_the_jobs() -> None:
    assert only(later(jobset(replicated("-lead")))).path == ("spec", "replicatedJobs", 0, "name")
    assert later(jobset(replicated("lead"))) == []


def test_names_of_at_most_54_characters_in_all_are_accepted() -> None:
    """The limit is len(js) + len(rj) + digits(r-1) + digits(c-1) <= 54.

    Source: docs/facts/jobset.md#admission.
    """
    assert errors_of(jobset(replicated("rj", replicas=11, pods=101), name="a" * 47)) == []
    assert len(errors_of(jobset(replicated("rj", replicas=11, pods=101), name="a" * 48))) == 1


INSIDE = ("spec", "replicatedJobs", "[0]", "template", "spec", "template")


@pytest.mark.parametrize(
    ("old", "new", "release", "path", "count"),
    [
        (False, False, (0, 12), (*INSIDE, "spec", "nodeSelector"), 1),
        (True, True, (0, 12), (*INSIDE, "spec", "nodeSelector"), 0),
        (True, False, (0, 12), (*INSIDE, "spec", "nodeSelector"), 0),
        (False, True, (0, 8), (*INSIDE, "spec", "nodeSelector"), 0),
        (False, True, (0, 7), (*INSIDE, "spec", "nodeSelector"), 1),
        (True, True, (0, 12), (*INSIDE, "spec", "containers"), 1),
        (True, True, (0, 12), ("spec", "replicatedJobs", "[0]", "replicas"), 1),
        (True, True, (0, 12), ("spec", "managedBy"), 1),
        (False, False, (0, 12), ("spec", "suspend"), 0),
        (False, False, (0, 12), ("spec", "failurePolicy"), 0),
    ],
)
def test_only_some_fields_of_a_jobset_may_change(
    old: bool, new: bool, release: tuple[int, int], path: tuple[str, ...], count: int
) -> None:
    """JobSet 0.12 webhook, ValidateUpdate; since 0.8 a JobSet that is suspended by the update counts."""
    before, after = (jobset(replicated("w"), suspend=suspended) for suspended in (old, new))
    assert (
        len(list(validate_update(Update(before, after, Versions(jobset=release), (path,)))))
        == count
    )
