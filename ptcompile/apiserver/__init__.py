"""The offline API server: structure, then the server's field rules, then the operators' webhooks.

The order of a live cluster is kept where it matters: an operator's mutating webhook runs before the CRD's schema looks,
its validating webhook after. A server stops at the first layer that refuses; here every independent mistake is told,
and none twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile.apiserver.kinds import BUILT_IN, CUSTOM, known_version, not_served, other_kind
from ptcompile.apiserver.structure import complete, is_outside, rejected_paths, structure
from ptcompile.apiserver.structure.faults import SchemaViolation, to_problem
from ptcompile.diagnostics import Problem, field_path
from ptcompile.kubernetes.index import objects
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.kubernetes.versions import Versions, parse_version
from ptcompile.registry.model import ApiServer, Established, KindContext
from ptcompile.registry.table import KINDS as OPERATOR_KINDS, OPERATORS, kind_named, templates_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.crds import Definition, Definitions
    from ptcompile.apiserver.structure.json_schema import JsonSchema
    from ptcompile.diagnostics import Path
    from ptcompile.registry.model import ApiServer

    Others = Sequence[Mapping[str, Any]]

__all__ = ["supported", "validate"]

GroupVersionKind = tuple[str, str]


def supported(manifest: Mapping[str, Any], definitions: Definitions | None = None) -> bool:
    """Whether the manifest is of a kind that `validate` knows, by apiVersion and kind together."""
    kind = _kind(manifest)
    if kind is None:
        return False
    if kind in BUILT_IN or kind in CUSTOM:
        return True

    return other_kind(kind) is not None or _defined(kind, definitions) is not None


def _defined(kind: GroupVersionKind, definitions: Definitions | None) -> Definition | JsonSchema | None:
    from ptcompile.apiserver.crds import NONE

    return (definitions or NONE).find(kind)


def validate(
    manifest: Mapping[str, Any],
    *,
    kubernetes: str | None = None,
    webhooks: bool = True,
    versions: Versions | None = None,
    others: Others = (),
    definitions: Definitions | None = None,
) -> list[Problem]:
    """Say what an API server, and with `webhooks` the operators' admission, answer when the manifest is created.

    `versions` are the cluster's releases, the newest known where absent; `kubernetes`, such as `"1.34"`, goes before
    it. `others` are the objects that are created beside this one: a TrainJob's runtime may be among them.
    `definitions` are those of kinds that users brought. A kind that is not `supported` gives no problems. Raises
    ValueError when `kubernetes` is not a version.
    """
    kind = _kind(manifest)
    if kind is None:
        return []
    from ptcompile.apiserver.validation import KINDS

    releases = versions or Versions()
    context = ApiServer(parse_version(kubernetes) if kubernetes else releases.kubernetes)
    if kind not in BUILT_IN and kind not in CUSTOM:
        return _other(manifest, kind, context, definitions)
    if kind in BUILT_IN:
        found = _merged(structure(manifest, kind, known_version(context.kubernetes)), KINDS[kind](manifest, context))
    else:
        found = _custom(manifest, kind, context, releases, others, webhooks=webhooks)
    return _first_told([found, _queued(manifest, kind)]) if webhooks else found


def _queued(manifest: Mapping[str, Any], kind: GroupVersionKind) -> Iterator[Problem]:
    """What the webhooks refuse that look at the kinds of other operators, such as Kueue's."""
    marked = _marks(manifest, kind)
    for operator, foreign in _FOREIGN if marked else ():
        # Most objects have no label of the operator's, and its webhook is not imported.
        if any(foreign.marks in str(key) for key in marked) and kind in foreign.kinds:
            yield from operator.validate_foreign(manifest, kind)


_FOREIGN: Final = tuple((operator, operator.foreign) for operator in OPERATORS if operator.foreign is not None)


def _marks(manifest: Mapping[str, Any], kind: GroupVersionKind) -> list[Any]:
    """The keys of all labels and annotations of an object and of its pod templates."""
    places = (manifest, *(one.template for one in templates_of(kind, manifest)))
    metadata = [found for one in places if (found := nested_map(one, "metadata"))]
    return [key for one in metadata for part in ("labels", "annotations") for key in nested_map(one, part)]


def _kind(manifest: Mapping[str, Any]) -> GroupVersionKind | None:
    version, kind = manifest.get("apiVersion"), manifest.get("kind")
    if not isinstance(version, str) or not isinstance(kind, str):
        return None
    return version, kind


def _other(
    manifest: Mapping[str, Any], kind: GroupVersionKind, context: ApiServer, definitions: Definitions | None
) -> list[Problem]:
    """An object of a kind that no training job is made of: one of the server's own, or one that a CRD defines."""
    place = other_kind(kind)
    if place is not None:
        if not place.served(context.kubernetes):
            return [not_served(kind, context.kubernetes)]
        from ptcompile.apiserver.validation import other_problems

        return _merged(structure(manifest, kind, known_version(context.kubernetes)), other_problems(manifest, context))
    definition = _defined(kind, definitions)
    if definition is None:
        return []
    from ptcompile.apiserver.crds import defined_problems
    from ptcompile.apiserver.validation import metadata_problems
    from ptcompile.apiserver.validation.templates import other_template_problems

    budget = definitions.evaluations if definitions is not None else None
    found = defined_problems(manifest, definition, context.kubernetes, budget)
    paths = {problem.path for problem in found}
    later = [
        *metadata_problems(manifest.get("metadata"), ("metadata",), context, built_in=False),
        *other_template_problems(manifest, context),
    ]
    return [*found, *(problem for problem in later if is_outside(problem, paths))]


def _custom(
    manifest: Mapping[str, Any],
    kind: GroupVersionKind,
    context: ApiServer,
    releases: Versions,
    others: Others,
    *,
    webhooks: bool,
) -> list[Problem]:
    from ptcompile.apiserver.validation import metadata_problems
    from ptcompile.apiserver.validation.templates import template_problems

    known, release = kind_named(kind), OPERATOR_KINDS[kind][0].release_in(releases)
    asked = webhooks and known.rejects
    told, others = known.in_current_fields(manifest, release), objects(others)
    server = known_version(context.kubernetes)
    seen = known.default(told, complete=True) if asked else told
    whole = asked and complete(seen, kind, server)
    if asked and not whole:
        seen = known.default(told)
    faults = [] if whole else structure(seen, kind, server)
    pods = list(template_problems(seen, context._replace(exact=whole)))
    layers: list[Iterable[Problem]] = [metadata_problems(seen.get("metadata"), ("metadata",), context, built_in=False)]
    layers.append(known.crd_rules(seen))
    if asked:
        for fault in faults:
            # The webhook decodes the whole object in Go: what would fail in the pods fails here already.
            fault.stage = "apply"
        # Servers before 1.36 do not hold a CRD's integers to 32 bits, and Go does.
        same_server = context.kubernetes == releases.kubernetes
        established = Established(exact=whole, decodes=whole and context.at_least(36), pods=not pods and same_server)
        request = KindContext(releases, others, established)
        layers += [known.validate(seen, request), known.controller_errors(seen, request)]
    layers.append(pods)
    found = _merged(faults, _first_told(layers))
    return found if told is manifest else [_as_written(one, known.written_path(one.path, release)) for one in found]


def _as_written(problem: Problem, path: Path) -> Problem:
    """Return a problem of an object that was reworded, at the path in the file."""
    message = problem.message.replace(field_path(problem.path), field_path(path), 1)
    return problem._replace(path=path, message=message, fix=problem.fix if path == problem.path else None)


def _first_told(layers: Iterable[Iterable[Problem]]) -> list[Problem]:
    """All problems in order, without what a later layer says of a place that an earlier one spoke of."""
    told: list[Problem] = []
    for layer in layers:
        paths = {problem.path for problem in told} if told else ()
        told += [problem for problem in layer if problem.path not in paths]
    return told


def _merged(faults: list[SchemaViolation], later: Iterable[Problem]) -> list[Problem]:
    """Both, without what is said of a place that is structurally wrong already."""
    if not faults:
        return list(later)
    paths = rejected_paths(faults)
    return [to_problem(fault) for fault in faults] + [problem for problem in later if is_outside(problem, paths)]
