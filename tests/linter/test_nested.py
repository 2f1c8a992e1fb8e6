"""Jobs and pods inside other objects are linted, and findings have the path in the outer object."""

from __future__ import annotations

import textwrap

import pytest

import ptcompile

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
