"""Problems of an object whose kind a CRD or a JSON Schema defines, and of the operator's
webhooks where it has some.
"""

from __future__ import annotations

from ptcompile.apiserver.crds import Definition, definition_problems, shipped_definition
from ptcompile.apiserver.defaulting.schemas import property_schema
from ptcompile.apiserver.structure import is_outside
from ptcompile.apiserver.structure.json_schema import JsonSchema
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.metadata import check_metadata, metadata_problems
from ptcompile.apiserver.validation.templates import template_problems
from ptcompile.apiserver.validation.values import why_not_kind, why_not_path_segment
from ptcompile.diagnostics import Problem
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes import names
from ptcompile.operators.table import kind_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.evaluations import Evaluations
    from ptcompile.kinds.model import Kind, KindContext
    from ptcompile.kubernetes.requests import ApiServer, GroupVersionKind
    from ptcompile.kubernetes.unstructured import Json


def defined_kind_problems(
    manifest: Json,
    kind: GroupVersionKind,
    definition: Definition | JsonSchema,
    context: ApiServer,
    request: KindContext | None,
    budget: Evaluations | None,
) -> list[Problem]:
    """Return the problems of an object, with those of the operator's webhooks if there is a
    `request`.
    """
    operator_kind = kind_named(kind)
    webhooks = request is not None
    current = manifest
    if webhooks and operator_kind.rejects:
        current = operator_kind.default(manifest)

    problems = list(
        definition_problems(current, definition, context.kubernetes, budget, webhooks=webhooks)
    )
    shipped = shipped_definition(kind) if operator_kind.rejects else None
    paths = {problem.path for problem in problems}
    # a user's definition may be without CEL rules, but it alone decides which fields exist
    if shipped is not None and shipped is not definition:
        problems += [
            problem
            for problem in definition_problems(
                current, shipped, context.kubernetes, webhooks=webhooks
            )
            if problem.name != "unknown-field" and is_outside(problem, paths)
        ]
        paths = {problem.path for problem in problems}

    embedded = FieldErrors()
    if not isinstance(definition, JsonSchema):
        _check_embedded(definition.schema, FieldValue(current, (), CheckScope(context, embedded)))
    later = [
        *embedded,
        *metadata_problems(current, namespaced=operator_kind.namespaced),
        *template_problems(current, context),
    ]
    problems += [problem for problem in later if is_outside(problem, paths)]
    if request is None:
        return problems

    return _with_webhooks(problems, operator_kind, current, request)


def _check_embedded(schema: Json, field: FieldValue) -> None:
    """Check the objects embedded in an object (`x-kubernetes-embedded-resource`): apiVersion, kind
    and metadata.

    Source: apiextensions-apiserver 1.36, pkg/apiserver/schema/objectmeta/validation.go.
    """
    if not schema.get("x-embeds"):
        return
    if field.is_list:
        for item in field.items(field.value):
            _check_embedded(schema.get("items", {}), item)
    elif field.is_mapping:
        if schema.get("x-embedded"):
            _check_embedded_object(field)
        for key, item in field.entries():
            _check_embedded(property_schema(schema, key), item)


def _check_embedded_object(embedded: FieldValue) -> None:
    version = embedded["apiVersion"]
    kind = embedded["kind"]
    meta = embedded["metadata"]
    if version.value == "":
        version.invalid("must not be empty", "set the apiVersion of the object")
    elif version.is_text and version.value.count("/") > 1:
        why = f"unexpected GroupVersion string: {version.value}"
        version.invalid(why, "write it as group/version")
    if kind.value == "":
        kind.invalid("must not be empty", "set the kind of the object")
    else:
        kind.check_text(why_not_kind)
    if meta.is_mapping:
        # the server requires no name of an embedded object
        name = {} if meta.get("name") else {"name": "unnamed"}
        check_metadata(
            {**meta.value, **name}, meta.path, meta.problems, why_not_path_segment, built_in=False
        )
        meta["namespace"].check_optional_text(names.why_not_dns_label)
        meta.check_not_negative("generation")


def _with_webhooks(
    problems: list[Problem], kind: Kind, manifest: Json, request: KindContext
) -> list[Problem]:
    """Return the problems with the rejections of the validating webhook and the controller at other
    values.
    """
    structural = {problem.path for problem in problems if problem.name != "invalid-value"}
    paths = {problem.path for problem in problems}

    checks = kind.rejections()
    rejections = [
        problem
        for problem in (
            *checks.validate(manifest, request),
            *checks.controller_errors(manifest, request),
        )
        if problem.path not in paths and is_outside(problem, structural)
    ]

    return [*problems, *rejections]
