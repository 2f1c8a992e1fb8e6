"""Target trainjob: the job's own runtime, torchrun's environment, and how a job ends."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver import validate
from ptcompile.diagnostics import Problem
from ptcompile.operators.trainer.patches import to_current_fields
from tests import making
from tests.making import compiled, errors_of, smallest
from tests.operators.trainer.trainjobs import (
    GPU,
    IN_PLACE,
    RANGE,
    RELEASES,
    both,
    child,
    jobset_of,
    main,
    pods,
    release,
    seen,
    train_job,
)

# ---- the runtime and the TrainJob


def test_own_runtime_precedes_the_trainjob() -> None:
    """The runtime must exist before the TrainJob.

    Source: docs/facts/pytorchjob-to-trainjob.md#field-by-field.
    """
    runtime, job = both("nodes: 2")
    assert (runtime["kind"], job["kind"]) == ("TrainingRuntime", "TrainJob")
    assert (
        runtime["metadata"]["name"] == job["metadata"]["name"] == job["spec"]["runtimeRef"]["name"]
    )
    source = smallest("nodes: 2").replace("{name: train}", "{name: train, namespace: research}")
    assert {
        manifest["metadata"]["namespace"] for manifest in compiled(source, "trainjob").manifests
    } == {"research"}


def test_a_runtime_has_the_names_that_trainer_requires() -> None:
    """Trainer finds the label, the replicatedJob and the container by fixed names.

    Source: docs/facts/trainer.md#runtimes, #environment.
    """
    (job,) = jobset_of("nodes: 2")["replicatedJobs"]
    assert job["name"] == "node"
    assert job["template"]["metadata"]["labels"] == {
        "trainer.kubeflow.org/trainjob-ancestor-step": "trainer"
    }
    assert main("nodes: 2")["name"] == "node"
    runtime = both("nodes: 2")[0]
    assert runtime["metadata"]["labels"] == {"trainer.kubeflow.org/framework": "torch"}
    assert runtime["spec"]["mlPolicy"] == {"torch": {}}  # 2.2 removed numProcPerNode from it


def test_trainer_1_is_rejected() -> None:
    assert errors_of("trainjob", "nodes: 2", release("1.9")) == [
        ("unsupported-by-target", ("spec",))
    ]
    assert compiled(smallest("nodes: 2"), "trainjob", release("3.1")).manifests


@pytest.mark.parametrize("body", ["", IN_PLACE, "nodes: 4", "podTemplate: {spec: {hostIPC: true}}"])
def test_trainer_is_always_set(body: str) -> None:
    """Without `trainer`, no PET_* variable reaches the pods.

    Source: docs/facts/trainer.md#environment, issue 4076.
    """
    assert train_job(body)["spec"]["trainer"]["numNodes"] >= 1


# ---- torchrun's environment


@pytest.mark.parametrize("body", ["nodes: 3", f"nodes: 3\n{IN_PLACE}"])
@pytest.mark.parametrize("trainer", RELEASES)
def test_operator_variables_replace_the_arguments(body: str, trainer: str) -> None:
    """Source: docs/facts/trainer.md#environment."""
    cluster = release(trainer)
    views = pods(body, cluster)
    assert [seen(pod)["PET_NODE_RANK"] for pod in views] == ["0", "1", "2"]
    env = seen(views[1])
    assert (env["PET_NNODES"], env["PET_NPROC_PER_NODE"]) == ("3", "1")
    assert (env["PET_MASTER_ADDR"], env["PET_MASTER_PORT"]) == ("train-node-0-0.train", "29500")
    assert views[0].dns == "train-node-0-0.train.default.svc.cluster.local"
    command = next(c for c in views[0].containers if c.name == "node").command
    assert not [
        word for word in command or () if word.startswith(("--nnodes", "--n", "--master", "--node"))
    ]


@pytest.mark.parametrize(
    ("port", "argument"), [(23456, None), (29500, None), (29400, "--master-port=29400")]
)
def test_custom_port_is_an_argument(port: int, argument: str | None) -> None:
    """The operator's port is fixed, but an argument overrides PET_MASTER_PORT.

    Source: docs/facts/trainer.md#environment.
    """
    words = [word for word in main(f"nodes: 2\nmasterPort: {port}")["command"] if "port" in word]
    assert words == ([argument] if argument else [])


def test_a_single_node_is_standalone() -> None:
    command = main("elastic: {nprocPerNode: 4}")["command"]
    assert "--standalone" in command
    assert not [word for word in command if word.startswith("--nproc")]
    assert train_job("elastic: {nprocPerNode: 4}")["spec"]["trainer"]["numProcPerNode"] == 4


@pytest.mark.parametrize(
    ("devices", "resolved"),
    [
        ("nvidia.com/mig-1g.5gb: 2", 2),
        ("google.com/tpu: 4", 4),
        ("habana.ai/gaudi: 8", 8),
        ("aws.amazon.com/neuron: 16", 16),
        ("nvidia.com/gpu: 8", None),
        ("amd.com/gpu: 8", None),
        ("gpu.intel.com/i915: 1", None),
        ("rdma/hca: 1", None),
    ],
)
def test_auto_is_resolved_if_the_resource_name_has_no_gpu(
    devices: str, resolved: int | None
) -> None:
    """Trainer would start one process per CPU.

    Source: docs/facts/trainer.md#number-of-processes.
    """
    body = f"resources: {{cpu: 32, devices: {{{devices}}}}}\nnodes: 2\n"
    launched, plain = (
        f"{body}elastic: {{nprocPerNode: auto}}",
        f"{body}script: null\ncommand: [torchrun, t.py]",
    )
    assert train_job(launched)["spec"]["trainer"].get("numProcPerNode") == resolved
    assert ("--nproc-per-node=auto" in main(launched)["command"]) is (resolved is None)
    assert train_job(plain)["spec"]["trainer"].get("numProcPerNode") == resolved
    if resolved is not None:
        assert {seen(pod)["PET_NPROC_PER_NODE"] for pod in pods(launched)} == {str(resolved)}


@pytest.mark.parametrize("word", ["cpu", "gpu"])
@pytest.mark.parametrize("trainer", RELEASES)
def test_nproc_keywords_of_torchrun_stay_arguments(word: str, trainer: str) -> None:
    """Since 2.2 numProcPerNode is a number; an argument overrides PET_NPROC_PER_NODE.

    Source: docs/facts/trainer.md#what-releases-changed.
    """
    body = f"elastic: {{nnodes: 2, nprocPerNode: {word}}}"
    assert f"--nproc-per-node={word}" in main(body, release(trainer))["command"]
    assert "numProcPerNode" not in train_job(body, release(trainer))["spec"]["trainer"]


def test_range_uses_c10d_and_ends_with_node_0() -> None:
    """The operator does not support ranges, but the arguments override PET_NNODES.

    Source: docs/facts/pytorchjob-to-trainjob.md#field-by-field.
    """
    command = main(RANGE)["command"]
    assert {
        "--nnodes=2:4",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=train-node-0-0.train:23456",
    } <= set(command)
    assert child(RANGE)["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    assert len(pods(RANGE)) == 4
    assert errors_of("trainjob", RANGE, making.profile({"versions": {"kubernetes": "1.32"}})) == [
        ("unsupported-by-target", ("spec", "elastic", "nnodes"))
    ]


@pytest.mark.parametrize("extra", ["", IN_PLACE])
def test_plain_command_gets_the_four_torch_variables(extra: str) -> None:
    """Trainer injects none of these variables (issue 3492).

    Source: docs/facts/trainer.md#environment.
    """
    env = [
        seen(pod)
        for pod in pods(f"script: null\ncommand: [run]\nnodes: 3\nmasterPort: 29400\n{extra}")
    ]
    assert [variable["RANK"] for variable in env] == ["0", "1", "2"]
    assert {
        (variable["MASTER_ADDR"], variable["MASTER_PORT"], variable["WORLD_SIZE"])
        for variable in env
    } == {("train-node-0-0.train", "29400", "3")}


@pytest.mark.parametrize(
    "name", ["NNODES", "NPROC_PER_NODE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT"]
)
def test_reserved_variables_are_errors(name: str) -> None:
    """All other PET_* variables are free for the user.

    Source: docs/facts/trainer.md#admission, #cases 46.
    """
    assert errors_of("trainjob", f"env: {{PET_{name}: '1'}}") == [
        ("unsupported-by-target", ("spec", "env", f"PET_{name}"))
    ]
    assert errors_of("trainjob", "env: {PET_RDZV_CONF: a=b, WORLD_SIZE: '1'}") == []


# ---- how it ends


@pytest.mark.parametrize("trainer", RELEASES)
def test_the_deadline_is_a_field_since_2_2(trainer: str) -> None:
    """The deadline is a field of the TrainJob since 2.2; before, it belongs to the runtime's Job.

    Source: docs/facts/trainer.md#what-releases-changed.
    """
    body = "runPolicy: {activeDeadlineSeconds: 60, backoffLimit: 2}"
    runtime, job = both(body, release(trainer))
    field = job["spec"].get("activeDeadlineSeconds")
    jobset = runtime["spec"]["template"]["spec"]
    job_deadline = jobset["replicatedJobs"][0]["template"]["spec"].get("activeDeadlineSeconds")
    assert (field, job_deadline) == ((60, None) if trainer >= "2.2" else (None, 60))
    assert ("rules" in jobset["failurePolicy"]) is (trainer < "2.2")
    in_place = both(f"{IN_PLACE}\nrunPolicy: {{activeDeadlineSeconds: 60}}", release(trainer))
    assert len(in_place) == (1 if trainer >= "2.2" else 2)


def test_retries_are_set_in_the_runtime() -> None:
    assert jobset_of("runPolicy: {backoffLimit: 3}")["failurePolicy"] == {"maxRestarts": 3}
    assert "failurePolicy" not in jobset_of("runPolicy: {backoffLimit: 0}")
    assert child("runPolicy: {backoffLimit: 3}")["backoffLimit"] == 0
    assert child(f"{IN_PLACE}\nrunPolicy: {{backoffLimit: 3}}")["backoffLimit"] == 3
    assert child()["template"]["spec"]["restartPolicy"] == "Never"


def test_a_suspended_job_says_so() -> None:
    assert train_job("runPolicy: {suspend: true}")["spec"]["suspend"] is True
    assert "suspend" not in train_job()["spec"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (
            "runPolicy: {ttlSecondsAfterFinished: 0}",
            ("spec", "runPolicy", "ttlSecondsAfterFinished"),
        ),  # issue 3779
        ("runPolicy: {cleanPodPolicy: All}", ("spec", "runPolicy", "cleanPodPolicy")),
        ("restartPolicy: Always", ("spec", "restartPolicy")),
        ("restartPolicy: ExitCode", ("spec", "restartPolicy")),
        # docs/facts/pytorchjob-to-trainjob.md#field-by-field: one template
        ("master: {image: other}\nworker: {replicas: 2}", ("spec", "worker")),
        # docs/facts/trainer.md#environment
        ("podTemplate: {spec: {subdomain: s}}", ("spec", "podTemplate", "spec", "subdomain")),
    ],
)
def test_unsupported_fields_are_rejected(body: str, path: tuple[Any, ...]) -> None:
    problems = compiled(smallest(body), "trainjob").problems
    assert [(p.name, p.path) for p in problems] == [("unsupported-by-target", path)]
    assert problems[0].help


def test_equal_roles_become_nodes() -> None:
    assert len(pods("master: {}\nworker: {replicas: 3}")) == 4


# ---- queues and names


def test_kueue_queue_is_a_label_of_the_trainjob() -> None:
    """Source: docs/facts/kueue.md#jobs-and-queues."""
    runtime, job = both("queue: team-a")
    assert job["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "team-a"}
    assert "kueue.x-k8s.io/queue-name" not in runtime["metadata"]["labels"]


def test_volcano_queue_is_set_in_the_runtime() -> None:
    """The queue needs podGroupPolicy, the template's annotation and Volcano's scheduler, which nothing else sets.

    Source: docs/facts/trainer.md#gangs.
    """
    cluster = release("2.3", queueSystem="volcano")
    runtime, job = both(f"queue: team-a\n{IN_PLACE}", cluster)
    assert runtime["spec"]["podGroupPolicy"] == {"volcano": {}}
    template = runtime["spec"]["template"]
    assert template["metadata"]["annotations"] == {"scheduling.volcano.sh/queue-name": "team-a"}
    assert child("queue: team-a", cluster)["template"]["spec"]["schedulerName"] == "volcano"
    assert "labels" not in job["metadata"]


def test_the_scheduler_of_the_user_is_kept_with_a_volcano_queue() -> None:
    cluster = release("2.3", queueSystem="volcano")
    template = child("queue: team-a\nschedulerName: mine", cluster)["template"]
    assert template["spec"]["schedulerName"] == "mine"


def test_a_volcano_queue_needs_trainer_2_1() -> None:
    """Source: docs/facts/trainer.md#gangs."""
    assert errors_of("trainjob", "queue: q", release("2.0", queueSystem="volcano")) == [
        ("unsupported-by-target", ("spec", "queue"))
    ]


@pytest.mark.parametrize(("nodes", "room"), [(1, 48), (10, 48), (11, 47), (100, 47), (101, 46)])
def test_a_name_is_accepted_up_to_its_limit(nodes: int, room: int) -> None:
    """The limit is 49 - digits(N-1); the name is a DNS-1035 label.

    Source: docs/facts/trainer.md#what-is-built.
    """
    assert not errors_of("trainjob", f"nodes: {nodes}", name="a" * room)
    assert errors_of("trainjob", f"nodes: {nodes}", name="a" * (room + 1)) == [
        ("name-too-long", ("metadata", "name"))
    ]
    assert errors_of("trainjob", "", name="7b") == [("spec-invalid-value", ("metadata", "name"))]


# ---- no findings in emitted manifests (CONTRIBUTING.md#laws 1), paths, size

BODIES = (
    "", IN_PLACE, f"nodes: 4\n{GPU}", f"nodes: 4\n{GPU}\n{IN_PLACE}", RANGE, f"{IN_PLACE}\nnodeSelector: {{a: b}}",
    "runPolicy: {activeDeadlineSeconds: 9, backoffLimit: 2, suspend: true}", "script: null\ncommand: [run]\nnodes: 2",
)  # fmt: skip


@pytest.mark.parametrize("trainer", RELEASES)
@pytest.mark.parametrize("body", BODIES)
def test_emitted_manifests_have_no_findings_in_each_release(body: str, trainer: str) -> None:
    cluster = release(trainer)
    versions = cluster.versions()
    manifests = [to_current_fields(emitted, versions.trainer) for emitted in both(body, cluster)]
    for manifest in manifests:
        problems: list[Problem] = validate(manifest, versions=versions, others=manifests)
        assert not problems


@pytest.mark.parametrize("extra", ["", f"\n{IN_PLACE}"])
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("nodeSelector: {'a b': x}", ("spec", "nodeSelector", "a b")),
        ("volumes: [{name: Data, emptyDir: {}}]", ("spec", "volumes", 0)),
        ("env: {A: {fieldRef: {fieldPath: metadata.nam}}}", ("spec", "env", "A")),
        (
            "podTemplate: {spec: {containers: [{name: pytorch, env: [{name: A, valueFrom: {fieldRef: {fieldPath: x}}}]}]}}",  # noqa: E501
            ("spec", "podTemplate", "spec", "containers", 0),
        ),
    ],
)
def test_rejection_points_at_the_spec_line(body: str, path: tuple[Any, ...], extra: str) -> None:
    places = [place[: len(path)] for _, place in errors_of("trainjob", body + extra)]
    assert places == [path]


@pytest.mark.parametrize("extra", ["", f"\n{IN_PLACE}"])
def test_thousand_nodes_take_a_few_kilobytes(extra: str) -> None:
    """TorchX writes 1.4 MB for such a job.

    Source: docs/facts/torchx.md#runs.
    """
    result = ptcompile.compile(smallest(f"nodes: 1024{extra}"), target="trainjob")
    assert result.ok
    assert len(result.yaml()) < 4000


@pytest.mark.parametrize("nodes", ["", "nodes: 2\n"])
@pytest.mark.parametrize("command", ["", "command: [python, train.py]\n"])
@pytest.mark.parametrize("version", ["2.0", "2.2", "2.3"])
def test_command_of_a_runtime_gets_no_reserved_variables(
    nodes: str, command: str, version: str
) -> None:
    """The webhook rejects PET_NNODES, PET_NPROC_PER_NODE, PET_NODE_RANK, PET_MASTER_ADDR and PET_MASTER_PORT."""
    body = f"{nodes}{command}runtimeRef: {{name: ours}}\nelastic: {{nprocPerNode: 8}}\n"
    result = compiled(
        making.text(body), "trainjob", making.profile({"versions": {"trainer": version}})
    )
    (job,) = result.manifests
    assert result.problems == ()
    assert job["spec"]["trainer"]["numProcPerNode"] == 8
    assert "env" not in job["spec"]["trainer"]


@pytest.mark.parametrize("processes", ["auto", "cpu"])
def test_command_of_a_runtime_needs_a_number_of_processes(processes: str) -> None:
    body = f"runtimeRef: {{name: ours}}\nelastic: {{nprocPerNode: {processes}}}\n"
    (problem,) = compiled(making.text(body), "trainjob").problems
    assert (problem.name, problem.path) == (
        "unsupported-by-target",
        ("spec", "elastic", "nprocPerNode"),
    )
