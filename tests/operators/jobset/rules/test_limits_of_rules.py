"""Where the rules about JobSets begin and end."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.linter import run
from tests.linter.asking import problems_of
from tests.operators.making import Json, container, jobset, replicated, template

TORCHRUN = [
    "torchrun",
    "--nnodes=3",
    "--rdzv-backend=c10d",
    "--rdzv-endpoint=js-a-0-0.js:29400",
    "t.py",
]


def _training(name: str, **fields: Any) -> Json:
    job = {"template": template(container(command=TORCHRUN)), **fields.pop("job", {})}
    return replicated(name, job=job, **fields)


def _after(name: str, status: str = "Complete") -> Json:
    return {"dependsOn": [{"name": name, "status": status}]}


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ([_training("a"), _training("b", pods=2)], []),
        ([_training("a"), _training("b", pods=2, **_after("a"))], [("b", 1)]),
        ([_training("a"), _training("b", pods=2, **_after("a", "Ready"))], []),
        ([_training("a"), replicated("x"), _training("b", pods=2, **_after("x"))], []),
        # x waits for a too, through b
        (
            [_training("a"), _training("b", **_after("a")), replicated("x", **_after("b"))],
            [("b", 1)],
        ),
        # x starts with a, since it waits for another job
        (
            [
                _training("a"),
                replicated("z"),
                replicated("x", **_after("z")),
                _training("b", **_after("a")),
            ],
            [],
        ),
    ],
)
def test_a_dependency_that_keeps_ranks_from_starting_is_reported(
    jobs: list[Json], expected: list[tuple[str, int]]
) -> None:
    problems = problems_of("rank-waits-for-complete", jobset(*jobs))
    names = [(jobs[int(problem.path[2])]["name"], int(problem.path[2])) for problem in problems]
    assert [name for name, _ in names][:1] == [name for name, _ in expected]


@pytest.mark.parametrize(
    ("policy", "jobs", "expected"),
    [
        ({"operator": "Any"}, [_training("a"), _training("b", pods=2)], True),
        ({"operator": "All"}, [_training("a"), _training("b", pods=2)], False),
        (
            {"operator": "Any", "targetReplicatedJobs": ["a"]},
            [_training("a"), _training("b", pods=2)],
            False,
        ),
        (
            {"operator": "Any", "targetReplicatedJobs": ["a", "b"]},
            [_training("a"), _training("b", pods=2)],
            True,
        ),
        ({"operator": "Any"}, [_training("a", pods=3)], False),
        ({"operator": "Any"}, [_training("a", replicas=3)], True),
        ({"operator": "Any"}, [replicated("a"), replicated("b")], False),
    ],
)
def test_success_of_any_job_is_reported(policy: Json, jobs: list[Json], expected: bool) -> None:
    assert bool(problems_of("success-of-any-job", jobset(*jobs, successPolicy=policy))) is expected


EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"


@pytest.mark.parametrize(
    ("annotations", "helps"),
    [
        ({EXCLUSIVE: "rack"}, []),
        ({EXCLUSIVE: "rack", SELECTOR: "true"}, []),
        ({SELECTOR: "true"}, [f"set {EXCLUSIVE} to a label of the nodes"]),
        ({"exclusive-topology": "rack"}, [f'did you mean "{EXCLUSIVE}"?']),
        ({"acme.io/exclusive-topology": "rack"}, [f'did you mean "{EXCLUSIVE}"?']),
        ({"jobset.sigs.k8s.io/exclusive-topolgy": "rack"}, [f'did you mean "{EXCLUSIVE}"?']),
        ({"acme.io/exclusive-topolgy": "rack"}, []),
        ({"jobset.sigs.k8s.io/coordinator": "js-a-0-0.js"}, []),
        ({"team": "a"}, []),
        ({EXCLUSIVE: "rack", "exclusive-topology": "rack"}, []),
    ],
)
def test_annotations_that_jobset_does_not_read_are_reported(
    annotations: dict[str, str], helps: list[str]
) -> None:
    manifest = jobset(replicated("a"))
    manifest["metadata"]["annotations"] = annotations
    assert [problem.help for problem in problems_of("unread-exclusive-topology", manifest)] == helps


def _named(name: str, **network: Any) -> Json:
    return jobset(replicated("a"), name=name, network=network)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (_named("a", subdomain="x"), _named("b", subdomain="x"), True),
        (_named("x"), _named("b", subdomain="x"), True),
        (_named("x", enableDNSHostnames=False), _named("b", subdomain="x"), False),
        (_named("x", enableDNSHostnames=True), _named("b", subdomain="x"), True),
        (_named("a", subdomain="x"), _named("b", subdomain="x", enableDNSHostnames=False), False),
        (_named("a", subdomain="x"), _named("b", subdomain="y"), False),
        (_named("b", subdomain="x"), _named("b", subdomain="x"), False),
        (_named("a"), _named("b"), False),
    ],
)
def test_two_jobsets_may_not_share_a_service(first: Json, second: Json, expected: bool) -> None:
    assert bool(problems_of("shared-jobset-service", second, first)) is expected


def test_the_first_of_two_explicit_subdomains_is_silent() -> None:
    first, second = _named("a", subdomain="x"), _named("b", subdomain="x")
    assert not list(run(first, stream=[first, second], only={"shared-jobset-service"}))
    implicit = _named("x")
    assert list(run(first, stream=[first, implicit], only={"shared-jobset-service"}))


@pytest.mark.parametrize(
    ("operator", "jobs", "text"),
    [
        ("All", ["a", "b"], "done when a and b is"),
        ("Any", ["a", "b"], "done when a or b is"),
        ("All", ["a", "b", "c", "d"], "done when a and b and c is"),
    ],
)
def test_at_most_three_awaited_jobs_are_named(operator: str, jobs: list[str], text: str) -> None:
    last: Json = {"dependsOn": [{"name": name, "status": "Complete"} for name in jobs]}
    policy = {"operator": operator, "targetReplicatedJobs": jobs}
    manifest = jobset(*map(replicated, jobs), replicated("last", **last), successPolicy=policy)
    (problem,) = problems_of("done-before-start", manifest)
    assert text in problem.message
