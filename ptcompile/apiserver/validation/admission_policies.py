"""ValidatingAdmissionPolicy and MutatingAdmissionPolicy, with their CEL expressions.

Source: Kubernetes 1.36, pkg/apis/admissionregistration/validation/validation.go. The expressions
are compiled with what the API server declares for them: `apiserver.cel.environments`.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.cel.environments import policy_environment, variable_type
from ptcompile.apiserver.cel.syntax import RESERVED
from ptcompile.apiserver.cel.types import BOOL, NULL, STRING, CelType, list_of
from ptcompile.apiserver.validation.admission_registration import (
    FAILURE_POLICIES,
    REINVOCATION_POLICIES,
    check_expression,
    check_match_conditions,
    check_match_resources,
)
from ptcompile.apiserver.validation.field import FieldValue
from ptcompile.apiserver.validation.values import why_not_kind
from ptcompile.diagnostics.field_errors import is_empty
from ptcompile.kubernetes import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.cel.checker import Environment, FieldTypes

_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_PATCHES: dict[str, tuple[str, CelType]] = {
    "ApplyConfiguration": ("applyConfiguration", CelType("Object")),
    "JSONPatch": ("jsonPatch", list_of(CelType("JSONPatch"))),
}
"""Field and type of the expression for each type of patch."""
_MUTATING_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
_ANNOTATIONS_MAX = 20
_VALUE_EXPRESSION_MAX = 5 * 1024
_is_identifier = Pattern(r"[_a-zA-Z][_a-zA-Z0-9]*").fullmatch


def check_validating_policy(policy: FieldValue) -> None:
    """Check a ValidatingAdmissionPolicy, except its metadata."""
    spec = policy["spec"]
    audited = spec["auditAnnotations"]
    validations = spec["validations"]
    params = spec.get("paramKind") is not None
    variables = _check_policy(spec, patches=False)
    environment = policy_environment(params=params, variables=variables)
    if not validations.value and not audited.value:
        why = "validations or auditAnnotations must contain at least one item"
        validations.required(why)
        audited.required(why, "list validations or auditAnnotations")
        return

    message_environment = policy_environment(params=params, authorizer=False, variables=variables)
    for validation in validations.objects():
        _check_validation(validation, environment, message_environment)
    if audited.is_list and len(audited.value) > _ANNOTATIONS_MAX:
        audited.invalid(f"must not have more than {_ANNOTATIONS_MAX} auditAnnotations")
        return

    seen = set[str]()
    for annotation in audited.objects():
        key = annotation["key"].or_default("")
        _check_annotation(annotation, policy["metadata"].get("name"), environment)
        if key.is_text:
            key.check_unseen(seen)


def check_mutating_policy(policy: FieldValue) -> None:
    """Check a MutatingAdmissionPolicy, except its metadata."""
    spec = policy["spec"]
    mutations = spec["mutations"]
    variables = _check_policy(spec, patches=True)
    _check_mutating_operations(spec["matchConstraints"]["resourceRules"])
    environment = policy_environment(
        params=spec.get("paramKind") is not None, patches=True, variables=variables
    )
    if not mutations.value:
        mutations.required("mutations must contain at least one item")
    for mutation in mutations.objects():
        _check_mutation(mutation, environment)
    help = f"set {' or '.join(REINVOCATION_POLICIES)}"
    spec["reinvocationPolicy"].check_required_choice(REINVOCATION_POLICIES, help=help)


def _check_mutating_operations(rules: FieldValue) -> None:
    for rule in rules.objects():
        for operation in rule["operations"].items(rule["operations"].strings):
            if operation.value == "DELETE":
                operation.unsupported(_MUTATING_OPERATIONS)


def _check_policy(spec: FieldValue, *, patches: bool) -> FieldTypes | None:
    """Check what both kinds of policies have. Return the types of the variables, or None if
    there are none.
    """
    kind = spec["paramKind"]
    match = spec["matchConstraints"]
    params = kind.value is not None
    spec["failurePolicy"].check_choice(FAILURE_POLICIES)
    if kind.is_mapping:
        _check_param_kind(kind)
    if match.value is None:
        match.required(help="list resourceRules in it")
    else:
        check_match_resources(match)
        if not match.get("resourceRules"):
            match["resourceRules"].required()

    check_match_conditions(spec["matchConditions"], params=params)
    if not spec.get("variables"):
        return None

    variables: dict[str, CelType] = {}
    # the environment has the variables before each one: they are added as they are checked
    environment = policy_environment(params=params, patches=patches, variables=variables)
    for variable in spec["variables"].objects():
        _check_variable(variable, environment)
        name = variable.get("name")
        expression = variable.get("expression")
        if type(name) is str and type(expression) is str:
            variables[name] = variable_type(expression, environment)

    return variables


def _check_param_kind(kind: FieldValue) -> None:
    version = kind["apiVersion"]
    if version.is_empty:
        version.required()
    elif version.is_text and version.value.count("/") > 1:
        version.invalid(f"unexpected GroupVersion string: {version.value}")
    elif version.is_text:
        group, _, name = version.value.rpartition("/")
        version.replaced(group).check_optional_text(names.why_not_dns_subdomain)
        if not name:
            version.invalid("version must be specified")
        else:
            version.replaced(name).check_text(names.why_not_dns_1035_label)

    kind["kind"].check_required_text(why_not_kind)


def _check_variable(variable: FieldValue, environment: Environment) -> None:
    name = variable["name"].or_default("")
    if name.is_text and not name.value.strip():
        name.required("name is not specified")
    elif name.is_text and (name.value in RESERVED or not _is_identifier(name.value)):
        name.invalid("name is not a valid CEL identifier")
    _check_text(variable["expression"], environment)


def _check_text(field: FieldValue, environment: Environment, *allowed: CelType) -> None:
    expression = field.or_default("")
    if expression.is_text and not expression.value.strip():
        expression.required("expression is not specified")
    elif expression.is_text:
        check_expression(expression, environment, allowed)


def _check_validation(
    validation: FieldValue, environment: Environment, message_environment: Environment
) -> None:
    expression = validation["messageExpression"]
    message = validation["message"]
    _check_text(validation["expression"], environment, BOOL)
    if expression.is_text and expression.value:
        if expression.value.strip():
            check_expression(expression, message_environment, (STRING,))
        else:
            expression.invalid("must be non-empty if specified")
    if message.is_text and message.value:
        text = message.value.strip()
        if not text:
            message.invalid("message must be non-empty if specified")
        elif "\n" in text or "\r" in text:
            message.invalid("message must not contain line breaks")

    validation["reason"].check_choice(_REASONS)


def _check_annotation(annotation: FieldValue, policy_name: Any, environment: Environment) -> None:
    key = annotation["key"].or_default("")
    if is_empty(policy_name):
        key.invalid("requires metadata.name be non-empty", "name the policy")
    elif type(policy_name) is str and key.is_text:
        key.replaced(f"{policy_name}/{key.value}").check_text(names.why_not_qualified_name)

    expression = annotation["valueExpression"].or_default("")
    if not expression.is_text:
        return

    stripped = expression.replaced(expression.value.strip())
    if not stripped.value:
        stripped.required("valueExpression is not specified")
    elif stripped.is_longer(_VALUE_EXPRESSION_MAX):
        stripped.required(f"must not exceed {_VALUE_EXPRESSION_MAX} bytes in length", "shorten it")
    else:
        check_expression(stripped, environment, (STRING, NULL))


def _check_mutation(mutation: FieldValue, environment: Environment) -> None:
    patch_type = mutation["patchType"]
    if patch_type.is_empty:
        patch_type.required(help=f"set {' or '.join(_PATCHES)}")
    elif patch_type.is_text and patch_type.value not in _PATCHES:
        patch_type.unsupported(_PATCHES)
    elif patch_type.is_text:
        key, expected = _PATCHES[patch_type.value]
        if mutation.get(key) is None:
            mutation[key].required(f"must be specified when patchType is {patch_type.value}")
        else:
            _check_text(mutation[key]["expression"], environment, expected)
        for other, _ in _PATCHES.values():
            if other != key and mutation.get(other) is not None:
                why = f"must not be specified when patchType is {patch_type.value}"
                mutation[other].replaced(f"{{{other}}}").invalid(why, f"remove `{other}`")
