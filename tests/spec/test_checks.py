"""Checks of a profile's pod template: fields that the passes rely on, with their paths in the messages."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, strategies as st

from ptcompile.compiler.passes import run
from ptcompile.spec.checks import (
    as_text,
    check_amount,
    check_gang_scheduler,
    check_interval,
    check_nnodes,
    check_pod_template,
    extend_schema,
    nnodes_range,
    split_endpoint,
)
from tests import making
from tests.flyte.test_tasks import ANYTHING

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def affinity(terms: Any) -> dict[str, Any]:
    return {"spec": {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}}}


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
        (
            {"spec": {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": 5}}}}},
            "spec.affinity.nodeAffinity",
        ),
        (pytorch(command=["x"]), "spec.containers[0].command: "),
        (pytorch(resources={}), "spec.containers[0].resources: "),
    ],
)
def test_invalid_pod_templates_are_rejected(template: dict[str, Any], start: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011  # the text is compared
        check_pod_template(template)
    assert str(raised.value).startswith(start)


@pytest.mark.parametrize(
    "template", [{}, pytorch(env=[]), {"spec": {"containers": [{"name": "log", "args": ["x"]}]}}]
)
def test_valid_pod_templates_are_returned(template: dict[str, Any]) -> None:
    assert check_pod_template(template) is template


FIELDS = (
    "volumes", "tolerations", "containers", "initContainers", "imagePullSecrets", "nodeSelector", "affinity",
    "securityContext", "dnsConfig", "hostNetwork", "topologySpreadConstraints", "schedulerName",
)  # fmt: skip
SPEC = st.dictionaries(
    st.sampled_from(FIELDS), ANYTHING | st.lists(st.fixed_dictionaries({"name": st.text("ab")}))
)


@given(template=st.fixed_dictionaries({}, optional={"spec": SPEC | ANYTHING, "metadata": ANYTHING}))
def test_passes_handle_any_valid_pod_template(template: dict[str, Any]) -> None:
    try:
        profile = making.profile(
            {"defaults": {"podTemplate": template}, "spot": {"nodeLabels": {"spot": "true"}}}
        )
    except ValueError:
        return
    where = making.context(profile)
    job = run(making.job(making.template(limits={"nvidia.com/gpu": "1"}), spot=True), where)
    assert run(job, where) == job


RANGES = [
    (1, (1, 1)),
    ("1", (1, 1)),
    ("1:1", (1, 1)),
    (4, (4, 4)),
    ("4", (4, 4)),
    ("2:4", (2, 4)),
    ("1:1000", (1, 1000)),
]


@pytest.mark.parametrize(("value", "expected"), RANGES)
def test_a_number_or_range_of_nodes_is_read(value: int | str, expected: tuple[int, int]) -> None:
    """ "1", "1:1" and 1 are equivalent: docs/facts/flyte.md#defects 2."""
    assert nnodes_range(value) == expected


@pytest.mark.parametrize(
    "value",
    ["4:2", 0, "2:", ":2", "0:1", -1, "", "a", "1:2:3", " 1", "1 ", "+1", "1.0", "²", "9" * 10],
)
def test_nnodes_that_torchrun_rejects_raise_an_error(value: int | str) -> None:
    """torchrun requires 0 < MIN <= MAX: docs/facts/torchrun.md#options-and-variables."""
    with pytest.raises(ValueError, match="nodes"):
        nnodes_range(value)


@pytest.mark.parametrize("value", [True, False, 1.5, None, [1]])
def test_nnodes_must_be_a_number_or_a_range(value: Any) -> None:
    with pytest.raises(ValueError, match="must be a number of nodes or a range MIN:MAX"):
        check_nnodes(value)
    assert [check_nnodes(fine) for fine in (1, "2:4")] == [1, "2:4"]


@pytest.mark.parametrize(
    ("template", "valid"),
    [
        ({}, True),
        ({"kind": "Pod"}, False),
        ({"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}}, True),
        ({"metadata": {"labels": {"a": 1}}}, False),
        ({"metadata": {"name": "x"}}, False),
        ({"spec": {"hostname": "x"}}, False),
        ({"spec": {"priority": None}}, False),
        ({"spec": {"enableServiceLinks": False}}, True),
        (pytorch(env=[{"name": "A"}]), True),
        (pytorch(env={"A": "b"}), False),
        (pytorch(command=["x"]), False),
        ({"spec": {"containers": [{"name": "side", "command": ["x"]}]}}, True),
        ({"spec": {"containers": [{"image": "x"}]}}, False),
        ({"spec": {"initContainers": [{"name": "i"}]}}, True),
        ({"spec": {"initContainers": [{}]}}, False),
        (
            {
                "spec": {
                    "affinity": {
                        "nodeAffinity": {
                            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{}]}]}
                        }
                    }
                }
            },
            True,
        ),
        ({"spec": {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": {}}}}}}, False),
    ],
)
def test_the_schema_rejects_what_the_check_rejects(template: dict[str, Any], valid: bool) -> None:
    schema: dict[str, Any] = {"type": "object"}
    extend_schema(schema)
    assert jsonschema.Draft202012Validator(schema).is_valid(template) is valid


@pytest.mark.parametrize("value", [1, 0.5, 1e9])
def test_a_positive_number_of_seconds_is_an_interval(value: float) -> None:
    assert check_interval(value) == value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "above 0"),
        (-1, "above 0"),
        (float("inf"), "finite"),
        (float("nan"), "finite"),
        (True, "a number of seconds"),
        ("5", "a number of seconds"),
    ],
)
def test_an_interval_must_be_a_number_of_seconds(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_interval(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [(2, "2"), (0.5, "0.5"), ("500m", "500m"), ("64Gi", "64Gi"), (0, "0"), ("1e3", "1e3")],
)
def test_amounts_are_quantities_as_text(value: Any, text: str) -> None:
    assert check_amount(value) == text
    assert as_text(value) == text


@pytest.mark.parametrize(
    ("value", "message"),
    [(True, "not a Kubernetes quantity"), ("2 Gi", "not a Kubernetes quantity"), (None, "not a Kubernetes quantity"),
     ([1], "not a Kubernetes quantity"), (-1, "negative"), ("-1Gi", "negative")],
)  # fmt: skip
def test_an_amount_must_be_a_quantity(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_amount(value)
    assert as_text(True) is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h:1", ("h", 1)),
        ("h:65535", ("h", 65535)),
        ("[::1]:29400", ("[::1]", 29400)),
        ("h:000080", ("h", 80)),
        ("h:0", None),
        ("h:65536", None),
        ("h:9999999", None),
        ("h:00000165536", None),
        ("h:000080" + "0" * 5000, None),
        ("h:\u0663", None),
        ("h:-1", None),
        ("h:", None),
        (":1", None),
        ("h", None),
        ("", None),
    ],
)
def test_an_endpoint_splits_into_host_and_port(text: str, expected: tuple[str, int] | None) -> None:
    assert split_endpoint(text) == expected


@pytest.mark.parametrize(
    ("queue_system", "gang_scheduler", "allowed"),
    [("volcano", "volcano", True), ("volcano", None, True), ("volcano", "coscheduling", False),
     ("kueue", "coscheduling", True), (None, "volcano", True), ("kai", "volcano", False)],
)  # fmt: skip
def test_queues_of_a_scheduler_imply_it(
    queue_system: str | None, gang_scheduler: str | None, allowed: bool
) -> None:
    if allowed:
        check_gang_scheduler(queue_system, gang_scheduler)
        return
    with pytest.raises(ValueError, match=f"the queues of {queue_system} imply its scheduler"):
        check_gang_scheduler(queue_system, gang_scheduler)
