"""Target pytorchjob: manifests for the defaults, environment and checks of training-operator 1.9."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS
from tests import making
from tests.making import compiled, errors_of, manifest, smallest, text

WAIT = str(JOIN_TIMEOUT_SECONDS)

RANGE = "elastic: {nnodes: '2:4', nprocPerNode: 8, maxRestarts: 3}\nresources: {gpu: 8}"
VOLCANO_QUEUES = making.profile({"queueSystem": "volcano"})


def spec(body: str = "", cluster: Any = None) -> dict[str, Any]:
    inner: dict[str, Any] = manifest(smallest(body), "pytorchjob", *([cluster] if cluster else []))[
        "spec"
    ]
    return inner


def replicas(body: str) -> dict[str, Any]:
    return {key: role["replicas"] for key, role in spec(body)["pytorchReplicaSpecs"].items()}


def test_training_container_is_named_pytorch() -> None:
    """The webhook rejects a role without such a container.

    Source: docs/facts/training-operator.md#admission.
    """
    body = "nodes: 2\npodTemplate: {spec: {containers: [{name: log, image: log:1}]}}"
    for role in spec(body)["pytorchReplicaSpecs"].values():
        assert [container["name"] for container in role["template"]["spec"]["containers"]] == [
            "pytorch",
            "log",
        ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # docs/facts/training-operator.md#admission: Worker.replicas 0 is rejected, so the key is omitted
        ("", {"Master": 1}),
        ("nodes: 2", {"Master": 1, "Worker": 1}),
        ("nodes: 4", {"Master": 1, "Worker": 3}),
        ("elastic: {nnodes: '4:4'}", {"Master": 1, "Worker": 3}),
        ("master: {}\nworker: {replicas: 2}", {"Master": 1, "Worker": 2}),  # reference document 000
        ("worker: {replicas: 2}", {"Master": 1, "Worker": 2}),
        ("worker: {replicas: 0}", {"Master": 1}),  # flyte issue 5417
        # docs/facts/training-operator.md#environment: a Master would add an extra torchrun
        ("elastic: {nnodes: '2:4'}", {"Worker": 4}),
    ],
)
def test_roles_become_replica_types(body: str, expected: dict[str, int]) -> None:
    assert replicas(body) == expected


@pytest.mark.parametrize(
    ("nproc", "expected"), [("4", "4"), ("auto", "auto"), ("gpu", "gpu"), ("cpu", "cpu")]
)
def test_nproc_is_a_string_field(nproc: str, expected: str) -> None:
    """`spec.nprocPerNode` is a string, and `elasticPolicy.nProcPerNode` may not be set with it.

    Source: docs/facts/training-operator.md#fields.
    """
    job = spec(f"elastic: {{nnodes: '2:4', nprocPerNode: {nproc}}}\nresources: {{gpu: 4}}")
    assert job["nprocPerNode"] == expected
    assert "nProcPerNode" not in job["elasticPolicy"]


def test_plain_command_omits_nproc() -> None:
    job = manifest(text("image: img:1\ncommand: [python, x.py]\nnodes: 2"), "pytorchjob")["spec"]
    assert "nprocPerNode" not in job
    assert "elasticPolicy" not in job


def test_elastic_policy_sets_the_rendezvous_of_a_range() -> None:
    """The manifest that runs is the one that was reviewed.

    Source: docs/facts/flyte.md#elastic, #defects 6.
    """
    assert spec(RANGE)["elasticPolicy"] == {
        "minReplicas": 2,
        "maxReplicas": 4,
        "maxRestarts": 3,
        "rdzvBackend": "c10d",
        "rdzvId": "train",
        "rdzvConf": [
            {"key": key, "value": WAIT} for key in ("timeout", "join_timeout", "read_timeout")
        ],
    }


def test_rdzv_conf_is_never_an_empty_list() -> None:
    """`rdzvConf: []` makes the controller panic.

    Source: docs/facts/training-operator.md#environment.
    """
    assert spec(RANGE)["elasticPolicy"]["rdzvConf"]


def test_etcd_needs_a_host_and_port() -> None:
    """The etcd backends need rdzvHost.

    Source: docs/facts/training-operator.md#environment.
    """
    body = "elastic: {nnodes: '2:4', rdzvBackend: etcd, rdzvEndpoint: 'etcd.infra:2379'}"
    policy = spec(body)["elasticPolicy"]
    assert (policy["rdzvBackend"], policy["rdzvHost"], policy["rdzvPort"]) == (
        "etcd",
        "etcd.infra",
        2379,
    )


def test_fixed_number_of_nodes_has_no_elastic_policy() -> None:
    assert "elasticPolicy" not in spec("elastic: {nnodes: 4, maxRestarts: 3}")


@pytest.mark.parametrize(
    ("body", "policy"),
    [
        ("", "Never"),
        ("runPolicy: {backoffLimit: 0}", "Never"),
        # docs/facts/training-operator.md#restarts-and-the-end: the limit counts only such pods
        ("runPolicy: {backoffLimit: 3}", "OnFailure"),
        ("runPolicy: {backoffLimit: 3}\nrestartPolicy: Never", "Never"),
        ("restartPolicy: Always", "Always"),
        ("restartPolicy: ExitCode", "ExitCode"),
    ],
)
def test_restart_policy_is_always_set(body: str, policy: str) -> None:
    """The controller's default is OnFailure, although the CRD's description says Never.

    Source: docs/facts/training-operator.md#fields.
    """
    roles = spec(f"nodes: 2\n{body}")["pytorchReplicaSpecs"]
    assert {role["restartPolicy"] for role in roles.values()} == {policy}
    assert all("restartPolicy" not in role["template"]["spec"] for role in roles.values())


def test_each_role_has_its_own_settings() -> None:
    """Source: docs/facts/flyte.md#cases 3 and 12."""
    body = """
      master: {image: m:1, restartPolicy: Always, resources: {requests: {cpu: 250m}, limits: {cpu: 500m}}}
      worker: {replicas: 5, restartPolicy: OnFailure, resources: {requests: {cpu: 2}, limits: {cpu: 4}}}
    """
    master, worker = spec(body)["pytorchReplicaSpecs"].values()
    assert (master["restartPolicy"], worker["restartPolicy"], worker["replicas"]) == (
        "Always",
        "OnFailure",
        5,
    )
    first, second = (role["template"]["spec"]["containers"][0] for role in (master, worker))
    assert (first["image"], second["image"]) == ("m:1", "img:1")
    assert first["resources"] == {"requests": {"cpu": "250m"}, "limits": {"cpu": "500m"}}
    assert second["resources"] == {"requests": {"cpu": "2"}, "limits": {"cpu": "4"}}


@pytest.mark.parametrize("zero", ["ttlSecondsAfterFinished", "backoffLimit"])
def test_zeros_in_the_run_policy_are_kept(zero: str) -> None:
    """Source: docs/facts/flyte.md#defects 1."""
    assert spec(f"runPolicy: {{{zero}: 0}}")["runPolicy"] == {"cleanPodPolicy": "Running", zero: 0}


def test_a_pytorchjob_has_the_whole_run_policy() -> None:
    """Source: docs/facts/flyte.md#cases 5."""
    body = "{cleanPodPolicy: All, backoffLimit: 100, activeDeadlineSeconds: 1000, ttlSecondsAfterFinished: 10000}"
    assert spec(f"runPolicy: {body}")["runPolicy"] == {
        "cleanPodPolicy": "All",
        "ttlSecondsAfterFinished": 10000,
        "activeDeadlineSeconds": 1000,
        "backoffLimit": 100,
    }


@pytest.mark.parametrize(
    "words",
    [
        "",
        "backoffLimit: 0",
        "backoffLimit: 3",
        "suspend: true",
        "onPodFailure: FailJob",
        "ttlSecondsAfterFinished: 9",
    ],
)
@pytest.mark.parametrize("restart", ["", "restartPolicy: Never", "restartPolicy: Always"])
@pytest.mark.parametrize("clean_pod_policy", ["", "None", "All", "Running"])
def test_running_pods_are_deleted_unless_the_spec_keeps_them(
    words: str, restart: str, clean_pod_policy: str
) -> None:
    """Pods that outlive a failed job would keep their GPUs; no other field changes this."""
    if words == "onPodFailure: FailJob" and restart == "restartPolicy: Always":
        return  # these two fields contradict each other
    own = f"cleanPodPolicy: {clean_pod_policy}" if clean_pod_policy else ""
    policy = ", ".join(one for one in (words, own) if one)
    assert spec(f"runPolicy: {{{policy}}}\n{restart}")["runPolicy"]["cleanPodPolicy"] == (
        clean_pod_policy or "Running"
    )


def test_custom_port_is_the_operator_port() -> None:
    """The operator finds the port by its name.

    Source: docs/facts/training-operator.md#defaults, #environment.
    """
    (role,) = spec("masterPort: 29500")["pytorchReplicaSpecs"].values()
    (container,) = role["template"]["spec"]["containers"]
    assert container["ports"] == [{"name": "pytorchjob-port", "containerPort": 29500}]
    (role,) = spec()["pytorchReplicaSpecs"].values()
    assert "ports" not in role["template"]["spec"]["containers"][0]


def test_each_queue_system_reads_its_own_field() -> None:
    """Kueue reads a label; Volcano's PodGroup comes from the scheduling policy.

    Source: docs/facts/kueue.md#jobs-and-queues; docs/facts/training-operator.md#gangs.
    """
    labels = manifest(smallest("queue: q"), "pytorchjob")["metadata"]["labels"]
    assert labels == {"kueue.x-k8s.io/queue-name": "q"}
    policy = spec("nodes: 4\nqueue: q", VOLCANO_QUEUES)["runPolicy"]["schedulingPolicy"]
    assert policy == {"minAvailable": 4, "queue": "q"}


BUDGETS = [
    ("", 54), ("nodes: 2", 54), ("nodes: 11", 54), ("nodes: 12", 53), ("nodes: 101", 53), ("nodes: 102", 52),
    ("elastic: {nnodes: '1:10'}", 54), ("elastic: {nnodes: '1:11'}", 53),
]  # fmt: skip


@pytest.mark.parametrize(("body", "room"), BUDGETS)
def test_a_name_is_accepted_up_to_its_limit(body: str, room: int) -> None:
    """The Services `<job>-master-0` and `<job>-worker-<i>` have names of at most 63 characters.

    Source: docs/facts/training-operator.md#pods-and-services.
    """
    assert errors_of("pytorchjob", body, name="a" * room) == []
    assert errors_of("pytorchjob", body, name="a" * (room + 1)) == [
        ("name-too-long", ("metadata", "name"))
    ]


def test_name_starts_with_a_letter_on_every_kubernetes() -> None:
    """The webhook requires a DNS-1035 label.

    Source: docs/facts/training-operator.md#admission; docs/facts/flyte.md#defects 16.
    """
    assert errors_of("pytorchjob", "", name="7b-sft") == [
        ("spec-invalid-value", ("metadata", "name"))
    ]


@pytest.mark.parametrize("field", ["subdomain", "hostname"])
def test_custom_host_names_are_rejected_with_c10d(field: str) -> None:
    """The kubelet's /etc/hosts turns these names into the pod's full name, which no Service resolves.

    Three pods of three exit with 1 after 69 seconds (PyTorch 2.13, measured).
    """
    body = f"podTemplate: {{spec: {{{field}: other}}}}"
    (problem,) = compiled(
        smallest("elastic: {nnodes: '2:3'}\nrunPolicy: {backoffLimit: 9}\n" + body), "pytorchjob"
    ).problems
    assert (problem.name, problem.path) == (
        "unsupported-by-target",
        ("spec", "podTemplate", "spec", field),
    )
    assert (
        compiled(smallest("nodes: 3\n" + body), "pytorchjob").problems == ()
    )  # a static rendezvous uses neither
