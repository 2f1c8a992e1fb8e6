"""Field rules of CustomResourceDefinitions, apart from their schemas (apiextensions-apiserver 1.36)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import ptcompile
from ptcompile.apiserver.validation import built_in_problems
from ptcompile.kubernetes.requests import ApiServer

Json = dict[str, Any]
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "color": {"type": "string"},
                "size": {"type": "number"},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        }
    },
}
VERSION = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA}}
SPEC: Json = {
    "group": "example.com",
    "names": {"kind": "Foo", "plural": "foos"},
    "scope": "Namespaced",
    "versions": [VERSION],
}
WEBHOOK = {"clientConfig": {"url": "https://a/b"}, "conversionReviewVersions": ["v1"]}


def crd(name: str = "foos.example.com", **spec: Any) -> Json:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {**copy.deepcopy(SPEC), **spec},
    }


def check(manifest: Json, expected: list[str]) -> None:
    messages = [problem.message for problem in built_in_problems(manifest, ApiServer())]
    assert len(messages) == len(expected), messages
    assert all(part in message for part, message in zip(expected, messages, strict=True)), messages


def with_names(**names: Any) -> Json:
    return {"names": {**SPEC["names"], **names}}


SPECS: list[tuple[Json, list[str]]] = [
    ({}, []),
    ({"group": "a_b.c"}, ["metadata.name: Invalid value", 'spec.group: Invalid value: "a_b.c": ']),
    ({"group": "local"}, ["metadata.name: ", "should be a domain with at least one dot"]),
    ({"group": ""}, ["metadata.name: ", "spec.group: Required value"]),
    (
        {"scope": "cluster"},
        ['spec.scope: Unsupported value: "cluster": supported values: "Cluster", "Namespaced"'],
    ),
    ({"scope": None}, ["spec.scope: Required value"]),
    (
        {"preserveUnknownFields": True},
        ["cannot set to true, set x-kubernetes-preserve-unknown-fields to true in"],
    ),
    (with_names(plural="bars"), ['"foos.example.com": must be spec.names.plural+"."+spec.group']),
    (
        with_names(kind=""),
        [f"spec.names.{key}: Required value" for key in ("kind", "singular", "listKind")],
    ),
    (
        with_names(kind="F_o"),
        ['kind: Invalid value: "F_o": may have mixed case', 'listKind: Invalid value: "F_oList"'],
    ),
    (with_names(listKind="Foo"), ["kind and listKind may not be the same"]),
    (with_names(singular="Foo"), ['spec.names.singular: Invalid value: "Foo": ']),
    (with_names(shortNames=["f", "F"]), ['spec.names.shortNames[1]: Invalid value: "F": ']),
    (with_names(categories=[None]), ['spec.names.categories[0]: Invalid value: "": ']),
    (
        {"versions": []},
        [
            "must have exactly one version marked as storage",
            "must have at least one stored version",
        ],
    ),
    (
        {"versions": [VERSION, {**VERSION, "name": "v2"}]},
        ["must have exactly one version marked as storage version"],
    ),
    ({"versions": [VERSION, {**VERSION, "storage": False}]}, ["must contain unique version names"]),
    ({"conversion": {"strategy": "None"}}, []),
    ({"conversion": {"strategy": "Webhook", "webhook": WEBHOOK}}, []),
    ({"conversion": {}}, ["spec.conversion.strategy: Required value"]),
    ({"conversion": {"strategy": "Hook"}}, ['"Hook": supported values: "None", "Webhook"']),
    (
        {"conversion": {"strategy": "None", "webhook": WEBHOOK}},
        ["clientConfig: Forbidden: should not be set", "Versions"],
    ),
    (
        {"conversion": {"strategy": "Webhook"}},
        ["required when strategy is set to Webhook", "Versions: Required value"],
    ),
    (
        {
            "conversion": {
                "strategy": "Webhook",
                "webhook": {**WEBHOOK, "conversionReviewVersions": ["v2"]},
            }
        },
        ["must include at least one of v1, v1beta1"],
    ),
]


@pytest.mark.parametrize(("change", "expected"), SPECS)
def test_mistakes_in_the_spec_of_a_crd_are_rejected(change: Json, expected: list[str]) -> None:
    check(crd(**change), expected)


def test_a_generated_name_is_never_the_right_one() -> None:
    manifest = crd()
    manifest["metadata"] = {"generateName": "foos-"}
    check(
        manifest,
        ['metadata.generateName: Invalid value: "foos-": must be spec.names.plural+"."+spec.group'],
    )


def column(**fields: Any) -> Json:
    return {
        "additionalPrinterColumns": [
            {"name": "Color", "type": "string", "jsonPath": ".spec.color", **fields}
        ]
    }


def scale(**fields: Any) -> Json:
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    return {"subresources": {"scale": {**paths, **fields}}}


def selectable(*paths: Any) -> Json:
    return {"selectableFields": [{"jsonPath": path} for path in paths]}


VERSIONS: list[tuple[Json, list[str]]] = [
    ({"name": "1"}, ['spec.versions[0].name: Invalid value: "1": ']),
    (
        {"schema": None},
        ["spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required"],
    ),
    ({"deprecationWarning": "old"}, ["can only be set for deprecated versions"]),
    ({"deprecated": True, "deprecationWarning": "old"}, []),
    ({"deprecated": True, "deprecationWarning": ""}, ["must not be an empty string"]),
    ({"deprecated": True, "deprecationWarning": "x" * 257}, ["must be <= 256 characters long"]),
    (
        {"deprecated": True, "deprecationWarning": "é\a"},
        ["non-printable character found at index 2"],
    ),
    (column(), []),
    (column(name=""), ["additionalPrinterColumns[0].name: Required value"]),
    (
        column(type=None),
        ["type: Required value: must be one of boolean,date,integer,number,string"],
    ),
    (column(type="text"), ['"text": must be one of boolean,date,integer,number,string']),
    (
        column(format="int"),
        ['"int": must be one of byte,date,date-time,double,float,int32,int64,password'],
    ),
    (column(jsonPath=None), ["additionalPrinterColumns[0].jsonPath: Required value"]),
    (column(jsonPath="spec"), ["must be a simple json path starting with ."]),
    (scale(), []),
    (scale(specReplicasPath=""), ["specReplicasPath: Required value"]),
    (scale(specReplicasPath="replicas"), ["must be a simple json path starting with ."]),
    (scale(specReplicasPath=".status.replicas"), ["should be a json path under .spec"]),
    (scale(statusReplicasPath=".spec.replicas"), ["should be a json path under .status"]),
    (
        scale(labelSelectorPath=".metadata.labels"),
        ["should be a json path under either .spec or .status"],
    ),
    (selectable(".spec.color", ".spec.labels.a"), []),
    (selectable(""), ["selectableFields[0].jsonPath: Required value"]),
    (
        selectable(".spec.color", ".spec.color"),
        ['selectableFields[1].jsonPath: Duplicate value: ".spec.color"'],
    ),
    (selectable(".spec.weight"), ["is an invalid path: does not refer to a valid field"]),
    (selectable(".spec.color.x"), ["is an invalid path: does not refer to a valid field"]),
    (selectable("spec"), ["is an invalid path: expected [ or . but got: spec"]),
    (selectable(".spec['color']"), ["is an invalid path: array notation is not allowed"]),
    (selectable("."), ["is an invalid path: unexpected end of JSON path"]),
    (selectable(".spec.size"), ["must point to a field of type string, boolean or integer."]),
    (
        selectable(*(f".spec.labels.l{i}" for i in range(9))),
        ["selectableFields: Too many: 9: must have at most 8 items"],
    ),
]


@pytest.mark.parametrize(("change", "expected"), VERSIONS)
def test_mistakes_in_the_versions_of_a_crd_are_rejected(change: Json, expected: list[str]) -> None:
    check(crd(versions=[{**VERSION, **change}]), expected)


@pytest.mark.parametrize(
    ("approval", "expected"),
    [
        (
            None,
            [
                "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval"
            ],
        ),
        ("unapproved, testing", []),
        ("https://github.com/kubernetes/enhancements/pull/1", []),
        ("yes", ['Invalid value: "yes": protected groups must have approval annotation']),
    ],
)
def test_groups_of_kubernetes_need_an_approval(approval: str | None, expected: list[str]) -> None:
    manifest = crd("foos.batch.k8s.io", group="batch.k8s.io")
    manifest["metadata"]["annotations"] = {"api-approved.kubernetes.io": approval}
    check(manifest, expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, []),
        (with_names(shortNames=["f"]), []),
        ({"scope": "Cluster"}, ['spec.scope: Invalid value: "Cluster": field is immutable']),
        (with_names(kind="Bar"), ['spec.names.kind: Invalid value: "Bar": field is immutable']),
        (
            {"versions": [{**VERSION, "name": "v2"}]},
            ['status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions'],
        ),
    ],
)
def test_forbidden_updates_of_a_crd_are_rejected(change: Json, expected: list[str]) -> None:
    report = ptcompile.diff(crd(), crd(**change))
    assert [d.message for d in report.diagnostics if d.severity == "error"] == expected


def test_an_update_must_keep_the_versions_that_the_status_lists() -> None:
    old = {
        **crd(versions=[VERSION, {**VERSION, "name": "v0", "storage": False}]),
        "status": {"storedVersions": ["v0"]},
    }
    report = ptcompile.diff(old, crd())
    assert [d.message for d in report.diagnostics if d.severity == "error"] == [
        'status.storedVersions[0]: Invalid value: "v0": must appear in spec.versions'
    ]


@pytest.mark.parametrize("value", [None, 1, "a", [], {}, [None], [{}], [1], {"a": 1}])
@pytest.mark.parametrize(
    "field", ["group", "names", "scope", "versions", "conversion", "preserveUnknownFields"]
)
def test_any_data_is_checked_without_a_crash(field: str, value: Any) -> None:
    ptcompile.lint(crd(**{field: value}))
    ptcompile.diff(crd(), crd(**{field: value}))
    ptcompile.diff(crd(**{field: value}), crd())
