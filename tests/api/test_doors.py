"""What a verb says of input that another verb refuses, or that no verb has rules for."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import ptcompile
from tests.differ.making import job
from tests.making import text as spec_text

ACCELERATE = (
    "image: img:1\nnodes: {}\nresources: {{gpu: 8, cpu: 8, memory: 64Gi}}\n"
    "command: [accelerate, launch, --num_machines=2, --num_processes=16, --machine_rank=$(RANK),"
    " --main_process_ip=$(MASTER_ADDR), --main_process_port=29500, train.py]"
)
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: epyc}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: gpus, namespace: default}
spec: {clusterQueue: research}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{name: epyc, resources: [{name: cpu, nominalQuota: 4}]}]
"""
CONFIGURATION = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: kueue-manager-config, namespace: kueue-system}}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    integrations: {{frameworks: [{0}]}}
"""
TEMPLATE = {
    "spec": {
        "containers": [{"name": "pytorch", "image": "a:1", "resources": {"requests": {"cpu": "1"}}}]
    }
}


def _queued(kind: str) -> dict[str, Any]:
    metadata = {
        "name": "train",
        "namespace": "default",
        "labels": {"kueue.x-k8s.io/queue-name": "gpus"},
    }
    if kind == "Job":
        template = {"spec": {"restartPolicy": "Never", **TEMPLATE["spec"]}}
        return {
            "apiVersion": "batch/v1",
            "kind": kind,
            "metadata": metadata,
            "spec": {"template": template},
        }
    replicas = {"Master": {"replicas": 1, "template": TEMPLATE}}
    spec = {"pytorchReplicaSpecs": replicas}
    return {"apiVersion": "kubeflow.org/v1", "kind": kind, "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("kind", "frameworks", "line"),
    [
        ("PyTorchJob", None, "starts outside of the queue"),
        ("PyTorchJob", "batch/job", "starts outside of the queue"),
        ("PyTorchJob", "batch/job, kubeflow.org/pytorchjob", "admitted by research"),
        ("Job", None, "admitted by research"),
        ("Job", "kubeflow.org/mpijob", "starts outside of the queue"),
    ],
)
def test_a_kind_that_kueue_does_not_manage_starts_outside_of_the_queue(
    kind: str, frameworks: str | None, line: str
) -> None:
    state = QUEUES + (CONFIGURATION.format(frameworks) if frameworks else "")
    answer = ptcompile.admit(_queued(kind), state=state)
    assert answer.text().splitlines()[0] == f"{kind}/train: {line}"
    assert answer.ok
    is_outside = "outside" in line
    assert [d.code for d in answer.diagnostics] == ["PTC491"] * is_outside
    assert all(
        "it starts outside" in d.message or "this one starts outside" in d.message
        for d in answer.diagnostics
    )


def test_a_suspended_job_that_kueue_does_not_manage_never_starts() -> None:
    job_of_queue = _queued("Job")
    job_of_queue["spec"]["suspend"] = True
    answer = ptcompile.admit(
        job_of_queue, state=QUEUES + CONFIGURATION.format("kubeflow.org/mpijob")
    )
    assert not answer.ok
    assert [(d.code, "nothing ends its suspension" in d.message) for d in answer.diagnostics] == [
        ("PTC280", True)
    ]


def test_the_toleration_that_a_flavor_asks_for_is_named() -> None:
    taint = (
        "metadata: {name: epyc}\nspec: {nodeTaints: [{key: gpu, value: 'yes', effect: NoSchedule}]}"
    )
    answer = ptcompile.admit(_queued("Job"), state=QUEUES.replace("metadata: {name: epyc}", taint))
    (finding,) = answer.diagnostics
    assert (finding.code, finding.help) == (
        "PTC280",
        "give the pods a toleration of gpu=yes:NoSchedule, the taint of flavor epyc",
    )


def test_lint_reads_the_configuration_of_the_stream() -> None:
    text = yaml.safe_dump(_queued("PyTorchJob"))
    on = ptcompile.lint(text + CONFIGURATION.format("kubeflow.org/pytorchjob"))
    assert "PTC491" not in {d.code for d in on.diagnostics}
    assert "PTC491" in {
        d.code for d in ptcompile.lint(text + CONFIGURATION.format("batch/job")).diagnostics
    }


def test_what_compile_refuses_diff_and_simulate_refuse() -> None:
    good, bad = (spec_text(ACCELERATE.format(nodes), "train") for nodes in (2, 4))
    assert {d.code for d in ptcompile.compile(bad).diagnostics if d.severity == "error"} == {
        "PTC407"
    }
    overridden = [("spec.nodes", 4)]
    assert "PTC407" in {
        d.code for d in ptcompile.diff(good, good, overrides=overridden).diagnostics
    }
    assert "PTC407" in {d.code for d in ptcompile.simulate(bad).diagnostics}
    for side in (ptcompile.diff(bad, good), ptcompile.diff(good, good), ptcompile.simulate(good)):
        assert "PTC407" not in {d.code for d in side.diagnostics}
    meant = bad.replace("  command:", "  # ptcompile: ignore[PTC407] on purpose\n  command:")
    assert "PTC407" not in {d.code for d in ptcompile.simulate(meant).diagnostics}


def test_an_object_that_the_server_names_is_created() -> None:
    old, new = (job(completions=count, parallelism=count) for count in (3, 5))
    for manifest in (old, new):
        manifest["metadata"] = {"generateName": "s-"}
    difference = ptcompile.diff(old, new)
    (compared,) = difference.objects
    assert difference.diagnostics == ()
    assert compared.apply is not None
    assert compared.apply.outcome == "created"
    assert "created" in difference.markdown()


@pytest.mark.parametrize(
    "verb", [ptcompile.lint, ptcompile.compile, ptcompile.simulate, ptcompile.admit]
)
@pytest.mark.parametrize(
    "text", ["Error: no chart: x\n", "error: unable to read\n", "\nError from server: gone\n"]
)
def test_the_error_of_a_renderer_is_no_document(verb: Any, text: str) -> None:
    assert [(d.code, d.severity) for d in verb(text).diagnostics] == [("PTC009", "error")]


def test_a_manifest_may_have_such_a_key() -> None:
    assert "PTC009" not in {
        d.code for d in ptcompile.lint("error: {}\napiVersion: v1\nkind: Pod\n").diagnostics
    }
