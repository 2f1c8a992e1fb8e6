"""Selectors of budgets, policies and Services against the pods of the stream."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, fires

JOB_LABEL = "batch.kubernetes.io/job-name"


def _job(name: str = "t", namespace: str = "ml", **labels: str) -> Json:
    template = {
        "metadata": {"labels": labels},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "a"}]},
    }
    metadata = {"name": name, "namespace": namespace, "labels": {"app": "job"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"template": template},
    }


def _selecting(kind: str, selector: Json, **spec: Any) -> Json:
    versions = {
        "PodDisruptionBudget": "policy/v1",
        "NetworkPolicy": "networking.k8s.io/v1",
        "Service": "v1",
    }
    field = {
        "PodDisruptionBudget": "selector",
        "NetworkPolicy": "podSelector",
        "Service": "selector",
    }[kind]
    value = selector if kind == "Service" else {"matchLabels": selector}
    metadata = {"name": "s", "namespace": "ml"}
    return {
        "apiVersion": versions[kind],
        "kind": kind,
        "metadata": metadata,
        "spec": {field: value, **spec},
    }


@pytest.mark.parametrize("kind", ["PodDisruptionBudget", "NetworkPolicy"])
def test_budgets_and_policies_must_select_a_pod(kind: str) -> None:
    rule = "selects-no-pod"
    assert fires(rule, _selecting(kind, {"app": "job"}), _job())  # the job's label, not its pods'
    assert fires(rule, _selecting(kind, {"training.kubeflow.org/job-name": "t"}), _job())
    assert fires(rule, _selecting(kind, {JOB_LABEL: "other"}), _job())
    assert not fires(rule, _selecting(kind, {JOB_LABEL: "t"}), _job())
    assert not fires(rule, _selecting(kind, {"app": "x"}), _job(app="x"))
    assert not fires(rule, _selecting(kind, {"app": "x"}), _job(), _job("u", app="x"))
    assert not fires(rule, _selecting(kind, {"app": "x"}), _job(namespace="web"))
    assert not fires(rule, _selecting(kind, {"app": "x"}))
    assert not fires(rule, _selecting(kind, {}), _job())
    assert not fires(
        rule, _selecting(kind, {"kueue.x-k8s.io/podset": "main"}), _job()
    )  # Kueue adds it


def test_pods_of_kinds_that_are_not_simulated_count_too() -> None:
    spec = {
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "a"}]},
        }
    }
    metadata = {"name": "d", "namespace": "ml"}
    daemons = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec}
    rule = "selects-no-pod"
    assert not fires(rule, _selecting("PodDisruptionBudget", {"app": "web"}), _job(), daemons)
    assert not fires(rule, _selecting("PodDisruptionBudget", {"ray.io/cluster": "c"}), daemons)
    assert fires(rule, _selecting("PodDisruptionBudget", {"app": "wbe"}), daemons)


def test_services_must_select_a_pod() -> None:
    rule = "selects-no-pod"
    assert fires(rule, _selecting("Service", {"app": "job"}, clusterIP="None"), _job())
    assert not fires(
        rule, _selecting("Service", {"app": "job"}), _job()
    )  # it may serve another application
    assert not fires(rule, _selecting("Service", {JOB_LABEL: "t"}, clusterIP="None"), _job())
    assert not fires(rule, _selecting("Service", {}, clusterIP="None"), _job())
    named = _job()
    named["spec"]["template"]["spec"]["subdomain"] = "s"
    assert not fires(
        rule, _selecting("Service", {"app": "job"}, clusterIP="None"), named
    )  # selector-misses-pods
