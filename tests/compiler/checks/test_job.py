"""Contradictions and invalid values in a well-formed spec: each is one finding at its line, with a help."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.diagnostics import field_path
from ptcompile.spec.cluster_profile import ClusterProfile
from tests import making
from tests.compiler.checks import findings
from tests.making import compiled, smallest, text

Found = list[tuple[str, tuple[Any, ...]]]
NPROC = ("spec", "elastic", "nprocPerNode")
RICH = making.profile(
    {
        "accelerators": {"nvidia-a100": {"nodeLabels": {"gpu": "a100"}}},
        "defaults": {"limits": {"memory": "4Gi"}},
    }
)


def names_and_paths(
    source: str, target: str | None = None, cluster: ClusterProfile | None = None
) -> Found:
    args = [cluster] if cluster else []
    problems = compiled(source, target, *args).problems
    for problem in problems:
        assert problem.message.startswith(field_path(problem.path) + ": "), problem
    return [(problem.name, problem.path) for problem in problems]


CONFLICTS = [
    ("module: pkg.train", ("spec", "module")),
    ("command: [python]", ("spec", "command")),
    ("nodes: 2\nelastic: {nnodes: 2}", ("spec", "elastic", "nnodes")),
    ("nodes: 2\nmaster: {}", ("spec", "master")),
    ("nodes: 2\nworker: {replicas: 1}", ("spec", "worker")),
    ("elastic: {nnodes: '2:4'}\nworker: {replicas: 1}", ("spec", "worker")),
    ("elastic: {nnodes: '2:4', rdzvBackend: static}", ("spec", "elastic", "rdzvBackend")),
    ("nodes: 2\nelastic: {rdzvBackend: etcd}", ("spec", "elastic", "rdzvBackend")),
    ("nodes: 2\nelastic: {rdzvEndpoint: 'e:1'}", ("spec", "elastic", "rdzvEndpoint")),
    (
        "nodes: 2\nelastic: {rdzvBackend: c10d, rdzvEndpoint: 'e:1'}",
        ("spec", "elastic", "rdzvEndpoint"),
    ),
    ("resources: {gpu: 8, devices: {nvidia.com/gpu: 4}}", ("spec", "resources")),
]


@pytest.mark.parametrize(("body", "path"), CONFLICTS)
def test_two_fields_with_one_meaning_conflict(body: str, path: tuple[str, ...]) -> None:
    problems = compiled(smallest(body)).problems
    assert [problem.name for problem in problems] == ["spec-conflict"]
    assert problems[0].path[: len(path)] == path
    assert problems[0].help


def test_elastic_needs_a_script_module_or_command() -> None:
    assert names_and_paths(text("image: i\nelastic: {}")) == [
        ("spec-conflict", ("spec", "elastic"))
    ]
    assert (
        names_and_paths(text("image: i\ncommand: [sh, -c, torchrun train.py]\nelastic: {}")) == []
    )


INVALID = [
    (
        "nodes: 2\nelastic: {rdzvBackend: etcd, rdzvEndpoint: etcd}",
        ("spec", "elastic", "rdzvEndpoint"),
    ),
    (
        "nodes: 2\nelastic: {rdzvBackend: etcd, rdzvEndpoint: 'etcd:'}",
        ("spec", "elastic", "rdzvEndpoint"),
    ),
    (
        "nodes: 2\nelastic: {rdzvBackend: etcd, rdzvEndpoint: '2379'}",
        ("spec", "elastic", "rdzvEndpoint"),
    ),
    (
        "nodes: 2\nelastic: {rdzvBackend: etcd, rdzvEndpoint: ':2379'}",
        ("spec", "elastic", "rdzvEndpoint"),
    ),
    (
        "nodes: 2\nelastic: {rdzvBackend: etcd, rdzvEndpoint: 'etcd:²'}",
        ("spec", "elastic", "rdzvEndpoint"),
    ),
    (
        "nodes: 2\nelastic: {rdzvBackend: etcd, rdzvEndpoint: 'etcd:99999'}",
        ("spec", "elastic", "rdzvEndpoint"),
    ),
    # docs/facts/torchrun.md#options-and-variables: torchrun splits --rdzv-conf at commas and '='
    ("elastic: {rdzvConfigs: {a: '1,b=2'}}", ("spec", "elastic", "rdzvConfigs", "a")),
    ("elastic: {rdzvConfigs: {'a=b': 1}}", ("spec", "elastic", "rdzvConfigs", "a=b")),
    ("master: {replicas: 2}", ("spec", "master", "replicas")),
    ("master: {replicas: 0}", ("spec", "master", "replicas")),
    ("accelerator: a100", ("spec", "accelerator")),
    ("env: {A: {}}", ("spec", "env", "A")),
    (
        "env: {A: {secretKeyRef: {name: s, key: k}, fieldRef: {fieldPath: metadata.name}}}",
        ("spec", "env", "A"),
    ),
    ("resources: {gpu: 0.5}", ("spec", "resources", "gpu")),
    ("resources: {gpu: 500m}", ("spec", "resources", "gpu")),
    ("resources: {limits: {gpu: 1500m}}", ("spec", "resources", "limits", "gpu")),
    ("resources: {devices: {a.b/c: 0.5}}", ("spec", "resources", "devices", "a.b/c")),
    (
        "resources: {requests: {gpu: 0.5}, limits: {gpu: 1}}",
        ("spec", "resources", "requests", "gpu"),
    ),
]


@pytest.mark.parametrize(("body", "path"), INVALID)
def test_an_invalid_value_is_an_error(body: str, path: tuple[str, ...]) -> None:
    assert names_and_paths(smallest(body)) == [("spec-invalid-value", path)]


@pytest.mark.parametrize(
    "name", ["Train", "a.b", "a_b", "-a", "a-", "", "é", "A" * 64, "a" * 300, "a b"]
)
def test_a_name_is_a_dns_label(name: str) -> None:
    """An invalid name is an error: names are never altered silently."""
    source = smallest().replace("{name: train}", f"{{name: '{name}'}}")
    assert names_and_paths(source) == [("spec-invalid-value", ("metadata", "name"))]


@pytest.mark.parametrize(
    ("target", "longest"), [("pod", 63), ("job", 61), ("pytorchjob", 54), ("jobset", 48)]
)
def test_the_help_for_a_long_name_has_the_target_s_limit(target: str, longest: int) -> None:
    source = smallest(name="a" * 64)
    (problem,) = compiled(source, target).problems
    assert (problem.name, problem.path) == ("name-too-long", ("metadata", "name"))
    assert problem.help is not None
    assert problem.help.startswith(f"use at most {longest} characters")


def test_a_long_name_is_reported_with_other_errors() -> None:
    assert names_and_paths(smallest("nods: 2", name="a" * 64), "pod") == [
        ("spec-unknown-field", ("spec", "nods"))
    ]
    source = smallest("resources: {cpu: 2, requests: {cpu: 4}}", name="a" * 64)
    assert names_and_paths(source)[0] == ("spec-invalid-value", ("metadata", "name"))


@pytest.mark.parametrize("name", ["my-train", "7b", "a", "a" * 63])
def test_valid_names_are_unchanged(name: str) -> None:
    (pod,) = compiled(smallest().replace("{name: train}", f"{{name: '{name}'}}")).manifests
    assert pod["metadata"]["name"] == name


AMOUNTS = [
    ("{cpu: 4, requests: {cpu: 8}}", "request-above-limit", ("requests", "cpu")),
    ("{requests: {memory: 8Gi}, limits: {memory: 8G}}", "request-above-limit", ("requests", "memory")),
    ("{memory: 8Gi, limits: {memory: 4Gi}}", "request-above-limit", ("memory",)),
    ("{requests: {ephemeralStorage: 2Gi}, limits: {ephemeralStorage: 1Gi}}", "request-above-limit",
     ("requests", "ephemeralStorage")),
    ("{requests: {gpu: 1}, limits: {gpu: 2}}", "gpu-request-differs-from-limit", ("requests", "gpu")),
    ("{requests: {gpu: 2}, limits: {gpu: 1}}", "gpu-request-differs-from-limit", ("requests", "gpu")),
    ("{gpu: 2, limits: {gpu: 1}}", "gpu-request-differs-from-limit", ("gpu",)),
    ("{devices: {rdma/hca: 1}, limits: {devices: {rdma/hca: 2}}}", "gpu-request-differs-from-limit",
     ("devices", "rdma/hca")),
]  # fmt: skip


@pytest.mark.parametrize(("amounts", "name", "path"), AMOUNTS)
@pytest.mark.parametrize("block", ["", "worker"])
def test_requests_and_limits_must_agree(
    amounts: str, name: str, path: tuple[str, ...], block: str
) -> None:
    """Flyte accepts different requests and limits for a device, but Kubernetes requires them to be equal.

    Source: docs/facts/flyte.md#accelerator-resources.
    """
    body = f"worker: {{resources: {amounts}}}" if block else f"resources: {amounts}"
    where = ("spec", *([block] if block else []), "resources", *path)
    assert names_and_paths(smallest(body)) == [(name, where)]


AGREEING = [
    "{requests: {cpu: 500m}, limits: {cpu: 1}}",
    "{gpu: 1, requests: {gpu: 1000m}}",
    "{requests: {memory: 1Gi}, limits: {memory: 1024Mi}}",
    "{requests: {cpu: 1}}",
]


@pytest.mark.parametrize("amounts", AGREEING)
def test_consistent_amounts_have_no_finding(amounts: str) -> None:
    assert names_and_paths(smallest(f"resources: {amounts}")) == []


PROCESSES = [
    ("elastic: {nprocPerNode: 8}\nresources: {gpu: 4}", [("more-processes-than-gpus", NPROC)]),
    (
        "elastic: {nprocPerNode: 2}\nresources: {limits: {gpu: 1}}",
        [("more-processes-than-gpus", NPROC)],
    ),
    (
        "elastic: {nprocPerNode: 2}\nresources: {devices: {nvidia.com/mig-1g.5gb: 1}}",
        [("more-processes-than-gpus", NPROC)],
    ),
    ("elastic: {nprocPerNode: gpu}", [("more-processes-than-gpus", NPROC)]),
    ("elastic: {nprocPerNode: 4}\nresources: {gpu: 8}", [("idle-gpus", NPROC)]),
    ("elastic: {nprocPerNode: 8}\nresources: {gpu: 8}", []),
    ("elastic: {nprocPerNode: 8}", []),  # CPU only: any number
    ("elastic: {nprocPerNode: auto}\nresources: {gpu: 8}", []),
    ("resources: {gpu: 8}", []),  # one process per GPU by default
    (
        "elastic: {nprocPerNode: 8}\nresources: {devices: {nvidia.com/gpumem: 4000}}",
        [],
    ),  # MiB, not GPUs
]


@pytest.mark.parametrize(("body", "wanted"), PROCESSES)
def test_processes_are_compared_with_gpus(body: str, wanted: Found) -> None:
    """Source: docs/facts/flyte.md#defects 7."""
    assert names_and_paths(smallest(body)) == wanted


@pytest.mark.parametrize("gpus", [0, 1])
def test_a_master_needs_a_gpu_for_each_process(gpus: int) -> None:
    """The default is eight processes, from the workers' eight GPUs; the master has fewer."""
    body = f"resources: {{gpu: 8}}\nmaster: {{resources: {{gpu: {gpus}}}}}\nworker: {{replicas: 2}}"
    names = {name for name, _ in names_and_paths(smallest(body), "pytorchjob")}
    assert names == {"more-processes-than-gpus"}


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("sharedMemory: 8Gi\nresources: {memory: 4Gi}", 1),
        ("sharedMemory: 8Gi\nresources: {limits: {memory: 4Gi}}", 1),
        ("sharedMemory: 8Gi\nresources: {requests: {memory: 4Gi}}", 0),
        ("sharedMemory: 4Gi\nresources: {memory: 4Gi}", 0),
        ("sharedMemory: 8Gi", 0),
        ("sharedMemory: true\nresources: {memory: 4Gi}", 0),
        ("sharedMemory: 8Gi\nmaster: {}\nworker: {resources: {memory: 4Gi}}", 1),
    ],
)
def test_shared_memory_above_the_limit_is_reported(body: str, count: int) -> None:
    """Source: docs/facts/kubernetes.md#memory-at-devshm."""
    problems = compiled(smallest(body), "pytorchjob").problems
    assert [(p.name, p.path, p.severity, p.stage) for p in problems] == count * [
        ("shm-above-memory-limit", ("spec", "sharedMemory"), "warning", "run")
    ]


def test_shared_memory_is_checked_against_the_profile_s_limit() -> None:
    assert names_and_paths(smallest("sharedMemory: 8Gi"), None, RICH) == [
        ("shm-above-memory-limit", ("spec", "sharedMemory"))
    ]


def test_an_accelerator_missing_from_the_catalog_is_an_error() -> None:
    (problem,) = compiled(smallest("accelerator: nvidia-a10"), None, RICH).problems
    assert problem.help == "did you mean nvidia-a100?"


def test_spot_without_a_node_label_is_an_error() -> None:
    (problem,) = compiled(smallest("spot: true")).problems
    assert (problem.name, problem.severity, problem.path) == (
        "spec-conflict",
        "error",
        ("spec", "spot"),
    )


@pytest.mark.parametrize("cloud", ["gke", "eks", "aks", "oke"])
def test_a_cloud_has_spot_nodes(cloud: str) -> None:
    assert not compiled(smallest("spot: true"), None, making.profile({"cloud": cloud})).problems


@pytest.mark.parametrize("cloud", [None, "gke"])
def test_spot_nodes_not_described_in_the_profile_are_a_warning(cloud: str | None) -> None:
    (problem,) = compiled(
        smallest("spot: true"), None, making.profile({"cloud": cloud, "spot": {}})
    ).problems
    assert (problem.name, problem.severity, problem.path) == (
        "spec-invalid-value",
        "warning",
        ("spec", "spot"),
    )


RESERVED = {
    # docs/facts/training-operator.md#environment and docs/facts/volcano.md#the-pytorch-plugin
    "pytorchjob": ["MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR",
                   "PET_MASTER_PORT", "PET_NPROC_PER_NODE", "PYTHONUNBUFFERED"],
    "volcano": ["MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"],
    "job": ["JOB_COMPLETION_INDEX"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("target", "name"), [(target, name) for target, names in RESERVED.items() for name in names]
)
def test_a_variable_that_the_operator_overwrites_is_rejected(target: str, name: str) -> None:
    """Source: docs/facts/flyte.md#defects 22."""
    (problem,) = compiled(smallest(f"nodes: 2\nenv: {{{name}: '0'}}"), target).problems
    assert (problem.name, problem.path) == ("unsupported-by-target", ("spec", "env", name))
    assert problem.stage == "apply"
    assert problem.authority == "ptcompile"
    assert problem.on_key


@pytest.mark.parametrize("target", RESERVED)
def test_an_overwritten_variable_is_rejected_in_roles_and_patches(target: str) -> None:
    name = RESERVED[target][-1]
    role = f"master: {{env: {{{name}: '0'}}}}\nworker: {{env: {{{name}: '0'}}}}"
    paths = [
        path
        for what, path in names_and_paths(smallest(role), target)
        if what == "unsupported-by-target"
    ]
    assert paths == [("spec", "master", "env", name), ("spec", "worker", "env", name)]
    patch = f"podTemplate: {{spec: {{containers: [{{name: pytorch, env: [{{name: {name}, value: '0'}}]}}]}}}}"
    assert [what for what, _ in names_and_paths(smallest(f"nodes: 2\n{patch}"), target)] == [
        "unsupported-by-target"
    ]


RANK_IN = {"spec": {"containers": [{"name": "pytorch", "env": [{"name": "RANK", "value": "0"}]}]}}
OF_PROFILE: list[tuple[str, dict[str, Any], str]] = [
    ("defaults.env", {"defaults": {"env": {"RANK": "0"}}}, ""),
    ("defaults.podTemplate", {"defaults": {"podTemplate": RANK_IN}}, ""),
    (
        "accelerators.a100",
        {"accelerators": {"a100": {"nodeLabels": {}, "env": {"RANK": "0"}}}},
        "accelerator: a100",
    ),
    ("fabrics.own", {"fabrics": {"own": {"env": {"RANK": "0"}}}}, "fabric: own"),
    ("fabrics.own", {"fabrics": {"own": {"podTemplate": RANK_IN}}}, "fabric: own"),
]


@pytest.mark.parametrize(("where", "profile", "body"), OF_PROFILE)
def test_an_overwritten_variable_of_the_profile_is_rejected(
    where: str, profile: dict[str, Any], body: str
) -> None:
    source = smallest(f"nodes: 2\nresources: {{gpu: 1}}\n{body}")
    problems = [
        p
        for p in compiled(source, "pytorchjob", making.profile(profile)).problems
        if p.severity == "error"
    ]
    assert [(p.name, p.path) for p in problems] == [("unsupported-by-target", ("spec",))]
    assert f"the profile's {where} sets RANK" in problems[0].message


@pytest.mark.parametrize("entry", [{}, {"value": "x"}, {"name": 5}])
def test_a_profile_s_variable_without_a_name_does_not_crash(entry: dict[str, Any]) -> None:
    spec = {"containers": [{"name": "pytorch", "env": [entry]}]}
    cluster = making.profile({"defaults": {"podTemplate": {"spec": spec}}})
    problems = compiled(smallest("nodes: 2"), "job", cluster).problems
    assert {problem.name for problem in problems} <= {"required-value", "wrong-type"}


def test_sidecars_of_the_profile_may_set_an_overwritten_variable() -> None:
    other = {
        "spec": {
            "containers": [
                {"name": "side", "image": "i:1", "env": [{"name": "RANK", "value": "0"}]}
            ]
        }
    }
    cluster = making.profile({"defaults": {"podTemplate": other}})
    assert names_and_paths(smallest("nodes: 2"), "volcano", cluster) == []


@pytest.mark.parametrize(
    ("target", "env"),
    [("pytorchjob", "PYTHONUNBUFFERED: '1'"), ("job", "RANK: '0'"), ("pod", "RANK: '0'")],
)
def test_variables_that_keep_their_value_are_allowed(target: str, env: str) -> None:
    body = f"nodes: {1 if target == 'pod' else 2}\nenv: {{{env}}}"
    assert names_and_paths(smallest(body), target) == []


def test_a_variable_name_that_yaml_reads_as_a_boolean_is_a_warning() -> None:
    """YAML reads the key `ON` as a boolean, which becomes "true".

    Source: docs/facts/api-server.md#yaml and kubectl.
    """
    (problem,) = ptcompile.compile(smallest("env: {ON: x, B: c}")).diagnostics
    assert (problem.name, problem.severity, problem.path) == (
        "spec-invalid-value",
        "warning",
        ("spec", "env", "true"),
    )


CONFLICT, LEFT = ("error", "spec-conflict"), ("warning", "no-retries-left")
ON_POD, LIMIT = "runPolicy.onPodFailure", "runPolicy.backoffLimit"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        # docs/facts/volcano.md#policies: restarting a container does not fail its pod
        ("restartPolicy: OnFailure\nrunPolicy: {onPodFailure: RestartJob}", [(*CONFLICT, ON_POD)]),
        ("restartPolicy: Always\nrunPolicy: {onPodFailure: FailJob}", [(*CONFLICT, ON_POD)]),
        (
            "worker: {restartPolicy: OnFailure}\nrunPolicy: {onPodFailure: RestartPod}",
            [(*CONFLICT, ON_POD)],
        ),
        ("restartPolicy: Never\nrunPolicy: {onPodFailure: RestartPod}", []),
        ("runPolicy: {onPodFailure: FailJob, backoffLimit: 2}", [(*CONFLICT, ON_POD)]),
        ("runPolicy: {onPodFailure: FailJob, backoffLimit: 0}", []),
        # 0 is an explicit value and overrides the default
        ("runPolicy: {onPodFailure: RestartPod, backoffLimit: 0}", [(*LEFT, LIMIT)]),
        ("restartPolicy: OnFailure\nrunPolicy: {backoffLimit: 0}", [(*LEFT, LIMIT)]),
        ("restartPolicy: OnFailure\nrunPolicy: {backoffLimit: 1}", []),
        ("runPolicy: {backoffLimit: 0}", []),
        (
            "restartPolicy: Always\nrunPolicy: {backoffLimit: 0}",
            [],
        ),  # Always also restarts successful containers
    ],
)
def test_contradicting_fields_are_errors(body: str, wanted: list[tuple[str, str, str]]) -> None:
    problems = compiled(smallest(body), "pytorchjob").problems
    assert [
        (problem.severity, problem.name, ".".join(map(str, problem.path[1:])))
        for problem in problems
    ] == wanted


@pytest.mark.parametrize("target", ["job", "jobset", "pytorchjob"])
def test_a_backoff_limit_of_0_is_emitted(target: str) -> None:
    (made,) = compiled(
        smallest("restartPolicy: OnFailure\nrunPolicy: {backoffLimit: 0}"), target
    ).manifests
    spec = made["spec"]
    holder = {
        "job": lambda: spec,
        "jobset": lambda: spec["replicatedJobs"][0]["template"]["spec"],
        "pytorchjob": lambda: spec["runPolicy"],
    }[target]()
    assert holder["backoffLimit"] == 0


def test_the_number_of_nodes_must_be_in_its_range() -> None:
    (problem,) = compiled(smallest("nodes: 1\nelastic: {nnodes: '2:4'}")).problems
    assert (
        problem.message
        == "spec.nodes: the job starts with 1 node, but elastic.nnodes allows 2 to 4"
    )


def test_the_spot_error_says_where_the_profile_goes() -> None:
    (problem,) = compiled(smallest("spot: true")).problems
    assert (
        problem.help
        == "set spec.cloud (gke, eks, aks or oke) or spec.spot in a profile, which ptcompile init --profile writes, "
        "and pass it with --cluster FILE"
    )


def _with_label(body: str, label: str, value: str) -> str:
    return smallest(body).replace("metadata: {", f"metadata: {{labels: {{{label}: {value}}}, ", 1)


@pytest.mark.parametrize(
    ("body", "label", "system"),
    [
        ("queue: team-a", "kueue.x-k8s.io/queue-name", "kueue"),
        ("queue: team-a\npriority: high", "kueue.x-k8s.io/priority-class", "kueue"),
        ("queue: team-a", "kai.scheduler/queue", "kai"),
    ],
)
def test_a_label_that_names_another_queue_is_a_contradiction(
    body: str, label: str, system: str
) -> None:
    cluster = making.profile({"queueSystem": system})
    assert names_and_paths(_with_label(body, label, "other"), "job", cluster) == [
        ("spec-conflict", ("metadata", "labels", label))
    ]


def test_a_label_with_the_same_queue_or_of_another_system_is_no_contradiction() -> None:
    cluster = making.profile({"queueSystem": "kueue"})
    assert (
        names_and_paths(
            _with_label("queue: team-a", "kueue.x-k8s.io/queue-name", "team-a"), "job", cluster
        )
        == []
    )
    assert (
        names_and_paths(
            _with_label("queue: team-a", "kai.scheduler/queue", "other"), "job", cluster
        )
        == []
    )


def test_the_profile_s_default_queue_does_not_override_the_label_of_a_job() -> None:
    cluster = making.profile({"queueSystem": "kueue", "defaults": {"queue": "research"}})
    (*_, job) = compiled(
        _with_label("", "kueue.x-k8s.io/queue-name", "other"), "job", cluster
    ).manifests
    assert job["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "other"}


@pytest.mark.parametrize("case", findings.cases("job"))
def test_findings_are_as_recorded(case: str) -> None:
    assert findings.again(case) == case.strip()
