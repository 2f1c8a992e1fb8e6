"""Structure: what the API server's decoder and the CRDs' schemas accept and reject."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

from ptcompile._internal.schema_files import load
from ptcompile.apiserver.kinds import BUILT_IN, CORE, CUSTOM, versions
from ptcompile.apiserver.structure import rejected_paths, structure_violations
from ptcompile.apiserver.structure.keywords import list_choices, with_keywords
from ptcompile.apiserver.structure.scalars import compile_integer
from ptcompile.apiserver.structure.violations import format_value, to_problem, type_mismatch
from ptcompile.diagnostics import Problem
from tests.places import places

Json = dict[str, Any]
Path = tuple[str | int, ...]

TEMPLATE: Json = {
    "metadata": {"labels": {"app": "x"}, "annotations": {"a": "b"}},
    "spec": {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 30,
        "nodeSelector": {"gpu": "a100"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [
            {
                "name": "main",
                "image": "x",
                "command": ["python", "-c"],
                "env": [
                    {"name": "A", "value": "1"},
                    {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "x"}}},
                ],
                "ports": [
                    {"containerPort": 1, "name": "p"},
                    {"containerPort": 1, "protocol": "UDP"},
                ],
                "resources": {"limits": {"cpu": 1, "memory": "1Gi"}},
                "readinessProbe": {"httpGet": {"port": 80, "path": "/"}, "periodSeconds": 2},
                "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108
                "stdin": True,
            }
        ],
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}],
    },
}


def obj(api: str, kind: str, **rest: Any) -> Json:
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": "x", "labels": {"a": "b"}},
        **rest,
    }


TRAINER = "trainer.kubeflow.org/v1alpha1"
JOBSET_SPEC: Json = {
    "network": {"enableDNSHostnames": True, "subdomain": "s"},
    "successPolicy": {"operator": "All", "targetReplicatedJobs": ["w"]},
    "failurePolicy": {"maxRestarts": 3, "rules": [{"name": "r", "action": "FailJobSet"}]},
    "replicatedJobs": [
        {
            "name": "w",
            "replicas": 2,
            "dependsOn": [{"name": "v", "status": "Ready"}],
            "template": {"spec": {"parallelism": 1, "completions": 1, "template": TEMPLATE}},
        }
    ],
}
CLEAN: dict[tuple[str, str], Json] = {
    ("v1", "Pod"): obj(
        "v1",
        "Pod",
        **{**TEMPLATE, "metadata": {"name": "x", "finalizers": ["a/b"], "generation": 1}},
    ),
    ("batch/v1", "Job"): obj(
        "batch/v1", "Job", spec={"completions": 2, "template": TEMPLATE, "suspend": False}
    ),
    ("v1", "Service"): obj(
        "v1",
        "Service",
        spec={
            "clusterIP": "None",
            "ports": [{"port": 1, "targetPort": "a"}],
            "selector": {"a": "b"},
        },
    ),
    ("v1", "ConfigMap"): obj(
        "v1", "ConfigMap", data={"a": "b"}, binaryData={"c": "QQ=="}, immutable=True
    ),
    ("v1", "Secret"): obj("v1", "Secret", type="Opaque", data={"a": "QUI="}, stringData={"b": "c"}),
    ("v1", "PersistentVolumeClaim"): obj(
        "v1",
        "PersistentVolumeClaim",
        spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    ),
    ("v1", "Namespace"): obj("v1", "Namespace", spec={"finalizers": ["kubernetes"]}),
    ("networking.k8s.io/v1", "NetworkPolicy"): obj(
        "networking.k8s.io/v1",
        "NetworkPolicy",
        spec={
            "podSelector": {},
            "ingress": [{"ports": [{"port": "a"}], "from": [{"podSelector": {}}]}],
        },
    ),
    ("kubeflow.org/v1", "PyTorchJob"): obj(
        "kubeflow.org/v1",
        "PyTorchJob",
        spec={
            "runPolicy": {"cleanPodPolicy": "None", "suspend": False},
            "elasticPolicy": {
                "rdzvConf": [{"key": "a", "value": "b"}],
                "nProcPerNode": 2,
                "standalone": True,
            },
            "pytorchReplicaSpecs": {
                "Worker": {"replicas": 2, "restartPolicy": "Never", "template": TEMPLATE}
            },
        },
    ),
    ("batch.volcano.sh/v1alpha1", "Job"): obj(
        "batch.volcano.sh/v1alpha1",
        "Job",
        spec={
            "queue": "q",
            "minAvailable": 1,
            "plugins": {"pytorch": ["--master=master"], "svc": []},
            "policies": [{"event": "PodFailed", "action": "RestartJob"}],
            "tasks": [{"name": "master", "replicas": 1, "template": TEMPLATE}],
            "volumes": [{"mountPath": "/a", "volumeClaim": {"accessModes": ["ReadWriteOnce"]}}],
        },
    ),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): obj(
        "jobset.x-k8s.io/v1alpha2", "JobSet", spec=JOBSET_SPEC
    ),
    ("resource.nvidia.com/v1beta1", "ComputeDomain"): obj(
        "resource.nvidia.com/v1beta1",
        "ComputeDomain",
        spec={
            "numNodes": 2,
            "channel": {"resourceClaimTemplate": {"name": "x"}, "allocationMode": "Single"},
        },
    ),
    (TRAINER, "TrainJob"): obj(
        TRAINER,
        "TrainJob",
        spec={
            "runtimeRef": {"name": "torch-distributed"},
            "initializer": {"dataset": {"storageUri": "hf://a/b"}},
            "trainer": {"numNodes": 2, "command": ["a"], "env": [{"name": "A", "value": "b"}]},
            "runtimePatches": [
                {
                    "manager": "a.b/c",
                    "trainingRuntimeSpec": {
                        "template": {"spec": {"replicatedJobs": [{"name": "node"}]}}
                    },
                }
            ],
        },
    ),
    (TRAINER, "TrainingRuntime"): obj(
        TRAINER,
        "TrainingRuntime",
        spec={"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": JOBSET_SPEC}},
    ),
    (TRAINER, "ClusterTrainingRuntime"): obj(
        TRAINER,
        "ClusterTrainingRuntime",
        spec={"mlPolicy": {"mpi": {"numProcPerNode": 1}}, "template": {"spec": JOBSET_SPEC}},
    ),
    ("scheduling.volcano.sh/v1beta1", "PodGroup"): obj(
        "scheduling.volcano.sh/v1beta1",
        "PodGroup",
        spec={
            "minMember": 2,
            "minResources": {"cpu": "2", "nvidia.com/gpu": 8},
            "minTaskMember": {"master": 1},
            "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
            "subGroupPolicy": [{"name": "a", "subGroupSize": 2}],
            "queue": "q",
        },
    ),
    ("kubeflow.org/v2beta1", "MPIJob"): obj(
        "kubeflow.org/v2beta1",
        "MPIJob",
        spec={
            "slotsPerWorker": 2,
            "runPolicy": {
                "cleanPodPolicy": "Running",
                "schedulingPolicy": {"minResources": {"cpu": "2"}},
            },
            "mpiReplicaSpecs": {
                "Launcher": {
                    "template": {"spec": {"containers": [{"name": "main", "image": "i"}]}}
                },
                "Worker": {
                    "replicas": 2,
                    "template": {"spec": {"containers": [{"name": "main", "image": "i"}]}},
                },
            },
        },
    ),
    ("scheduling.x-k8s.io/v1alpha1", "PodGroup"): obj(
        "scheduling.x-k8s.io/v1alpha1",
        "PodGroup",
        spec={"minMember": 2, "minResources": {"cpu": "2"}, "scheduleTimeoutSeconds": 60},
    ),
}


def problems_of(manifest: Json, version: str = "1.37") -> list[Problem]:
    kind = (manifest["apiVersion"], manifest["kind"])
    return [to_problem(fault) for fault in structure_violations(manifest, kind, version)]


def changed(kind: tuple[str, str], path: Path, value: Any) -> Json:
    manifest = copy.deepcopy(CLEAN[kind])
    node: Any = manifest
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return manifest


def test_every_kind_has_a_clean_example() -> None:
    assert set(CLEAN) == set(BUILT_IN) | set(CUSTOM)


@pytest.mark.parametrize("kind", CLEAN, ids="/".join)
def test_the_clean_example_of_a_kind_has_no_problem(kind: tuple[str, str]) -> None:
    before = copy.deepcopy(CLEAN[kind])
    assert problems_of(CLEAN[kind]) == []
    assert CLEAN[kind] == before


POD, VOLCANO, PYTORCH = (
    ("v1", "Pod"),
    ("batch.volcano.sh/v1alpha1", "Job"),
    ("kubeflow.org/v1", "PyTorchJob"),
)
JOB, SECRET, SERVICE = ("batch/v1", "Job"), ("v1", "Secret"), ("v1", "Service")
JOBSET, TRAINJOB, RUNTIME = (
    ("jobset.x-k8s.io/v1alpha2", "JobSet"),
    (TRAINER, "TrainJob"),
    (TRAINER, "TrainingRuntime"),
)
VOLCANO_GROUP, PLUGINS_GROUP = (
    ("scheduling.volcano.sh/v1beta1", "PodGroup"),
    ("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
)
MAIN: Path = ("spec", "containers", 0)
TASK: Path = ("spec", "tasks", 0)
TASK_MAIN: Path = (*TASK, "template", "spec", "containers", 0)

# origin, kind, path, value, problem name or None if accepted, the message after the path
CASES: list[tuple[str, tuple[str, str], Path, Any, str | None, str]] = [
    (
        "docs/facts/api-server.md#decoding D1",
        POD,
        (*MAIN, "env", 0, "value"),
        1,
        "wrong-type",
        "must be of type string, not integer (1)",
    ),
    (
        "docs/facts/api-server.md#decoding D1",
        POD,
        (*MAIN, "env", 0, "value"),
        True,
        "wrong-type",
        "not boolean (true)",
    ),
    (
        "docs/facts/api-server.md#decoding D1",
        POD,
        (*MAIN, "command", 1),
        0.1,
        "wrong-type",
        "not number (0.1)",
    ),
    (
        "docs/facts/api-server.md#decoding D1",
        ("v1", "ConfigMap"),
        ("data", "a"),
        1,
        "wrong-type",
        "must be of type string",
    ),
    (
        "docs/facts/volcano.md#gangs",
        VOLCANO_GROUP,
        ("spec", "minmember"),
        1,
        "unknown-field",
        "unknown field",
    ),
    (
        "docs/facts/volcano.md#fields",
        VOLCANO_GROUP,
        ("spec", "networkTopology", "mode"),
        "firm",
        "unsupported-value",
        "",
    ),
    (
        "docs/facts/volcano.md#gangs",
        VOLCANO_GROUP,
        ("spec", "minResources", "cpu"),
        "2 cores",
        "invalid-quantity",
        "",
    ),
    ("crd.yaml", PLUGINS_GROUP, ("spec", "queue"), "q", "unknown-field", "unknown field"),
    ("crd.yaml", PLUGINS_GROUP, ("spec", "minMember"), "2", "wrong-type", "must be of type"),
    ("docs/facts/api-server.md#decoding D2", POD, (*MAIN, "env", 0, "value"), None, None, ""),
    (
        "docs/facts/api-server.md#decoding D3",
        POD,
        (*MAIN, "command"),
        "python x.py",
        "wrong-type",
        "must be of type array",
    ),
    (
        "docs/facts/api-server.md#decoding D4",
        POD,
        (*MAIN, "ports", 0, "containerPort"),
        "80",
        "wrong-type",
        "must be of type int32",
    ),
    (
        "docs/facts/api-server.md#decoding D4",
        VOLCANO,
        (*TASK, "replicas"),
        "3",
        "wrong-type",
        "must be of type int32",
    ),
    (
        "docs/facts/api-server.md#decoding D5",
        POD,
        (*MAIN, "comand"),
        [],
        "unknown-field",
        "unknown field",
    ),
    (
        "docs/facts/api-server.md#decoding D6",
        POD,
        (*MAIN, "resources", "limits", "memory"),
        "1 Gi",
        "invalid-quantity",
        "not a quantity",
    ),
    (
        "docs/facts/api-server.md#decoding D7",
        POD,
        ("spec", "nodeName"),
        True,
        "wrong-type",
        "must be of type string",
    ),
    ("README: null means unset", POD, ("spec", "restartPolicy"), None, None, ""),
    ("README: null means unset", POD, ("spec", "volumes"), None, None, ""),
    ("README: null means unset", VOLCANO, ("spec", "queue"), None, None, ""),
    ("Go: a null item is its zero value", POD, (*MAIN, "command", 0), None, None, ""),
    (
        "CRD: a null item is of no type",
        VOLCANO,
        (*TASK_MAIN, "command", 0),
        None,
        "wrong-type",
        "not null",
    ),
    (
        "CRD: a null item is of no type",
        VOLCANO,
        TASK_MAIN,
        None,
        "wrong-type",
        "must be of type object, not null",
    ),
    (
        "Go int32",
        JOB,
        ("spec", "completions"),
        2**31,
        "wrong-type",
        "must be of type int32: 2147483648 is out of",
    ),
    ("Go int32", JOB, ("spec", "completions"), -(2**31), None, ""),
    ("Go int64", POD, ("spec", "terminationGracePeriodSeconds"), 2**31, None, ""),
    (
        "Go int64",
        POD,
        ("spec", "terminationGracePeriodSeconds"),
        2**63,
        "wrong-type",
        "must be of type int64",
    ),
    (
        "Go int32",
        JOB,
        ("spec", "completions"),
        1.5,
        "wrong-type",
        "must be of type int32, not number (1.5)",
    ),
    ("kubectl sends 4.0 as 4", JOB, ("spec", "completions"), 4.0, None, ""),
    ("kubectl sends 4.0 as 4", VOLCANO, (*TASK, "replicas"), 4.0, None, ""),
    ("Go int32", JOB, ("spec", "completions"), True, "wrong-type", "not boolean"),
    ("Go bool", JOB, ("spec", "suspend"), "true", "wrong-type", "must be of type boolean"),
    ("Go bool", JOB, ("spec", "suspend"), 1, "wrong-type", "must be of type boolean"),
    ("intstr", POD, (*MAIN, "readinessProbe", "httpGet", "port"), "http", None, ""),
    (
        "intstr",
        POD,
        (*MAIN, "readinessProbe", "httpGet", "port"),
        8080.5,
        "wrong-type",
        "must be of type int32 or",
    ),
    (
        "intstr",
        POD,
        (*MAIN, "readinessProbe", "httpGet", "port"),
        2**31,
        "wrong-type",
        "must be of type int32",
    ),
    ("quantity", POD, (*MAIN, "resources", "limits", "cpu"), 1.5, None, ""),
    (
        "quantity",
        POD,
        (*MAIN, "resources", "limits", "cpu"),
        True,
        "wrong-type",
        "must be of type quantity",
    ),
    (
        "quantity",
        VOLCANO,
        (*TASK_MAIN, "resources", "limits", "cpu"),
        2.5,
        "wrong-type",
        "integer or string",
    ),
    ("quantity", VOLCANO, (*TASK_MAIN, "resources", "limits", "cpu"), "2.5", None, ""),
    (
        "quantity",
        VOLCANO,
        (*TASK_MAIN, "resources", "limits", "cpu"),
        "2GiB",
        "invalid-quantity",
        "not a quantity",
    ),
    ("Go []byte", SECRET, ("data", "a"), "not base64!", "wrong-type", "must be base64"),
    ("Go []byte", SECRET, ("data", "a"), "QUI=\n", None, ""),
    ("Go []byte", SECRET, ("data", "a"), "QUI", "wrong-type", "must be base64"),
    (
        "metav1.Time",
        POD,
        ("metadata", "creationTimestamp"),
        "2024-01-01",
        "wrong-type",
        "must be a time",
    ),
    ("metav1.Time", POD, ("metadata", "creationTimestamp"), "2024-01-01T00:00:00Z", None, ""),
    ("metav1.Time", POD, ("metadata", "creationTimestamp"), "2024-02-29T0:00:00,5+01:00", None, ""),
    (
        "metav1.Time",
        POD,
        ("metadata", "creationTimestamp"),
        "2026-02-30T00:00:00Z",
        "wrong-type",
        "must be a time",
    ),
    (
        "metav1.Time",
        POD,
        ("metadata", "creationTimestamp"),
        "1900-02-29T00:00:00Z",
        "wrong-type",
        "must be a time",
    ),
    (
        "metav1.Time",
        POD,
        ("metadata", "creationTimestamp"),
        "2026-01-01t00:00:00Z",
        "wrong-type",
        "must be a time",
    ),
    (
        "metav1.Time",
        POD,
        ("metadata", "creationTimestamp"),
        "2026-01-01T00:00:00z",
        "wrong-type",
        "must be a time",
    ),
    ("ObjectMeta", POD, ("metadata", "labels"), {"a": 1}, "wrong-type", "must be of type string"),
    (
        "ObjectMeta is decoded",
        PYTORCH,
        ("metadata", "labels", "a"),
        True,
        "wrong-type",
        "must be of type string",
    ),
    (
        "ObjectMeta is decoded",
        PYTORCH,
        ("metadata",),
        [],
        "wrong-type",
        "must be of type object, not array",
    ),
    ("ObjectMeta is decoded", PYTORCH, ("metadata", "managedFields"), [], None, ""),
    (
        "docs/facts/volcano.md#templates: five keys",
        VOLCANO,
        (*TASK, "template", "metadata", "uid"),
        "x",
        "unknown-field",
        "unknown",
    ),
    ("no decoding of enums", POD, ("spec", "restartPolicy"), "never", None, ""),
    ("no decoding of required", POD, MAIN, {}, None, ""),
    ("no decoding of list keys", POD, (*MAIN, "env"), [{"name": "A"}, {"name": "A"}], None, ""),
    (
        "docs/facts/volcano.md#templates",
        VOLCANO,
        (*TASK_MAIN, "env"),
        [{"name": "A"}, {"name": "A"}],
        "duplicate-value",
        '{"name":"A"}',
    ),
    (
        "CRD default TCP",
        VOLCANO,
        (*TASK_MAIN, "ports", 1, "protocol"),
        None,
        "duplicate-value",
        '"protocol":"TCP"',
    ),
    (
        "docs/facts/volcano.md#templates",
        VOLCANO,
        (*TASK_MAIN, "name"),
        None,
        "required-value",
        "Required value",
    ),
    (
        "docs/facts/volcano.md#fields",
        VOLCANO,
        (*TASK, "replicas"),
        -1,
        "invalid-value",
        "greater than or equal to 0",
    ),
    (
        "docs/facts/volcano.md#fields",
        VOLCANO,
        ("spec", "minSuccess"),
        0,
        "invalid-value",
        "greater than or equal to 1",
    ),
    (
        "docs/facts/volcano.md#fields",
        VOLCANO,
        (*TASK, "name"),
        "A_b",
        "invalid-value",
        "must match",
    ),
    ("Go's $ is the end", VOLCANO, (*TASK, "name"), "a\n", "invalid-value", "must match"),
    (
        "docs/facts/volcano.md#fields",
        VOLCANO,
        ("spec", "schedulerName"),
        "x" * 64,
        "too-long-value",
        "more than 63",
    ),
    (
        "docs/facts/volcano.md#fields",
        VOLCANO,
        ("spec", "tasks"),
        [],
        "invalid-value",
        "at least 1 items",
    ),
    (
        "docs/facts/volcano.md#policies",
        VOLCANO,
        ("spec", "policies", 0, "event"),
        "Failed",
        "unsupported-value",
        'values: "*", "Pod',
    ),
    (
        "docs/facts/volcano.md#fields",
        VOLCANO,
        ("spec", "volumes", 0, "mountPath"),
        "",
        "invalid-value",
        "at least 1 char",
    ),
    (
        "docs/facts/training-operator.md#fields",
        PYTORCH,
        ("spec", "pytorchReplicaSpecs"),
        None,
        "required-value",
        "Required value",
    ),
    (
        "docs/facts/training-operator.md#fields",
        PYTORCH,
        ("spec", "nprocPerNode"),
        8,
        "wrong-type",
        "must be of type string",
    ),
    (
        "docs/facts/jobset.md#fields",
        JOBSET,
        ("spec", "replicatedJobs", 0, "replicas"),
        -1,
        "invalid-value",
        "equal to 0",
    ),
    (
        "docs/facts/jobset.md#fields",
        JOBSET,
        ("spec", "successPolicy", "operator"),
        "Some",
        "unsupported-value",
        '"All", "Any"',
    ),
    (
        "docs/facts/trainer.md#fields-of-a-trainjob",
        TRAINJOB,
        ("spec", "trainer", "numNodes"),
        -1,
        "invalid-value",
        "equal to 0",
    ),
    (
        "docs/facts/trainer.md#fields-of-a-trainjob",
        TRAINJOB,
        ("spec", "runtimeRef", "name"),
        "",
        "invalid-value",
        "at least 1 char",
    ),
    (
        "docs/facts/trainer.md#fields-of-a-trainjob",
        TRAINJOB,
        ("spec", "trainer", "args"),
        ["a"] * 129,
        "too-many-items",
        "at most 128",
    ),
    (
        "docs/facts/trainer.md#runtimes",
        RUNTIME,
        ("spec",),
        {},
        "invalid-value",
        "at least 1 properties",
    ),
    (
        "docs/facts/trainer.md#runtimes",
        RUNTIME,
        ("spec", "template"),
        {"spec": None},
        "invalid-value",
        "at least 1 properties",
    ),
    ("a list-type set", JOBSET, ("spec", "x"), 1, "unknown-field", "unknown field"),
    ("status is dropped", JOBSET, ("status",), {"restarts": "x"}, None, ""),
    (
        "status is decoded strictly",
        JOBSET,
        ("status",),
        {"restart": 1},
        "unknown-field",
        "unknown field",
    ),
    (
        "a status that is decoded",
        POD,
        ("status",),
        {"phase": 1},
        "wrong-type",
        "must be of type string",
    ),
]


@pytest.mark.parametrize(("origin", "kind", "path", "value", "name", "text"), CASES)
def test_each_change_has_its_problem(
    origin: str, kind: tuple[str, str], path: Path, value: Any, name: str | None, text: str
) -> None:
    problems = problems_of(changed(kind, path, value))
    assert [problem.name for problem in problems] == ([] if name is None else [name]), origin
    for problem in problems:
        where, _, rest = problem.message.partition(": ")
        assert text in rest
        assert where.startswith(path[0] if isinstance(path[0], str) else "")
        assert problem.stage == "apply"
        assert problem.authority == "kube-apiserver"


def test_a_set_rejects_duplicates() -> None:
    policy = {
        "torch": {
            "envInjection": {"targets": [{"jobName": "j", "containerNames": ["a", "b", "a"]}]}
        }
    }
    problems = problems_of(changed(RUNTIME, ("spec", "mlPolicy"), policy))
    assert [(p.name, p.path[-1]) for p in problems] == [("duplicate-value", 2)]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*TASK_MAIN, "resources", "limits", "cpu"), "1e1.5"),  # docs/facts/volcano.md#templates
        ((*TASK_MAIN, "readinessProbe", "httpGet", "port"), 2**31),
    ],
)
def test_the_crd_accepts_what_the_pod_rejects(path: Path, value: Any) -> None:
    problem = problems_of(changed(VOLCANO, path, value))[0]
    assert (problem.path, problem.stage) == (path, "pod")


@pytest.mark.parametrize(
    ("path", "key", "help_text"),
    [
        (MAIN, "comand", 'did you mean "command"?'),
        (("spec",), "restart_policy", 'did you mean "restartPolicy"?'),
        (MAIN, "nodeSelector", "move it to spec.nodeSelector"),
        (("spec",), "image", "move it into containers[]"),
        (("spec",), "labels", "remove it, or check where it belongs"),
    ],
)
def test_an_unknown_field_has_its_suggestion(path: Path, key: str, help_text: str) -> None:
    problem = problems_of(changed(POD, (*path, key), {}))[0]
    assert problem.path == (*path, key)
    assert problem.on_key
    assert problem.help == help_text


@pytest.mark.parametrize(("value", "renamed"), [(60, True), (None, True), ([{"key": "a"}], False)])
def test_a_field_is_only_renamed_if_its_value_fits(value: Any, renamed: bool) -> None:
    """Fuzzing found a list renamed to tolerationSeconds, which caused another error."""
    manifest = changed(
        POD, ("spec", "tolerations"), [{"operator": "Exists", "tolerationSecond": value}]
    )
    problem = problems_of(manifest)[0]
    assert problem.help == 'did you mean "tolerationSeconds"?'
    assert (problem.fix is not None) is renamed


def test_nothing_more_is_reported_on_a_field_and_on_the_one_that_was_meant() -> None:
    manifest = changed(POD, (*MAIN, "comand"), [])
    manifest["spec"]["restartPolicy"] = True
    paths = rejected_paths(structure_violations(manifest, POD, versions()[-1]))
    assert paths == {(*MAIN, "comand"), (*MAIN, "command"), ("spec", "restartPolicy")}


def test_a_wrong_value_is_shown_and_a_wrong_field_is_named() -> None:
    wrong, unknown = (
        problems_of(changed(POD, ("spec", key), True))[0]
        for key in ("restartPolicy", "restart_policy")
    )
    assert not wrong.on_key
    assert unknown.on_key


def test_the_number_of_keys_is_limited() -> None:
    check = with_keywords(
        lambda value: None, {"type": "object", "minProperties": 2, "maxProperties": 3}, (1, 36)
    )
    assert [bool(check(dict.fromkeys(range(size)))) for size in range(5)] == [
        True,
        True,
        False,
        False,
        True,
    ]
    assert check("text") is None


def test_numbers_at_their_bounds_are_accepted() -> None:
    check = compile_integer("int32", 5, 7)
    assert [value for value in (4, 4.0, 5, 5.0, 7, 7.0, 8, 8.0) if not check(value)] == [
        5,
        5.0,
        7,
        7.0,
    ]
    for bits in (32, 64):
        check, limit = compile_integer(f"int{bits}"), 2 ** (bits - 1)
        values = (-limit - 1, -limit, limit - 1, limit)
        assert [bool(check(value)) for value in values] == [True, False, False, True]
    fractions = {
        "type": "number",
        "minimum": 1,
        "maximum": 3,
        "exclusiveMinimum": True,
        "exclusiveMaximum": True,
    }
    check = with_keywords(lambda value: None, fractions, (1, 36))
    assert [value for value in (0.5, 1, 1.5, 2.5, 3, 3.5) if not check(value)] == [1.5, 2.5]
    check = with_keywords(
        lambda value: None, {"type": "number", "minimum": 1, "maximum": 3}, (1, 36)
    )
    assert [value for value in (0.5, 1, 2, 3, 3.5) if not check(value)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("expected", "value", "help"),
    [
        ("boolean", "true", "remove the quotes"),
        ("boolean", "5", "write a plain boolean"),
        ("integer", "-5", "remove the quotes"),
        ("int32", "true", "write a plain int32"),
        ("string", 5, "put the value in quotes"),
        ("string", [], "write a value of type string"),
        ("integer", [], "write a value of type integer"),
        ("object", "5", "write a value of type object"),
        ("array", 5, "write a list, one item per line, each after a dash"),
        ("string", None, "remove the empty item"),
    ],
)
def test_a_type_mismatch_says_what_to_write_instead(expected: str, value: Any, help: str) -> None:
    assert type_mismatch(expected, value).help == help


def test_a_message_lists_at_most_20_choices() -> None:
    assert list_choices([f"a{n}" for n in range(20)]).endswith('"a19"')
    assert list_choices([f"a{n}" for n in range(22)]).endswith('"a19" and 2 more')
    assert list_choices([*range(21)]).endswith("19 and 1 more")


def test_a_message_shortens_a_long_value() -> None:
    assert format_value("\u00e4") == '"\u00e4"'
    assert [len(format_value("a" * size)) for size in (58, 59)] == [60, 60]


def test_a_mistyped_required_field_is_one_problem() -> None:
    manifest = changed(VOLCANO, (*TASK_MAIN, "names"), "main")
    del manifest["spec"]["tasks"][0]["template"]["spec"]["containers"][0]["name"]
    assert [problem.name for problem in problems_of(manifest)] == ["unknown-field"]


def test_all_independent_mistakes_are_reported() -> None:
    manifest = changed(POD, (*MAIN, "image"), 7)
    manifest["spec"]["restartPolicy"] = True
    manifest["spec"]["bogus"] = 1
    assert {problem.path for problem in problems_of(manifest)} == {
        (*MAIN, "image"),
        ("spec", "restartPolicy"),
        ("spec", "bogus"),
    }


def test_a_field_of_another_version_names_the_version() -> None:
    manifest = changed(POD, ("spec", "hostnameOverride"), "x")  # Kubernetes 1.34
    assert [problem.name for problem in problems_of(manifest, "1.34")] == ["gate-off"]
    assert problems_of(manifest, "1.35") == []
    problem = problems_of(manifest, "1.33")[0]
    assert (problem.name, problem.path) == ("version-unknown-field", ("spec", "hostnameOverride"))
    assert (
        problem.message == "spec.hostnameOverride: unknown field in Kubernetes 1.33: added in 1.34"
    )
    assert problem.help == "remove it, or use Kubernetes 1.34 or newer"


def test_a_crd_knows_the_fields_of_the_version_it_was_made_with() -> None:
    path: Path = ("spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "hostnameOverride")
    problem = problems_of(changed(PYTORCH, path, "x"))[0]
    assert "made with Kubernetes 1.31: added in 1.34" in problem.message
    # the pods are made on this server
    (problem,) = problems_of(
        changed(VOLCANO, (*TASK, "template", "spec", "hostnameOverride"), "x"), "1.30"
    )
    assert problem.name == "gate-off"
    assert problem.message.endswith("the feature gate HostnameOverride is not in this release")


@pytest.mark.parametrize(
    "value", [b"x", object(), {1: 2}, {"a": {None: 1}}, float("nan"), float("inf"), 10**400]
)
def test_odd_values_are_findings(value: Any) -> None:
    for kind in (POD, VOLCANO):
        for path in (
            ("spec",),
            ("metadata", "labels"),
            ("spec", "nodeSelector"),
            ("spec", "minAvailable"),
        ):
            problems_of(changed(kind, path, value))


# the same schemas in a standard validator, where the dialects agree

REGISTRY: Registry[Any] = Registry().with_resources(
    (f"http://x/{name}", Resource.from_contents(load(name))) for name in (CORE, *CUSTOM.values())
)
FORMATS = FormatChecker(formats=())
for bits in (32, 64):
    FORMATS.checks(f"int{bits}")(
        lambda value, bits=bits: isinstance(value, str) or abs(value) < 2 ** (bits - 1)
    )
NOT_COMPARED = {"invalid-quantity", "duplicate-value"}
VALUES: tuple[Any, ...] = ("text", 7, True, [], {}, -1, 2**40)


def reference_refuses(kind: tuple[str, str], manifest: Json) -> bool:
    built_in = kind in BUILT_IN
    target = f"http://x/{CORE}#/$defs/{BUILT_IN[kind]}" if built_in else f"http://x/{CUSTOM[kind]}"
    errors = Draft202012Validator(
        {"$ref": target}, registry=REGISTRY, format_checker=FORMATS
    ).iter_errors(manifest)
    # decoding does not require fields
    return any(not (built_in and error.validator == "required") for error in errors)


@pytest.mark.parametrize("kind", [JOB, SERVICE, VOLCANO, PYTORCH, TRAINJOB], ids="/".join)
def test_a_stock_validator_agrees(kind: tuple[str, str]) -> None:
    for path in places(CLEAN[kind]):
        if path[0] in {"apiVersion", "kind"}:
            continue
        for value in VALUES:
            manifest = changed(kind, path, value)
            problems = problems_of(manifest)
            if any(problem.name in NOT_COMPARED or problem.stage == "pod" for problem in problems):
                continue
            if path[-1] in {"port", "targetPort"}:
                continue  # int-or-string has no range in JSON Schema
            assert bool(problems) == reference_refuses(kind, manifest), (
                path,
                value,
                json.dumps(value),
                problems,
            )
