"""Field rules of webhook configurations and of bindings of admission policies (Kubernetes 1.36)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ptcompile.apiserver.validation import built_in_problems
from ptcompile.kubernetes.requests import ApiServer

WEBHOOK: dict[str, Any] = {
    "name": "check.pods.example.com",
    "admissionReviewVersions": ["v1"],
    "sideEffects": "None",
    "clientConfig": {"service": {"name": "hook", "namespace": "default", "path": "/validate-pods"}},
    "rules": [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    ],
}
RULE = {"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["jobs"]}


def manifest(kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "x"},
        **copy.deepcopy(fields),
    }


def messages(obj: dict[str, Any]) -> list[str]:
    return [problem.message for problem in built_in_problems(obj, ApiServer())]


WEBHOOKS: list[tuple[str, Any, list[str]]] = [
    ("name", None, ["webhooks[0].name: Required value"]),
    (
        "name",
        "a.b",
        [
            'name: Invalid value: "a.b": should be a domain with at least three segments separated by dots'
        ],
    ),
    ("failurePolicy", "Fail", []),
    (
        "failurePolicy",
        "",
        ['failurePolicy: Unsupported value: "": supported values: "Fail", "Ignore"'],
    ),
    (
        "matchPolicy",
        "web",
        ['matchPolicy: Unsupported value: "web": supported values: "Equivalent", "Exact"'],
    ),
    ("sideEffects", None, ["sideEffects: Required value: must specify one of None, NoneOnDryRun"]),
    (
        "sideEffects",
        "Some",
        ['sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    ),
    ("timeoutSeconds", 30, []),
    (
        "timeoutSeconds",
        31,
        ["timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
    ),
    ("reinvocationPolicy", "Always", ['"Always": supported values: "IfNeeded", "Never"']),
    (
        "admissionReviewVersions",
        [],
        ["admissionReviewVersions: Required value: must specify one of v1, v1beta1"],
    ),
    ("admissionReviewVersions", ["v2"], ["must include at least one of v1, v1beta1"]),
    (
        "admissionReviewVersions",
        ["v1", "v1"],
        ['admissionReviewVersions[1]: Invalid value: "v1": duplicate version'],
    ),
    (
        "admissionReviewVersions",
        ["v1", "a b"],
        ['admissionReviewVersions[1]: Invalid value: "a b": must'],
    ),
    (
        "objectSelector",
        {"matchExpressions": [{"key": "a", "operator": "in"}]},
        ['"in": not a valid selector operator'],
    ),
    (
        "clientConfig",
        {},
        ["clientConfig: Required value: exactly one of url or service is required"],
    ),
    ("clientConfig", {"url": "https://a/b"}, []),
    (
        "clientConfig",
        {"url": "http://a"},
        ["'https' is the only allowed URL scheme; desired format: https://host[/path]"],
    ),
    ("clientConfig", {"url": "https:///b"}, ["host must be specified"]),
    ("clientConfig", {"url": "https://u:p@a/b"}, ["user information is not permitted in the URL"]),
    ("clientConfig", {"url": "https://a/b?c=d"}, ["query parameters are not permitted in the URL"]),
    ("clientConfig", {"url": "https://a/b#c"}, ["fragments are not permitted in the URL"]),
    ("clientConfig", {"url": "https://[a/b"}, ["url must be a valid URL"]),
    ("clientConfig", {"url": "https://[::1]:70000/b"}, []),
    (
        "clientConfig",
        {"url": "https://a:x/b"},
        ['url must be a valid URL: invalid port ":x" after host'],
    ),
    (
        "clientConfig",
        {"url": "https://a b/c"},
        ['url must be a valid URL: invalid character " " in host name'],
    ),
    (
        "clientConfig",
        {"url": "https://a/%zz"},
        ['url must be a valid URL: invalid URL escape "%zz"'],
    ),
    (
        "clientConfig",
        {"url": "https://a/\x01"},
        ["url must be a valid URL: invalid control character in URL"],
    ),
    ("clientConfig.service.name", "", ["clientConfig.service.name: Required value"]),
    (
        "clientConfig.service.port",
        0,
        ["port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive"],
    ),
    ("clientConfig.service.path", "/", []),
    ("clientConfig.service.path", "//", ["segment[0] may not be empty"]),
    ("clientConfig.service.path", "/a//b/", ["segment[1] may not be empty"]),
    ("clientConfig.service.path", "/A_b", ["segment[0]: "]),
    ("clientConfig.service.path", "abc", ["must start with a '/'"]),
    ("matchConditions", [{"name": "a", "expression": "object.x == 1"}], []),
    (
        "matchConditions",
        [{"name": "a", "expression": "object.x"}],
        ["must evaluate to bool but got dyn"],
    ),
    (
        "matchConditions",
        [{"name": "a", "expression": "params.x == 1"}],
        ["undeclared reference to 'params'"],
    ),
    ("matchConditions", [{}], ["[0].expression: Required value", "[0].name: Required value"]),
    (
        "matchConditions",
        [{"name": "a b", "expression": "true"}],
        ['matchConditions[0].name: Invalid value: "a b"'],
    ),
    (
        "matchConditions",
        [{"name": "a", "expression": "true"}] * 2,
        ['matchConditions[1].name: Duplicate value: "a"'],
    ),
    (
        "matchConditions",
        [{"name": "a", "expression": "1"}] * 65,
        ["Too many: 65: must have at most 64 items"],
    ),
]


@pytest.mark.parametrize(("field", "value", "expected"), WEBHOOKS)
def test_mistakes_in_webhooks_are_rejected(field: str, value: Any, expected: list[str]) -> None:
    obj = manifest("MutatingWebhookConfiguration", webhooks=[WEBHOOK])
    *path, last = field.split(".")
    node = obj["webhooks"][0]
    for key in path:
        node = node[key]
    node[last] = value
    reported = messages(obj)
    assert len(reported) == len(expected)
    assert all(part in message for part, message in zip(expected, reported, strict=True))


def test_webhooks_need_different_names() -> None:
    (message,) = messages(manifest("ValidatingWebhookConfiguration", webhooks=[WEBHOOK, WEBHOOK]))
    assert message == 'webhooks[1].name: Duplicate value: "check.pods.example.com"'


RULES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"scope": "Namespaced"}, []),
    (
        {"scope": "data"},
        ['scope: Unsupported value: "data": supported values: "*", "Cluster", "Namespaced"'],
    ),
    ({"operations": []}, ["operations: Required value"]),
    ({"operations": [None]}, ['operations[0]: Unsupported value: ""']),
    ({"operations": ["*", "CREATE"]}, ["if '*' is present, must not specify other operations"]),
    ({"apiGroups": None}, ["apiGroups: Required value"]),
    ({"apiGroups": ["*", "a"]}, ["if '*' is present, must not specify other API groups"]),
    ({"apiVersions": ["*", "*"]}, ["if '*' is present, must not specify other API versions"]),
    ({"apiVersions": [""]}, ["apiVersions[0]: Required value"]),
    ({"resources": []}, ["resources: Required value"]),
    ({"resources": ["", "pods"]}, ["resources[0]: Required value"]),
    (
        {"resources": ["*", "pods"]},
        ["if '*' is present, must not specify other resources without subresources"],
    ),
    ({"resources": ["*", "pods/log"]}, []),
    ({"resources": ["*/*", "pods/log"]}, ["if '*/*' is present, must not specify other resources"]),
    ({"resources": ["pods/*", "pods/log"]}, ["if 'pods/*' is present, must not specify pods/log"]),
    (
        {"resources": ["*/scale", "jobs/scale"]},
        ["if '*/scale' is present, must not specify jobs/scale"],
    ),
    ({"resourceNames": ["a", "a"]}, ['resourceNames[1]: Duplicate value: "a"']),
    ({"resourceNames": ["a/b"]}, ["resourceNames[0]: Invalid value: \"a/b\": may not contain '/'"]),
]


@pytest.mark.parametrize(("change", "expected"), RULES)
def test_mistakes_in_rules_are_rejected(change: dict[str, Any], expected: list[str]) -> None:
    match = {"resourceRules": [{**RULE, **change}]}
    reported = messages(
        manifest(
            "MutatingAdmissionPolicyBinding", spec={"policyName": "p", "matchResources": match}
        )
    )
    assert len(reported) == len(expected)
    assert all(part in message for part, message in zip(expected, reported, strict=True))


REFERENCE = {"name": "n", "parameterNotFoundAction": "Deny"}
BINDINGS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"policyName": ""}, ["spec.policyName: Required value"]),
    ({"policyName": "a b"}, ['spec.policyName: Invalid value: "a b"']),
    (
        {"validationActions": []},
        ["spec.validationActions: Required value: at least one validation action is required"],
    ),
    (
        {"validationActions": ["deny"]},
        ['[0]: Unsupported value: "deny": supported values: "Audit", "Deny", "Warn"'],
    ),
    (
        {"validationActions": ["Warn", "Warn"]},
        ['spec.validationActions[1]: Duplicate value: "Warn"'],
    ),
    ({"validationActions": ["Deny", "Warn"]}, ["must not contain both Deny and Warn"]),
    ({"paramRef": REFERENCE}, []),
    ({"paramRef": {"name": "n"}}, ["spec.paramRef.parameterNotFoundAction: Required value"]),
    (
        {"paramRef": {**REFERENCE, "parameterNotFoundAction": "a"}},
        ['"a": supported values: "Allow", "Deny"'],
    ),
    ({"paramRef": {**REFERENCE, "name": ".."}}, ["may not be '..'"]),
    (
        {"paramRef": {**REFERENCE, "name": None}},
        ["spec.paramRef: Required value: one of name or selector must be"],
    ),
    (
        {"paramRef": {**REFERENCE, "selector": {}}},
        ["name: Forbidden: name and", "selector: Forbidden: name and"],
    ),
    (
        {"matchResources": {"matchPolicy": "a"}},
        ['spec.matchResources.matchPolicy: Unsupported value: "a"'],
    ),
]


@pytest.mark.parametrize(("change", "expected"), BINDINGS)
def test_mistakes_in_bindings_are_rejected(change: dict[str, Any], expected: list[str]) -> None:
    spec = {"policyName": "p", "validationActions": ["Deny"], **change}
    reported = messages(manifest("ValidatingAdmissionPolicyBinding", spec=spec))
    assert len(reported) == len(expected)
    assert all(part in message for part, message in zip(expected, reported, strict=True))
