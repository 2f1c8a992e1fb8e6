"""PyTorchJobs that the webhook and the controller of training-operator 1.9 reject.

Source: docs/facts/training-operator.md#admission, #pods-and-services, #cases.
"""

from __future__ import annotations

import pytest

from ptcompile.kinds.model import KindContext
from ptcompile.kubernetes.versions import Versions
from tests.operators.admission import admission, errors_of, later, only
from tests.operators.making import Json, container, pytorchjob, template

SPECS = ("spec", "pytorchReplicaSpecs")
CONTAINERS = ("template", "spec", "containers")


def with_containers(*containers: Json, key: str = "Worker") -> Json:
    job = pytorchjob(None, None)
    job["spec"]["pytorchReplicaSpecs"][key] = {
        "replicas": 1,
        "template": {"spec": {"containers": list(containers)}},
    }
    return job


CASES = [
    pytest.param(
        pytorchjob(1, 1, name="0-test"), ("metadata", "name"), "Invalid value", id="6.1 case 16"
    ),
    pytest.param(
        with_containers(), (*SPECS, "Worker", *CONTAINERS), "Required value", id="6.1 case 17"
    ),
    pytest.param(
        with_containers({"name": "pytorch", "image": ""}),
        (*SPECS, "Worker", *CONTAINERS, 0, "image"),
        "Required value",
        id="6.1 case 18",
    ),
    pytest.param(
        with_containers({"name": "", "image": "x"}),
        (*SPECS, "Worker", *CONTAINERS),
        "pytorch",
        id="6.1 case 19",
    ),
    pytest.param(
        with_containers(container(), {"name": "side"}),
        (*SPECS, "Worker", *CONTAINERS, 1, "image"),
        "Required",
        id="1.3: sidecars need an image too",
    ),
    pytest.param(
        pytorchjob(2, 1), (*SPECS, "Master", "replicas"), "Forbidden: must be 1", id="6.1 case 20"
    ),
    pytest.param(
        pytorchjob(1, 1, nprocPerNode="1", elasticPolicy={"nProcPerNode": 1}),
        ("spec", "elasticPolicy", "nProcPerNode"),
        "Forbidden",
        id="6.1 case 22",
    ),
    pytest.param(
        pytorchjob(1, 1, runPolicy={"managedBy": "other-job-controller"}),
        ("spec", "runPolicy", "managedBy"),
        "Unsupported value",
        id="6.1 case 23",
    ),
    pytest.param(
        pytorchjob(1, 1, runPolicy={"managedBy": ""}),
        ("spec", "runPolicy", "managedBy"),
        "Unsupported value",
        id="1.3: empty managedBy",
    ),
    pytest.param(
        pytorchjob(1, None, elasticPolicy={}),
        (*SPECS, "Worker"),
        "Required value",
        id="6.1 case 25",
    ),
    pytest.param(
        pytorchjob(1, 0),
        (*SPECS, "Worker", "replicas"),
        "Forbidden: must be at least 1",
        id="6.1 case 26",
    ),
    pytest.param(
        with_containers(container(), key="worker"),
        (*SPECS, "worker"),
        'supported values: "Master", "Worker"',
        id="1.3: key",
    ),
    pytest.param({**pytorchjob(1, 1), "spec": {}}, SPECS, "Required value", id="1.3: absent"),
]


@pytest.mark.parametrize(("job", "path", "text"), CASES)
def test_the_webhook_rejects_mistakes_at_their_path(
    job: Json, path: tuple[str | int, ...], text: str
) -> None:
    problem = only(errors_of(job))
    assert problem.path == path
    assert text in problem.message
    assert (problem.name, problem.stage, problem.authority) == (
        "webhook-refusal",
        "apply",
        "training-operator",
    )
    assert problem.help


def test_master_replicas_are_required_but_worker_replicas_are_not() -> None:
    job = pytorchjob(1, 1)
    del job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"]
    assert errors_of(job) == []
    del job["spec"]["pytorchReplicaSpecs"]["Master"]["replicas"]
    assert only(errors_of(job)).path == (*SPECS, "Master", "replicas")


def test_an_elastic_job_with_a_master_is_accepted() -> None:
    """Case 27 of docs/facts/training-operator.md#cases."""
    policy = {"rdzvBackend": "c10d"}
    job = pytorchjob(
        1,
        1,
        name="test",
        elasticPolicy=policy,
        runPolicy={"managedBy": "kubeflow.org/training-operator"},
    )
    assert errors_of(job) == []


def test_null_replica_and_empty_replicas_are_accepted() -> None:
    """Source: docs/facts/training-operator.md#admission."""
    job = pytorchjob(1, None)
    job["spec"]["pytorchReplicaSpecs"]["Worker"] = None
    assert errors_of(job) == []
    assert errors_of(pytorchjob(None, None)) == []


def test_the_deprecated_elastic_nproc_is_a_warning_and_no_rejection() -> None:
    """Case 21 of docs/facts/training-operator.md#cases."""
    job = pytorchjob(None, 1, elasticPolicy={"nProcPerNode": 1})
    webhook = admission(job).rejections()
    problem = only(list(webhook.validate(job, KindContext())))
    assert (problem.severity, problem.stage) == ("warning", "style")
    assert not list(
        webhook.validate(job, KindContext(Versions(training_operator=(1, 7))))
    )  # the controller has no warnings


def test_the_webhook_does_not_check_ranges_and_spellings() -> None:
    """The webhook ignores min <= max, the syntax of nproc and the spelling of policies."""
    job = pytorchjob(None, 1, nprocPerNode="8 ", elasticPolicy={"minReplicas": 9, "maxReplicas": 1})
    assert errors_of(job) == []


@pytest.mark.parametrize(
    ("master", "workers", "longest"),
    [(1, None, 54), (None, 1, 54), (None, 11, 53), (1, 101, 52)],
)
def test_names_too_long_for_their_pods_are_reported(
    master: int | None, workers: int | None, longest: int
) -> None:
    """Source: docs/facts/training-operator.md#pods-and-services."""
    assert later(pytorchjob(master, workers, name="a" * longest)) == []
    problem = only(later(pytorchjob(master, workers, name="a" * (longest + 1))))
    assert problem.path == ("metadata", "name")
    assert f"at most {longest}" in (problem.help or "")
    assert (problem.stage, problem.authority) == ("pod", "kube-apiserver")


PORT = "pytorchjob-port"


@pytest.mark.parametrize(
    ("ports", "last"),
    [
        ([{"containerPort": 80}], (0, "name")),
        ([{"containerPort": 23456, "name": "rdzv"}], (0, "containerPort")),
        (
            [{"containerPort": 1, "name": PORT}, {"containerPort": 1, "name": "b"}],
            (1, "containerPort"),
        ),
        ([{"containerPort": 1, "name": PORT}, {"containerPort": 2}], (1, "name")),
        ([{"containerPort": 80, "name": "http"}], None),
        ([{"containerPort": 80, "name": PORT}], None),
    ],
)
def test_ports_that_clash_with_the_service_are_reported(
    ports: list[Json], last: tuple[int, str] | None
) -> None:
    """Source: docs/facts/training-operator.md#pods-and-services."""
    problems = later(with_containers(container(ports=ports)))
    assert [p.path[-2:] for p in problems] == ([last] if last else [])


def test_ports_of_a_sidecar_do_not_matter() -> None:
    assert (
        later(with_containers(container(), container("side", ports=[{"containerPort": 23456}])))
        == []
    )


def test_no_user_container_may_have_the_operator_s_name() -> None:
    job = pytorchjob(1, 1)
    worker = job["spec"]["pytorchReplicaSpecs"]["Worker"]
    worker["template"] = template(container(), initContainers=[container("init-pytorch")])
    assert only(later(job)).path[-3:] == ("initContainers", 0, "name")
    alone = pytorchjob(None, 1)
    alone["spec"]["pytorchReplicaSpecs"]["Worker"] = worker
    assert later(alone) == []


def test_an_empty_rdzv_conf_makes_the_controller_fail() -> None:
    """Source: docs/facts/training-operator.md#environment."""
    problem = only(later(pytorchjob(None, 1, elasticPolicy={"rdzvConf": []})))
    assert (problem.name, problem.authority) == ("controller-failure", "training-operator")


def test_values_that_go_cannot_decode_are_reported() -> None:
    """`1e1.5` matches the schema's pattern, but Go's parser rejects it.

    Source: docs/facts/volcano.md#templates.
    """
    job = with_containers(container(resources={"limits": {"cpu": "1e1.5"}}))
    assert only(errors_of(job)).path[-2:] == ("limits", "cpu")
    probe = {"tcpSocket": {"port": 99999999999}}
    assert only(errors_of(with_containers(container(readinessProbe=probe)))).path[-1] == "port"


def test_before_1_8_the_controller_reports_a_second_master() -> None:
    """Source: docs/facts/training-operator.md#admission."""
    problem = only(errors_of(pytorchjob(2, 1), versions=Versions(training_operator=(1, 7))))
    assert problem.stage == "pod"
