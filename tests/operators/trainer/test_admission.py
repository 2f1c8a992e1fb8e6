"""TrainJobs and runtimes that the webhooks and controllers of Trainer 2.3 reject.

Source: docs/facts/trainer.md#runtimes, #admission, #what-is-built, #cases.
"""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.kinds.model import KindContext
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import every_rule
from ptcompile.linter.pages import rule_page
from ptcompile.operators.trainer.admission import validate_update
from ptcompile.operators.trainer.runtimes import EXAMPLES
from tests.operators.admission import admission, errors_of, later, only
from tests.operators.making import Json, container, node, replicated, runtime, trainjob

KIND = ("trainer.kubeflow.org/v1alpha1", "TrainJob")
DATA = {"dataset": {"storageUri": "hf://a/b"}}
TUNE = {"command": ["tune", "run"]}


def env(*names: str) -> list[Json]:
    return [{"name": n, "value": "1"} for n in names]


def patch(name: str, *, manager: str = "a.io/b", job: str = "node", **fields: Any) -> list[Json]:
    pod = {"containers": [{"name": name, **fields}]}
    jobs = [{"name": job, "template": {"spec": {"template": {"spec": pod}}}}]
    return [
        {
            "manager": manager,
            "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}},
        }
    ]


REFUSED = [
    pytest.param(
        trainjob(trainer={"env": env("A", "PET_NPROC_PER_NODE")}),
        ("trainer", "env", 1, "name"),
        id="46",
    ),
    pytest.param(
        {**trainjob(), "spec": {"runtimeRef": {"name": "a", "kind": "Runtime"}}},
        ("runtimeRef",),
        id="2.3 kind",
    ),
    pytest.param(
        {**trainjob(), "spec": {"runtimeRef": {"name": "a", "apiGroup": "kubeflow.org"}}},
        ("runtimeRef",),
        id="2.3 group",
    ),
    pytest.param({**trainjob(), "spec": {}}, ("runtimeRef",), id="2.3 no ref"),
    pytest.param(trainjob(initializer=DATA), ("initializer", "dataset"), id="2.3 initializer"),
    pytest.param(
        trainjob("torch-distributed-with-cache", initializer=DATA),
        ("initializer", "dataset"),
        id="2.3 initializer mount",
    ),
    pytest.param(
        trainjob(runtimePatches=patch("side", manager="bad")),
        ("runtimePatches", 0, "manager"),
        id="2.3 manager",
    ),
    pytest.param(
        trainjob(runtimePatches=patch("side", manager="kueue.k8s.io/")),
        ("runtimePatches", 0, "manager"),
        id="58",
    ),
    pytest.param(trainjob(trainer=TUNE), ("runtimeRef", "name"), id="2.8 model"),
    pytest.param(
        trainjob("torchtune-llama3.2-1b", trainer={**TUNE, "numNodes": 2}),
        ("trainer", "numNodes"),
        id="2.8 nodes",
    ),
]


@pytest.mark.parametrize(("manifest", "path"), REFUSED)
def test_the_webhook_rejects_mistakes_at_their_path(manifest: Json, path: tuple[Any, ...]) -> None:
    problem = only(errors_of(manifest))
    assert problem.path == ("spec", *path)
    assert (problem.name, problem.stage, problem.authority) == (
        "webhook-refusal",
        "apply",
        "trainer",
    )
    assert problem.help


def test_env_of_the_operators_containers_may_not_be_patched() -> None:
    """Source: docs/facts/trainer.md#admission."""
    problem = only(errors_of(trainjob(runtimePatches=patch("node", env=env("A")))))
    assert problem.path[-1] == "env"
    assert "spec.trainer.env" in (problem.help or "")


ALLOWED = [
    pytest.param(trainjob(), id="plain"),
    pytest.param(
        trainjob(trainer={"env": env("MASTER_ADDR", "RANK", "PET_RDZV_BACKEND")}),
        id="2.3 names that are free",
    ),
    pytest.param(
        trainjob("jax-distributed", trainer={"env": env("PET_NNODES")}), id="2.3 no torch policy"
    ),
    pytest.param(
        trainjob(runtimePatches=patch("side", manager="kueue.k8s.io/manager", env=env("A"))),
        id="58",
    ),
    pytest.param(trainjob("torchtune-llama3.2-1b", initializer=DATA), id="2.3 initializer"),
    pytest.param(trainjob("torchtune-llama3.2-1b", trainer=TUNE), id="2.8"),
    pytest.param(
        trainjob("mine", initializer=DATA, trainer={"env": env("PET_NNODES")}),
        id="a runtime that nobody shows",
    ),
    pytest.param(trainjob(initializer={}), id="operators/README: empty initializer"),
]


@pytest.mark.parametrize("manifest", ALLOWED)
def test_the_webhook_accepts_what_the_server_does(manifest: Json) -> None:
    assert [p.message for p in errors_of(manifest)] == []


def test_injection_into_a_missing_container_is_rejected() -> None:
    """Case 47 of docs/facts/trainer.md#cases."""
    targets = [{"jobName": "node", "containerNames": ["nope"]}]
    injecting = runtime({"torch": {"envInjection": {"targets": targets}}})
    assert "nope" in only(errors_of(trainjob("mine"), others=[injecting])).message


def test_a_minimal_job_gets_defaults() -> None:
    """Case 60 of docs/facts/trainer.md#cases."""
    spec = admission(trainjob()).default(trainjob())["spec"]
    assert spec["suspend"] is False
    assert spec["managedBy"] == "trainer.kubeflow.org/trainjob-controller"
    assert spec["runtimeRef"] == {
        "apiGroup": "trainer.kubeflow.org",
        "kind": "ClusterTrainingRuntime",
        "name": "torch-distributed",
    }


def step(**fields: Any) -> Json:
    return {**node(), **fields}


def test_the_step_of_a_runtime_has_one_replica_and_a_known_container() -> None:
    """Source: docs/facts/trainer.md#runtimes."""
    assert errors_of(runtime({"torch": {}})) == []
    assert errors_of(runtime({"torch": {}}, step(replicas=1))) == []
    assert only(errors_of(runtime({"torch": {}}, step(replicas=2)))).path[-1] == "replicas"
    other = node()
    other["template"]["spec"]["template"]["spec"]["containers"] = [container("trainer")]
    assert only(errors_of(runtime({"torch": {}}, other))).path[-1] == "containers"
    assert errors_of(runtime({"torch": {}}, replicated("anything", replicas=5))) == []


def test_a_label_disables_the_webhook_of_runtimes() -> None:
    """Source: docs/facts/trainer.md#runtimes."""
    off = runtime({"torch": {}}, step(replicas=2))
    off["metadata"]["labels"] = {"trainer.kubeflow.org/webhook-validation": "disabled"}
    assert [p.stage for p in errors_of(off)] == ["run"]


@pytest.mark.parametrize(
    ("name", "nodes", "longest"),
    [
        ("torch-distributed", 10, 48),
        ("torch-distributed", 100, 47),
        ("torchtune-llama3.2-1b", 1, 33),
    ],
)
def test_names_too_long_for_their_pods_are_reported(name: str, nodes: int, longest: int) -> None:
    """Source: docs/facts/trainer.md#what-is-built."""
    assert later(trainjob(name, name="a" * longest, trainer={"numNodes": nodes})) == []
    problem = only(later(trainjob(name, name="a" * (longest + 1), trainer={"numNodes": nodes})))
    assert (problem.path, problem.stage) == (("metadata", "name"), "pod")
    assert f"at most {longest}" in (problem.help or "")


def test_a_patch_without_a_match_adds_a_container() -> None:
    """Source: docs/facts/trainer.md#admission."""
    assert only(later(trainjob(runtimePatches=patch("trainer")))).path[-2:] == (0, "name")
    assert "no such job" in only(later(trainjob(runtimePatches=patch("node", job="nodes")))).message
    assert later(trainjob(runtimePatches=patch("node"))) == []


def test_flux_without_nodes_panics() -> None:
    assert only(later(trainjob("flux-distributed", trainer={}))).name == "controller-failure"
    assert later(trainjob("flux-distributed", trainer={"numNodes": 1})) == []


def test_the_mount_of_an_initializer_is_required_since_2_3() -> None:
    """Source: docs/facts/trainer.md#admission."""
    job = trainjob("torch-distributed-with-cache", initializer=DATA)
    assert errors_of(job, versions=Versions(trainer=(2, 2))) == []
    assert len(errors_of(job)) == 1


def test_the_node_job_is_checked_after_admission() -> None:
    assert only(later(trainjob(trainer={"image": ""}))).path == ("spec", "trainer", "image")
    device = {"resourcesPerNode": {"requests": {"example.com/gpu": 2}}}
    assert only(later(trainjob(trainer=device))).path[-2:] == ("requests", "example.com/gpu")
    both = {"requests": {"nvidia.com/gpu": 2, "cpu": 1}, "limits": {"nvidia.com/gpu": 2}}
    assert later(trainjob(trainer={"resourcesPerNode": both})) == []
    with_devices = runtime(
        {"torch": {}}, node(resources={"limits": {"example.com/gpu": 2}}), name="torch-distributed"
    )
    assert later(trainjob(trainer=device), others=[with_devices]) == []


RUNTIMES = ["misspelt-runtime", "runtime-after-trainjob", "runtime-of-other-kind"]


@pytest.mark.parametrize("name", RUNTIMES)
def test_possibly_missing_runtime_is_a_warning(name: str) -> None:
    """These are warnings, because the runtime may already be installed."""
    rule = next(one for one in every_rule() if one.name == name)
    bad = rule_page(rule).bad
    (diagnostic,) = ptcompile.lint(bad).diagnostics
    assert (diagnostic.name, diagnostic.severity, diagnostic.stage, diagnostic.authority) == (
        name,
        "warning",
        "apply",
        "trainer",
    )
    assert ptcompile.lint(bad, webhooks=False).diagnostics == ()
    assert [finding.name for finding in ptcompile.lint(bad, select=["PTC3"]).diagnostics] == [name]
    assert ptcompile.lint(bad, ignore=[name]).diagnostics == ()


@pytest.mark.parametrize(
    ("old", "new", "release", "path", "count"),
    [
        (False, False, (2, 3), ("spec", "runtimePatches", "[0]"), 1),
        (True, False, (2, 3), ("spec", "runtimePatches", "[0]"), 0),
        (False, True, (2, 3), ("spec", "runtimePatches", "[0]"), 0),
        (False, True, (2, 2), ("spec", "runtimePatches", "[0]"), 1),
        (True, False, (2, 2), ("spec", "runtimePatches", "[0]"), 0),
        (False, False, (2, 3), ("spec", "runtimePatches"), 1),
        (False, False, (2, 3), ("spec", "trainer", "image"), 0),
        (False, False, (2, 3), ("metadata", "runtimePatches"), 0),
        (False, False, (2, 3), ("spec",), 0),
    ],
)
def test_patches_change_while_a_trainjob_is_suspended(
    old: bool, new: bool, release: tuple[int, int], path: tuple[str, ...], count: int
) -> None:
    before, after = ({"spec": {"suspend": suspended}} for suspended in (old, new))
    problems = list(validate_update(Update(before, after, Versions(trainer=release), (path, path))))
    assert len(problems) == count
    assert all(
        problem.message.endswith("before or after the update") is (release >= (2, 3))
        for problem in problems
    )


def test_what_follows_from_an_example_that_no_file_shows_is_a_warning() -> None:
    example = EXAMPLES["TrainingRuntime", "torch-with-dataset-init"]
    ref = {
        "apiGroup": "trainer.kubeflow.org",
        "kind": "TrainingRuntime",
        "name": "torch-with-dataset-init",
    }
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "train"},
        "spec": {"runtimeRef": ref, "initializer": {"dataset": {"storageUri": "hf://a/b"}}},
    }
    for related, severity in (((), "warning"), ((example,), "error")):
        (problem,) = admission(job).rejections().validate(job, KindContext(Versions(), related))
        assert problem.severity == severity
        assert "must have a volumeMount with name initializer" in problem.message
