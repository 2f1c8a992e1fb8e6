"""Istio's sidecar, requested by the pod or by the label of its namespace."""

from __future__ import annotations

import pytest

from tests.linter.asking import Json, pod, problems_of

KEY = "sidecar.istio.io/inject"


def _namespace(name: str = "ml", **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def _job(**metadata: Json) -> Json:
    spec = pod(containers=[{"name": "a", "image": "a:1"}])["spec"]
    template = {"metadata": metadata, "spec": spec} if metadata else {"spec": spec}
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "t", "namespace": "ml"},
    }
    return {**manifest, "spec": {"template": template}}


@pytest.mark.parametrize("labels", [{"istio-injection": "enabled"}, {"istio.io/rev": "canary"}])
def test_a_namespace_that_injects_adds_the_proxy_unless_the_pod_opts_out(
    labels: dict[str, str],
) -> None:
    space = _namespace(**labels)
    assert [p.path for p in problems_of("istio-sidecar", _job(), space)] == [("spec", "template")]
    assert [p.path[-1] for p in problems_of("istio-sidecar", _job(labels={"a": "b"}), space)] == [
        "labels"
    ]
    assert problems_of("istio-sidecar", _job(labels={KEY: "false"}), space) == []
    assert problems_of("istio-sidecar", _job(annotations={KEY: "false"}), space) == []
    assert len(problems_of("istio-sidecar", _job(labels={KEY: "true"}), space)) == 1


def test_other_namespaces_do_not_inject() -> None:
    assert (
        problems_of("istio-sidecar", _job(), _namespace("web", **{"istio-injection": "enabled"}))
        == []
    )
    assert (
        problems_of(
            "istio-sidecar",
            _job(),
            _namespace(**{"istio-injection": "disabled", "istio.io/rev": "x"}),
        )
        == []
    )
    assert problems_of("istio-sidecar", _job(), _namespace()) == []
