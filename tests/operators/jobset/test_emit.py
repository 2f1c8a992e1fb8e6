"""Target jobset: one replicatedJob of equal nodes or one per role, and the ranks in each."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.apiserver import validate
from ptcompile.kinds.pods import Expansion
from ptcompile.operators.table import expand
from ptcompile.simulator.kubelet import environment, expand_vars
from ptcompile.spec.cluster_profile import ClusterProfile
from tests import making
from tests.making import DEFAULT_CLUSTER, errors_of, manifest, smallest, text

ROLES = "master: {}\nworker: {replicas: 3}"
RANGE = "elastic: {nnodes: '2:4', nprocPerNode: 2}"
VOLCANO_QUEUES = making.profile({"queueSystem": "volcano"})


def spec_of(
    body: str = "", cluster: ClusterProfile = DEFAULT_CLUSTER, name: str = "train"
) -> dict[str, Any]:
    spec: dict[str, Any] = manifest(smallest(body, name), "jobset", cluster)["spec"]
    return spec


def child(body: str = "", role: int = 0) -> dict[str, Any]:
    """Return the Job spec of a replicatedJob."""
    job: dict[str, Any] = spec_of(body)["replicatedJobs"][role]["template"]["spec"]
    return job


def ranks(body: str, word: str) -> dict[str, str]:
    """Return the expansion of `word` in each pod, keyed by host name."""
    made: Expansion = expand(manifest(text(body), "jobset"))
    out = {}
    for pod in made.pods:
        env = environment(pod.containers[0], pod)
        out[pod.hostname or ""] = expand_vars(word, env)
    return out


def test_equal_nodes_become_one_indexed_job() -> None:
    """The API server sets parallelism to 1 by default.

    Source: docs/facts/jobset.md#pods; docs/facts/kubernetes.md#indexed-jobs.
    """
    (job,) = spec_of("nodes: 4")["replicatedJobs"]
    assert (job["name"], job["replicas"]) == ("node", 1)
    spec = job["template"]["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 4, 4)


def test_the_completion_index_is_the_rank_and_node_0_has_a_name() -> None:
    """The DNS name of node 0 is `<js>-<rj>-0-0.<js>`.

    Source: docs/facts/jobset.md#pods; docs/facts/pytorchjob-to-trainjob.md#field-by-field.
    """
    command = child("nodes: 4")["template"]["spec"]["containers"][0]["command"]
    assert "--node-rank=$(JOB_COMPLETION_INDEX)" in command
    assert "--master-addr=train-node-0-0.train" in command
    spec = "image: img:1\nscript: train.py\nnodes: 4"
    assert ranks(spec, "$(JOB_COMPLETION_INDEX)") == {f"train-node-0-{i}": str(i) for i in range(4)}


def test_roles_become_replicated_jobs() -> None:
    """Completion indexes start at 0 in each child Job, but job-global-index continues across them.

    Source: docs/facts/jobset.md#pods.
    """
    master, worker = spec_of(ROLES)["replicatedJobs"]
    assert [(one["name"], one["replicas"]) for one in (master, worker)] == [
        ("master", 1),
        ("worker", 3),
    ]
    for replicated_job in (master, worker):
        assert (
            replicated_job["template"]["spec"]["completions"],
            replicated_job["template"]["spec"]["parallelism"],
        ) == (
            1,
            1,
        )


def test_ranks_continue_from_the_master() -> None:
    """job-global-index continues across the replicatedJobs in their order.

    Source: docs/facts/jobset.md#cases 71.
    """
    expected = {"train-master-0-0": "0", **{f"train-worker-{i}-0": str(i + 1) for i in range(3)}}
    assert ranks(f"image: img:1\nscript: train.py\n{ROLES}", "$(RANK)") == expected
    assert ranks(f"image: img:1\ncommand: [run]\n{ROLES}", "$(RANK)") == expected
    command = child(ROLES, 1)["template"]["spec"]["containers"][0]["command"]
    assert "--node-rank=$(RANK)" in command
    assert "--master-addr=train-master-0-0.train" in command


def test_c10d_needs_no_rank() -> None:
    main = child(f"elastic: {{maxRestarts: 2}}\n{ROLES}")["template"]["spec"]["containers"][0]
    assert "--rdzv-endpoint=train-master-0-0.train:23456" in main["command"]
    assert "RANK" not in {entry["name"] for entry in main.get("env", [])}


def test_master_without_workers_is_a_node() -> None:
    (job,) = spec_of("master: {}")["replicatedJobs"]
    assert (job["name"], job["template"]["spec"]["completions"]) == ("node", 1)


def test_user_set_rank_is_rejected_if_torchrun_reads_it() -> None:
    assert errors_of("jobset", f"env: {{RANK: '0'}}\n{ROLES}") == [
        ("unsupported-by-target", ("spec", "env", "RANK"))
    ]
    assert errors_of("jobset", "env: {RANK: '0'}\nnodes: 4") == []


@pytest.mark.parametrize(
    "value", ["env: {JOB_COMPLETION_INDEX: '1'}", "podTemplate: {spec: {hostname: h}}"]
)
def test_variables_set_by_the_jobs_are_reserved(value: str) -> None:
    assert errors_of("jobset", f"nodes: 2\n{value}")


def test_names_resolve_before_pods_are_ready() -> None:
    spec = spec_of("nodes: 2")
    assert spec["network"] == {"enableDNSHostnames": True, "publishNotReadyAddresses": True}
    made = expand(manifest(smallest("nodes: 2"), "jobset"))
    assert [service["metadata"]["name"] for service in made.services] == ["train"]


def test_a_single_node_is_standalone() -> None:
    command = child()["template"]["spec"]["containers"][0]["command"]
    assert "--standalone" in command


@pytest.mark.parametrize(
    ("body", "job", "jobset"),
    [
        ("", {"backoffLimit": 0}, None),
        ("runPolicy: {backoffLimit: 0}", {"backoffLimit": 0}, None),
        ("runPolicy: {backoffLimit: 3}", {"backoffLimit": 0}, {"maxRestarts": 3}),
        ("restartPolicy: OnFailure", {"backoffLimit": 6}, None),
        ("restartPolicy: OnFailure\nrunPolicy: {backoffLimit: 3}", {"backoffLimit": 3}, None),
        ("restartPolicy: OnFailure\nrunPolicy: {backoffLimit: 0}", {"backoffLimit": 0}, None),
    ],
)
def test_retries_recreate_all_jobs(
    body: str, job: dict[str, Any], jobset: dict[str, Any] | None
) -> None:
    """A retry recreates all Jobs, so the child backoffLimit is 0.

    Source: docs/facts/jobset.md#failure-and-success.
    """
    spec = spec_of(body)
    own = spec["replicatedJobs"][0]["template"]["spec"]
    assert {key: own[key] for key in ("backoffLimit",) if key in own} == job
    assert spec.get("failurePolicy") == jobset
    assert own["template"]["spec"]["restartPolicy"] == (
        "OnFailure" if "OnFailure" in body else "Never"
    )


def test_deadline_is_not_retried() -> None:
    """The deadline fails the child Job, which maxRestarts would retry, so a rule selects the failure by its reason.

    Source: docs/facts/jobset.md#fields, #admission.
    """
    spec = spec_of("runPolicy: {activeDeadlineSeconds: 60, backoffLimit: 2}")
    assert spec["replicatedJobs"][0]["template"]["spec"]["activeDeadlineSeconds"] == 60
    (rule,) = spec["failurePolicy"]["rules"]
    assert (rule["action"], rule["onJobFailureReasons"]) == ("FailJobSet", ["DeadlineExceeded"])
    assert "failurePolicy" not in spec_of("runPolicy: {activeDeadlineSeconds: 60}")


def test_zeros_of_the_run_policy_are_kept() -> None:
    """Source: docs/facts/flyte.md#defects 1."""
    spec = spec_of(
        "runPolicy: {ttlSecondsAfterFinished: 0, suspend: true, cleanPodPolicy: Running}"
    )
    assert spec["ttlSecondsAfterFinished"] == 0
    assert spec["suspend"] is True
    assert not {"ttlSecondsAfterFinished", "suspend", "failurePolicy"} & spec_of().keys()


@pytest.mark.parametrize(
    "body", ["runPolicy: {cleanPodPolicy: All}", "restartPolicy: Always", "restartPolicy: ExitCode"]
)
def test_unsupported_fields_are_rejected(body: str) -> None:
    assert [name for name, _ in errors_of("jobset", body)] == ["unsupported-by-target"]


def test_elastic_job_ends_with_node_0() -> None:
    job = child(RANGE)
    assert job["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    assert job["parallelism"] == 4
    assert "--nnodes=2:4" in job["template"]["spec"]["containers"][0]["command"]
    assert not {"successPolicy", "podFailurePolicy"} & child("nodes: 4").keys()


def test_elastic_job_survives_a_lost_node() -> None:
    """podFailurePolicy requires pods that are never restarted in place.

    Source: docs/facts/api-server.md#jobs.
    """
    (rule,) = child(RANGE)["podFailurePolicy"]["rules"]
    assert rule == {
        "action": "Ignore",
        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
    }
    assert "podFailurePolicy" not in child(f"{RANGE}\nrestartPolicy: OnFailure")


def test_range_of_nodes_needs_kubernetes_1_33() -> None:
    assert errors_of("jobset", RANGE, making.profile({"versions": {"kubernetes": "1.32"}})) == [
        ("unsupported-by-target", ("spec", "elastic", "nnodes"))
    ]


def test_kueue_queue_is_a_label_of_the_jobset() -> None:
    """Source: docs/facts/kueue.md#jobs-and-queues."""
    made = manifest(smallest("queue: team-a"), "jobset")
    assert made["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "team-a"}
    assert "labels" not in manifest(smallest("queue: team-a"), "jobset", VOLCANO_QUEUES)["metadata"]


@pytest.mark.parametrize(
    ("body", "room"), [("nodes: 2", 48), ("nodes: 100", 47), (ROLES, 46), ("", 48)]
)
def test_a_name_is_accepted_up_to_its_limit(body: str, room: int) -> None:
    """The limit is len(js) + len(rj) + digits(r-1) + digits(c-1) <= 54; names are DNS-1035 labels.

    Source: docs/facts/jobset.md#admission.
    """
    assert not errors_of("jobset", body, name="a" * room)
    assert errors_of("jobset", body, name="a" * (room + 1)) == [
        ("name-too-long", ("metadata", "name"))
    ]
    assert errors_of("jobset", "nodes: 2", name="7b") == [
        ("spec-invalid-value", ("metadata", "name"))
    ]


@pytest.mark.parametrize(
    "body", ["", "nodes: 4", ROLES, RANGE, "runPolicy: {backoffLimit: 2, activeDeadlineSeconds: 9}"]
)
@pytest.mark.parametrize("version", ["0.8", "0.12"])
def test_emitted_manifests_have_no_findings(body: str, version: str) -> None:
    cluster = making.profile({"versions": {"jobset": version}})
    made = manifest(smallest(body), "jobset", cluster)
    assert validate(made, versions=cluster.versions()) == []


def test_rejection_points_at_the_role() -> None:
    """The pod template is nested in two others, and the replicatedJob is named after the role."""
    body = "master: {podLabels: {app: 'a b'}}\nworker: {replicas: 2, nodeSelector: {'a b': x}}"
    assert {path for _, path in errors_of("jobset", body)} == {
        ("spec", "master", "podLabels", "app"),
        ("spec", "worker", "nodeSelector", "a b"),
    }


@pytest.mark.parametrize("body", ["nodes: 1024", "worker: {replicas: 1023}"])
def test_thousand_nodes_take_a_few_kilobytes(body: str) -> None:
    """TorchX writes 1.4 MB for such a job.

    Source: docs/facts/torchx.md#runs.
    """
    import ptcompile

    assert len(ptcompile.compile(smallest(body), target="jobset").yaml()) < 4000


@pytest.mark.parametrize(
    ("nodes", "host"), [(1, "localhost"), (2, "train-node-0-0.train"), (9, "train-node-0-0.train")]
)
def test_a_plain_program_gets_host_and_world_size_as_variables(nodes: int, host: str) -> None:
    """A single pod has no name in a Service to wait for."""
    spec = manifest(
        text(f"image: i\ncommand: [python, t.py]\nnodes: {nodes}"), "jobset", DEFAULT_CLUSTER
    )["spec"]
    (container,) = spec["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"]
    env = {entry["name"]: entry.get("value") for entry in container["env"]}
    assert (env["MASTER_ADDR"], env["WORLD_SIZE"]) == (host, str(nodes))
