"""Operators' reactions to a lost pod, and the agreement of lint, simulate and rehearse about them."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.operators.table import kind_named

SPOT: dict[str, Any] = {
    "nodeSelector": {"cloud.google.com/gke-spot": "true"},
    "restartPolicy": "Never",
    "containers": [
        {"name": "pytorch", "image": "a:1", "command": ["torchrun", "--standalone", "train.py"]}
    ],
}
TEMPLATE: dict[str, Any] = {"spec": SPOT}


def disruption(action: str) -> dict[str, Any]:
    condition = {"type": "DisruptionTarget", "status": "True"}
    return {"podFailurePolicy": {"rules": [{"action": action, "onPodConditions": [condition]}]}}


def manifest(api_version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "train"}, "spec": spec}


def batch_job(**fields: Any) -> dict[str, Any]:
    return manifest("batch/v1", "Job", {**fields, "template": TEMPLATE})


def jobset(child: dict[str, Any], **policy: Any) -> dict[str, Any]:
    replicated = {
        "name": "node",
        "replicas": 1,
        "template": {"spec": {**child, "template": TEMPLATE}},
    }
    return manifest(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        {"replicatedJobs": [replicated], **({"failurePolicy": policy} if policy else {})},
    )


def rule(action: str, **fields: Any) -> dict[str, Any]:
    return {"name": "a", "action": action, **fields}


def pytorchjob(restart: str, **policy: Any) -> dict[str, Any]:
    replica = {"replicas": 1, "restartPolicy": restart, "template": TEMPLATE}
    return manifest(
        "kubeflow.org/v1",
        "PyTorchJob",
        {"pytorchReplicaSpecs": {"Worker": replica}, "runPolicy": policy},
    )


def volcano(
    *policies: dict[str, Any], task: tuple[dict[str, Any], ...] = (), **fields: Any
) -> dict[str, Any]:
    tasks = [{"name": "node", "replicas": 1, "policies": [*task], "template": TEMPLATE}]
    return manifest(
        "batch.volcano.sh/v1alpha1",
        "Job",
        {"minAvailable": 1, "policies": [*policies], "tasks": tasks, **fields},
    )


def evicted(action: str) -> dict[str, Any]:
    return {"event": "PodEvicted", "action": action}


def mpijob(**policy: Any) -> dict[str, Any]:
    replicas = {"Launcher": {"replicas": 1, "template": TEMPLATE}}
    return manifest(
        "kubeflow.org/v2beta1", "MPIJob", {"runPolicy": policy, "mpiReplicaSpecs": replicas}
    )


ONLY_DISRUPTION = {"onJobFailureReasons": ["PodFailurePolicy"]}
IGNORED = rule("RestartJobSetAndIgnoreMaxRestarts", **ONLY_DISRUPTION)
CASES = [
    ("", batch_job(), "pod"),
    ("", batch_job(backoffLimit=0), "none"),
    ("", batch_job(backoffLimit=0, **disruption("Ignore")), "pod"),
    ("", batch_job(backoffLimit=0, **disruption("Count")), "none"),
    ("", batch_job(backoffLimit=6, **disruption("FailJob")), "none"),
    ("", batch_job(backoffLimitPerIndex=1, completionMode="Indexed", completions=1), "pod"),
    ("", batch_job(backoffLimitPerIndex=0, completionMode="Indexed", completions=1), "none"),
    ("node", jobset({}), "pod"),
    ("node", jobset({"backoffLimit": 0}), "none"),
    ("node", jobset({"backoffLimit": 0}, maxRestarts=0), "none"),
    ("node", jobset({"backoffLimit": 0}, maxRestarts=3), "job"),
    ("node", jobset({"backoffLimit": 2}, maxRestarts=3), "pod"),
    (
        "node",
        jobset({"backoffLimit": 0, **disruption("FailJob")}, maxRestarts=0, rules=[IGNORED]),
        "job",
    ),
    ("node", jobset({"backoffLimit": 0}, maxRestarts=0, rules=[IGNORED]), "none"),
    (
        "node",
        jobset(
            {"backoffLimit": 0, **disruption("FailJob")}, maxRestarts=3, rules=[rule("FailJobSet")]
        ),
        "none",
    ),
    (
        "node",
        jobset(
            {"backoffLimit": 0},
            maxRestarts=3,
            rules=[rule("FailJobSet", targetReplicatedJobs=["other"])],
        ),
        "job",
    ),
    ("Worker", pytorchjob("Never"), "none"),
    ("Worker", pytorchjob("OnFailure"), "pod"),
    ("Worker", pytorchjob("OnFailure", backoffLimit=0), "pod"),
    ("Worker", pytorchjob("ExitCode"), "pod"),
    ("node", volcano(), "pod"),
    ("node", volcano({"event": "PodFailed", "action": "AbortJob"}), "none"),
    ("node", volcano(evicted("RestartJob")), "job"),
    ("node", volcano(evicted("RestartJob"), maxRetry=1), "none"),
    ("node", volcano(evicted("RestartTask")), "role"),
    ("node", volcano(evicted("RestartPod")), "pod"),
    ("node", volcano(evicted("TerminateJob")), "none"),
    ("node", volcano({"event": "*", "action": "AbortJob"}), "none"),
    ("node", volcano(evicted("TerminateJob"), task=(evicted("RestartPod"),)), "pod"),
    ("Launcher", mpijob(), "pod"),
    ("Launcher", mpijob(backoffLimit=0), "none"),
    ("", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train"}, "spec": SPOT}, "none"),
]


def check_lost_pod(role: str, data: dict[str, Any], recreated: str) -> None:
    lost = kind_named(kind_of(data)).lost_pod(data, role, [data])
    assert lost is not None
    assert lost.recreated == recreated


@pytest.mark.parametrize(("role", "data", "recreated"), CASES)
def test_lint_warns_if_no_pod_is_recreated(role: str, data: dict[str, Any], recreated: str) -> None:
    names = [finding.name for finding in ptcompile.lint(data).diagnostics if finding.stage == "run"]
    assert names.count("spot-without-retries") == (recreated == "none" and data["kind"] != "Pod")


@pytest.mark.parametrize(
    ("role", "data", "recreated"), [case for case in CASES if case[1]["kind"] != "MPIJob"]
)
def test_simulate_describes_it(role: str, data: dict[str, Any], recreated: str) -> None:
    texts = ptcompile.simulate(data).jobs[0].failure
    assert any(
        "a lost node: " in text or "PodEvicted" in text or text.startswith("any task: *")
        for text in texts
    )
    recreates_all = any(
        "all Jobs are recreated" in text or "PodEvicted -> RestartJob" in text for text in texts
    )
    assert recreates_all or recreated != "job"


TARGETS = ("job", "jobset", "pytorchjob", "trainjob", "volcano")
RUN_POLICIES = (
    "",
    ", backoffLimit: 0",
    ", backoffLimit: 3",
    ", onDisruption: FailJob",
    ", onPodFailure: RestartJob",
)
SPEC = """\
apiVersion: ptcompile/v1
kind: TrainingJob
metadata: {name: train}
spec:
  image: registry.example.com/train:1
  script: train.py
  nodes: 2
  spot: true
  elastic: {nprocPerNode: 1, maxRestarts: 2}
  resources: {cpu: 8, memory: 64Gi, gpu: 1}
  runPolicy: {cleanPodPolicy: Running%s}
"""
PROFILE = (
    "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: gke}\nspec: {cloud: gke}\n"
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("policy", RUN_POLICIES)
def test_lint_and_simulate_agree_on_compiled_spot_jobs(target: str, policy: str) -> None:
    result = ptcompile.compile(SPEC % policy, target=target, cluster=PROFILE)
    if not result.ok:
        pytest.skip("the target rejects this policy")
    job = ptcompile.simulate(result.manifests).jobs[0]
    kind = kind_named(kind_of(job.manifest))
    lost = [kind.lost_pod(job.manifest, role.name, job.stream) for role in job.roles]
    report = ptcompile.lint(result.manifests)
    warned = "spot-without-retries" in {finding.name for finding in report.diagnostics}
    assert warned == any(loss is not None and loss.recreated == "none" for loss in lost)


@pytest.mark.parametrize(
    ("target", "spot", "expected"),
    [*((target, True, True) for target in TARGETS), ("job", False, False)],
)
def test_a_preempted_pod_loses_checkpoints_that_are_on_no_volume(
    target: str, spot: bool, expected: bool
) -> None:
    source = (SPEC % ", backoffLimit: 0").replace(
        "script: train.py", "script: train.py\n  args: [--checkpoint-dir=/c]"
    )
    result = ptcompile.compile(
        source if spot else source.replace("spot: true", ""), target=target, cluster=PROFILE
    )
    names = {finding.name for finding in ptcompile.lint(result.manifests).diagnostics}
    assert ("checkpoint-not-kept" in names) == expected
