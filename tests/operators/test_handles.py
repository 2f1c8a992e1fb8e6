"""Handles, compared with the pods that operators create and the states that their controllers write."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import ptcompile
from ptcompile.apiserver.cel import evaluate
from ptcompile.kinds.model import Kind
from ptcompile.kinds.pods import PodView
from ptcompile.operators.handles import Handle, RolePods, handles
from ptcompile.operators.table import KINDS, expand, kinds_with
from tests.conftest import ABLE, Case, pair_name
from tests.making import smallest
from tests.operators.test_status import TABLE, condition, trainjob

Json = dict[str, Any]
SCHEMA = Draft202012Validator(ptcompile.schema("handle"))


def handle(body: str, target: str, name: str = "train") -> Handle:
    return ptcompile.compile(smallest(body, name=name), target=target).handle


def matches(selector: str, pod: PodView) -> bool:
    return all(
        pod.labels.get(key) == value
        for key, _, value in (part.partition("=") for part in selector.split(","))
    )


def role_of(pod: PodView, job_handle: Handle) -> RolePods:
    (role,) = [one for one in job_handle.roles if not one.selector or matches(one.selector, pod)]
    return role


@pytest.mark.parametrize(("case", "target"), ABLE, ids=pair_name)
def test_selectors_ranks_and_containers_match_the_pods(case: Case, target: str) -> None:
    """The pods of every golden are expanded as recorded from the operators."""
    result = case.compile(target)
    jobs = [
        i
        for i, manifest in enumerate(result.manifests)
        if (manifest["apiVersion"], manifest["kind"]) in kinds_with(Kind.following)
    ]
    assert len(result.handles) == len(jobs)
    first = 0
    for job_handle, at in zip(result.handles, jobs, strict=True):
        job = result.manifests[at]
        pods = list(expand(job, versions=case.versions(), related=result.manifests).pods)
        ranks = [_rank(pod, role_of(pod, job_handle)) for pod in pods]
        trainers = [rank for rank in ranks if rank is not None]
        assert sorted(trainers) == list(range(len(trainers)))
        assert len(pods) == sum(role.replicas for role in job_handle.roles)
        assert all(
            not job_handle.label_selector or matches(job_handle.label_selector, pod) for pod in pods
        )
        for pod in pods:
            assert role_of(pod, job_handle).container in [
                container.name for container in pod.containers if not container.init
            ]
        assert [one.name for one in job_handle.objects] == [
            manifest["metadata"]["name"] for manifest in result.manifests[first : at + 1]
        ]
        SCHEMA.validate(json.loads(json.dumps(job_handle.to_dict())))
        assert (job_handle.job.api_version, job_handle.job.kind) == (job["apiVersion"], job["kind"])
        first = at + 1


def _rank(pod: PodView, role: RolePods) -> int | None:
    if role.first_rank is None:
        return None
    return role.first_rank + (int(pod.labels[role.index_label]) if role.index_label else 0)


def test_the_schema_has_the_fields_of_the_handle() -> None:
    shown = handle("nodes: 2", "jobset").to_dict()
    assert list(ptcompile.schema("handle")["properties"]) == list(shown)
    assert not SCHEMA.is_valid({**shown, "more": 1})
    assert not SCHEMA.is_valid({key: value for key, value in shown.items() if key != "needs"})


@pytest.mark.parametrize("name", TABLE)
def test_expressions_agree_with_status(name: str) -> None:
    """A handle's CEL and JSONPath expressions match exactly the objects for which `status` returns that state."""
    live, state, _ = TABLE[name]
    target = next(
        op.target_name
        for op, kind in KINDS.values()
        if kind.key == (live["apiVersion"], live["kind"])
    )
    job_handle = handle("nodes: 1", target)
    for condition_of, expected in (
        (job_handle.succeeded, "succeeded"),
        (job_handle.failed, "failed"),
    ):
        assert evaluate(condition_of.cel, {"object": live}, [100_000]) is (state == expected), (
            condition_of.cel
        )
        assert (_at_path(condition_of.jsonpath, live) in condition_of.values) is (state == expected)
        assert len(condition_of.kubectl) == len({*condition_of.kubectl}) >= 1
    if state in ("created", "queued"):
        assert evaluate(job_handle.running, {"object": live}, [100_000]) is False
    if job_handle.suspended is not None and "not yet seen" not in name:
        assert evaluate(job_handle.suspended, {"object": live}, [100_000]) is (state == "queued")


def _at_path(path: str, live: Json) -> object:
    """Return the value at a path in one of the two JSONPath forms of handles."""
    if match := re.fullmatch(r'\{\.status\.conditions\[\?\(@\.type=="(\w+)"\)\]\.status\}', path):
        conditions = live.get("status", {}).get("conditions", [])
        return next((one["status"] for one in conditions if one.get("type") == match[1]), None)
    value: Any = live
    for key in re.fullmatch(r"\{\.([\w.]+)\}", path)[1].split("."):  # type: ignore[index]
        value = value.get(key, {})
    return value


@pytest.mark.parametrize("name", TABLE)
def test_argo_expressions_agree_with_status(name: str) -> None:
    """Argo Workflows evaluates the failure first; a comma means "or", and a path alone tests for existence."""
    live, state, _ = TABLE[name]
    target = next(
        op.target_name
        for op, kind in KINDS.values()
        if kind.key == (live["apiVersion"], live["kind"])
    )
    suspended = any(
        one.get("type") == "Suspended" for one in live.get("status", {}).get("conditions", [])
    )
    body = "runPolicy: {suspend: true}" if suspended and target != "pod" else "nodes: 1"
    job_handle = handle(body, target)
    failed = any(_argo(part, live) for part in re.split(r", (?![^(]*\))", job_handle.failed.argo))
    assert failed is (state == "failed")
    assert (not failed and _argo(job_handle.succeeded.argo, _finished(live, state))) is (
        state == "succeeded"
    )


def _finished(live: Json, state: str) -> Json:
    """Return the object with the fields that controllers set at the end besides the condition."""
    times = {"Job": ("succeeded",), "PyTorchJob": ("succeeded", "failed")}
    if state in times.get(live["kind"], ()) and live["apiVersion"] != "batch.volcano.sh/v1alpha1":
        return {**live, "status": {**live["status"], "completionTime": "2026-01-01T00:00:00Z"}}
    return live


def _argo(requirement: str, live: Json) -> bool:
    path, _, expected = requirement.partition(" ")
    value: Any = live
    for key in path.split("."):
        if isinstance(value, list):
            value = value[int(key)] if int(key) < len(value) else None
        else:
            value = (value or {}).get(key)
    if not expected:
        return value is not None
    return value in re.findall(r"\w+", expected.removeprefix("in"))


def test_a_trainjob_created_suspended_completes_by_its_second_condition() -> None:
    for body in ("queue: gpus", "runPolicy: {suspend: true}"):
        assert handle(body, "trainjob").succeeded.argo == "status.conditions.1.type == Complete"
    assert handle("", "trainjob").succeeded.argo == "status.conditions.0.type == Complete"
    resumed = trainjob(condition("Suspended", "False"), condition("Complete"))
    assert _argo(handle("queue: gpus", "trainjob").succeeded.argo, resumed)
    assert not _argo(handle("", "trainjob").succeeded.argo, resumed)


SUSPEND = {
    "pod": None,
    "job": {"spec": {"suspend": True}},
    "pytorchjob": {"spec": {"runPolicy": {"suspend": True}}},
    "volcano": None,
    "trainjob": {"spec": {"suspend": True}},
    "jobset": {"spec": {"suspend": True}},
}


@pytest.mark.parametrize("target", SUSPEND)
def test_suspend_patch_gives_the_same_job_as_compiling_suspended(target: str) -> None:
    job_handle = handle("nodes: 1", target)
    assert job_handle.suspend == SUSPEND[target]
    if job_handle.suspend is None:
        assert job_handle.resume is None
        return
    (field,) = _leaves(job_handle.suspend)
    assert _leaves(job_handle.resume) == [field]
    assert str(job_handle.resume) == str(job_handle.suspend).replace("True", "False")
    compiled = ptcompile.compile(
        smallest("nodes: 1\nrunPolicy: {suspend: true}"), target=target
    ).unwrap()[-1]
    for key in field:
        compiled = compiled[key]
    assert compiled is True  # type: ignore[comparison-overlap]


def _leaves(value: Any) -> list[tuple[str, ...]]:
    if not isinstance(value, dict):
        return [()]
    return [(key, *rest) for key, inner in value.items() for rest in _leaves(inner)]


@pytest.mark.parametrize("target", SUSPEND)
def test_deleting_a_job_deletes_its_pods(target: str) -> None:
    assert handle("", target).propagation == (
        "Foreground" if target in ("jobset", "trainjob") else "Background"
    )


def test_a_handle_names_the_required_objects() -> None:
    body = """
    serviceAccountName: trainer
    imagePullSecrets: [{name: registry}]
    env:
      TOKEN: {secretKeyRef: {name: hf, key: token}}
      MAYBE: {secretKeyRef: {name: not-needed, key: a, optional: true}}
    envFrom: [{configMapRef: {name: settings}}]
    volumes: [{name: d, persistentVolumeClaim: {claimName: corpus}}, {name: s, secret: {secretName: certificate}}]
    """
    expected = {
        ("ServiceAccount", "trainer"),
        ("Secret", "registry"),
        ("Secret", "hf"),
        ("ConfigMap", "settings"),
        ("PersistentVolumeClaim", "corpus"),
        ("Secret", "certificate"),
    }
    spec = smallest(re.sub("^    ", "", body, flags=re.M))
    for target in SUSPEND:
        result = ptcompile.compile(spec, target=target)
        assert {(need.kind, need.name) for need in result.handle.needs} == expected, target
        required = ptcompile.requires(spec, target=target).requirements
        assert {f"{kind}/{name}" for kind, name in expected} <= {
            one.name for one in required if one.kind == "object"
        }


def test_each_job_has_one_handle() -> None:
    two = smallest("nodes: 2", name="a") + "---\n" + smallest("", name="b")
    result = ptcompile.compile(two, target="job")
    assert [one.job.name for one in result.handles] == ["a", "b"]
    assert [[one.kind for one in handle.objects] for handle in result.handles] == [
        ["Service", "Job"],
        ["Job"],
    ]
    with pytest.raises(ValueError, match="2 jobs"):
        _ = result.handle
    with pytest.raises(ptcompile.CompileError):
        _ = ptcompile.compile("kind: TrainingJob").handle


def test_roles_that_do_not_train_have_no_rank() -> None:
    job_handle = handle("nodes: 2\nroles: {loader: {replicas: 3, command: [serve]}}", "volcano")
    assert [
        (role.name, role.replicas, role.first_rank, role.container) for role in job_handle.roles
    ] == [
        ("master", 1, 0, "pytorch"),
        ("worker", 1, 1, "pytorch"),
        ("loader", 3, None, "loader"),
    ]


def test_pod_is_selected_by_name() -> None:
    job_handle = handle("", "pod")
    assert (job_handle.label_selector, job_handle.field_selector) == (None, "metadata.name=train")
    assert [
        (role.selector, role.replicas, role.first_rank, role.index_label)
        for role in job_handle.roles
    ] == [(None, 1, 0, None)]


@pytest.mark.parametrize("target", SUSPEND)
def test_no_selector_is_empty(target: str) -> None:
    """`kubectl get pods -l ''` lists every pod of the namespace."""
    job_handle = handle("", target)
    assert "" not in [
        job_handle.label_selector,
        job_handle.field_selector,
        *(role.selector for role in job_handle.roles),
    ]
    assert [job_handle.label_selector, job_handle.field_selector].count(None) == 1


def test_each_of_several_conditions_is_an_argument_of_one_command() -> None:
    """kubectl 1.32 takes the last `--for` of several in one command."""
    assert handle("", "volcano").failed.kubectl == tuple(
        f"--for=jsonpath={{.status.state.phase}}={phase}"
        for phase in ("Failed", "Terminated", "Aborted")
    )


def test_every_companion_has_a_plural() -> None:
    """Handles refer to every object that a golden creates for a job, with the API server's plural."""
    plurals = {
        (one.kind, one.plural)
        for case, target in ABLE
        for h in case.compile(target).handles
        for one in h.objects
    }
    assert plurals == {
        ("Service", "services"), ("PodGroup", "podgroups"), ("TrainingRuntime", "trainingruntimes"), ("Pod", "pods"),
        ("Job", "jobs"), ("PyTorchJob", "pytorchjobs"), ("TrainJob", "trainjobs"), ("JobSet", "jobsets"),
        ("ComputeDomain", "computedomains"), ("ResourceClaimTemplate", "resourceclaimtemplates"),
        ("Workload", "workloads"),
    }  # fmt: skip


def test_argo_finds_a_failure_after_all_other_conditions() -> None:
    """training-operator 1.9 has six types of conditions (pkg/apis/kubeflow.org/v1/common_types.go)."""
    others = [
        condition(kind, "False")
        for kind in ("Created", "Running", "Restarting", "Suspended", "Succeeded")
    ]
    failed = {"status": {"conditions": [*others, condition("Failed")]}}
    assert any(
        _argo(part, failed) for part in handle("nodes: 1", "pytorchjob").failed.argo.split(", ")
    )


def test_job_with_generated_name_has_no_handle() -> None:
    (job,) = ptcompile.compile(smallest(""), target="pod").unwrap()
    job["metadata"] = {"generateName": "train-"}
    with pytest.raises(ValueError, match="generateName"):
        list(handles([job]))


@pytest.mark.parametrize("target", SUSPEND)
def test_run_name_is_used_everywhere(target: str) -> None:
    job_handle = ptcompile.compile(smallest(""), target=target, name="run-7").handle
    assert {one.name for one in job_handle.objects} == {"run-7"}
    assert "run-7" in (job_handle.label_selector or job_handle.field_selector or "")


@pytest.mark.parametrize("target", ["volcano", "jobset", "job", "pod"])
def test_the_container_may_have_any_name(target: str) -> None:
    roles = "" if target in ("job", "pod") else "roles: {loader: {command: [serve]}}"
    job_handle = handle(f"names: {{container: learner}}\n{roles}", target)
    assert (job_handle.roles[0].container, job_handle.roles[0].first_rank) == ("learner", 0)
    assert all(role.first_rank is None for role in job_handle.roles if role.name == "loader")
