"""A TrainJob as Trainer joins it with its runtime: the pods' findings, at the fields that decide them."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import Stream, Subject, run
from ptcompile.operators.trainer import runtimes

Json = dict[str, Any]
POD = ("spec", "replicatedJobs", 0, "template", "spec", "template", "spec")
NODE = (*POD, "containers", 0)


def runtime(*, policy: Json | None = None, pod: Json | None = None, **container: Any) -> Json:
    node = {"name": "node", "image": "ghcr.io/acme/train:1.0", **container}
    step = {"metadata": {"labels": {runtimes.ANCESTOR: "trainer"}}}
    job = {
        "name": "node",
        "template": {**step, "spec": {"template": {"spec": {**(pod or {}), "containers": [node]}}}},
    }
    return {
        "apiVersion": runtimes.API_VERSION,
        "kind": "TrainingRuntime",
        "metadata": {"name": "acme", "namespace": "ml"},
        "spec": {
            "mlPolicy": policy or {"torch": {}},
            "template": {"spec": {"replicatedJobs": [job]}},
        },
    }


def train_job(name: str = "acme", **spec: Any) -> Json:
    reference = {
        "name": name,
        "kind": "TrainingRuntime" if name == "acme" else "ClusterTrainingRuntime",
    }
    metadata = {"name": "train", "namespace": "ml"}
    spec = {"runtimeRef": reference, **spec}
    return {
        "apiVersion": runtimes.API_VERSION,
        "kind": "TrainJob",
        "metadata": metadata,
        "spec": spec,
    }


def trainer(**fields: Any) -> Json:
    return {"numNodes": 2, "command": ["torchrun", "t.py"], **fields}


def subject(job: Json, *others: Json) -> Subject:
    return Subject(job, stream=Stream([job, *others]))


def paths_by_name(job: Json, *others: Json) -> dict[str, tuple[Any, ...]]:
    problems = run(job, stream=[job, *others])
    return {problem.name: problem.path for problem in problems}


def place(path: tuple[str | int, ...], job: Json, *others: Json) -> tuple[Any, ...]:
    origins = subject(job, *others).origins
    assert origins is not None
    written = origins.at(path)
    assert written is not None
    return written.path, written.writer, written.source and written.source.path


@pytest.mark.parametrize(
    ("path", "own"),
    [
        (("command", 1), ("command", 1)),
        (("image",), ("image",)),
        (("resources", "limits", "cpu"), ("resourcesPerNode", "limits", "cpu")),
    ],
)
def test_a_field_of_the_trainer_is_its_own_place(
    path: tuple[str | int, ...], own: tuple[str | int, ...]
) -> None:
    job = train_job(trainer=trainer(image="a:1", resourcesPerNode={"limits": {"cpu": 1}}))
    assert place((*NODE, *path), job, runtime()) == (("spec", "trainer", *own), "", None)


def test_a_variable_is_found_by_its_name() -> None:
    job = train_job(trainer=trainer(env=[{"name": "B", "value": "1"}, {"name": "A", "value": "2"}]))
    base = runtime(env=[{"name": "A", "value": "0"}, {"name": "C", "value": "0"}])
    names = [entry.name for entry in subject(job, base).templates[0].containers[0].env]
    places = {
        name: place((*NODE, "env", names.index(name), "value"), job, base)[:2] for name in names
    }

    assert places["A"] == (("spec", "trainer", "env", 1, "value"), "")
    assert places["B"] == (("spec", "trainer", "env", 0, "value"), "")
    assert places["C"] == (("spec", "runtimeRef"), "TrainingRuntime acme")
    assert places["PET_NNODES"] == (("spec", "trainer", "numNodes"), "Trainer")
    assert places["PET_MASTER_ADDR"] == (("spec", "trainer"), "Trainer")


def test_what_the_runtime_alone_has_is_at_the_reference() -> None:
    base = runtime(
        resources={"limits": {"memory": "1Gi"}}, volumeMounts=[{"name": "d", "mountPath": "/d"}]
    )
    job = train_job(trainer=trainer(resourcesPerNode={"limits": {"cpu": 1}}))
    written = ("spec", "template", "spec", "replicatedJobs", 0, *POD[3:], "containers", 0)
    for path in (("resources", "limits", "memory"), ("volumeMounts", 0, "mountPath")):
        expected = (("spec", "runtimeRef"), "TrainingRuntime acme", (*written, *path))
        assert place((*NODE, *path), job, base) == expected


@pytest.mark.parametrize("release", ["2.0", "2.1", "2.2"])
def test_a_patch_is_its_own_place(release: str) -> None:
    pod = {"nodeSelector": {"pool": "a"}}
    jobs = [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}]
    change = {"template": {"spec": {"replicatedJobs": jobs}}}
    field, patch = {
        "2.0": ("podSpecOverrides", {"targetJobs": [{"name": "node"}], **pod}),
        "2.1": ("podTemplateOverrides", {"targetJobs": [{"name": "node"}], "spec": pod}),
        "2.2": ("runtimePatches", {"manager": "a.b/c", "trainingRuntimeSpec": change}),
    }[release]
    job = train_job(trainer=trainer())
    job["spec"][field] = [patch]
    major, minor = map(int, release.split("."))
    stream = Stream([job, runtime()], Versions(trainer=(major, minor)))
    origins = Subject(job, stream=stream).origins
    assert origins is not None
    written = origins.at((*POD, "nodeSelector", "pool"))
    assert written is not None
    assert written.writer == ""
    assert written.path[:2] == ("spec", field)
    assert written.path[-2:] == ("nodeSelector", "pool")


def test_a_finding_of_the_joined_pod_names_its_writer() -> None:
    claim = {"name": "ck", "persistentVolumeClaim": {"claimName": "rwo"}}
    shared = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "rwo", "namespace": "ml"},
    }
    shared["spec"] = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    mount = {"name": "ck", "mountPath": "/dev/shm"}  # noqa: S108 - a path of the pod
    base = runtime(pod={"volumes": [claim]}, volumeMounts=[mount])
    job = train_job(trainer=trainer(resourcesPerNode={"limits": {"nvidia.com/gpu": 4}}))
    problems = {problem.name: problem for problem in run(job, stream=[job, base, shared])}

    assert problems["best-effort-gpus"].path == ("spec", "trainer", "resourcesPerNode")
    assert problems["single-node-claim"].message == (
        "spec.runtimeRef: rwo is ReadWriteOnce, but 2 pods share it: pods on other nodes never start "
        "(spec.volumes[0].persistentVolumeClaim.claimName of the node pods is set by TrainingRuntime acme)"
    )


def test_the_runtime_has_its_own_findings() -> None:
    job, base = (
        train_job(trainer=trainer()),
        runtime(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
    )
    assert "repeated-env" in paths_by_name(base, job)
    assert "repeated-env" not in paths_by_name(job, base)


def test_a_runtime_of_a_release_gives_notes_and_an_unknown_one_nothing() -> None:
    def severities(name: str) -> dict[str, str]:
        job = train_job(name, trainer=trainer(resourcesPerNode={"limits": {"nvidia.com/gpu": 4}}))
        return {problem.name: problem.severity for problem in run(job, stream=[job])}

    assert severities("torch-distributed") == {"best-effort-gpus": "note", "missing-shm": "note"}
    assert "best-effort-gpus" not in severities("of-the-platform")
    assert "missing-shm" not in severities("of-the-platform")


def test_a_fix_changes_the_trainjob_only() -> None:
    options = ["torchrun", "--nproc-per-node=1", "t.py"]
    limits = {"limits": {"nvidia.com/gpu": 4, "cpu": 8, "memory": "64Gi"}}
    own = train_job(trainer=trainer(command=options, resourcesPerNode=limits))
    inherited = train_job(trainer={"numNodes": 2, "resourcesPerNode": limits})
    by_job = {problem.name: problem for problem in run(own, stream=[own, runtime()])}["idle-gpus"]
    base = runtime(command=options)
    by_runtime = {problem.name: problem for problem in run(inherited, stream=[inherited, base])}[
        "idle-gpus"
    ]

    assert by_job.fix is not None
    assert [edit.path for edit in by_job.fix.edits] == [("spec", "trainer", "command", 1)]
    assert (by_runtime.path, by_runtime.fix) == (("spec", "runtimeRef"), None)


def test_tasks_of_one_name_have_their_own_templates() -> None:
    def task(command: str) -> Json:
        container = {"name": "main", "image": "a:1", "command": [command]}
        return {"name": "learner", "replicas": 1, "template": {"spec": {"containers": [container]}}}

    spec = {"minAvailable": 2, "tasks": [task("a"), task("b")]}
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": spec,
    }
    commands = [
        (role.pod.command, role.template and role.template.containers[0].tokens)
        for role in subject(job).roles
    ]
    assert commands == [(["a"], ("a",)), (["b"], ("b",))]


def test_a_runtime_without_a_policy_for_torch_is_told_where_the_job_says_how_many_nodes() -> None:
    plain = runtime(policy={"numNodes": 2})
    job = train_job(trainer=trainer())
    (problem,) = (
        problem for problem in run(job, stream=[plain, job]) if problem.name == "worlds-apart"
    )
    assert problem.path == ("spec", "trainer", "numNodes")
    assert "mlPolicy" in str(problem.help)
    torch = runtime(policy={"numNodes": 2, "torch": {}})
    assert not [
        problem for problem in run(job, stream=[torch, job]) if problem.name == "worlds-apart"
    ]
