"""Jobs and pods inside other objects are linted, and findings have the path in the outer object."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

import ptcompile
from ptcompile.linter.nested import nested_manifests, nested_objects

CONTAINERS = "containers: [{name: main, image: 'a:1', command: [python train.py], resources: {limits: {memory: 512m}}}]"
POD_SPEC = "spec: {restartPolicy: %s, " + CONTAINERS + "}"


def found(text: str) -> dict[str, str]:
    """Return the names and paths of the findings."""
    return {d.name: ".".join(map(str, d.path)) for d in ptcompile.lint(text).diagnostics if d.severity == "error"}


JOB = f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: train}}
spec: {{template: {{{POD_SPEC % "Never"}}}}}
"""


def test_the_job_of_a_cron_job() -> None:
    text = f"""\
apiVersion: batch/v1
kind: CronJob
metadata: {{name: nightly}}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {{spec: {{template: {{{POD_SPEC % "Never"}}}}}}}
"""
    under = "spec.jobTemplate.spec.template.spec.containers.0"
    assert found(text) == {
        "command-in-one-word": f"{under}.command.0",
        "fractional-bytes": f"{under}.resources.limits.memory",
    }
    (first, *_) = ptcompile.lint(text).diagnostics
    assert first.message.startswith(".".join(["spec.jobTemplate.spec.template.spec.containers[0]"]))
    assert first.span is not None
    assert first.span.line == 6


@pytest.mark.parametrize(
    ("kind", "spec", "under"),
    [
        ("apps/v1/Deployment", "{template: {%s}}", "spec.template"),
        ("apps/v1/StatefulSet", "{template: {%s}}", "spec.template"),
        ("ray.io/v1/RayCluster", "{workerGroupSpecs: [{template: {%s}}]}", "spec.workerGroupSpecs.0.template"),
        (
            "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet",
            "{leaderWorkerTemplate: {workerTemplate: {%s}}}",
            "spec.leaderWorkerTemplate.workerTemplate",
        ),
    ],
)
def test_pod_templates(kind: str, spec: str, under: str) -> None:
    version, _, name = kind.rpartition("/")
    text = f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: a}}\nspec: {spec % (POD_SPEC % 'Always')}\n"
    mine = {name: path for name, path in found(text).items() if "containers" in path}
    assert mine == {
        "command-in-one-word": f"{under}.spec.containers.0.command.0",
        "fractional-bytes": f"{under}.spec.containers.0.resources.limits.memory",
    }


def test_manifests_in_texts() -> None:
    inner = textwrap.indent(JOB, "        ")
    workflow = f"""\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {{generateName: a-}}
spec:
  templates:
    - name: train
      resource:
        action: create
        manifest: |
{textwrap.indent(JOB, "          ")}"""
    assert set(found(workflow).values()) == {"spec.templates.0.resource.manifest"}
    config = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  job.yaml: |\n{inner}"
    assert found(config) == {"command-in-one-word": "data.job.yaml", "fractional-bytes": "data.job.yaml"}
    assert found(config.replace("512m", "'{{inputs.parameters.memory}}'")) == {"command-in-one-word": "data.job.yaml"}
    assert found(config.replace("apiVersion: batch", "# batch")) == {}


@pytest.mark.parametrize(
    ("version", "kind", "spec"),
    [
        ("batch.volcano.sh/v1alpha1", "CronJob", "jobTemplate: {spec: {tasks: [], queue: default}}"),
        ("example.com/v1", "Deployment", "template: {spec: {containers: [{name: a, image: b, command: [sleep 1]}]}}"),
        ("example.com/v1", "StatefulSet", "serviceName: nowhere, template: {spec: {containers: [{name: a}]}}"),
    ],
)
def test_kinds_of_other_groups_are_not_read_as_kubernetes_own(version: str, kind: str, spec: str) -> None:
    assert found(f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{{spec}}}\n") == {}


def _stateful(**spec: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "a", "image": "i"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "s", "namespace": "ml"},
        "spec": {"template": template, **spec},
    }


@pytest.mark.parametrize(
    ("spec", "replicas", "subdomain"),
    [
        ({}, 1, None),
        ({"replicas": 3, "serviceName": "net"}, 3, "net"),
        ({"serviceName": ""}, 1, None),
    ],
)
def test_the_pods_of_a_stateful_set_are_those_of_an_indexed_job(
    spec: dict[str, Any], replicas: int, subdomain: str | None
) -> None:
    """Kubernetes 1.36, pkg/controller/statefulset/stateful_set_utils.go: initIdentity."""
    (job,) = (nested for nested in nested_objects(_stateful(**spec)) if nested.manifest["kind"] == "Job")
    body = job.manifest["spec"]
    assert (body["completions"], body["parallelism"], body["completionMode"]) == (replicas, replicas, "Indexed")
    assert body["template"]["spec"]["subdomain"] == subdomain
    assert job.path == ()


@pytest.mark.parametrize(("ordinals", "expected"), [({}, 1), ({"start": 0}, 1), ({"start": 1}, 0)])
def test_a_stateful_set_whose_pods_begin_with_another_index_is_no_job(ordinals: dict[str, int], expected: int) -> None:
    nested = nested_objects(_stateful(ordinals=ordinals))
    assert [item.manifest["kind"] for item in nested].count("Job") == expected


@pytest.mark.parametrize("namespace", ["ml", None])
def test_nested_pods_are_in_the_namespace_of_their_owner(namespace: str | None) -> None:
    deployment = {**_stateful(), "kind": "Deployment", "metadata": {"name": "d", "namespace": namespace}}
    (pod,) = nested_objects(deployment)
    assert pod.manifest["metadata"].get("namespace") == namespace
    assert ("namespace" in pod.manifest["metadata"]) is (namespace is not None)
    assert pod.path == ("spec", "template")


@pytest.mark.parametrize("groups", [None, "x", {"a": 1}, []])
def test_worker_groups_that_are_no_list_have_no_pods(groups: object) -> None:
    cluster = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": {"workerGroupSpecs": groups}}
    assert list(nested_objects(cluster)) == []


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({"resource": {"manifest": "apiVersion: v1\nkind: Pod\n"}}, [("spec", "resource", "manifest")]),
        ({"other": {"manifest": "apiVersion: v1\nkind: Pod\n"}}, []),
        ({"resource": {"manifest": "kind: Pod\n"}}, []),
        ({"resource": {"manifest": "apiVersion: v1\n"}}, []),
        ({"resource": {"action": "apiVersion: v1\nkind: Pod\n"}}, []),
    ],
)
def test_manifests_of_argo_are_below_resource(body: dict[str, Any], paths: list[tuple[str, ...]]) -> None:
    workflow = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": body}
    assert [path for path, _ in nested_manifests(workflow)] == paths


def test_a_selection_hides_no_rejected_pod_inside_an_object() -> None:
    """`missing-config-key` is of stage pod, which `select` never hides."""
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}}
    env = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "y"}}}]
    template = {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "i:1", "env": env}]},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template},
    }
    diagnostics = ptcompile.lint([config, deployment], select=["missing-shm"]).diagnostics
    assert [diagnostic.name for diagnostic in diagnostics] == ["missing-config-key"]
