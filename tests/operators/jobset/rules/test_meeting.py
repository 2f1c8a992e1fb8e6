"""JobSets whose pods wait for each other.

Source: docs/facts/jobset.md#pods, #failure-and-success.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.manifests import (
    jobset,
    paths,
    replicated,
    rules_with_problems,
    template,
    torchrun,
)

PAIR = template(command=torchrun(2))
ALONE = template(command=["python", "train.py"])


@pytest.mark.parametrize(
    ("job", "fires"),
    [
        ({"completions": 2, "parallelism": 2}, False),
        ({"completions": 2, "parallelism": 1}, True),
        ({"completions": 2, "parallelism": None}, True),
        ({"completions": 4, "parallelism": 2}, False),  # two rounds of two pods
    ],
)
def test_serial_ranks_are_reported(job: dict[str, Any], fires: bool) -> None:
    assert (
        "serial-ranks" in rules_with_problems(jobset(replicated("node", pod=PAIR, job=job)))
    ) is fires
    assert "serial-ranks" not in rules_with_problems(jobset(replicated("node", pod=ALONE, job=job)))


def test_ranks_of_several_jobs_run_concurrently() -> None:
    parts = [replicated("node", pod=PAIR, job={"completions": 2}), replicated("worker", pod=PAIR)]
    assert "serial-ranks" not in rules_with_problems(jobset(*parts))


@pytest.mark.parametrize(
    ("job", "pod", "spec", "fires"),
    [
        ({"backoffLimit": 0}, PAIR, {}, False),
        ({"backoffLimit": None}, PAIR, {}, True),
        ({"backoffLimit": 3}, PAIR, {}, True),
        ({"backoffLimit": 3}, ALONE, {}, False),
        ({"backoffLimit": 3}, template(command=torchrun("2:4")), {}, False),
        ({"backoffLimit": 3}, template(command=torchrun(2, "h", "--rdzv-backend=c10d")), {}, False),
        (
            {"backoffLimit": 3, "podFailurePolicy": {"rules": [{"action": "FailJob"}]}},
            PAIR,
            {},
            False,
        ),
        (
            {"backoffLimit": 2**31 - 1},
            PAIR,
            {"failurePolicy": {"restartStrategy": "InPlaceRestart"}},
            False,
        ),
    ],
)
def test_a_lone_restarted_pod_cannot_meet_the_others(
    job: dict[str, Any], pod: dict[str, Any], spec: dict[str, Any], fires: bool
) -> None:
    sized = {"completions": 2, "parallelism": 2, **job}
    assert (
        "lone-pod-restart"
        in rules_with_problems(jobset(replicated("node", pod=pod, job=sized), **spec))
    ) is fires


def depends(name: str, *on: tuple[str, str], pod: dict[str, Any] | None = None) -> dict[str, Any]:
    return replicated(
        name, pod=pod, dependsOn=[{"name": other, "status": status} for other, status in on]
    )


@pytest.mark.parametrize(
    ("later", "fires"),
    [
        (depends("worker", ("node", "Complete")), True),
        (depends("worker", ("node", "Ready")), False),
        (depends("worker", ("data", "Complete")), False),
    ],
)
def test_ranks_wait_for_jobs_that_wait_for_them(later: dict[str, Any], fires: bool) -> None:
    jobs = [
        replicated("data", pod=ALONE),
        replicated("node", pod=template(command=torchrun(3))),
        later,
    ]
    jobs.append(depends("last", ("worker", "Ready"), pod=ALONE))
    assert ("rank-waits-for-complete" in rules_with_problems(jobset(*jobs))) is fires


def test_job_after_training_is_not_a_deadlock() -> None:
    jobs = [
        replicated("node", pod=PAIR, job={"completions": 2, "parallelism": 2}),
        depends("export", ("node", "Complete")),
    ]
    assert "rank-waits-for-complete" not in rules_with_problems(jobset(*jobs))


@pytest.mark.parametrize(
    ("policy", "fires"),
    [
        ({"operator": "All", "targetReplicatedJobs": ["data"]}, True),
        ({"operator": "All", "targetReplicatedJobs": ["data", "model"]}, True),
        ({"operator": "All", "targetReplicatedJobs": ["data", "node"]}, False),
        ({"operator": "All", "targetReplicatedJobs": ["node"]}, False),
        ({"operator": "All"}, False),
        ({"operator": "Any"}, True),
        ({"operator": "Any", "targetReplicatedJobs": ["node"]}, False),
        (None, False),
    ],
)
def test_a_jobset_must_not_succeed_before_its_last_start(
    policy: dict[str, Any] | None, fires: bool
) -> None:
    jobs = [
        replicated("data"),
        replicated("model"),
        depends("node", ("data", "Complete"), ("model", "Complete")),
    ]
    given: dict[str, Any] = {"successPolicy": policy} if policy else {}
    assert ("done-before-start" in rules_with_problems(jobset(*jobs, **given))) is fires


def test_jobs_that_wait_for_ready_start_before_the_end() -> None:
    policy = {"operator": "All", "targetReplicatedJobs": ["leader"]}
    assert "done-before-start" not in rules_with_problems(
        jobset(replicated("leader"), depends("node", ("leader", "Ready")), successPolicy=policy)
    )


def test_success_of_any_job_ends_a_shared_training() -> None:
    policy: dict[str, Any] = {"operator": "Any"}
    together = [replicated("node", pod=PAIR), replicated("worker", pod=PAIR)]
    assert "success-of-any-job" in rules_with_problems(jobset(*together, successPolicy=policy))
    first = {**policy, "targetReplicatedJobs": ["node"]}
    assert "success-of-any-job" not in rules_with_problems(jobset(*together, successPolicy=first))
    apart = [
        replicated(name, pod=PAIR, job={"completions": 2, "parallelism": 2}) for name in ("a", "b")
    ]
    # each replicatedJob trains separately
    assert "success-of-any-job" not in rules_with_problems(jobset(*apart, successPolicy=policy))


SHARED_SERVICE = "shared-jobset-service"
SUBDOMAIN = ("spec", "network", "subdomain")


def ranks(name: str, **network: Any) -> dict[str, Any]:
    """Return a JobSet with the Service `ranks`."""
    return jobset(replicated("node"), name=name, network={"subdomain": "ranks", **network})


def test_the_second_by_name_of_two_jobsets_with_a_service_is_reported() -> None:
    both = [ranks("a"), ranks("b")]
    first, second = both
    assert paths(first, SHARED_SERVICE, others=both) == []
    assert paths(second, SHARED_SERVICE, others=both) == [SUBDOMAIN]


def test_a_subdomain_with_the_name_of_another_jobset_is_reported() -> None:
    first = ranks("a")
    named = jobset(replicated("node"), name="ranks")
    for stream in ([first, named], [named, first]):
        assert paths(named, SHARED_SERVICE, others=stream) == []
        assert paths(first, SHARED_SERVICE, others=stream) == [SUBDOMAIN]


def test_a_jobset_without_host_names_or_of_another_namespace_shares_no_service() -> None:
    first = ranks("a")
    elsewhere = {**ranks("b"), "metadata": {"name": "b", "namespace": "other"}}
    for second in (ranks("b", enableDNSHostnames=False), elsewhere):
        assert paths(second, SHARED_SERVICE, others=[first, second]) == []
