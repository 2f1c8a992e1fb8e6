"""What Kubernetes makes of a Job's spec: its defaults, its pods' names, and what answers a failure (1.36, batch/v1)."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kinds.model import KindContext
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.batch import BatchJob, facts, pods

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {},
            {"completionMode": "NonIndexed", "parallelism": 1, "completions": 1, "backoffLimit": 6},
        ),
        ({"parallelism": 4}, {"parallelism": 4, "completions": 1}),
        ({"completions": 3}, {"parallelism": 1, "completions": 3}),
        ({"completionMode": "Indexed"}, {"completionMode": "Indexed", "completions": None}),
        ({"completionMode": "Indexed", "completions": 0}, {"completions": 0}),
        ({"backoffLimit": 0}, {"backoffLimit": 0}),
    ],
)
def test_the_summary_has_the_defaults(spec: Json, expected: Json) -> None:
    summary = pods.job_summary("train", "job", spec)
    assert {key: summary[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({}, 1),
        ({"parallelism": 4}, 4),
        ({"completions": 3, "parallelism": 1}, 3),
        ({"completions": 0}, 0),
        ({"parallelism": -1}, 0),
    ],
)
def test_pods_are_counted_as_the_controller_does(spec: Json, count: int) -> None:
    assert pods.pod_count(spec) == count


@pytest.mark.parametrize(
    ("spec", "limit"),
    [
        ({}, 6),
        ({"backoffLimitPerIndex": 1, "completions": 2, "completionMode": "Indexed"}, 2**31 - 1),
    ],
)
def test_backoff_limit_has_its_default(spec: Json, limit: int) -> None:
    assert facts.default_backoff_limit(spec) == limit


@pytest.mark.parametrize(
    ("spec", "policy"),
    [({}, "TerminatingOrFailed"), ({"podFailurePolicy": {"rules": []}}, "Failed")],
)
def test_pod_replacement_policy_has_its_default(spec: Json, policy: str) -> None:
    assert facts.default_replacement_policy(spec) == policy


@pytest.mark.parametrize(
    ("spec", "parallelism", "completions"),
    [({}, 1, 1), ({"completions": 3}, 1, 3), ({"parallelism": 3}, 3, None)],
)
def test_a_job_with_parallelism_alone_is_a_work_queue(
    spec: Json, parallelism: int, completions: int | None
) -> None:
    assert facts.default_parallelism(spec) == parallelism
    default = facts.default_completions(spec)
    assert default == completions if completions is not None else not isinstance(default, int)


def _live(**status: Any) -> Json:
    return {"spec": {}, "status": status}


@pytest.mark.parametrize(
    ("live", "state"),
    [
        (_live(), "created"),
        (_live(active=2), "running"),
        (_live(active=2, ready=1), "running"),
        (_live(failed=1), "restarting"),
        (_live(failed=1, active=1), "running"),
        (_live(succeeded=1), "running"),
        (_live(terminating=1), "running"),
        (_live(uncountedTerminatedPods={"failed": ["a"]}), "running"),
        (_live(uncountedTerminatedPods={}), "created"),
        (_live(failed=1, active=1, ready=1), "running"),
        (_live(conditions=[{"type": "Complete", "status": "True"}]), "succeeded"),
        (_live(conditions=[{"type": "Complete", "status": "False"}]), "created"),
        (_live(conditions=[{"type": "Failed", "status": "True"}]), "failed"),
        (_live(conditions=[{"type": "FailureTarget", "status": "True"}]), "running"),
        ({"spec": {"suspend": True}}, "queued"),
        ({"spec": {"suspend": False}}, "created"),
    ],
)
def test_a_live_job_has_its_status(live: Json, state: str) -> None:
    assert facts.status(live).state == state


def _policy(action: str, **rule: Any) -> Json:
    return {"podFailurePolicy": {"rules": [{"action": action, **rule}]}}


LOST = {"onPodConditions": [{"type": "DisruptionTarget"}]}


@pytest.mark.parametrize(
    ("spec", "recreated"),
    [
        ({}, "pod"),
        ({"backoffLimit": 0}, "none"),
        ({"backoffLimit": 0, "backoffLimitPerIndex": 1}, "pod"),
        ({"backoffLimitPerIndex": 0}, "none"),
        (_policy("Ignore", **LOST), "pod"),
        (_policy("Ignore", **LOST) | {"backoffLimit": 0}, "pod"),
        (_policy("FailJob", **LOST), "none"),
        (
            _policy("FailJob", onPodConditions=[{"type": "DisruptionTarget", "status": "True"}]),
            "none",
        ),
        (
            _policy("FailJob", onPodConditions=[{"type": "DisruptionTarget", "status": "False"}]),
            "pod",
        ),
        (_policy("FailJob", onPodConditions=[{"type": "ConfigIssue"}]), "pod"),
        (_policy("FailJob", onExitCodes={"operator": "In", "values": [1]}), "pod"),
    ],
)
def test_a_lost_pod_is_recreated_within_the_job_s_limits(spec: Json, recreated: str) -> None:
    assert pods.lost_pod(spec).recreated == recreated


def _texts(spec: Json) -> list[str]:
    return list(pods.describe_spec_failures(spec, "Never"))


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {},
            "backoffLimit 6: that many failures are retried, then the Job fails; only the failed pod is recreated",
        ),
        ({"backoffLimit": 0}, "backoffLimit 0: the first failure fails the Job"),
        ({"backoffLimitPerIndex": 0}, "backoffLimitPerIndex 0: retries of each index"),
        (
            {"successPolicy": {"rules": [{"succeededIndexes": "0"}]}},
            "successPolicy: done when index 0 succeeds, and complete when the other pods have ended, "
            "at most 30 seconds later",
        ),
        (
            {
                "successPolicy": {"rules": [{"succeededCount": 1}]},
                "template": {"spec": {"terminationGracePeriodSeconds": 300}},
            },
            "successPolicy: done by count, and complete when the other pods have ended, at most 300 seconds later",
        ),
    ],
)
def test_the_sentences_say_what_a_failure_causes(spec: Json, text: str) -> None:
    assert text in _texts(spec)


def test_only_the_first_rule_of_a_success_policy_is_described() -> None:
    rules = [{"succeededIndexes": "0"}, {"succeededIndexes": "1"}]
    assert (
        sum(
            text.startswith("successPolicy") for text in _texts({"successPolicy": {"rules": rules}})
        )
        == 1
    )


@pytest.mark.parametrize(
    ("spec", "exit_code", "scope", "limit"),
    [
        ({}, 1, "pod", 6),
        ({"backoffLimit": 0}, 1, "pod", 0),
        ({"backoffLimitPerIndex": 2}, 1, "pod", 2),
        ({"template": {"spec": {"restartPolicy": "OnFailure"}}}, 1, "container", 5),
        (
            {"template": {"spec": {"restartPolicy": "OnFailure"}}, "backoffLimit": 0},
            1,
            "container",
            0,
        ),
        ({"template": {"spec": {"restartPolicy": "OnFailure"}}}, None, "pod", 6),
        (_policy("Ignore", **LOST), None, "pod", None),
    ],
)
def test_a_job_answers_a_failed_pod_by_its_limits(
    spec: Json, exit_code: int | None, scope: str, limit: int | None
) -> None:
    (retry,) = pods.restarts(spec, exit_code)
    assert (retry.scope, retry.limit) == (scope, limit)


def test_a_job_that_fails_answers_nothing() -> None:
    assert pods.restarts(_policy("FailJob", **LOST), None) == ()


@pytest.mark.parametrize(
    ("subdomain", "service", "dns"),
    [("train", True, "train-1.train.ml.svc"), ("train", False, None), (None, True, None)],
)
def test_pods_have_a_name_if_a_service_is_their_subdomain(
    subdomain: str | None, service: bool, dns: str | None
) -> None:
    spec = {
        "completionMode": "Indexed",
        "completions": 2,
        "template": {"spec": {"subdomain": subdomain}},
    }
    role = pods.job_role("job", "train", spec, "ml", KindContext(), dns=service)
    assert str(role.pod(1).dns).startswith(str(dns)[:20])


@pytest.mark.parametrize(("kubernetes", "labelled"), [((1, 27), False), ((1, 28), True)])
def test_the_index_is_a_label_since_1_28(kubernetes: tuple[int, int], labelled: bool) -> None:
    """https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-job-completion-index."""
    context = KindContext(Versions(kubernetes=kubernetes))
    spec = {"completionMode": "Indexed", "completions": 2, "template": {}}
    view = pods.job_role("job", "train", spec, "ml", context, dns=False).pod(1)
    assert ("batch.kubernetes.io/job-completion-index" in view.labels) is labelled
    assert view.annotations["batch.kubernetes.io/job-completion-index"] == "1"


@pytest.mark.parametrize(("spec", "replicas"), [({}, 1), ({"parallelism": 3}, 3)])
def test_the_template_counts_for_the_pods_that_run_at_once(spec: Json, replicas: int) -> None:
    (template,) = pods.pod_templates({"spec": spec})
    assert template.replicas == replicas


@pytest.mark.parametrize(
    ("spec", "retries"), [({}, 6), ({"backoffLimit": 2}, 2), ({"backoffLimit": 0}, 0)]
)
def test_the_backoff_limit_gives_the_retries(spec: Json, retries: int) -> None:
    assert BatchJob().retries({"spec": spec}) == retries
