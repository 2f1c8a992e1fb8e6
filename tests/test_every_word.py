"""Every spec field has an effect: it appears in the manifests, or a finding says what happens to it.

Each field gets several values, on each target, in jobs of several shapes. If two values give the same manifests, one of
them has no effect: a finding must report it, unless it is the default.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final

import pytest

from ptcompile.api.compile import Result, compile
from ptcompile.operators.targets import TARGETS
from tests.conftest import ROOT, thinned

Json = dict[str, Any]

_NODES: Final[Json] = {"resources": {"cpu": 8, "memory": "64Gi", "gpu": 8}}
_TORCHRUN: Final[Json] = {"script": "train.py", **_NODES}
SHAPES: Final[dict[str, Json]] = {
    "one": _TORCHRUN,
    "two": {**_TORCHRUN, "nodes": 2},
    "range": {**_TORCHRUN, "elastic": {"nnodes": "2:4", "nprocPerNode": 8}},
    "static": {**_TORCHRUN, "nodes": 2, "elastic": {"nprocPerNode": 8}},
    "roles": {**_TORCHRUN, "master": {}, "worker": {"replicas": 2}},
    "beside": {**_TORCHRUN, "nodes": 2, "roles": {"loader": {"command": ["load"], "replicas": 2}}},
    "command": {**_NODES, "command": ["python", "train.py"], "nodes": 2},
    "retries": {**_TORCHRUN, "nodes": 2, "runPolicy": {"backoffLimit": 3}},
}

_VOLUME = {"name": "data", "emptyDir": {}}
_POD: Final[dict[str, list[Any]]] = {
    "image": ["a:1", "b:1"],
    "command": [["a"], ["b"]],
    "args": [["a"], ["b"]],
    "workingDir": ["/a", "/b"],
    "ports": [[{"containerPort": 8080}], [{"containerPort": 8081}]],
    "imagePullPolicy": ["Always", "IfNotPresent", "Never"],
    "resources.cpu": [1, 2],
    "resources.memory": ["1Gi", "2Gi"],
    "resources.gpu": [1, 2],
    "resources.ephemeralStorage": ["1Gi", "2Gi"],
    "resources.devices": [{"a.b/c": 1}, {"a.b/c": 2}],
    "resources.requests": [{"cpu": 1}, {"memory": "1Gi"}, {"ephemeralStorage": "1Gi"}],
    "resources.limits": [{"cpu": 99}, {"memory": "99Gi"}, {"ephemeralStorage": "1Gi"}],
    "env": [{"A": "b"}, {"A": "c"}, {"A": {"fieldRef": {"fieldPath": "metadata.name"}}}],
    "envFrom": [[{"secretRef": {"name": "a"}}], [{"secretRef": {"name": "b"}}]],
    "volumes": [[_VOLUME]],
    "volumeMounts": [[{"name": "data", "mountPath": "/a"}], [{"name": "data", "mountPath": "/b"}]],
    "restartPolicy": ["Always", "OnFailure", "Never", "ExitCode"],
    "serviceAccountName": ["a", "b"],
    "imagePullSecrets": [[{"name": "a"}], [{"name": "b"}]],
    "nodeSelector": [{"a": "b"}, {"a": "c"}],
    "tolerations": [[{"key": "a", "operator": "Exists"}], [{"key": "b", "operator": "Exists"}]],
    "affinity": [
        {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a"}]
            }
        }
    ],
    "priorityClassName": ["a", "b"],
    "securityContext": [{"runAsUser": 1}, {"runAsUser": 2}],
    "podSecurityContext": [{"runAsUser": 1}, {"runAsUser": 2}],
    "schedulerName": ["a", "b"],
    "hostNetwork": [True, False],
    "terminationGracePeriodSeconds": [1, 60],
    "podLabels": [{"a": "b"}, {"a": "c"}],
    "podAnnotations": [{"a": "b"}, {"a": "c"}],
    "podTemplate": [{"metadata": {"labels": {"a": "b"}}}, {"spec": {"hostname": "a"}}],
}
WORDS: Final[dict[str, list[Any]]] = {
    "metadata.name": ["a", "b"],
    "metadata.generateName": ["a-", "b-"],
    "metadata.namespace": ["a", "b"],
    "metadata.labels": [{"a": "b"}, {"a": "c"}],
    "metadata.annotations": [{"a": "b"}, {"a": "c"}],
    **{f"spec.{word}": values for word, values in _POD.items()},
    "spec.script": ["a.py", "b.py"],
    "spec.module": ["a", "b"],
    "spec.nodes": [1, 2, 3],
    "spec.elastic.nnodes": [1, 2, "1:2", "2:4"],
    "spec.elastic.nprocPerNode": [1, 2, "auto", "cpu", "gpu"],
    "spec.elastic.startMethod": ["spawn", "fork", "forkserver"],
    "spec.elastic.monitorInterval": [5, 1, 0.5],
    "spec.elastic.maxRestarts": [0, 1, 3],
    "spec.elastic.rdzvBackend": ["c10d", "static", "etcd-v2"],
    "spec.elastic.rdzvId": ["a", "b"],
    "spec.elastic.rdzvEndpoint": ["a:1", "b:2"],
    "spec.elastic.rdzvConfigs": [{"timeout": 5}, {"join_timeout": 5}, {"read_timeout": 5}],
    "spec.accelerator": ["nvidia-h100", "nvidia-a100-80gb"],
    "spec.fabric": ["efa", "infiniband", "roce", "tcpxo", "gib"],
    "spec.spot": [True, False],
    "spec.sharedMemory": [True, False, "1Gi"],
    "spec.runPolicy.cleanPodPolicy": ["None", "All", "Running"],
    "spec.runPolicy.ttlSecondsAfterFinished": [0, 60],
    "spec.runPolicy.activeDeadlineSeconds": [60, 600],
    "spec.runPolicy.backoffLimit": [0, 1, 3, "Unlimited"],
    "spec.runPolicy.suspend": [True, False],
    "spec.runPolicy.onPodFailure": ["RestartPod", "RestartJob", "FailJob"],
    "spec.runPolicy.onDisruption": ["Ignore", "Count", "FailJob"],
    "spec.runPolicy.successPolicy": ["Node0", "AllNodes"],
    "spec.runPolicy.restartInPlace": [
        {"exitCodes": [3]},
        {"exitCodes": [3], "action": "RestartAllContainers"},
    ],
    "spec.queue": ["a", "b"],
    "spec.priority": ["a", "b"],
    "spec.topology.required": ["rack", "zone"],
    "spec.topology.preferred": ["rack", "zone"],
    "spec.masterPort": [1234, 23456],
    "spec.names.container": ["a", "b"],
    "spec.elastic.defaults": ["torchrun"],
    "spec.minAvailable": [1, 2],
    "spec.names.node": ["a", "b"],
    "spec.names.master": ["a", "b"],
    "spec.names.worker": ["a", "b"],
    "spec.names.masterContainer": ["a", "b"],
    "spec.names.workerContainer": ["a", "b"],
    "spec.names.service": ["a", "b"],
    "spec.names.task": ["a", "b"],
    "spec.runtimeRef": [{"name": "a"}, {"name": "b"}, {"name": "a", "kind": "TrainingRuntime"}],
    "spec.roles": [{"x": {"command": ["x"]}}, {"y": {"command": ["x"]}}],
}
IN_ROLES: Final = {
    **{
        f"spec.{role}.{word}": values
        for role in ("master", "roles.loader")
        for word, values in _POD.items()
    },
    "spec.worker.replicas": [1, 2, 3],
    "spec.roles.loader.replicas": [1, 2, 3],
}
"""Fields of a role, tested in shapes that have the role."""

NOT_TRIED: Final = {
    "apiVersion": "a constant",
    "kind": "a constant",
    "spec.target": "the target is the case's own",
    "variants": "the fields of spec, over those of the job: tests/spec/test_variants.py",
    "spec.podSecurity": "a demand on what is written, which changes nothing that passes",
    "spec.volcano": "for one target, by its name",
    "spec.manifest": "for one target each, by its name",
    "spec.master.replicas": "1, or an error",
    **{
        f"spec.worker.{word}": "as spec.master: the same fields, written by the same code"
        for word in _POD
    },
}
SAME: Final = {
    (
        "spec.runPolicy.onDisruption",
        "Count",
        "FailJob",
    ): "without retries, a loss that counts ends the job",
    ("spec.runPolicy.successPolicy", "Node0", "AllNodes"): "of one node",
    (
        "spec.runPolicy.cleanPodPolicy",
        "None",
        "Running",
    ): "of one pod, which does not run when the job is over",
}
"""Values that have the same meaning in some jobs."""
PROFILE: Final = {
    "kind": "ClusterProfile",
    "spec": {
        "topology": {
            "name": "t",
            "levels": {"rack": {"nodeLabel": "x.y/rack"}, "zone": {"nodeLabel": "x.y/zone"}},
        }
    },
}


def given(document: Json, word: str, value: Any) -> Json:
    """Return a copy of a spec with one field set; a mount also gets its volume."""
    copy = deepcopy(document)
    *above, last = word.split(".")
    at = copy
    for part in above:
        at = at.setdefault(part, {})
    at[last] = value
    if last == "volumeMounts":
        at.setdefault("volumes", [_VOLUME])
    if last == "generateName":
        del at["name"]
    return copy


def compiled(document: Json, target: str, *, lint: bool) -> Result:
    return compile(document, target=target, cluster=PROFILE, lint=lint)


def lost(document: Json, target: str, word: str, values: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of values with the same manifests and no finding."""
    without = compiled(document, target, lint=False)
    seen: dict[str, Any] = {}
    for value in values:
        spec = given(document, word, value)
        result = compiled(spec, target, lint=False)
        if set(result.diagnostics) - set(without.diagnostics):
            continue
        text = json.dumps(result.manifests)
        if text not in seen:
            seen[text] = value
        elif not set(compiled(spec, target, lint=True).diagnostics) - set(
            compiled(document, target, lint=True)[1]
        ):
            yield seen[text], value
    if len(values) == 1:  # among several values, at most one can be the default
        yield from (
            ("absent", one) for text, one in seen.items() if text == json.dumps(without.manifests)
        )


def words_of(shape: Json) -> Mapping[str, list[Any]]:
    """Return the fields to test in a job of this shape."""
    roles = {word: values for word, values in IN_ROLES.items() if word.split(".")[1] in shape}
    plain = shape == SHAPES["two"]  # pod fields do not depend on the number of pods
    pods = {f"spec.{word}" for word in _POD} - {"spec.restartPolicy"}
    return roles or {word: values for word, values in WORDS.items() if plain or word not in pods}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_field_is_dropped_silently(shape: str, target: str) -> None:
    document = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "train"},
        "spec": {"image": "img:1", **SHAPES[shape]},
    }
    if not compiled(document, target, lint=False).ok:
        return
    violations = [
        (word, *pair)
        for word, values in thinned(
            words_of(SHAPES[shape]).items(), 2, start=[*TARGETS].index(target)
        )
        for pair in lost(document, target, word, values)
        if (word, *pair) not in SAME
    ]
    assert violations == []


def test_every_field_is_tried() -> None:
    """Each schema field, or one that contains it, has values or a reason."""
    schema = json.loads((ROOT / "schemas" / "spec.schema.json").read_text(encoding="utf-8"))
    known = {*WORDS, *IN_ROLES, *NOT_TRIED}
    missing = [
        path
        for path in _leaves(schema, schema, "")
        if not any(
            path == one or path.startswith(f"{one}.") or one.startswith(f"{path}.") for one in known
        )
    ]
    assert missing == []


def _leaves(schema: Json, node: Json, path: str) -> Iterator[str]:
    """Yield the paths of schema fields that have no fields themselves."""
    for alternative in (node, *node.get("anyOf", ())):
        whole = (
            schema["$defs"][alternative["$ref"].rpartition("/")[2]]
            if "$ref" in alternative
            else alternative
        )
        if whole.get("properties"):
            for key, below in whole["properties"].items():
                yield from _leaves(schema, below, f"{path}.{key}".lstrip("."))
            return
    yield path
