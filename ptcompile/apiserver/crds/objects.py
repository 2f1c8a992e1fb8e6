"""Problems of an object whose kind a CRD or a JSON Schema defines, and of the operator's
webhooks where it has some.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.apiserver.crds import Definition, definition_problems, shipped_definition
from ptcompile.apiserver.crds.rules import explain_rule
from ptcompile.apiserver.structure import is_outside
from ptcompile.apiserver.structure.json_schema import JsonSchema
from ptcompile.apiserver.validation.field import CheckScope, FieldValue
from ptcompile.apiserver.validation.metadata import check_metadata, metadata_problems
from ptcompile.apiserver.validation.templates import template_problems
from ptcompile.apiserver.validation.values import why_not_kind, why_not_path_segment
from ptcompile.diagnostics import Path, Problem, Problems
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import ApiServer
from ptcompile.operators.table import kind_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.apiserver.evaluations import Evaluations
    from ptcompile.kinds.model import Kind, KindContext
    from ptcompile.kubernetes.requests import GroupVersionKind
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
    if request is not None and operator_kind.rejects:
        current = operator_kind.default(manifest)
    else:
        current = manifest

    problems = list(definition_problems(current, definition, context.kubernetes, budget))
    if operator_kind.rejects:
        problems += _shipped_problems(current, kind, definition, context, problems)
        problems = [explain_rule(problem, operator_kind) for problem in problems]
    paths = {problem.path for problem in problems}
    embedded = FieldErrors()
    if not isinstance(definition, JsonSchema):
        _check_embedded(definition.schema, current, (), embedded)
    later = [
        *embedded,
        *metadata_problems(current, namespaced=operator_kind.namespaced),
        *template_problems(current, context),
    ]
    problems += [problem for problem in later if is_outside(problem, paths)]
    if request is None:
        return problems

    return _with_webhooks(problems, operator_kind, current, request)


def _check_embedded(schema: Json, value: Any, path: Path, problems: FieldErrors) -> None:
    """Check the objects embedded in an object (`x-kubernetes-embedded-resource`): apiVersion, kind
    and metadata.

    Source: apiextensions-apiserver 1.36, pkg/apiserver/schema/objectmeta/validation.go.
    """
    if not schema.get("x-embeds"):
        return
    if type(value) is list:
        for index, item in enumerate(value):
            _check_embedded(schema.get("items", {}), item, (*path, index), problems)
    elif type(value) is dict:
        if schema.get("x-embedded"):
            _check_embedded_object(value, path, problems)
        properties = schema.get("properties", {})
        additional = schema.get("additionalProperties")
        for key, item in value.items():
            child = properties.get(key, additional if isinstance(additional, dict) else {})
            _check_embedded(child, item, (*path, key), problems)


def _check_embedded_object(value: Json, path: Path, problems: FieldErrors) -> None:
    version = value.get("apiVersion")
    kind = value.get("kind")
    meta = value.get("metadata")
    if version == "":
        problems.invalid(
            (*path, "apiVersion"), version, "must not be empty", "set the apiVersion of the object"
        )
    elif type(version) is str and version.count("/") > 1:
        why = f"unexpected GroupVersion string: {version}"
        problems.invalid((*path, "apiVersion"), version, why, "write it as group/version")
    if kind == "":
        problems.invalid((*path, "kind"), kind, "must not be empty", "set the kind of the object")
    elif type(kind) is str and (why_not := why_not_kind(kind)):
        problems.invalid((*path, "kind"), kind, why_not)
    if type(meta) is dict:
        # the server needs no name here
        name = {} if meta.get("name") else {"name": "unnamed"}
        check_metadata(
            {**meta, **name}, (*path, "metadata"), problems, why_not_path_segment, built_in=False
        )
        namespace = meta.get("namespace")
        if type(namespace) is str and namespace and (why_not := names.why_not_dns_label(namespace)):
            problems.invalid((*path, "metadata", "namespace"), namespace, why_not)
        scope = CheckScope(ApiServer(), problems)
        FieldValue(meta, (*path, "metadata"), scope).check_not_negative("generation")


def _shipped_problems(
    manifest: Json,
    kind: GroupVersionKind,
    definition: Definition | JsonSchema,
    context: ApiServer,
    problems: Sequence[Problem],
) -> Problems:
    """Yield what only the shipped CRD of an operator's kind reports: a user's definition may be a
    JSON Schema without CEL rules. The user's definition alone decides which fields exist.
    """
    shipped = shipped_definition(kind)
    if shipped is None or shipped is definition:
        return
    paths = {problem.path for problem in problems}
    for problem in definition_problems(manifest, shipped, context.kubernetes):
        if problem.name != "unknown-field" and is_outside(problem, paths):
            yield problem


def _with_webhooks(
    problems: list[Problem], kind: Kind, manifest: Json, request: KindContext
) -> list[Problem]:
    """Return the problems with the rejections of the validating webhook and the controller at other
    values.

    A CEL rule of the CRD that says the same of a whole spec is dropped.
    """
    structural = {problem.path for problem in problems if problem.name != "invalid-value"}
    paths = {problem.path for problem in problems}
    rejections = [
        problem
        for problem in (
            *kind.validate(manifest, request),
            *kind.controller_errors(manifest, request),
        )
        if problem.path not in paths and is_outside(problem, structural)
    ]
    reasons: dict[Path, set[str]] = {}
    for rejection in rejections:
        for depth in range(len(rejection.path)):
            reasons.setdefault(rejection.path[:depth], set()).add(
                rejection.message.rpartition(": ")[2]
            )

    others = [
        problem
        for problem in problems
        if not problem.message.endswith(tuple(reasons.get(problem.path, ())))
    ]

    return [*others, *rejections]
