"""Where the rules about runtimes begin and end."""

from __future__ import annotations

import pytest

from tests.linter.asking import problems_of
from tests.linter.manifests import STEP, Json, replicated, runtime, trainjob

RULE = "missing-trainer-step"


@pytest.mark.parametrize(
    ("jobs", "severities"),
    [
        ([], ["note"]),
        ([trainjob({"image": "i"}, runtime="acme")], ["warning"]),
        ([trainjob(None, runtime="acme")], []),
        ([trainjob({"image": "i"}, runtime="other")], ["note"]),
        ([trainjob(None, runtime="acme"), trainjob({"image": "i"}, runtime="acme")], ["warning"]),
    ],
)
def test_settings_of_trainjobs_that_reach_no_pod_are_reported(
    jobs: list[Json], severities: list[str]
) -> None:
    assert [
        problem.severity for problem in problems_of(RULE, runtime(step=None), *jobs)
    ] == severities


@pytest.mark.parametrize(
    ("kind", "counts"), [(None, True), ("ClusterTrainingRuntime", True), ("TrainingRuntime", False)]
)
def test_trainjobs_of_another_kind_of_runtime_do_not_count(kind: str | None, counts: bool) -> None:
    job = trainjob(None, runtime="acme")
    if kind is not None:
        job["spec"]["runtimeRef"]["kind"] = kind
    assert bool(problems_of(RULE, runtime(step=None), job)) is not counts


def test_the_job_called_node_is_labelled_else_the_last_one() -> None:
    first = runtime(step=None)
    jobs = first["spec"]["template"]["spec"]["replicatedJobs"]
    jobs.append(replicated("other"))
    (problem,) = problems_of(RULE, first)
    assert problem.path[3:5] == ("replicatedJobs", 0)
    jobs[0]["name"] = "one"
    (problem,) = problems_of(RULE, first)
    assert problem.path[3:5] == ("replicatedJobs", 1)
    assert problem.fix is not None
    jobs[1]["template"]["metadata"] = {"labels": {STEP: "dataset-initializer"}}
    (problem,) = problems_of(RULE, first)
    assert problem.fix is None


@pytest.mark.parametrize("policy", ["volcano", "coscheduling"])
def test_gangs_without_initializers_are_counted_right(policy: str) -> None:
    plain = runtime(podGroupPolicy={policy: {}})
    assert not problems_of("gang-counts-initializers", plain)
    assert not problems_of("gang-counts-initializers", runtime())
    extended = runtime(podGroupPolicy={policy: {}})
    initializer = replicated("data")
    initializer["template"]["metadata"] = {"labels": {STEP: "dataset-initializer"}}
    jobs = extended["spec"]["template"]["spec"]["replicatedJobs"]
    jobs.insert(0, initializer)
    jobs[1]["dependsOn"] = [{"name": "data", "status": "Complete"}]
    assert problems_of("gang-counts-initializers", extended)
    del extended["spec"]["podGroupPolicy"]
    assert not problems_of("gang-counts-initializers", extended)
