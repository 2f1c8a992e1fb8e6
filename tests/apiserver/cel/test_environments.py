"""What the API server declares for expressions of policies, of device selectors, and of CRD rules."""

from __future__ import annotations

import pytest

from ptcompile.apiserver.cel.checker import CelTypeError, type_of
from ptcompile.apiserver.cel.environments import (
    policy_environment,
    rule_environment,
    variable_type,
    why_invalid_device_expression,
    why_invalid_policy_expression,
)
from ptcompile.apiserver.cel.types import (
    BOOL,
    DYN,
    INT,
    NULL,
    STRING,
    CelType,
    format_type,
    list_of,
)

UNDECLARED = "compilation failed: undeclared reference to '{}' (in container '')"


@pytest.mark.parametrize(
    ("text", "allowed", "expected"),
    [
        ("object.metadata.name == oldObject.metadata.name", (BOOL,), None),
        ("namespaceObject.metadata.labels['a'] == 'b'", (BOOL,), None),
        ("request.userInfo.groups.exists(g, g == 'a')", (BOOL,), None),
        ("authorizer.group('').resource('pods').check('use').allowed()", (BOOL,), None),
        ("authorizer.requestResource.check('use').allowed()", (BOOL,), None),
        ("variables.count > 1", (BOOL,), None),
        ("object.x", (), None),
        ("params.x == 1", (BOOL,), UNDECLARED.format("params")),
        ("request.user", (BOOL,), "compilation failed: undefined field 'user'"),
        ("variables.size", (BOOL,), "compilation failed: undefined field 'size'"),
        ("object.x", (BOOL,), "must evaluate to bool but got dyn"),
        ("true", (STRING, NULL), "must evaluate to one of [string null_type] but got bool"),
        ("Object{}", (), UNDECLARED.format("Object")),
    ],
)
def test_policy_expressions_must_have_an_allowed_type(
    text: str, allowed: tuple[CelType, ...], expected: str | None
) -> None:
    environment = policy_environment(params=False, variables={"count": INT})
    assert why_invalid_policy_expression(text, environment, allowed) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "(has(object.metadata.annotations) ? [] : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}])"
            " + [JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('a/b'), value: 'c'}]",
            "list(JSONPatch)",
        ),
        (
            "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'a', args: ['b']}]}}",
            "Object",
        ),
        ("request.operation == 'DELETE' ? oldObject : object", "dyn"),
        ("object.metadata.?labels['a'].orValue('') == 'b'", "bool"),
        ("namespaceObject.metadata.?labels[?'a'].orValue('b')", "string"),
        ("request.userInfo.username.split(':')[2].substring(9)", "string"),
        ("request.userInfo.extra['a'][0]", "string"),
        ("object.spec.containers.map(c, has(c.image), c.image).join(', ')", "string"),
    ],
)
def test_expressions_of_published_policies_have_their_types(text: str, expected: str) -> None:
    assert format_type(type_of(text, policy_environment(params=False, patches=True))) == expected


def test_only_some_expressions_may_use_patches_and_the_authorizer() -> None:
    with_all = policy_environment(params=True, patches=True)
    without = policy_environment(params=False, authorizer=False)
    patches = "[JSONPatch{op: 'add', path: '/x', value: params.x}]"
    assert (
        why_invalid_policy_expression(patches, with_all, (list_of(CelType("JSONPatch")),)) is None
    )
    assert why_invalid_policy_expression("authorizer", without, ()) == UNDECLARED.format(
        "authorizer"
    )
    assert why_invalid_policy_expression("variables.a", with_all, ()) == UNDECLARED.format(
        "variables"
    )


def test_a_variable_has_the_type_of_its_expression() -> None:
    environment = policy_environment(params=True)
    assert variable_type("1", environment) == INT
    assert variable_type("1 +", environment) == DYN


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("device.driver == 'gpu.nvidia.com'", None),
        ("device.attributes['a'].b", None),
        ("device.capacity['a'].memory.compareTo(quantity('1Gi')) >= 0", None),
        ("cel.bind(d, device.attributes['a'], d.x && d.y)", None),
        ("format.dns1123Label().validate('a').hasValue()", None),
        ("optional.of(1).hasValue()", None),
        ("device.attributes['a'].b.c", "must evaluate to bool or the unknown type, not dyn"),
        ("1", "must evaluate to bool or the unknown type, not int"),
        ("device.name", "compilation failed: undefined field 'name'"),
        ("object.x", UNDECLARED.format("object")),
    ],
)
def test_an_invalid_device_selector_has_its_reason(text: str, expected: str | None) -> None:
    assert why_invalid_device_expression(text) == expected


SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "count": {"type": "integer"},
                "ratio": {"type": "number"},
                "since": {"type": "string", "format": "date-time"},
                "port": {"x-kubernetes-int-or-string": True},
                "names": {"type": "array", "items": {"type": "string"}},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "any": {"x-kubernetes-preserve-unknown-fields": True},
                "a-b": {"type": "boolean"},
            },
        }
    },
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self.spec.count", "int"),
        ("self.spec.ratio", "double"),
        ("self.spec.since", "google.protobuf.Timestamp"),
        ("self.spec.port", "dyn"),
        ("self.spec.names", "list(string)"),
        ("self.spec.labels", "map(string, string)"),
        ("self.spec.a__dash__b", "bool"),
        ("self.metadata.name", "string"),
        ("oldSelf.kind", "string"),
    ],
)
def test_rules_of_crds_have_their_types(text: str, expected: str) -> None:
    environment = rule_environment(SCHEMA, root=True)
    assert environment is not None
    assert format_type(type_of(text, environment)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self.spec.any", "undefined field 'any'"),
        ("self.metadata.labels", "undefined field 'labels'"),
    ],
)
def test_rules_of_crds_cannot_read_every_field(text: str, expected: str) -> None:
    environment = rule_environment(SCHEMA, root=True)
    assert environment is not None
    with pytest.raises(CelTypeError) as error:
        type_of(text, environment)
    assert str(error.value) == expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [(["name", "namespace"], False), (["name", "generateName", "uid"], True)],
)
def test_a_schema_may_declare_further_metadata(metadata: list[str], expected: bool) -> None:
    fields = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
    meta = {"type": "object", "properties": {name: {"type": "string"} for name in metadata}}
    environment = rule_environment(
        {"type": "object", "properties": {**fields, "metadata": meta}}, root=True
    )
    assert environment is not None
    assert (
        metadata[-1] in environment.objects[environment.objects["object.0"]["metadata"].name]
    ) is expected


def test_a_schema_without_a_type_has_no_rules() -> None:
    assert rule_environment({"x-kubernetes-preserve-unknown-fields": True}, root=False) is None
    assert rule_environment({"type": "array"}, root=False) is None


def test_the_old_value_may_be_optional() -> None:
    optional = rule_environment({"type": "integer"}, root=False, optional_old=True)
    assert optional is not None
    assert format_type(optional.variables["oldSelf"]) == "optional_type(int)"
