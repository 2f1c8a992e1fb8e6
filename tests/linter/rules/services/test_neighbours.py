"""Services and the pods that name them, in one stream."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, fires

LABELS = {"app": "train"}


def _service(name: str = "train", namespace: str | None = None, **spec: Any) -> Json:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"selector": LABELS, **spec},
    }


def _pod(subdomain: str | None = "train", labels: Json = LABELS, *, probe: bool = False) -> Json:
    probed = {"readinessProbe": {"tcpSocket": {"port": 1}}} if probe else {}
    spec = {
        "containers": [{"name": "a", "image": "a:1", **probed}],
        **({"subdomain": subdomain} if subdomain else {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train-0", "labels": labels},
        "spec": spec,
    }


def _job(subdomain: str) -> Json:
    template = {"spec": _pod(subdomain)["spec"]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train"},
        "spec": {"template": template},
    }


HEADLESS = {"clusterIP": "None"}


@pytest.mark.parametrize(
    ("rule", "service", "others", "expected"),
    [
        ("service-not-headless", _service(), [_pod()], True),
        ("service-not-headless", _service(**HEADLESS), [_pod()], False),
        ("service-not-headless", _service(), [_pod("other")], False),
        ("service-not-headless", _service(), [], False),
        ("service-not-headless", _service(namespace="other"), [_pod()], False),
        ("selector-misses-pods", _service(**HEADLESS), [_pod(labels={"app": "x"})], True),
        ("selector-misses-pods", _service(**HEADLESS, selector=None), [_pod()], True),
        ("selector-misses-pods", _service(**HEADLESS), [_pod(), _pod(labels={})], False),  # some of the pods match
        ("selector-misses-pods", _service(**HEADLESS, selector={"job-name": "train"}), [_job("train")], False),
        ("selector-misses-pods", _service(**HEADLESS, selector={"job-name": "trian"}), [_job("train")], True),
        ("hidden-until-ready", _service(**HEADLESS), [_pod(probe=True)], True),
        ("hidden-until-ready", _service(**HEADLESS), [_pod()], False),
        ("hidden-until-ready", _service(**HEADLESS, publishNotReadyAddresses=True), [_pod()], False),
        ("hidden-until-ready", _service(**HEADLESS), [_pod(None)], False),  # for example a database
        ("exposed-rendezvous", _service(type="NodePort", ports=[{"port": 80, "targetPort": 29400}]), [], True),
        ("exposed-rendezvous", _service(type="NodePort", ports=[{"port": 443}]), [], False),
        ("exposed-rendezvous", _service(ports=[{"port": 29500}]), [], False),
        ("service-shadows-env", _service("master", ports=[{"port": 29500}]), [], True),
        ("service-shadows-env", _service("master", **HEADLESS, ports=[{"port": 29500}]), [], False),
        ("service-shadows-env", _service("master-0", ports=[{"port": 29500}]), [], False),
    ],
)  # fmt: skip
def test_rules_about_services_fire_beside_others(
    rule: str, service: Json, others: list[Json], expected: bool
) -> None:
    assert fires(rule, service, *others) is expected
