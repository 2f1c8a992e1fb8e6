"""ValidatingAdmissionPolicies of the files: what they select, evaluate, and answer."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.diagnostics import Diagnostic
from tests.apiserver.admission.beside import Json, from_yaml, job, pod

API = "admissionregistration.k8s.io/v1"
PODS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}


def policy(*validations: Json | str, rules: list[Json] | None = None, **spec: Any) -> Json:
    """Return a policy about pods, or about what `rules` select."""
    checks = [
        {"expression": validation} if isinstance(validation, str) else validation
        for validation in validations
    ]
    match = {"resourceRules": rules or [PODS], **spec.pop("match", {})}
    spec = {"matchConstraints": match, "validations": checks, **spec}
    return {
        "apiVersion": API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "rule"},
        "spec": spec,
    }


def binding(*actions: str, **spec: Any) -> Json:
    spec = {"policyName": "rule", "validationActions": list(actions or ("Deny",)), **spec}
    return {
        "apiVersion": API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "bound"},
        "spec": spec,
    }


def findings(*objects: Json, **options: Any) -> list[Diagnostic]:
    diagnostics = ptcompile.lint(list(objects), **options).diagnostics
    return [
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.document == len(objects) - 1 and diagnostic.code in ("PTC594", "PTC595")
    ]


def denials(*objects: Json, **options: Any) -> list[str]:
    """Return what policies say of the last object, without their names."""
    return [
        f"{diagnostic.severity}: {diagnostic.message.partition('request: ')[2] or diagnostic.message}"
        for diagnostic in findings(*objects)
    ]


NAMED = "ValidatingAdmissionPolicy 'rule' with binding 'bound'"
LATEST = "object.spec.containers.all(c, c.image != 'i')"


def test_a_denial_has_the_words_of_the_server() -> None:
    (diagnostic,) = findings(
        policy({"expression": LATEST, "message": "no latest"}), binding(), pod({})
    )
    assert diagnostic.message == f"{NAMED} denied request: no latest"
    assert (diagnostic.severity, diagnostic.stage, diagnostic.authority, diagnostic.path) == (
        "error",
        "apply",
        "kube-apiserver",
        (),
    )
    assert diagnostic.help == "change the object as the policy in this file requires"


@pytest.mark.parametrize(
    ("validation", "expected"),
    [
        ("true", []),
        ("false", ["error: failed expression: false"]),
        ({"expression": "false", "message": " m "}, ["error: m"]),
        (
            {
                "expression": "false",
                "message": "m",
                "messageExpression": "'n ' + object.metadata.name",
            },
            ["error: n p"],
        ),
        (
            {"expression": "false", "message": "m", "messageExpression": "string(object.nothing)"},
            ["error: m"],
        ),
        ({"expression": "false", "message": "m", "messageExpression": "'a\\nb'"}, ["error: m"]),
        (
            "object.nothing == 1",
            ["error: expression 'object.nothing == 1' resulted in error: no such key: nothing"],
        ),
        ("object.metadata.namespace == 'default' && request.namespace == 'default'", []),
        ("request.operation == 'CREATE' && request.name == 'p' && oldObject == null", []),
        (
            "request.kind.kind == 'Pod' && request.resource.resource == 'pods' && "
            "request.kind.group == ''",
            [],
        ),
        ("!has(object.metadata.labels)", []),
        (
            "object.spec.containers.all(c, "
            "quantity(c.resources.limits.cpu).isLessThan(quantity('9')))",
            [],
        ),
        ("object.spec.containers[0].resources.limits.cpu == '8'", []),
    ],
)
def test_a_failing_validation_denies_with_its_message(
    validation: Json | str, expected: list[str]
) -> None:
    assert denials(policy(validation), binding(), {**pod({"limits": {"cpu": 8}})}) == expected


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        (("Deny",), ["error"]),
        (("Warn",), ["warning"]),
        (("Audit",), []),
        (("Deny", "Audit"), ["error"]),
        (("Warn", "Audit"), ["warning"]),
    ],
)
def test_the_binding_s_actions_decide_the_severity(
    actions: tuple[str, ...], expected: list[str]
) -> None:
    diagnostics = findings(policy("false"), binding(*actions), pod({}))
    assert [diagnostic.severity for diagnostic in diagnostics] == expected
    assert all(
        diagnostic.message.startswith(f"Validation failed for {NAMED}: ")
        for diagnostic in diagnostics
        if diagnostic.severity == "warning"
    )


def test_the_failure_policy_decides_about_errors_alone() -> None:
    assert denials(policy("object.nothing == 1", failurePolicy="Ignore"), binding(), pod({})) == []
    assert len(denials(policy("false", failurePolicy="Ignore"), binding(), pod({}))) == 1


def rule(**changes: Any) -> Json:
    return {**PODS, **changes}


@pytest.mark.parametrize(
    ("rules", "matched"),
    [
        ([rule()], True),
        ([rule(operations=["*"], apiGroups=["*"], apiVersions=["*"], resources=["*"])], True),
        ([rule(resources=["*/*"])], True),
        ([rule(resources=["pods/*"])], True),
        ([rule(resources=["pods/log"])], False),
        ([rule(operations=["UPDATE"])], False),
        ([rule(apiGroups=["batch"])], False),
        ([rule(apiVersions=["v2"])], False),
        ([rule(resources=["jobs"]), rule()], True),
        ([rule(resourceNames=["p"])], True),
        ([rule(resourceNames=["q"])], False),
        ([rule(scope="Namespaced")], True),
        ([rule(scope="Cluster")], False),
    ],
)
def test_a_policy_applies_to_what_its_rules_match(rules: list[Json], matched: bool) -> None:
    assert bool(denials(policy("false", rules=rules), binding(), pod({}))) is matched
    everything = [rule(resources=["*"])]
    excluding = policy("false", rules=everything, match={"excludeResourceRules": rules})
    assert bool(denials(excluding, binding(), pod({}))) is not matched


@pytest.mark.parametrize(
    ("criteria", "matched"),
    [
        ({"objectSelector": {"matchLabels": {"a": "b"}}}, True),
        ({"objectSelector": {"matchLabels": {"a": "c"}}}, False),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "other"}}}, False),
        ({"namespaceSelector": {"matchLabels": {"team": "a"}}}, True),
        (
            {
                "namespaceSelector": {
                    "matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]
                }
            },
            False,
        ),
    ],
)
def test_a_policy_applies_to_what_its_selectors_match(criteria: Json, matched: bool) -> None:
    space = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "default", "labels": {"team": "a"}},
    }
    labeled = {**pod({}), "metadata": {"name": "p", "labels": {"a": "b"}}}
    assert bool(denials(space, policy("false", match=criteria), binding(), labeled)) is matched
    assert (
        bool(denials(space, policy("false"), binding(matchResources=criteria), labeled)) is matched
    )


def test_a_namespace_that_no_file_has_makes_a_denial_uncertain() -> None:
    bound = binding(matchResources={"namespaceSelector": {"matchLabels": {"team": "a"}}})
    assert denials(policy("true"), bound, pod({})) == []
    (text,) = denials(policy("false"), bound, pod({}))
    assert text.startswith("warning: failed expression: false, if the policy applies")


@pytest.mark.parametrize(
    ("conditions", "failure", "expected"),
    [
        (["true"], "Fail", 1),
        (["false"], "Fail", 0),
        (["object.nothing == 1", "false"], "Fail", 0),
        (["object.nothing == 1"], "Fail", 1),
        (["object.nothing == 1"], "Ignore", 0),
    ],
)
def test_all_match_conditions_must_hold(conditions: list[str], failure: str, expected: int) -> None:
    listed = [{"name": f"c{i}", "expression": text} for i, text in enumerate(conditions)]
    assert (
        len(
            denials(
                policy("false", matchConditions=listed, failurePolicy=failure), binding(), pod({})
            )
        )
        == expected
    )


def test_variables_are_computed_when_they_are_read() -> None:
    variables = [
        {"name": "images", "expression": "object.spec.containers.map(c, c.image)"},
        {"name": "count", "expression": "size(variables.images)"},
        {"name": "broken", "expression": "object.nothing"},
    ]

    def of(expression: str) -> list[str]:
        return denials(policy(expression, variables=variables), binding(), pod({}, {}))

    assert of("variables.count == 2 && 'i' in variables.images") == []
    assert of("variables.count == 2 || variables.broken == 1") == []
    assert of("variables.count == 3") == ["error: failed expression: variables.count == 3"]
    assert (
        'composited variable "broken" fails to evaluate: no such key: nothing'
        in of("variables.broken == 1")[0]
    )


def test_many_variables_that_read_one_another_are_evaluated() -> None:
    chain = [
        {"name": f"v{i}", "expression": f"variables.v{i - 1} + 1" if i else "1"} for i in range(60)
    ]
    assert denials(policy("variables.v59 == 60", variables=chain), binding(), pod({})) == []
    assert len(denials(policy("variables.v59 == 61", variables=chain), binding(), pod({}))) == 1


def test_a_variable_about_the_user_is_not_evaluated() -> None:
    user = [{"name": "allowed", "expression": "authorizer.path('/x').check('get').allowed()"}]
    (diagnostic,) = findings(policy("variables.allowed", variables=user), binding(), pod({}))
    assert (diagnostic.code, diagnostic.severity) == ("PTC595", "note")
    assert denials(policy("true || variables.allowed", variables=user), binding(), pod({})) == []


CONFIG: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "allowed", "labels": {"use": "policy"}},
}
PARAMS: Json = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}


def with_data(name: str = "allowed", **data: str) -> Json:
    return {**CONFIG, "metadata": {**CONFIG["metadata"], "name": name}, "data": data}


@pytest.mark.parametrize(
    ("reference", "configs", "expected"),
    [
        ({"name": "allowed"}, [with_data(image="i")], []),
        ({"name": "allowed"}, [with_data(image="j")], ["error"]),
        ({"selector": {"matchLabels": {"use": "policy"}}}, [with_data(image="j"), with_data("b", image="k")],
         ["error", "error"]),
        ({"name": "missing"}, [with_data(image="j")], ["note"]),
        ({"name": "allowed", "namespace": "other"}, [with_data(image="j")], ["note"]),
    ],
)  # fmt: skip
def test_a_policy_reads_the_params_of_its_binding(
    reference: Json, configs: list[Json], expected: list[str]
) -> None:
    ruled = policy("object.spec.containers.all(c, c.image == params.data.image)", **PARAMS)
    bound = binding(paramRef={"parameterNotFoundAction": "Deny", **reference})
    assert [
        diagnostic.severity for diagnostic in findings(*configs, ruled, bound, pod({}))
    ] == expected


@pytest.mark.parametrize(
    "expression",
    [
        "authorizer.requestResource.check('create').allowed()",
        "request.userInfo.username == 'system:admin'",
        "namespaceObject.metadata.labels['team'] == 'a'",
    ],
)
def test_what_the_files_do_not_settle_is_a_note(expression: str) -> None:
    (diagnostic,) = findings(policy(expression), binding(), pod({}))
    assert (diagnostic.code, diagnostic.severity, diagnostic.authority) == (
        "PTC595",
        "note",
        "ptcompile",
    )
    assert "was not evaluated: the files do not" in diagnostic.message
    assert (
        denials(policy(f"true || {expression}"), binding(), pod({})) == []
        or "authorizer" in expression
    )


def test_expressions_read_the_namespace_object() -> None:
    space = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "default", "labels": {"team": "a"}},
    }
    ruled = policy("namespaceObject.metadata.labels['team'] == 'b'")
    assert len(denials(space, ruled, binding(), pod({}))) == 1
    assert (
        denials(space, policy("namespaceObject.metadata.name == 'default'"), binding(), pod({}))
        == []
    )


def test_pods_of_a_job_are_denied_when_they_are_created() -> None:
    (diagnostic,) = findings(policy(LATEST), binding(), job({}))
    assert (diagnostic.stage, diagnostic.path) == ("pod", ("spec", "template"))
    assert diagnostic.message.startswith(f"spec.template: {NAMED} denied request: ")


def test_a_custom_resource_is_matched_by_its_definition() -> None:
    definition, own = from_yaml("""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: geese.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Goose, plural: geese, singular: goose, listKind: GooseList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
---
{apiVersion: example.com/v1, kind: Goose, metadata: {name: g}, spec: {size: 3}}
""")
    geese = [{**PODS, "apiGroups": ["example.com"], "resources": ["geese"], "scope": "Cluster"}]
    ruled = policy(
        "object.spec.size < 3 && !has(request.namespace) && namespaceObject == null", rules=geese
    )
    assert len(denials(definition, ruled, binding(), own)) == 1
    assert denials(definition, ruled, binding(), {**own, "spec": {"size": 2}}) == []


def test_policies_that_do_not_exist_deny_nothing() -> None:
    broken = policy("object.")
    assert denials(broken, binding(), pod({})) == []
    assert denials(policy("false"), binding(policyName="other"), pod({})) == []
    assert denials(policy("false"), pod({})) == []
    every = [{**PODS, "apiGroups": ["*"], "resources": ["*"]}]
    assert denials(binding(), policy("false", rules=every)) == []


def test_objects_that_the_server_rejects_before_reach_no_policy() -> None:
    assert denials(policy("false"), binding(), pod({}, hostname="Not_A_Name")) == []


def test_steps_are_limited() -> None:
    """Neither one expression nor many policies take long; what was not evaluated is said."""
    nested = (
        "object.spec.containers.all(a, object.spec.containers.all(b, "
        "object.spec.containers.all(c, a.name != c.image)))"
    )
    costly = policy(nested)
    (diagnostic,) = findings(costly, binding(), pod(*[{}] * 120))
    assert diagnostic.code == "PTC595"
    assert "steps" in diagnostic.message
    policies = [
        {**policy(LATEST.replace("'i'", "'j'")), "metadata": {"name": f"r{i}"}} for i in range(300)
    ]
    bindings = [{**binding(policyName=f"r{i}"), "metadata": {"name": f"b{i}"}} for i in range(300)]
    pods = [{**pod({}), "metadata": {"name": f"p{i}"}} for i in range(300)]
    codes = {finding.code for finding in ptcompile.lint([*policies, *bindings, *pods]).diagnostics}
    assert "PTC591" in codes
