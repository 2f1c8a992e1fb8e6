"""The published schemas reject what the compiler rejects, if a schema can express it, and nothing else.

"The compiler" means the models and, for a TrainingJob, the front end's checks after them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from ptcompile.compiler import checks
from ptcompile.compiler.frontend.parts import parts_of
from ptcompile.source import documents as source
from ptcompile.spec import cluster_profile as cluster, training_job
from ptcompile.spec.cluster_profile import ClusterProfile
from ptcompile.spec.training_job import Spec
from tests.making import DEFAULT_CLUSTER

ROOT = Path(__file__).parent.parent
SCHEMAS = {
    "TrainingJob": Draft202012Validator(training_job.json_schema()),
    "ClusterProfile": Draft202012Validator(cluster.json_schema()),
}


def _document(kind: str, **parts: Any) -> dict[str, Any]:
    start = {"image": "i"} if kind == "TrainingJob" else {}
    body = {"apiVersion": "ptcompile/v1", "kind": kind, "metadata": {"name": "a"}, **parts}
    return (
        {**body, "spec": {**start, **parts.get("spec", {})}}
        if isinstance(parts.get("spec", {}), dict)
        else body
    )


def _taken(document: dict[str, Any]) -> bool:
    """Return whether the models and the checks that need no profile accept a document."""
    try:
        model = (Spec if document["kind"] == "TrainingJob" else ClusterProfile).model_validate(
            document
        )
    except ValidationError:
        return False
    if isinstance(model, ClusterProfile):
        return True
    names_of_the_profile = {"accelerator": None, "fabric": None, "topology": None, "spot": False}
    anything = model.replace(spec=model.spec.replace(**names_of_the_profile))
    parts = parts_of(anything, DEFAULT_CLUSTER)
    asked = [
        ask for ask in checks.CHECKS if ask is not checks.kubernetes_fields
    ]  # not in the schema
    return not any(problem.severity == "error" for ask in asked for problem in ask(parts))


def _files(kind: str) -> list[Path]:
    folders = [*sorted((ROOT / "golden").iterdir()), *sorted((ROOT / "examples").iterdir())]
    name = "spec.yaml" if kind == "TrainingJob" else "cluster.yaml"
    return [folder / name for folder in folders if (folder / name).exists()]


GOLDENS = {
    f"{path.parent.name}-{path.stem}-{document.index}": document.data
    for kind in SCHEMAS
    for path in _files(kind)
    for document in source.read(path.read_bytes()).documents
    if document.data.get("kind") == kind and document.data.get("apiVersion") == "ptcompile/v1"
}

UNSAYABLE_GOLDENS = {
    "bad-cloud-spec-0": "that processes are more than cores",
    "bad-devices-spec-0": "that CUDA does not see a device",
    "bad-roles-spec-0": "that a request is above a limit, and a name that another field gives",
    "bad-nnodes-spec-0": "that one number in a text is larger than another",
    "bad-resources-spec-0": "that a request is above a limit, and sums",
}


def test_there_are_goldens_of_both_kinds_good_and_bad() -> None:
    taken = [(document["kind"], _taken(document)) for document in GOLDENS.values()]
    assert set(taken) >= {("TrainingJob", True), ("TrainingJob", False), ("ClusterProfile", True)}
    assert len(taken) > 50


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens_are_valid_if_they_are_accepted(name: str) -> None:
    document = GOLDENS[name]
    valid, taken = SCHEMAS[document["kind"]].is_valid(document), _taken(document)
    if name in UNSAYABLE_GOLDENS:
        assert valid
        assert not taken
    else:
        assert valid == taken, [
            error.message for error in SCHEMAS[document["kind"]].iter_errors(document)
        ]


SPECS: list[Any] = [
    {"scrpt": "t.py"},
    {"elastic": {"maxRestart": 3}, "script": "t.py"},
    {"resources": {"gpus": 8}},
    {"runPolicy": {"ttlSecondsAfterFinish": 1}},
    {"worker": {"replica": 2}},
    {"image": 7},
    {"image": ["i"]},
    {"args": "--epochs 3"},
    {"args": [3]},
    {"command": "python t.py"},
    {"script": None, "module": 3},
    {"imagePullPolicy": "always"},
    {"restartPolicy": "onfailure"},
    {"restartPolicy": False},
    {"nodes": 0},
    {"nodes": "4"},
    {"nodes": 2.5},
    {"nodes": True},
    {"script": "t.py", "elastic": {"nnodes": 0}},
    {"script": "t.py", "elastic": {"nnodes": "0:2"}},
    {"script": "t.py", "elastic": {"nnodes": "2:"}},
    {"script": "t.py", "elastic": {"nnodes": "many"}},
    {"script": "t.py", "elastic": {"nnodes": "-1"}},
    {"script": "t.py", "elastic": {"nnodes": True}},
    {"script": "t.py", "elastic": {"startMethod": "thread"}},
    {"script": "t.py", "elastic": {"nprocPerNode": "all"}},
    {"script": "t.py", "elastic": {"nprocPerNode": 0}},
    {"script": "t.py", "elastic": {"monitorInterval": 0}},
    {"script": "t.py", "elastic": {"maxRestarts": -1}},
    {"script": "t.py", "elastic": {"rdzvBackend": "gloo"}},
    {"script": "t.py", "elastic": {"rdzvConfigs": {"timeout": []}}},
    {"script": "t.py", "nodes": 2, "elastic": {"rdzvBackend": "etcd", "rdzvEndpoint": "etcd"}},
    {"elastic": {"nnodes": 2}},
    {"script": "t.py", "module": "t"},
    {"script": "t.py", "command": ["python"]},
    {"script": "t.py", "nodes": 2, "worker": {"replicas": 1}},
    {"masterPort": 0},
    {"masterPort": 70000},
    {"env": {"A": 1}},
    {"env": {"A": {}}},
    {"env": {"A": {"secretKeyRef": {}, "fieldRef": {}}}},
    {"env": [{"name": "A", "value": "1"}]},
    {"envFrom": {"secretRef": {"name": "s"}}},
    {"volumes": ["data"]},
    {"tolerations": {}},
    {"runPolicy": {"backoffLimit": -1}},
    {"runPolicy": {"activeDeadlineSeconds": 0}},
    {"runPolicy": {"cleanPodPolicy": "none"}},
    {"runPolicy": {"suspend": "true"}},
    {"runPolicy": {"onPodFailure": "FailJob", "backoffLimit": 1}},
    {"runPolicy": {"onPodFailure": "RestartPod"}, "restartPolicy": "OnFailure"},
    {"runPolicy": {"onPodFailure": "RestartPod"}, "worker": {"restartPolicy": "Always"}},
    {"resources": {"cpu": []}},
    {"resources": {"cpu": -1}},
    {"resources": {"cpu": "-1"}},
    {"resources": {"cpu": True}},
    {"resources": {"memory": "64GB"}},
    {"resources": {"memory": ""}},
    {"resources": {"memory": "8 Gi"}},
    {"resources": {"limits": {"gpu": "one"}}},
    {"sharedMemory": "big"},
    {"sharedMemory": None},
    {"nodeSelector": {"zone": 1}},
    {"podLabels": {"gpu": True}},
    {"terminationGracePeriodSeconds": -1},
    {"hostNetwork": 1},
    {"volcano": {"masterTask": "Master"}},
    {"podTemplate": []},
]

DOCUMENTS: list[Any] = [
    {"metadata": {"name": "My_Job"}},
    {"metadata": {"name": "-a"}},
    {"metadata": {"name": "a" * 64}},
    {"metadata": {"name": "a.b"}},
    {"metadata": {"name": 1}},
    {"metadata": {"name": "a", "namespace": "Team_A"}},
    {"metadata": {"name": "a", "labels": {"rank": 1}}},
    {"metadata": {"name": "a", "uid": "x"}},
    {"metadata": {}},
    {"spec": []},
    {"apiVersion": "ptcompile/v2"},
    {"status": {}},
]

PROFILES: list[Any] = [
    {"accelerator": {}},
    {"versions": {"kubernetes": 1.34}},
    {"versions": {"kubernetes": "1"}},
    {"versions": {"volcano": "new"}},
    {"versions": {"slurm": "1.0"}},
    {"gpu": {"resourceName": None}},
    {"gpu": {"tolerations": [{"operator": "Equals"}]}},
    {"gpu": {"tolerations": [{"effect": "noSchedule"}]}},
    {"accelerators": {"a100": {}}},
    {"accelerators": {"a100": {"nodeLabels": ["a100"]}}},
    {"accelerators": []},
    {"spot": {"matchExpressions": [{"key": "spot"}]}},
    {"onDemand": [{"key": "spot", "operator": "Is"}]},
    {"queueSystem": "slurm"},
    {"defaults": {"env": {"A": 1}}},
    {"defaults": {"requests": {"cpu": "much"}}},
    {"defaults": {"limits": {"cpu": -1}}},
    {"defaults": {"imagePullSecrets": ["registry"]}},
    {"priorities": {"high": "10"}},
    {"operator": {"namespace": {"create": "yes"}}},
    {"defaults": {"podTemplate": {"containers": []}}},
    {"defaults": {"podTemplate": {"metadata": {"name": "x"}}}},
    {"defaults": {"podTemplate": {"metadata": {"labels": {"a": 1}}}}},
    {"defaults": {"podTemplate": {"spec": {"restartPolicy": "Never"}}}},
    {"defaults": {"podTemplate": {"spec": {"hostname": "x"}}}},
    {"defaults": {"podTemplate": {"spec": {"dnsPolicy": None}}}},
    {"defaults": {"podTemplate": {"spec": {"volumes": {}}}}},
    {"defaults": {"podTemplate": {"spec": {"tolerations": ["x"]}}}},
    {"defaults": {"podTemplate": {"spec": {"containers": [{"image": "i"}]}}}},
    {"defaults": {"podTemplate": {"spec": {"containers": [{"name": "pytorch", "args": []}]}}}},
    {"defaults": {"podTemplate": {"spec": {"initContainers": [{"name": "a", "env": {}}]}}}},
    {"defaults": {"podTemplate": {"spec": {"affinity": {"nodeAffinity": []}}}}},
]

WRONG = [
    *(("TrainingJob", {"spec": wrong}) for wrong in SPECS),
    *(("TrainingJob", wrong) for wrong in DOCUMENTS),
    *(("ClusterProfile", {"spec": wrong}) for wrong in PROFILES),
]


@pytest.mark.parametrize(("kind", "parts"), WRONG, ids=str)
def test_schema_and_compiler_reject(kind: str, parts: dict[str, Any]) -> None:
    document = _document(kind, **parts)
    assert not _taken(document)
    assert not SCHEMAS[kind].is_valid(document)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_the_base_of_the_wrong_documents_is_valid(kind: str) -> None:
    """Otherwise all of them would be rejected for the same reason."""
    document = _document(kind)
    assert _taken(document)
    assert SCHEMAS[kind].is_valid(document)


UNSAYABLE: list[tuple[str, Any, str]] = [
    (
        "TrainingJob",
        {"script": "t.py", "elastic": {"nnodes": "4:2"}},
        "a number in a text that is above another",
    ),
    ("TrainingJob", {"nodes": 4.0}, "to JSON Schema 4.0 is an integer"),
    ("TrainingJob", {"image": None}, "that something is missing depends on the roles"),
    (
        "TrainingJob",
        {"resources": {"cpu": 8, "limits": {"cpu": "4000m"}}},
        "amounts of which one is above the other",
    ),
    (
        "TrainingJob",
        {"script": "t.py", "nodes": 1, "elastic": {"nnodes": 1}},
        "two places for one thing",
    ),
    (
        "TrainingJob",
        {"volcano": {"masterTask": "a", "workerTask": "a"}},
        "two texts that must differ",
    ),
    (
        "TrainingJob",
        {"script": "t.py", "elastic": {"rdzvConfigs": {"a,b": 1}}},
        "said of keys, for torchrun's sake",
    ),
]
"""Mistakes that a schema cannot express, or only at the cost of readability, with the reason."""


@pytest.mark.parametrize(
    ("kind", "wrong", "reason"), UNSAYABLE, ids=[str(one[1]) for one in UNSAYABLE]
)
def test_only_the_compiler_rejects(kind: str, wrong: dict[str, Any], reason: str) -> None:
    """Move a row to the other table once the schema can express it."""
    document = _document(kind, spec=wrong)
    assert not _taken(document), reason
    assert SCHEMAS[kind].is_valid(document)


RIGHT: list[dict[str, Any]] = [
    {"resources": {"cpu": amount}}
    for amount in (0, 1, 0.5, "2", "+2", "500m", ".5", "1.", "1e3", "64Gi", " 2 ", "Ki")
] + [{"script": "t.py", "elastic": {"nnodes": nnodes}} for nnodes in (1, "1", "2:4", "02", "4:4")]
RIGHT += [
    {
        "env": {"A": None},
        "podLabels": {"a": None},
        "podAnnotations": {"a": None},
        "nodeSelector": {"a": None},
    },
    {"resources": {"cpu": None, "devices": {"rdma/hca": None}, "limits": {"cpu": None}}},
    {
        "script": "t.py",
        "elastic": {"monitorInterval": None, "rdzvId": None, "rdzvConfigs": {"timeout": None}},
    },
    {"runPolicy": {"onPodFailure": "FailJob", "backoffLimit": 0}},
    {"runPolicy": {"onPodFailure": None, "backoffLimit": 2}, "restartPolicy": "OnFailure"},
    {
        "runPolicy": {"onPodFailure": "RestartPod"},
        "master": {"restartPolicy": "Never"},
        "restartPolicy": None,
    },
    {"runPolicy": {"onPodFailure": "RestartPod"}, "roles": {"ps": {"restartPolicy": "OnFailure"}}},
]


@pytest.mark.parametrize("right", RIGHT, ids=str)
def test_schema_and_compiler_accept(right: dict[str, Any]) -> None:
    document = _document("TrainingJob", spec=right)
    assert _taken(document)
    assert SCHEMAS["TrainingJob"].is_valid(document)


def test_the_built_in_profile_is_valid() -> None:
    given = ClusterProfile.model_validate({}).model_dump(by_alias=True, mode="json")
    assert SCHEMAS["ClusterProfile"].is_valid(given)
