"""What network policies admit: pods, namespaces, ports, and DNS."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, problems_of

LABELS = {"jobset.sigs.k8s.io/jobset-name": "t"}
OWN = {"podSelector": {"matchLabels": LABELS}}
NAME = "kubernetes.io/metadata.name"


def _jobset(namespace: str | None = "ml") -> Json:
    command = [
        "torchrun",
        "--nnodes=2",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=t-n-0-0.t:29400",
        "train.py",
    ]
    pod = {
        "restartPolicy": "Never",
        "containers": [{"name": "a", "image": "a:1", "command": command}],
    }
    job = {
        "name": "n",
        "template": {"spec": {"completions": 2, "parallelism": 2, "template": {"spec": pod}}},
    }
    metadata = {"name": "t", **({"namespace": namespace} if namespace else {})}
    kind = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
    return {**kind, "metadata": metadata, "spec": {"replicatedJobs": [job]}}


def _policy(direction: str, *rules: Json, namespace: str | None = "ml") -> Json:
    metadata = {"name": "p", **({"namespace": namespace} if namespace else {})}
    spec = {
        "podSelector": {"matchLabels": LABELS},
        "policyTypes": [direction],
        direction.lower(): list(rules),
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata,
        "spec": spec,
    }


def _space(name: str, **labels: str) -> Json:
    return {"namespaceSelector": {"matchLabels": labels or {NAME: name}}}


def _severities(policy: Json, *others: Json) -> list[str]:
    return [
        problem.severity
        for problem in problems_of("closed-network", policy, *(others or (_jobset(),)))
    ]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"from": [OWN]}, []),
        ({"from": [_space("ml")]}, []),
        ({"from": [_space("monitoring")]}, ["error"]),
        ({"from": [{**_space("monitoring"), **OWN}]}, ["error"]),
        ({"from": [{**_space("ml"), **OWN}]}, []),
        ({"from": [_space("", team="ml")]}, []),  # the files do not show this label
        ({"from": [{"namespaceSelector": {}}]}, []),
        ({"from": [OWN], "ports": [{"port": 29400}]}, ["error"]),
        ({"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}, []),
    ],
)
def test_policies_that_close_the_network_are_reported(rule: Json, expected: list[str]) -> None:
    assert _severities(_policy("Ingress", rule)) == expected


def test_labels_of_the_namespace_open_the_network() -> None:
    def space(**labels: str) -> Json:
        return {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "ml", "labels": labels},
        }

    policy = _policy("Ingress", {"from": [_space("", team="ml")]})
    assert _severities(policy, _jobset(), space(team="ml")) == []
    assert _severities(policy, _jobset(), space(team="web")) == ["error"]


def test_a_job_without_a_namespace_may_be_in_any() -> None:
    policy = _policy("Ingress", {"from": [_space("monitoring")]}, namespace=None)
    assert _severities(policy, _jobset(None)) == []


DNS: dict[str, Any] = {"ports": [{"port": 53, "protocol": "UDP"}]}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (({"to": [OWN]},), ["warning"]),
        (({"to": [OWN]}, {"to": [_space("kube-system")], **DNS}), []),
        (({"to": [OWN]}, {"to": [{"namespaceSelector": {}}], **DNS}), []),
        (({"to": [OWN]}, DNS), []),
        (({"to": [OWN]}, {"to": [_space("monitoring")]}), ["warning"]),
        (({},), []),
        (({"to": [_space("kube-system")], **DNS},), ["error"]),
    ],
)
def test_names_need_dns(rules: tuple[Json, ...], expected: list[str]) -> None:
    assert _severities(_policy("Egress", *rules)) == expected
