"""Free-form parts of a spec: a value of the wrong shape is a finding at its line, not a crash."""

from __future__ import annotations

import pytest
import yaml
from pydantic.alias_generators import to_camel

from ptcompile.compiler.checks.kubernetes_fields import kubernetes_field_problems
from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.operators.targets import TARGETS
from ptcompile.spec.training_job import PodFields
from tests import making
from tests.making import compiled, smallest

CLUSTER = making.profile(
    {
        "spot": {"nodeLabels": {"spot": "yes"}},
        "defaults": {"labels": {"a": "b"}, "nodeSelector": {"c": "d"}},
    }
)


def main(fields: str) -> str:
    return f"podTemplate: {{spec: {{containers: [{{name: pytorch, {fields}}}]}}}}"


SHAPES = [
    "podTemplate: {spec: 5}", "podTemplate: {metadata: 5}", "podTemplate: {metadata: {labels: 5}}",
    "podTemplate: {metadata: {annotations: [a]}}", "podTemplate: {spec: {containers: 5}}",
    "podTemplate: {spec: {containers: [5]}}", "podTemplate: {spec: {containers: {a: b}}}",
    "podTemplate: {spec: {containers: [{name: [pytorch]}]}}", main("env: 5"), main("env: [5]"),
    main("env: [{name: []}]"), main("env: {A: b}"), main("command: 5"), main("args: [5]"), main("resources: 5"),
    main("resources: {limits: 5}"), main("resources: {requests: [a]}"), main("volumeMounts: [5]"),
    main("volumeMounts: [{name: a, mountPath: 5}]"), main("ports: 5"), main("ports: [5]"),
    "podTemplate: {spec: {volumes: 5}}", "podTemplate: {spec: {volumes: [5]}}",
    "podTemplate: {spec: {volumes: [{name: []}]}}", "podTemplate: {spec: {tolerations: 5}}",
    "podTemplate: {spec: {tolerations: [5]}}", "podTemplate: {spec: {nodeSelector: 5}}",
    "podTemplate: {spec: {affinity: 5}}", "podTemplate: {spec: {schedulerName: [], priorityClassName: {}}}",
    "affinity: {nodeAffinity: 5}",
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: 5}}",
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: 5}}}",
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [5]}}}",
    "volumeMounts: [{name: a, mountPath: 5}]", "volumes: [{name: []}]", "volumes: [{name: {}}]",
    "tolerations: [{key: 5}]", "imagePullSecrets: [{name: 5}]", "envFrom: [{secretRef: 5}]",
    "securityContext: {runAsUser: me}", "podSecurityContext: {fsGroup: me}",
    "worker: {podTemplate: {spec: 5}}", "master: {volumeMounts: [{name: a, mountPath: 5}]}",
]  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("body", SHAPES)
def test_a_wrong_shape_is_a_finding(body: str, target: str) -> None:
    source = smallest(f"{body}\nspot: true\nmasterPort: 29500")
    problems = [p for p in compiled(source, target, CLUSTER).problems if p.severity == "error"]
    assert problems
    block = (
        ("worker",)
        if body.startswith("worker")
        else ("master",)
        if body.startswith("master")
        else ()
    )
    word = body.removeprefix("worker: {").removeprefix("master: {").partition(":")[0]
    wanted = ("spec", *block, word)
    assert any(p.path[: len(wanted)] == wanted for p in problems), problems


@pytest.mark.parametrize(
    "body", ["podTemplate: {spec: null}", "podTemplate: {metadata: null}", "podTemplate: {}"]
)
def test_null_removes_and_is_valid(body: str) -> None:
    compiled(smallest(body))


UNKNOWN = [
    ("podTemplate: {spec: {tolerationz: []}}", ("spec", "podTemplate", "spec", "tolerationz")),
    ("podTemplate: {spec: {nodeSelectr: {a: b}}}", ("spec", "podTemplate", "spec", "nodeSelectr")),
    ("podTemplate: {spc: {}}", ("spec", "podTemplate", "spc")),
    ("podTemplate: {metadata: {label: {}}}", ("spec", "podTemplate", "metadata", "label")),
    (main("imag: x"), ("spec", "podTemplate", "spec", "containers", 0, "imag")),
    ("volumes: [{name: v, emptyDirr: {}}]", ("spec", "volumes", 0, "emptyDirr")),
    (
        "worker: {podTemplate: {spec: {nodeSelectr: {a: b}}}}",
        ("spec", "worker", "podTemplate", "spec", "nodeSelectr"),
    ),
]


@pytest.mark.parametrize("target", ["job", "pytorchjob", "volcano"])
@pytest.mark.parametrize(("body", "path"), UNKNOWN)
def test_unknown_keys_of_a_patch_are_reported_at_their_line(
    body: str, path: tuple[str, ...], target: str
) -> None:
    """TorchX drops them silently: docs/facts/torchx.md#defects-of-torchx 7."""
    problems = [p for p in compiled(smallest(body), target).problems if p.severity == "error"]
    assert [problem.path for problem in problems] == [path]


FREE = {
    "envFrom: [{odd: 1}]", "env: {A: {secretKeyRef: {odd: 1}}}", "volumeMounts: [{odd: 1}]", "volumes: [{odd: 1}]",
    "imagePullSecrets: [{odd: 1}]", "tolerations: [{odd: 1}]", "affinity: {odd: 1}", "securityContext: {odd: 1}",
    "podSecurityContext: {odd: 1}", "podTemplate: {odd: 1}", "ports: [{odd: 1}]",
}  # fmt: skip
TYPED = {"terminationGracePeriodSeconds: 9223372036854775808"}
"""Values that are valid for the spec's type but not for Kubernetes' narrower one, which has 64 bits."""


@pytest.mark.parametrize("block", ["", "worker", "roles"])
@pytest.mark.parametrize("body", sorted(FREE | TYPED))
def test_every_kubernetes_typed_field_is_checked(body: str, block: str) -> None:
    inside = {
        "": body,
        "worker": f"worker: {{{body}}}",
        "roles": f"roles: {{ps: {{command: [x], {body}}}}}",
    }[block]
    data = yaml.safe_load(smallest(inside))
    spec, _ = decode_spec(data)
    assert spec is not None
    at = {"": ("spec",), "worker": ("spec", "worker"), "roles": ("spec", "roles", "ps")}[block]
    assert [p.path[: len(at) + 1] for p in kubernetes_field_problems(spec.spec)] == [
        (*at, body.partition(":")[0])
    ]


def test_every_kubernetes_typed_field_has_a_row() -> None:
    """Every field that holds arbitrary mappings needs a row in `FREE`."""
    words = {body.partition(":")[0] for body in FREE}
    fields = PodFields.model_fields.items()
    assert {to_camel(name) for name, field in fields if "Any" in str(field.annotation)} | {
        "env"
    } == words
