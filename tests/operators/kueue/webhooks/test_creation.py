"""What Kueue's mutating webhooks change before the checks, and objects that controllers create."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver import validate
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.webhooks import creation
from tests.linter.rules.launch.making import jobset, role
from tests.operators.kueue.webhooks.making import (
    JOB,
    JOBS,
    POD,
    QUEUE,
    SERVING,
    TRAINJOB,
    Json,
    K,
    labelled,
    ray_cluster,
    ray_job,
    rejected,
    serving,
    with_annotations,
)

DEFAULT = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "LocalQueue",
    "metadata": {"name": "default", "namespace": "team"},
    "spec": {"clusterQueue": "a"},
}


def in_team(manifest: Json) -> Json:
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": "team"}}


def test_a_namespace_may_have_a_default_queue() -> None:
    """A job without a queue is checked as one in the LocalQueue `default` of its namespace."""
    kept = in_team(labelled(ray_job(ray_cluster({}), shutdownAfterJobFinishes=False)))
    assert rejected(kept) == []
    assert [path[-1] for _, path in rejected(kept, others=(DEFAULT,))] == [
        "shutdownAfterJobFinishes"
    ]
    elsewhere = {**DEFAULT, "metadata": {"name": "default"}}
    assert rejected(kept, others=(elsewhere,)) == []
    other = {**DEFAULT, "metadata": {"name": "other", "namespace": "team"}}
    assert rejected(kept, others=(other,)) == []


def test_default_queue_replaces_an_empty_name() -> None:
    nameless = in_team(labelled(TRAINJOB, {f"{K}queue-name": ""}))
    assert rejected(nameless)
    assert rejected(nameless, others=(DEFAULT,)) == []


def test_default_queue_is_not_for_owned_objects() -> None:
    kept = in_team(labelled(ray_job(ray_cluster({}), shutdownAfterJobFinishes=False)))
    kept["metadata"]["ownerReferences"] = [{"kind": "RayService", "name": "a", "controller": True}]
    assert rejected(kept, others=(DEFAULT,)) == []


def test_kueue_rejects_the_jobs_of_a_cron_job() -> None:
    """Kueue accepts the CronJob, and rejects each Job that is made of it."""
    template = {"metadata": {"labels": {f"{K}queue-name": "Bad_Name"}}, "spec": JOB["spec"]}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 1 * * *", "jobTemplate": template},
    }
    [problem] = [
        problem for problem in ptcompile.lint(cron).diagnostics if problem.authority == "kueue"
    ]
    assert (problem.code, problem.stage) == ("PTC229", "pod")
    assert problem.path == ("spec", "jobTemplate", "metadata", "labels", f"{K}queue-name")


def test_a_workload_has_a_limit_of_pod_sets() -> None:
    """The webhook accepts the JobSet, and the controller fails to create its Workload."""
    large = jobset(*(role("python", name=f"r{i}") for i in range(19)))
    large["metadata"]["labels"] = {**QUEUE}
    problems = [problem for problem in validate(large) if problem.authority == "kueue"]
    assert [(problem.name, problem.stage) for problem in problems] == [
        ("controller-failure", "pod")
    ]
    assert problems[0].message.endswith("spec.podSets: Too many: 19: must have at most 18 items")
    assert [problem for problem in validate(labelled(large)) if problem.authority == "kueue"] == []


@pytest.mark.parametrize(("groups", "expected"), [(17, 0), (18, 1)])
def test_a_queued_job_has_a_limited_number_of_pod_sets(groups: int, expected: int) -> None:
    """A JobSet's Workload cannot be created; a Ray cluster is rejected itself."""
    jobs = [role("run", name=f"r{i}") for i in range(groups + 1)]
    manifest = labelled(jobset(*jobs), QUEUE)
    messages = [p.message for p in ptcompile.lint(manifest).diagnostics if "Too many" in p.message]
    assert len(messages) == expected
    assert not any(
        "Too many" in p.message for p in ptcompile.lint(labelled(jobset(*jobs))).diagnostics
    )


def test_templates_of_kinds_that_serve_are_checked_as_pods() -> None:
    """Their webhook accepts what the pods' webhook rejects."""
    manifest = with_annotations(
        serving("Deployment"), ("spec", "template"), {f"{K}podset-required-topology": "a b"}
    )
    problems = [problem for problem in validate(manifest) if problem.authority == "kueue"]
    assert [problem.stage for problem in problems] == ["pod"]


def test_a_patch_of_kueues_own_manager_matters_in_a_queue_only() -> None:
    patch = {"manager": "kueue.x-k8s.io/manager", "trainingRuntimeSpec": {}}
    spec: Json = {"runtimeRef": {"name": "torch-distributed"}, "runtimePatches": [patch]}
    patched = {**TRAINJOB, "spec": spec}
    assert "webhook-refusal" in {name for name, _ in rejected(labelled(patched, QUEUE))}
    assert rejected(labelled(patched)) == []


GATE = {"name": "kueue.x-k8s.io/admission"}
TOPOLOGY = {"name": "kueue.x-k8s.io/topology"}
MANAGED = "kueue.x-k8s.io/managed"


def _queued(manifest: Json) -> Json:
    return labelled(manifest, {**QUEUE})


def default(manifest: Json, kueue: tuple[int, int] = (0, 19)) -> Json:
    return {**creation.default(manifest, (), Versions(kueue=kueue))}


def test_a_job_in_a_queue_is_suspended() -> None:
    assert nested_map(default(_queued(JOB)), "spec")["suspend"] is True
    assert "suspend" not in default(labelled(JOB))["spec"]
    system = _queued(JOB)
    system["metadata"]["namespace"] = "kube-system"
    assert default(system) == system


@pytest.mark.parametrize("manifest", SERVING, ids=lambda manifest: manifest["kind"])
def test_objects_that_serve_are_not_suspended(manifest: Json) -> None:
    assert default(_queued(manifest)) == _queued(manifest)


@pytest.mark.parametrize("manifest", JOBS, ids=lambda manifest: manifest["kind"])
def test_every_other_kind_waits(manifest: Json) -> None:
    waiting = str(default(_queued(manifest)))
    assert "'suspend': True" in waiting or GATE["name"] in waiting


@pytest.mark.parametrize(
    ("finalizers", "gates", "expected_finalizers", "expected_gates"),
    [
        (None, None, [MANAGED], [GATE, TOPOLOGY]),
        (["a"], [{"name": "b"}], ["a", MANAGED], [{"name": "b"}, GATE, TOPOLOGY]),
        ([MANAGED], [TOPOLOGY, GATE], [MANAGED], [TOPOLOGY, GATE]),
        ([MANAGED, "a"], [GATE, {"name": "b"}], [MANAGED, "a"], [GATE, {"name": "b"}, TOPOLOGY]),
    ],
)
def test_a_pod_gets_gates_a_label_and_a_finalizer(
    finalizers: Any, gates: Any, expected_finalizers: list[str], expected_gates: list[Json]
) -> None:
    pod = _queued(POD)
    if finalizers is not None:
        pod = {**pod, "metadata": {**pod["metadata"], "finalizers": finalizers}}
        pod = {**pod, "spec": {**pod["spec"], "schedulingGates": gates}}
    gated = default(pod)
    assert gated["metadata"]["finalizers"] == expected_finalizers
    assert gated["spec"]["schedulingGates"] == expected_gates
    assert gated["metadata"]["labels"] == {**QUEUE, MANAGED: "true"}


@pytest.mark.parametrize(("kueue", "gates"), [((0, 13), [GATE]), ((0, 14), [GATE, TOPOLOGY])])
def test_a_pod_waits_for_its_topology_since_0_14(kueue: tuple[int, int], gates: list[Json]) -> None:
    """TopologyAwareScheduling is on by default since Kueue 0.14 (pkg/controller/jobs/pod/pod_webhook.go)."""
    assert default(_queued(POD), kueue)["spec"]["schedulingGates"] == gates


def test_a_train_job_in_a_queue_has_an_empty_patch_of_kueue() -> None:
    """Kueue 0.17, pkg/controller/jobs/trainjob/trainjob_webhook.go."""
    patch = {"manager": "kueue.x-k8s.io/manager", "trainingRuntimeSpec": {"template": {"spec": {}}}}
    assert default(_queued(TRAINJOB))["spec"]["runtimePatches"] == [patch]
    assert "runtimePatches" not in default(_queued(TRAINJOB), (0, 16))["spec"]
    assert "runtimePatches" not in default(labelled(TRAINJOB))["spec"]
