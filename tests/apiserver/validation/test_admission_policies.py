"""Field rules of admission policies, with their CEL expressions (Kubernetes 1.36)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver.validation import built_in_problems
from ptcompile.kubernetes.requests import ApiServer
from tests.counting import steps

MATCH = {
    "resourceRules": [
        {
            "apiGroups": ["batch"],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["jobs"],
        }
    ]
}
PATCH = "[JSONPatch{op: 'add', path: '/metadata/labels/a', value: 'b'}]"
SPECS: dict[str, dict[str, Any]] = {
    "ValidatingAdmissionPolicy": {
        "matchConstraints": MATCH,
        "validations": [{"expression": "object.x == 1"}],
    },
    "MutatingAdmissionPolicy": {
        "matchConstraints": MATCH,
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": PATCH}}],
    },
}


def policy(kind: str, change: dict[str, Any]) -> dict[str, Any]:
    spec = {
        key: value
        for key, value in {**copy.deepcopy(SPECS[kind]), **change}.items()
        if value is not ...
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "limits.example.com"},
        "spec": spec,
    }


def check(kind: str, change: dict[str, Any], expected: list[str]) -> None:
    messages = [problem.message for problem in built_in_problems(policy(kind, change), ApiServer())]
    assert len(messages) == len(expected), messages
    assert all(part in message for part, message in zip(expected, messages, strict=True)), messages


def validation(expression: str = "true", **fields: Any) -> dict[str, Any]:
    return {"validations": [{"expression": expression, **fields}]}


KIND = {"apiVersion": "v1", "kind": "ConfigMap"}
R = {"name": "r", "expression": "object.spec.replicas > 1"}
VALIDATING: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    (
        {"failurePolicy": "fail"},
        ['spec.failurePolicy: Unsupported value: "fail": supported values: "Fail", "Ignore"'],
    ),
    ({"matchConstraints": ...}, ["spec.matchConstraints: Required value"]),
    ({"matchConstraints": {}}, ["spec.matchConstraints.resourceRules: Required value"]),
    (
        {"validations": []},
        [
            "spec.validations: Required value: validations or",
            "spec.auditAnnotations: Required value",
        ],
    ),
    (
        validation(" "),
        ["spec.validations[0].expression: Required value: expression is not specified"],
    ),
    (
        validation("object.x"),
        ['expression: Invalid value: "object.x": must evaluate to bool but got dyn'],
    ),
    (
        validation("foo.bar"),
        ["compilation failed: undeclared reference to 'foo' (in container '')"],
    ),
    (
        validation("params.x == 1"),
        ["compilation failed: undeclared reference to 'params' (in container '')"],
    ),
    ({**validation("params.x == 1"), "paramKind": KIND}, []),
    ({**validation("variables.r"), "variables": [R]}, []),
    (
        {**validation("variables.r <= 5"), "variables": [R]},
        ["found no matching overload for '_<=_' applied to"],
    ),
    ({**validation("variables.q"), "variables": [R]}, ["compilation failed: undefined field 'q'"]),
    (
        {"variables": [{"name": "a", "expression": "variables.b"}]},
        ["variables[0].expression: Invalid value"],
    ),
    ({"variables": [R, {"name": "b", "expression": "!variables.r"}]}, []),
    (
        {"variables": [{}]},
        ["name: Required value: name is not specified", "expression: Required value"],
    ),
    ({"variables": [{"name": "for", "expression": "1"}]}, ["name is not a valid CEL identifier"]),
    ({"variables": [{"name": "a-b", "expression": "1"}]}, ["name is not a valid CEL identifier"]),
    (validation(messageExpression="'a' + object.x"), []),
    (
        validation(messageExpression="1"),
        ['messageExpression: Invalid value: "1": must evaluate to string but got int'],
    ),
    (
        validation(messageExpression="authorizer.path('/').check('get').reason()"),
        ["reference to 'authorizer'"],
    ),
    (validation(messageExpression=" "), ["must be non-empty if specified"]),
    (validation(message=" "), ["message must be non-empty if specified"]),
    (validation(message="a\nb"), ["message must not contain line breaks"]),
    (
        validation(reason="Gone"),
        ['"Gone": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"'],
    ),
    (
        {"matchConditions": [{"name": "a", "expression": "variables.r"}], "variables": [R]},
        ["reference to 'variables'"],
    ),
    ({"matchConditions": [{"name": "a", "expression": "params.x == 1"}], "paramKind": KIND}, []),
    ({"paramKind": {"kind": "A"}}, ["spec.paramKind.apiVersion: Required value"]),
    (
        {"paramKind": {"apiVersion": "a/b/c", "kind": "A"}},
        ["unexpected GroupVersion string: a/b/c"],
    ),
    ({"paramKind": {"apiVersion": "a/", "kind": "A"}}, ["version must be specified"]),
    (
        {"paramKind": {"apiVersion": "A/v1", "kind": "A"}},
        ['spec.paramKind.apiVersion: Invalid value: "A"'],
    ),
    (
        {"paramKind": {"apiVersion": "v_1", "kind": "A"}},
        ['spec.paramKind.apiVersion: Invalid value: "v_1"'],
    ),
    (
        {"paramKind": {"apiVersion": "v1", "kind": "a b"}},
        ["may have mixed case, but should otherwise match: "],
    ),
    ({"paramKind": {"apiVersion": "v1"}}, ["spec.paramKind.kind: Required value"]),
]


@pytest.mark.parametrize(("change", "expected"), VALIDATING)
def test_mistakes_in_validating_policies_are_rejected(
    change: dict[str, Any], expected: list[str]
) -> None:
    check("ValidatingAdmissionPolicy", change, expected)


def annotation(value: str, key: str = "k") -> dict[str, Any]:
    return {"validations": ..., "auditAnnotations": [{"key": key, "valueExpression": value}]}


ANNOTATIONS: list[tuple[dict[str, Any], list[str]]] = [
    (annotation("'x'"), []),
    (annotation("null"), []),
    (annotation("true"), ["must evaluate to one of [string null_type] but got bool"]),
    (annotation(" "), ["valueExpression: Required value: valueExpression is not specified"]),
    (
        annotation("'" + "x" * 5200 + "'"),
        ["valueExpression: Required value: must not exceed 5120 bytes in length"],
    ),
    (
        annotation("'x'", "a b"),
        ['spec.auditAnnotations[0].key: Invalid value: "limits.example.com/a b"'],
    ),
    (
        {"auditAnnotations": [{"key": "k", "valueExpression": "'x'"}] * 2},
        ['[1].key: Duplicate value: "k"'],
    ),
    (
        {"auditAnnotations": [{"key": "k", "valueExpression": "1"}] * 21},
        ["must not have more than 20 auditAnnotations"],
    ),
]


@pytest.mark.parametrize(("change", "expected"), ANNOTATIONS)
def test_mistakes_in_audit_annotations_are_rejected(
    change: dict[str, Any], expected: list[str]
) -> None:
    check("ValidatingAdmissionPolicy", change, expected)


def test_audit_annotations_need_the_name_of_the_policy() -> None:
    manifest = policy("ValidatingAdmissionPolicy", annotation("'x'"))
    manifest["metadata"] = {"generateName": "x-"}
    (message,) = [problem.message for problem in built_in_problems(manifest, ApiServer())]
    assert (
        message
        == 'spec.auditAnnotations[0].key: Invalid value: "k": requires metadata.name be non-empty'
    )


def mutation(**fields: Any) -> dict[str, Any]:
    return {"mutations": [fields]}


OBJECT = {"expression": "Object{spec: Object.spec{replicas: 1}}"}
MUTATING: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    (
        {"mutations": []},
        ["spec.mutations: Required value: mutations must contain at least one item"],
    ),
    ({"reinvocationPolicy": None}, ["spec.reinvocationPolicy: Required value"]),
    ({"reinvocationPolicy": "1"}, ['"1": supported values: "IfNeeded", "Never"']),
    (mutation(patchType="ApplyConfiguration", applyConfiguration=OBJECT), []),
    (mutation(), ["spec.mutations[0].patchType: Required value"]),
    (mutation(patchType="Merge"), ['"Merge": supported values: "ApplyConfiguration", "JSONPatch"']),
    (
        mutation(patchType="JSONPatch"),
        ["jsonPatch: Required value: must be specified when patchType is JSONPatch"],
    ),
    (
        mutation(patchType="ApplyConfiguration", jsonPatch={"expression": PATCH}),
        [
            "applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration",
            'jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
        ],
    ),
    (
        mutation(patchType="JSONPatch", jsonPatch={"expression": "'x'"}),
        ["must evaluate to list(JSONPatch) but got string"],
    ),
    (
        mutation(patchType="JSONPatch", jsonPatch={}),
        ["expression: Required value: expression is not specified"],
    ),
    (
        mutation(patchType="JSONPatch", jsonPatch={"expression": "[JSONPatch{to: 'a'}]"}),
        ["undefined field 'to'"],
    ),
    (
        mutation(patchType="ApplyConfiguration", applyConfiguration={"expression": "object"}),
        ["must evaluate to Object but got dyn"],
    ),
    (
        {
            "matchConstraints": {
                "resourceRules": [{**MATCH["resourceRules"][0], "operations": ["DELETE"]}]
            }
        },
        [
            'operations[0]: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"'
        ],
    ),
]


@pytest.mark.parametrize(("change", "expected"), MUTATING)
def test_mistakes_in_mutating_policies_are_rejected(
    change: dict[str, Any], expected: list[str]
) -> None:
    check("MutatingAdmissionPolicy", change, expected)


@pytest.mark.parametrize("value", [None, 1, "a", [], {}, [None], [{}], [1], {"a": 1}])
@pytest.mark.parametrize("kind", SPECS)
@pytest.mark.parametrize(
    "field", ["matchConstraints", "validations", "mutations", "variables", "matchConditions"]
)
def test_any_data_is_checked_without_a_crash(kind: str, field: str, value: Any) -> None:
    ptcompile.lint(policy(kind, {field: value}))
    ptcompile.lint({**policy(kind, {}), "spec": value})


def test_many_variables_take_linear_work() -> None:
    def cost(n: int) -> int:
        variables = [
            {"name": f"v{i}", "expression": f"variables.v{i - 1} + 1" if i else "1"}
            for i in range(n)
        ]
        return steps(lambda: check("ValidatingAdmissionPolicy", {"variables": variables}, []))

    _, few, many = cost(100), cost(100), cost(400)  # load modules before measuring
    assert many < 5 * few
