"""ValidatingAdmissionPolicy and MutatingAdmissionPolicy, with their CEL expressions.

Source: Kubernetes 1.36, pkg/apis/admissionregistration/validation/validation.go. The expressions are compiled with what
the API server declares for them: `apiserver.cel.environments`.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.apiserver.cel.environments import policy_environment, variable_type
from ptcompile.apiserver.cel.syntax import RESERVED
from ptcompile.apiserver.cel.types import BOOL, NULL, STRING, CelType, list_of
from ptcompile.apiserver.validation.admission_registration import (
    REINVOCATION_POLICIES,
    check_expression,
    check_failure_policy,
    check_match_conditions,
    check_match_resources,
)
from ptcompile.apiserver.validation.values import why_not_kind
from ptcompile.diagnostics import Path
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings, is_empty
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.kubernetes.unstructured import Json, as_mapping, as_strings, nested_map

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


def check_validating_policy(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a ValidatingAdmissionPolicy, except its metadata."""
    spec = nested_map(manifest, "spec")
    params = spec.get("paramKind") is not None
    variables = _check_policy(spec, problems, patches=False)
    environment = policy_environment(params=params, variables=variables)
    audited = spec.get("auditAnnotations")
    if not spec.get("validations") and not audited:
        why = "validations or auditAnnotations must contain at least one item"
        problems.required(("spec", "validations"), why)
        problems.required(("spec", "auditAnnotations"), why, "list validations or auditAnnotations")
        return
    message_environment = policy_environment(params=params, authorizer=False, variables=variables)
    for index, validation in indexed_mappings(spec.get("validations")):
        _check_validation(validation, ("spec", "validations", index), environment, message_environment, problems)
    path: Path = ("spec", "auditAnnotations")
    if type(audited) is list and len(audited) > _ANNOTATIONS_MAX:
        problems.invalid(path, audited, f"must not have more than {_ANNOTATIONS_MAX} auditAnnotations")
        return
    seen = set[str]()
    for index, annotation in indexed_mappings(audited):
        key = annotation.get("key") or ""
        _check_annotation(manifest, annotation, (*path, index), environment, problems)
        if type(key) is str:
            problems.check_unseen((*path, index, "key"), key, seen)


def check_mutating_policy(manifest: Json, context: ApiServer, problems: FieldErrors) -> None:
    """Check a MutatingAdmissionPolicy, except its metadata."""
    spec = nested_map(manifest, "spec")
    variables = _check_policy(spec, problems, patches=True)
    _check_mutating_operations(spec, problems)
    environment = policy_environment(params=spec.get("paramKind") is not None, patches=True, variables=variables)
    if not spec.get("mutations"):
        problems.required(("spec", "mutations"), "mutations must contain at least one item")
    for index, mutation in indexed_mappings(spec.get("mutations")):
        _check_mutation(mutation, ("spec", "mutations", index), environment, problems)
    policy = spec.get("reinvocationPolicy")
    help = f"set {' or '.join(REINVOCATION_POLICIES)}"
    problems.check_required_choice(("spec", "reinvocationPolicy"), policy, REINVOCATION_POLICIES, help=help)


def _check_mutating_operations(spec: Json, problems: FieldErrors) -> None:
    rules = nested_map(spec, "matchConstraints").get("resourceRules")
    for index, rule in indexed_mappings(rules):
        for number, operation in enumerate(as_strings(rule.get("operations"))):
            if operation == "DELETE":
                path = ("spec", "matchConstraints", "resourceRules", index, "operations", number)
                problems.unsupported(path, operation, _MUTATING_OPERATIONS)


def _check_policy(spec: Json, problems: FieldErrors, *, patches: bool) -> FieldTypes | None:
    """Check what both kinds of policies have. Return the types of the variables, or None if there are none."""
    check_failure_policy(spec.get("failurePolicy"), ("spec", "failurePolicy"), problems)
    params = spec.get("paramKind")
    if type(params) is dict:
        _check_param_kind(params, ("spec", "paramKind"), problems)
    match = spec.get("matchConstraints")
    if match is None:
        problems.required(("spec", "matchConstraints"), help="list resourceRules in it")
    else:
        check_match_resources(match, ("spec", "matchConstraints"), problems)
        if not as_mapping(match).get("resourceRules"):
            problems.required(("spec", "matchConstraints", "resourceRules"))
    conditions_path = ("spec", "matchConditions")
    check_match_conditions(spec.get("matchConditions"), conditions_path, problems, params=params is not None)
    if not spec.get("variables"):
        return None
    variables: dict[str, CelType] = {}
    # the environment has the variables before each one: they are added as they are checked
    environment = policy_environment(params=params is not None, patches=patches, variables=variables)
    for index, variable in indexed_mappings(spec["variables"]):
        _check_variable(variable, ("spec", "variables", index), environment, problems)
        if type(variable.get("name")) is str and type(variable.get("expression")) is str:
            variables[variable["name"]] = variable_type(variable["expression"], environment)
    return variables


def _check_param_kind(kind: Json, path: Path, problems: FieldErrors) -> None:
    version = kind.get("apiVersion")
    version_path = (*path, "apiVersion")
    if is_empty(version):
        problems.required(version_path)
    elif type(version) is str and version.count("/") > 1:
        problems.invalid(version_path, version, f"unexpected GroupVersion string: {version}")
    elif type(version) is str:
        group, _, name = version.rpartition("/")
        problems.check_optional_text(version_path, group, names.why_not_dns_subdomain)
        if not name:
            problems.invalid(version_path, version, "version must be specified")
        else:
            problems.check_text(version_path, name, names.why_not_dns_1035_label)
    problems.check_required_text((*path, "kind"), kind.get("kind"), why_not_kind)


def _check_variable(variable: Json, path: Path, environment: Environment, problems: FieldErrors) -> None:
    name = variable.get("name") or ""
    expression = variable.get("expression") or ""
    if type(name) is str and not name.strip():
        problems.required((*path, "name"), "name is not specified")
    elif type(name) is str and (name in RESERVED or not _is_identifier(name)):
        problems.invalid((*path, "name"), name, "name is not a valid CEL identifier")
    _check_text(expression, (*path, "expression"), environment, (), problems)


def _check_text(
    expression: Any, path: Path, environment: Environment, allowed: tuple[CelType, ...], problems: FieldErrors
) -> None:
    if type(expression) is str and not expression.strip():
        problems.required(path, "expression is not specified")
    elif type(expression) is str:
        check_expression(expression, path, environment, allowed, problems)


def _check_validation(
    validation: Json, path: Path, environment: Environment, message: Environment, problems: FieldErrors
) -> None:
    _check_text(validation.get("expression") or "", (*path, "expression"), environment, (BOOL,), problems)
    expression = validation.get("messageExpression")
    text = validation.get("message")
    if type(expression) is str and expression:
        if expression.strip():
            check_expression(expression, (*path, "messageExpression"), message, (STRING,), problems)
        else:
            problems.invalid((*path, "messageExpression"), expression, "must be non-empty if specified")
    if type(text) is str and text:
        if not text.strip():
            problems.invalid((*path, "message"), text, "message must be non-empty if specified")
        elif "\n" in text.strip() or "\r" in text.strip():
            problems.invalid((*path, "message"), text, "message must not contain line breaks")
    problems.check_choice((*path, "reason"), validation.get("reason"), _REASONS)


def _check_annotation(
    manifest: Json, annotation: Json, path: Path, environment: Environment, problems: FieldErrors
) -> None:
    name = nested_map(manifest, "metadata").get("name")
    key = annotation.get("key") or ""
    if is_empty(name):
        problems.invalid((*path, "key"), key, "requires metadata.name be non-empty", "name the policy")
    elif type(name) is type(key) is str and (why := names.why_not_qualified_name(f"{name}/{key}")):
        problems.invalid((*path, "key"), f"{name}/{key}", why)
    expression = annotation.get("valueExpression") or ""
    expression_path = (*path, "valueExpression")
    if type(expression) is not str:
        return
    if not expression.strip():
        problems.required(expression_path, "valueExpression is not specified")
    elif len(expression.strip().encode("utf-8", "surrogatepass")) > _VALUE_EXPRESSION_MAX:
        problems.required(expression_path, f"must not exceed {_VALUE_EXPRESSION_MAX} bytes in length", "shorten it")
    else:
        check_expression(expression.strip(), expression_path, environment, (STRING, NULL), problems)


def _check_mutation(mutation: Json, path: Path, environment: Environment, problems: FieldErrors) -> None:
    patch_type = mutation.get("patchType")
    if is_empty(patch_type):
        problems.required((*path, "patchType"), help=f"set {' or '.join(_PATCHES)}")
    elif type(patch_type) is str and patch_type not in _PATCHES:
        problems.unsupported((*path, "patchType"), patch_type, _PATCHES)
    elif type(patch_type) is str:
        field, expected = _PATCHES[patch_type]
        patch = mutation.get(field)
        if patch is None:
            problems.required((*path, field), f"must be specified when patchType is {patch_type}")
        else:
            expression = as_mapping(patch).get("expression") or ""
            _check_text(expression, (*path, field, "expression"), environment, (expected,), problems)
        for other, _ in _PATCHES.values():
            if other != field and mutation.get(other) is not None:
                why = f"must not be specified when patchType is {patch_type}"
                problems.invalid((*path, other), f"{{{other}}}", why, f"remove `{other}`")
