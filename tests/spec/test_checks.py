"""Checks of a profile's pod template: fields that the passes rely on, with their paths in the messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ptcompile.compiler.passes import run
from ptcompile.spec.checks import check_pod_template
from tests import making
from tests.flyte.test_tasks import ANYTHING

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pytorch(**fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "pytorch", **fields}]}}


@pytest.mark.parametrize(
    ("template", "start"),
    [
        ({"kind": "Pod"}, "kind: "),
        ({"spec": []}, "metadata and spec "),
        ({"metadata": {"name": "x"}}, "metadata.name: "),
        ({"metadata": {"labels": {"a": 1}}}, "metadata.labels: "),
        ({"spec": {"hostname": "x"}}, "spec.hostname: "),
        ({"spec": {"restartPolicy": "Never"}}, "spec.restartPolicy: "),
        ({"spec": {"volumes": 5}}, "spec.volumes: "),
        ({"spec": {"containers": [5]}}, "spec.containers: "),
        ({"spec": {"containers": [{}]}}, "spec.containers[0].name: "),
        ({"spec": {"initContainers": [{"name": "a", "env": {}}]}}, "spec.initContainers[0].env: "),
        ({"spec": {"dnsConfig": None}}, "spec.dnsConfig: "),
        ({"spec": {"affinity": {"nodeAffinity": 5}}}, "spec.affinity.nodeAffinity: "),
        ({"spec": {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": 5}}}}}, "spec.affinity.nodeAffinity"),
        (pytorch(command=["x"]), "spec.containers[0].command: "),
        (pytorch(resources={}), "spec.containers[0].resources: "),
    ],
)
def test_invalid_pod_templates_are_rejected(template: dict[str, Any], start: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011  # the text is compared
        check_pod_template(template)
    assert str(raised.value).startswith(start)


@pytest.mark.parametrize("template", [{}, pytorch(env=[]), {"spec": {"containers": [{"name": "log", "args": ["x"]}]}}])
def test_valid_pod_templates_are_returned(template: dict[str, Any]) -> None:
    assert check_pod_template(template) is template


FIELDS = (
    "volumes", "tolerations", "containers", "initContainers", "imagePullSecrets", "nodeSelector", "affinity",
    "securityContext", "dnsConfig", "hostNetwork", "topologySpreadConstraints", "schedulerName",
)  # fmt: skip
SPEC = st.dictionaries(st.sampled_from(FIELDS), ANYTHING | st.lists(st.fixed_dictionaries({"name": st.text("ab")})))


@given(template=st.fixed_dictionaries({}, optional={"spec": SPEC | ANYTHING, "metadata": ANYTHING}))
def test_passes_handle_any_valid_pod_template(template: dict[str, Any]) -> None:
    try:
        profile = making.profile({"defaults": {"podTemplate": template}, "spot": {"nodeLabels": {"spot": "true"}}})
    except ValueError:
        return
    where = making.context(profile)
    job = run(making.job(making.template(limits={"nvidia.com/gpu": "1"}), spot=True), where)
    assert run(job, where) == job
