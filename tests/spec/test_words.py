"""Spec fields needed to express published manifests.

Unlimited retries, names, elastic next to command, a node count within a range, runtimeRef and manifest.
"""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS
from ptcompile.operators.targets import TARGETS
from ptcompile.simulator.rendezvous import job_rendezvous
from tests.making import compiled, error_paths, manifest, smallest, text

Json = dict[str, Any]

UNLIMITED = 2**31 - 1
IN_COMMAND = "image: i:1\ncommand: [bash, -c, torchrun train.py]\n"


def warnings(source: str, target: str) -> list[str]:
    return [
        problem.name
        for problem in compiled(source, target).problems
        if problem.severity == "warning"
    ]


def main(job: Json) -> Json:
    """Return the training container of the first pod template in an object."""
    stack: list[Any] = [job]
    while stack:
        value = stack.pop(0)
        if isinstance(value, dict):
            if "containers" in value:
                first: Json = value["containers"][0]
                return first
            stack += value.values()
        elif isinstance(value, list):
            stack += value
    raise AssertionError("no containers")


def env(job: Json) -> dict[str, Any]:
    return {
        variable["name"]: variable.get("value", variable.get("valueFrom"))
        for variable in main(job).get("env", ())
    }


def test_unlimited_is_each_operator_s_value_for_no_limit() -> None:
    source = smallest("restartPolicy: OnFailure\nrunPolicy: {backoffLimit: Unlimited}\nnodes: 2")
    assert "backoffLimit" not in manifest(source, "pytorchjob")["spec"].get("runPolicy", {})
    assert manifest(source, "job")["spec"]["backoffLimit"] == UNLIMITED
    child = manifest(source, "jobset")["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert child["backoffLimit"] == UNLIMITED
    volcano = manifest(source, "volcano")["spec"]
    assert (volcano["maxRetry"], volcano["tasks"][0]["maxRetry"]) == (UNLIMITED, UNLIMITED)


def test_a_pod_only_supports_an_unlimited_backoff_limit() -> None:
    unlimited = smallest("restartPolicy: OnFailure\nrunPolicy: {backoffLimit: Unlimited}")
    assert error_paths(unlimited, "pod") == []
    assert warnings(unlimited, "pod") == []
    assert error_paths(unlimited.replace("Unlimited", "3"), "pod") == [
        ("spec", "runPolicy", "backoffLimit")
    ]


def test_names_are_used_if_the_operator_allows_them() -> None:
    source = smallest("nodes: 3\nnames: {container: c, node: nodes, master: chief, worker: crew}")
    for target in ("job", "jobset", "volcano"):
        assert main(manifest(source, target))["name"] == "c"
    assert manifest(source, "jobset")["spec"]["replicatedJobs"][0]["name"] == "nodes"
    assert [task["name"] for task in manifest(source, "volcano")["spec"]["tasks"]] == [
        "chief",
        "crew",
    ]
    assert "train-nodes-0-0.train" in str(manifest(source, "jobset"))
    for target, name in (("pytorchjob", "pytorch"), ("trainjob", "node")):
        assert "done-differently" in warnings(source, target)
        made = ptcompile.compile(source, target=target).manifests
        assert main(made[0])["name"] == name


def test_a_patch_may_use_the_container_s_name() -> None:
    patch = "podTemplate: {spec: {containers: [{name: c, tty: true}]}}"
    assert main(manifest(smallest(f"names: {{container: c}}\n{patch}"), "job"))["tty"] is True


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("names: {master: Bad_X}", ("spec", "names", "master")),
        ("names: {master: same, worker: same}", ("spec", "names", "worker")),
        ("names: {node: crew}\nroles: {crew: {}}", ("spec", "roles", "crew")),
        ("manifest: {jobsett: {spec: {}}}", ("spec", "manifest", "jobsett")),
        ('nodes: 5\nelastic: {nnodes: "2:4"}', ("spec", "nodes")),
    ],
)
def test_mistakes_are_reported_at_their_path(body: str, path: tuple[str, ...]) -> None:
    assert path in error_paths(smallest(body), "jobset")


def test_elastic_with_a_command_becomes_torchrun_s_variables() -> None:
    source = text(IN_COMMAND + "nodes: 2\nelastic: {nprocPerNode: 4, monitorInterval: null}")
    variables = env(manifest(source, "job"))
    assert variables.pop("PET_NODE_RANK") == {
        "fieldRef": {
            "fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"
        }
    }, "a variable cannot refer to one that the controller appends"
    assert variables == {
        "PET_NNODES": "2",
        "PET_NPROC_PER_NODE": "4",
        "PET_MASTER_ADDR": "train-0.train",
        "PET_MASTER_PORT": "23456",
        "PET_RDZV_CONF": f"timeout={JOIN_TIMEOUT_SECONDS},join_timeout={JOIN_TIMEOUT_SECONDS}",
        "OMP_NUM_THREADS": "1",
    }
    alone = env(
        manifest(text(IN_COMMAND + "elastic: {nprocPerNode: 4, monitorInterval: null}"), "pod")
    )
    assert (alone["PET_STANDALONE"], alone["PET_NPROC_PER_NODE"]) == ("1", "4")


def test_operators_with_elastic_fields_get_the_settings_there() -> None:
    source = text(IN_COMMAND + 'elastic: {nnodes: "1:3", nprocPerNode: 4}')
    job = manifest(source, "pytorchjob")["spec"]
    assert (job["nprocPerNode"], job["elasticPolicy"]["maxReplicas"]) == ("4", 3)
    assert "PET_NNODES" not in env(job)


def test_a_volcano_variable_cannot_hold_the_rank() -> None:
    static = text(IN_COMMAND + "nodes: 2\nelastic: {nprocPerNode: 4}")
    assert error_paths(static, "volcano") == [("spec", "elastic")]
    assert error_paths(static.replace("nprocPerNode: 4", "rdzvBackend: c10d"), "volcano") == []


def test_pods_find_each_other_on_every_target() -> None:
    """In the simulation, pods with `command` and `elastic` find each other on every operator, as with `script`."""
    source = text(IN_COMMAND + "nodes: 3\nelastic: {nprocPerNode: 2, rdzvBackend: c10d}")
    for target in TARGETS:
        if error_paths(source, target):
            continue
        job = ptcompile.simulate(source, target=target).jobs[0]
        seen = [pod.rendezvous for _, pod in job.first_pods]
        assert {(endpoint.backend, endpoint.nodes_text) for endpoint in seen} == {("c10d", "3")}
        rendezvous = job_rendezvous(job)
        assert rendezvous is not None
        assert rendezvous.host is not None, "the endpoint is one of the job's pods"


def test_a_job_may_start_within_its_range() -> None:
    source = smallest('nodes: 2\nelastic: {nnodes: "1:4"}')
    job = manifest(source, "pytorchjob")["spec"]
    assert job["pytorchReplicaSpecs"]["Worker"]["replicas"] == 2
    assert (job["elasticPolicy"]["minReplicas"], job["elasticPolicy"]["maxReplicas"]) == (1, 4)
    indexed = manifest(source, "job")["spec"]
    assert (indexed["completions"], indexed["parallelism"]) == (2, 2)
    assert "--nnodes=1:4" in main(indexed)["command"]
    one = manifest(smallest('nodes: 1\nelastic: {nnodes: "1:4"}'), "job")["spec"]
    assert (one["completionMode"], one["template"]["spec"]["subdomain"]) == ("Indexed", "train"), (
        "more may come"
    )


def test_one_node_needs_no_index() -> None:
    spec = manifest(text("image: i:1\ncommand: [python]"), "job")["spec"]
    assert "completionMode" not in spec
    assert env(spec)["RANK"] == "0"


def test_a_trainjob_with_a_runtime_only_has_the_spec_s_fields() -> None:
    source = text(
        "runtimeRef: {name: ours, kind: TrainingRuntime}\nargs: [--lr=1]\nresources: {gpu: 2}"
    )
    (made,) = ptcompile.compile(source, target="trainjob").unwrap()
    assert made["spec"] == {
        "runtimeRef": {
            "apiGroup": "trainer.kubeflow.org",
            "kind": "TrainingRuntime",
            "name": "ours",
        },
        "trainer": {
            "args": ["--lr=1"],
            "resourcesPerNode": {
                "requests": {"nvidia.com/gpu": "2"},
                "limits": {"nvidia.com/gpu": "2"},
            },
        },
    }
    assert error_paths(source, "jobset") == [("spec", "runtimeRef")]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("restartPolicy: OnFailure", ("spec", "restartPolicy")),
        ("runPolicy: {backoffLimit: 3}", ("spec", "runPolicy", "backoffLimit")),
        ("hostNetwork: true", ("spec", "runtimeRef")),
    ],
)
def test_fields_that_belong_to_the_runtime_are_rejected(body: str, path: tuple[str, ...]) -> None:
    assert path in error_paths(text(f"runtimeRef: {{name: ours}}\n{body}"), "trainjob")


def test_manifest_is_merged_into_the_finished_object() -> None:
    patch = (
        "manifest: {jobset: {spec: {network: null, replicatedJobs: [{name: node, groupName: g}]}}}"
    )
    spec = manifest(smallest(patch), "jobset")["spec"]
    assert "network" not in spec
    assert (spec["replicatedJobs"][0]["groupName"], len(spec["replicatedJobs"])) == ("g", 1)
    assert warnings(smallest(patch), "job") == ["not-carried-over"]
    assert error_paths(smallest("manifest: {jobset: {spec: {replicas: 2}}}"), "jobset"), (
        "it is validated"
    )


def test_the_spec_says_how_long_nodes_wait() -> None:
    """The number stands in a text, which a changed default has to change too."""
    described = ptcompile.Elastic.model_fields["rdzv_configs"].description or ""
    assert f"timeout and join_timeout of {JOIN_TIMEOUT_SECONDS} seconds each" in described
