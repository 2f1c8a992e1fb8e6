"""The offline API server: structure, the server's field rules, then the operators' webhooks.

The order of a live cluster is kept where it matters: an operator's mutating webhook runs before the
CRD's schema is applied, its validating webhook after. A server stops at the first layer that
rejects an object; this one reports every independent problem once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptcompile.apiserver.kinds import BUILT_IN, CUSTOM, known_version, not_served, other_kind
from ptcompile.apiserver.structure import (
    is_complete,
    is_outside,
    rejected_paths,
    structure_violations,
)
from ptcompile.apiserver.structure.violations import Release, SchemaViolation, to_problem
from ptcompile.diagnostics import Path, Problem, Problems, problem_at
from ptcompile.kinds.model import Established, KindContext
from ptcompile.kubernetes.index import objects
from ptcompile.kubernetes.requests import ApiServer, GroupVersionKind
from ptcompile.kubernetes.unstructured import Json, ObjectKind, has, may_mention, placed_values
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.table import KINDS as OPERATOR_KINDS, OPERATORS, kind_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.crds import Definition, Definitions
    from ptcompile.apiserver.structure.json_schema import JsonSchema

    RelatedObjects = Sequence[Json]

__all__ = ["is_supported", "structure_only_note", "validate"]


def is_supported(manifest: Json, definitions: Definitions | None = None) -> bool:
    """Return whether `validate` checks manifests of this apiVersion and kind."""
    kind = _kind_of(manifest)
    if kind is None:
        return False
    if kind in BUILT_IN or kind in CUSTOM:
        return True

    return other_kind(kind) is not None or _find_definition(kind, definitions) is not None


def structure_only_note(kind: ObjectKind, kubernetes: Version) -> Problem | None:
    """Return the note that a built-in kind is only checked by structure and metadata, or None."""
    served_kind = None if kind in BUILT_IN or kind in CUSTOM else other_kind(kind)
    if served_kind is None or not served_kind.served(kubernetes):
        return None

    from ptcompile.apiserver.evaluations import ASK_SERVER
    from ptcompile.apiserver.validation import has_field_rules

    if has_field_rules(kind):
        return None

    message = (
        f"field rules of {kind.name} ({kind.api_version}) are not checked, only its structure and "
        "metadata"
    )

    return problem_at(
        "structure-only",
        ("kind",),
        message,
        ASK_SERVER,
        severity="note",
        stage="style",
        authority="ptcompile",
    )


def _find_definition(
    kind: GroupVersionKind, definitions: Definitions | None
) -> Definition | JsonSchema | None:
    from ptcompile.apiserver.crds import NO_DEFINITIONS

    return (definitions or NO_DEFINITIONS).find(kind)


def validate(
    manifest: Json,
    *,
    webhooks: bool = True,
    foreign: bool = True,
    versions: Versions | None = None,
    others: RelatedObjects = (),
    definitions: Definitions | None = None,
) -> list[Problem]:
    """Return the problems that an API server and, with `webhooks`, the operators' admission report
    when the manifest is created.

    `versions` are the cluster's releases (default: the newest supported). `others` are the objects
    that are created with this one, such as a TrainJob's runtime. `definitions` are those of kinds
    that users supply. `foreign=False` leaves out the webhooks that check kinds of other operators.
    Kinds that `is_supported` does not know only have problems of such webhooks.
    """
    kind = _kind_of(manifest)
    if kind is None:
        return []

    releases = versions or Versions()
    context = ApiServer(releases.kubernetes, gates=releases.gates_of("kubernetes"))
    request = KindContext(releases, objects(others))
    if kind in CUSTOM:
        problems = _operator_kind_problems(manifest, kind, context, request, webhooks=webhooks)
        problems += _user_definition_problems(manifest, kind, context, definitions, problems)
    elif kind in BUILT_IN:
        problems = _built_in_problems(manifest, kind, context)
    else:
        problems = _other_kind_problems(
            manifest, kind, context, definitions, request if webhooks else None
        )
    if not webhooks or not foreign:
        return problems

    return _first_per_path([problems, _foreign_problems(manifest, kind, request)])


def _built_in_problems(manifest: Json, kind: GroupVersionKind, context: ApiServer) -> list[Problem]:
    """Return the problems that structure and field rules find in an object of a kind that
    Kubernetes serves.
    """
    from ptcompile.apiserver.validation import built_in_problems

    return _merge_problems(
        structure_violations(manifest, kind, known_version(context.kubernetes), context.gates),
        built_in_problems(manifest, context),
    )


def _user_definition_problems(
    manifest: Json,
    kind: GroupVersionKind,
    context: ApiServer,
    definitions: Definitions | None,
    problems: Sequence[Problem],
) -> Problems:
    """Yield the problems that only a user's CRD of an operator's kind reports. The user's CRD may
    be of another release than the shipped one.
    """
    if definitions is None or kind not in definitions.kinds:
        return

    from ptcompile.apiserver.crds import definition_problems

    paths = {problem.path for problem in problems}
    for problem in definition_problems(
        manifest, definitions.kinds[kind], context.kubernetes, definitions.evaluations
    ):
        if is_outside(problem, paths):
            yield problem


def is_seen_by_webhooks(manifest: Json) -> bool:
    """Return whether an operator's webhooks check objects of this kind, although the kind is
    another operator's.
    """
    kind = _kind_of(manifest)
    return any(kind in foreign.kinds for _, foreign in _FOREIGN_WEBHOOKS)


def _foreign_problems(manifest: Json, kind: GroupVersionKind, request: KindContext) -> Problems:
    """Yield the rejections of webhooks that check kinds of other operators, such as Kueue's."""
    for operator, foreign in _FOREIGN_WEBHOOKS:
        # the webhook is only imported for objects with a label of its operator
        if kind in foreign.kinds and (
            _has_key(manifest, foreign.marks) or objects(request.related).has_any(foreign.related)
        ):
            yield from operator.validate_foreign(manifest, request)


_FOREIGN_WEBHOOKS = tuple(
    (operator, operator.foreign) for operator in OPERATORS if operator.foreign is not None
)


def _has_key(manifest: Json, mark: str) -> bool:
    """Return whether a key of the object or of any part of it contains the mark."""
    return may_mention(manifest, mark) and any(
        mark in path[-1] for path, _ in placed_values(manifest) if path and type(path[-1]) is str
    )


def _kind_of(manifest: Json) -> GroupVersionKind | None:
    version = manifest.get("apiVersion")
    kind = manifest.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str):
        return None
    return version, kind


def _other_kind_problems(
    manifest: Json,
    kind: GroupVersionKind,
    context: ApiServer,
    definitions: Definitions | None,
    request: KindContext | None,
) -> list[Problem]:
    """Return the problems of a built-in kind outside of training jobs, or of a kind that a CRD
    defines. Without a `request`, webhooks do not run.
    """
    served_kind = other_kind(kind)
    if served_kind is not None:
        if not served_kind.served(context.kubernetes):
            return [not_served(kind, context.kubernetes)]
        return _built_in_problems(manifest, kind, context)

    definition = _find_definition(kind, definitions)
    if definition is None:
        if not is_seen_by_webhooks(manifest):
            return []
        from ptcompile.apiserver.validation import metadata_problems

        return metadata_problems(manifest)

    from ptcompile.apiserver.crds.objects import defined_kind_problems

    budget = definitions.evaluations if definitions is not None else None
    return defined_kind_problems(manifest, kind, definition, context, request, budget)


def _operator_kind_problems(
    manifest: Json,
    kind: GroupVersionKind,
    context: ApiServer,
    request: KindContext,
    *,
    webhooks: bool,
) -> list[Problem]:
    """Return the problems of an object of an operator's kind and, with `webhooks`, those of its
    operator.
    """
    from ptcompile.apiserver.validation import metadata_problems
    from ptcompile.apiserver.validation.templates import template_problems

    operator, operator_kind = OPERATOR_KINDS[kind]
    versions = request.versions
    release = operator.release_in(versions)
    installed = Release(operator.release, release, operator.release in versions.declared)
    current = operator_kind.in_current_fields(manifest, release)
    checks_webhooks = webhooks and operator_kind.rejects
    defaulted, exact = current, False
    if checks_webhooks:
        defaulted, exact = _with_operator_defaults(current, kind, context, installed)

    violations = [] if exact else _violations_in(defaulted, current, kind, context, installed)
    pods = list(template_problems(defaulted, context._replace(exact=exact)))
    rejections = operator_kind.rejections()
    layers: list[Iterable[Problem]] = [
        metadata_problems(defaulted, namespaced=operator_kind.namespaced),
        rejections.crd_rules(defaulted),
    ]
    if checks_webhooks:
        for violation in violations:
            # the webhook decodes the whole object in Go, so values that break the pods are rejected
            # on apply
            if violation.severity == "error":
                violation.stage = "apply"

        # servers before 1.36 do not limit a CRD's integers to 32 bits, but Go does
        decodes = exact and context.at_least(36)
        established = Established(exact=exact, decodes=decodes, pods=not pods)
        request = request._replace(established=established)
        layers += [
            rejections.validate(defaulted, request),
            rejections.controller_errors(defaulted, request),
        ]

    layers.append(pods)
    problems = _merge_problems(violations, _first_per_path(layers))
    if current is manifest:
        return problems

    return [
        _at_written_path(problem, operator_kind.written_path(problem.path, release))
        for problem in problems
    ]


def _with_operator_defaults(
    manifest: Json, kind: GroupVersionKind, context: ApiServer, installed: Release
) -> tuple[Json, bool]:
    """Return an object with its operator's defaults, and whether the result `is_complete`. An
    object that is not complete is decoded as Go does before it gets them.
    """
    operator_kind = kind_named(kind)
    server = known_version(context.kubernetes)
    complete = operator_kind.default(manifest, complete=True)
    if is_complete(complete, kind, server, context.gates, installed):
        return complete, True
    return operator_kind.default(manifest), False


def _violations_in(
    defaulted: Json, written: Json, kind: GroupVersionKind, context: ApiServer, installed: Release
) -> list[SchemaViolation]:
    """Return the violations of an operator's schema, except those of defaults that only newer
    releases have.
    """
    server = known_version(context.kubernetes)
    return [
        violation
        for violation in structure_violations(defaulted, kind, server, context.gates, installed)
        if violation.name != "version-unknown-field" or has(written, reversed(violation.path))
    ]


def _at_written_path(problem: Problem, path: Path) -> Problem:
    """Return a problem of a converted object with the path of the original file."""
    return problem._replace(path=path, fix=problem.fix if path == problem.path else None)


def _first_per_path(layers: Iterable[Iterable[Problem]]) -> list[Problem]:
    """Return all problems in order, keeping only those of the first layer that reports a path."""
    problems: list[Problem] = []
    for layer in layers:
        paths = {problem.path for problem in problems} if problems else ()
        problems += [problem for problem in layer if problem.path not in paths]
    return problems


def _merge_problems(violations: list[SchemaViolation], later: Iterable[Problem]) -> list[Problem]:
    """Return the violations and the later problems that are not at or below a path that is
    already rejected.
    """
    if not violations:
        return list(later)
    paths = rejected_paths(violations)
    return [to_problem(violation) for violation in violations] + [
        problem for problem in later if is_outside(problem, paths)
    ]
