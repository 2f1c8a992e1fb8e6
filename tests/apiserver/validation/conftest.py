"""The fixture `verdict(base, changes)`: the problems that the field rules report for a valid object after changes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from ptcompile.apiserver.kinds import BUILT_IN
from ptcompile.apiserver.validation import built_in_problems
from ptcompile.apiserver.validation.templates import template_problems
from ptcompile.kubernetes.requests import ApiServer

Verdict = Callable[..., list[str]]

_MAIN = {"name": "main", "image": "img:1"}
_POD = {"containers": [_MAIN]}
_JOB = {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}
_BASES: dict[str, dict[str, Any]] = {
    "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": _POD},
    "job": {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": _JOB},
    "service": {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}},
    },
    "configmap": {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
        "data": {"k": "v"},
    },
    "secret": {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "c"},
        "data": {"k": "dg=="},
    },
    "namespace": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}},
    "claim": {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    },
    "policy": {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "n"},
        "spec": {
            "podSelector": {},
            "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": 80}]}],
        },
    },
    "pytorch": {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "p"},
        "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": {"spec": _POD}}}},
    },
    "volcano": {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "v"},
        "spec": {"tasks": [{"name": "t", "replicas": 1, "template": {"spec": _POD}}]},
    },
    "jobset": {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "js"},
        "spec": {
            "replicatedJobs": [{"name": "r", "template": {"spec": {"template": {"spec": _POD}}}}]
        },
    },
    "runtime": {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": {"name": "r"},
        "spec": {
            "mlPolicy": {"numNodes": 2},
            "template": {
                "spec": {
                    "replicatedJobs": [
                        {"name": "node", "template": {"spec": {"template": {"spec": _POD}}}}
                    ]
                }
            },
        },
    },
    "trainjob": {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "t"},
        "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": 2}},
    },
}
_SHORT = {
    "C": {"pod": "spec.containers.0", "job": "spec.template.spec.containers.0"},
    "T": {
        "job": "spec.template",
        "pytorch": "spec.pytorchReplicaSpecs.Master.template",
        "volcano": "spec.tasks.0.template",
        "jobset": "spec.replicatedJobs.0.template.spec.template",
        "runtime": "spec.template.spec.replicatedJobs.0.template.spec.template",
    },
}


def _change(node: Any, path: list[str], value: Any) -> None:
    head, rest = path[0], path[1:]
    key: Any = int(head) if isinstance(node, list) else head
    if isinstance(node, list) and key == len(node):
        node.append({})
    if not rest:
        if value is Ellipsis:
            node.pop(key, None)
        else:
            node[key] = value
        return
    if isinstance(node, dict) and key not in node:
        node[key] = [] if rest[0].isdigit() else {}
    _change(node[key], rest, value)


def build(base: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the valid object with values set at dotted paths.

    A value of `...` removes the field. `C` is the container and `T` the pod template.
    """
    manifest = copy.deepcopy(_BASES[base])
    for path, value in changes.items():
        head, _, rest = path.partition(".")
        full = f"{_SHORT[head][base]}.{rest}" if head in _SHORT else path
        _change(manifest, full.split("."), copy.deepcopy(value))
    return manifest


@pytest.fixture
def verdict() -> Verdict:
    def ask(
        base: str, changes: dict[str, Any], kubernetes: tuple[int, int] = (1, 36), stage: str = ""
    ) -> list[str]:
        manifest = build(base, changes)
        before = copy.deepcopy(manifest)
        check = (
            built_in_problems
            if (manifest["apiVersion"], manifest["kind"]) in BUILT_IN
            else template_problems
        )
        problems = list(check(manifest, ApiServer(kubernetes)))
        assert manifest == before
        assert all(p.help for p in problems)
        return [f"{p.message.split(': ')[0]} {p.name}" for p in problems if stage in ("", p.stage)]

    return ask
