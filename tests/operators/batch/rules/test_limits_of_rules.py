"""Where the rules about Jobs begin and end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import problems_of
from tests.linter.rules.launch.making import job, pod

Json = dict[str, Any]

STATIC = (
    "torchrun",
    "--nnodes=2",
    "--node-rank=$(JOB_COMPLETION_INDEX)",
    "--master-addr=train-0.train",
    "t.py",
)


def _job(
    *command: str, spec: Json | None = None, subdomain: str | None = "train", **fields: Any
) -> Json:
    manifest = job(*command, **fields)
    manifest["spec"].update(spec or {})
    manifest["spec"]["template"]["spec"]["subdomain"] = subdomain
    return manifest


def _plain(*command: str, **fields: Any) -> Json:
    """Return a Job that is not Indexed."""
    body = {"template": {"spec": pod(*command, **fields)["spec"]}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": body}


def _service(name: str, selector: dict[str, str], *, headless: bool = True) -> Json:
    spec = {
        "selector": selector,
        "ports": [{"port": 29400}],
        **({"clusterIP": "None"} if headless else {}),
    }
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


SELECTED = {"job-name": "train"}


@pytest.mark.parametrize(
    ("rule", "manifest", "expected"),
    [
        ("job-without-pods", _job("run"), False),
        ("job-without-pods", _plain("run"), False),
        ("job-without-pods", _job("run", spec={"completions": 0}), True),
        ("job-without-pods", _job("run", spec={"parallelism": 0}), True),
        ("ttl-zero", _job("run", spec={"ttlSecondsAfterFinished": 0}), True),
        ("ttl-zero", _job("run", spec={"ttlSecondsAfterFinished": 1}), False),
        ("ttl-zero", _job("run"), False),
        ("index-without-indexed-job", _plain("sh", "-c", "run $JOB_COMPLETION_INDEX"), True),
        ("index-without-indexed-job", _plain("run", "$(JOB_COMPLETION_INDEX)"), True),
        ("index-without-indexed-job", _plain("sh", "-c", "run ${JOB_COMPLETION_INDEX}"), True),
        ("index-without-indexed-job", _plain("sh", "-c", "run ${OTHER}"), False),
        ("index-without-indexed-job", _job("run", "$(JOB_COMPLETION_INDEX)"), False),
        (
            "index-without-indexed-job",
            _plain(
                "run",
                "$(JOB_COMPLETION_INDEX)",
                env=[{"name": "JOB_COMPLETION_INDEX", "value": "0"}],
            ),
            False,
        ),
        ("job-restarts-alone", _job(*STATIC), True),
        ("job-restarts-alone", _job(*STATIC, spec={"backoffLimit": 1}), True),
        ("job-restarts-alone", _job(*STATIC, spec={"backoffLimit": 0}), False),
        ("job-restarts-alone", _job(*STATIC, pods=1), False),
        ("job-restarts-alone", _job("torchrun", "t.py"), False),
        (
            "job-restarts-alone",
            _job("torchrun", "--nnodes=1", "--node-rank=0", "--master-addr=a", "t.py"),
            False,
        ),
        (
            "job-restarts-alone",
            _job("torchrun", "--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=a:1", "t.py"),
            False,
        ),
        (
            "job-restarts-alone",
            _job(*STATIC, spec={"podFailurePolicy": {"rules": [{"action": "FailJob"}]}}),
            False,
        ),
        (
            "job-restarts-alone",
            _job(*STATIC, spec={"podFailurePolicy": {"rules": [{"action": "Ignore"}]}}),
            True,
        ),
    ],
)
def test_each_rule_fires_within_its_limits(rule: str, manifest: Json, expected: bool) -> None:
    assert bool(problems_of(rule, manifest)) is expected


def test_the_default_number_of_retries_is_named() -> None:
    (default,), (written,) = (
        problems_of("job-restarts-alone", _job(*STATIC, spec=spec))
        for spec in ({}, {"backoffLimit": 6})
    )
    assert (
        "up to 6 failed pods are replaced one by one (backoffLimit defaults to 6)"
        in default.message
    )
    assert "up to 6 failed pods are replaced one by one, but" in written.message


@pytest.mark.parametrize(
    ("spec", "values"),
    [({}, ["Indexed", 1]), ({"parallelism": 4}, ["Indexed", 4]), ({"completions": 3}, ["Indexed"])],
)
def test_the_fix_for_an_index_sets_completions_too(spec: Json, values: list[object]) -> None:
    manifest = _plain("run", "$(JOB_COMPLETION_INDEX)")
    manifest["spec"].update(spec)
    (problem,) = problems_of("index-without-indexed-job", manifest)
    assert problem.fix is not None
    assert [edit.value for edit in problem.fix.edits] == values


@pytest.mark.parametrize(
    ("command", "pods", "severity"),
    [
        (("torchrun", "--nnodes=2", "--rdzv-endpoint=train-0.nodes:29400", "t.py"), 2, "error"),
        (("torchrun", "--nnodes=2", "--rdzv-endpoint=nodes:29400", "t.py"), 2, "warning"),
        (("torchrun", "--nnodes=2", "--rdzv-endpoint=train-0.other:29400", "t.py"), 2, "warning"),
        (
            ("torchrun", "--nnodes=2", "--rdzv-endpoint=train-0.other.nodes:29400", "t.py"),
            2,
            "warning",
        ),
        (("torchrun", "--standalone", "t.py"), 2, "warning"),
        (("run",), 2, "warning"),
        (("run",), 1, None),
    ],
)
@pytest.mark.parametrize("subdomain", ["absent", None])
def test_a_headless_service_must_be_the_subdomain(
    command: tuple[str, ...], pods: int, severity: str | None, subdomain: str | None
) -> None:
    manifest = _job(*command, subdomain=subdomain, pods=pods)
    problems = problems_of("subdomain-differs", manifest, _service("nodes", SELECTED))
    assert [problem.severity for problem in problems] == ([] if severity is None else [severity])


def test_a_subdomain_that_is_a_service_may_differ_from_other_services() -> None:
    manifest = _job("run", subdomain="nodes")
    services = [_service("other", SELECTED), _service("nodes", SELECTED)]
    assert not problems_of("subdomain-differs", manifest, *services)
    assert not problems_of(
        "subdomain-differs", _job("run"), _service("other", SELECTED, headless=False)
    )
    assert not problems_of("subdomain-differs", _job("run"), _service("other", {"app": "x"}))


INDEX = "batch.kubernetes.io/job-completion-index"


@pytest.mark.parametrize(
    ("selector", "pods", "expected"),
    [
        (SELECTED, 2, True),
        (SELECTED, 1, False),
        ({INDEX: "0"}, 2, False),
        ({INDEX: "1"}, 2, False),
        ({"a": "b"}, 2, False),
    ],
)
def test_an_endpoint_that_is_every_pod_is_reported(
    selector: dict[str, str], pods: int, expected: bool
) -> None:
    command = (
        "torchrun",
        f"--nnodes={pods}",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=entry:29400",
        "t.py",
    )
    assert (
        bool(
            problems_of(
                "endpoint-is-every-pod", _job(*command, pods=pods), _service("entry", selector)
            )
        )
        is expected
    )


@pytest.mark.parametrize(
    ("command", "env", "path"),
    [
        (("--rdzv-endpoint=entry:29400",), {}, ("command", 3)),
        (("--rdzv-endpoint", "entry:29400"), {}, ("command", 4)),
        (("--rdzv-endpoint=$(ENDPOINT)",), {"ENDPOINT": "entry:29400"}, ("env", 1, "value")),
    ],
)
def test_the_endpoint_is_reported_where_it_is_written(
    command: tuple[str, ...], env: Json, path: tuple[Any, ...]
) -> None:
    entries = [{"name": "A"}, *({"name": name, "value": value} for name, value in env.items())]
    manifest = _job("torchrun", "--nnodes=2", "--rdzv-backend=c10d", *command, "t.py", env=entries)
    (problem,) = problems_of("endpoint-is-every-pod", manifest, _service("entry", SELECTED))
    assert problem.path[-len(path) :] == path
