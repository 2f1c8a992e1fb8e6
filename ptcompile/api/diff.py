"""`diff`: how the worlds and the fields of two specs or streams of manifests differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.definitions import definitions_for
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic, Path, Problem
from ptcompile.differ import Difference, DiffSide, compare
from ptcompile.differ.applying import ApplyMode, apply_outcome
from ptcompile.differ.model import Apply
from ptcompile.differ.pairing import same_objects
from ptcompile.kubernetes.unstructured import namespace_of, nested_map
from ptcompile.registry.table import OPERATORS
from ptcompile.source import streams
from ptcompile.source.overrides import NO_OVERRIDES, OverriddenDocument, Overrides, apply_to_stream, read_overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    from ptcompile._internal.arguments import ProfileSource, StreamSource
    from ptcompile.apiserver.crds import Definitions
    from ptcompile.extending import Extensions
    from ptcompile.source.documents import Source
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec
else:
    ClusterProfile = Definitions = Source = object  # as text, NamedTuple would compile it

_TARGET_OF_KIND = {operator.kinds[0].key: operator.target_name for operator in OPERATORS if operator.target_name}
"""The target that emits each kind."""


class _Input(NamedTuple):
    """One side of the comparison, as passed."""

    source: Source
    documents: tuple[OverriddenDocument, ...]
    profile: ClusterProfile | None
    problems: tuple[Diagnostic, ...]
    filename: str | None

    def manifests(self) -> list[Mapping[str, Any]]:
        """Return the objects other than TrainingJobs."""
        return [
            manifest
            for document in self.documents
            if not _is_ours(document.data)
            for _, manifest in streams.objects_in(document.data)
        ]


def diff(
    a: StreamSource | Spec,
    b: StreamSource | Spec,
    *,
    target: str | None = None,
    name: str | None = None,
    from_cluster: ProfileSource | ClusterProfile | None = None,
    to_cluster: ProfileSource | ClusterProfile | None = None,
    overrides: Sequence[tuple[str | Path, Any]] = (),
    server_side: bool = False,
    force_conflicts: bool = False,
    namespace: str | None = None,
    schemas: Iterable[str | os.PathLike[str]] = (),
    filenames: tuple[str | None, str | None] = (None, None),
    extensions: Extensions | None = None,
) -> Difference:
    """Compare two specs, two streams of manifests, one of each, or one source under two profiles; report how `b`
    differs from `a`.

    Specs are compiled first: for `target`, else for their own target, else for the one that emits the other side's
    kind. `name` and `overrides` change the specs of `b` as they do for `compile`. The profiles are ClusterProfiles in
    any form; their versions also decide how operators expand manifests. `diagnostics` include the reasons for which
    applying `b` over `a` would be rejected (stage apply).

    `a` may be the output of `kubectl get -o yaml`, with managed fields or without. Then `b` is compared as the server
    would keep it: what defaults, controllers and other managers wrote stays. It is applied as `kubectl apply` does, or
    with `server_side` as `kubectl apply --server-side`, where a field of another manager is a conflict without
    `force_conflicts`. `namespace` is that of objects of `b` that name none.

    `schemas` are files and folders of CRDs or JSON Schemas, for kinds that ptcompile does not know; their list keys,
    defaults and transition rules decide what an apply does. CRDs of either side count too.

    `extensions` are passes and targets of plugins, from `ptcompile.extensions`. Mistakes in either side never raise; if
    a text or spec has an error, nothing is compared. Raises ValueError for a path in `schemas` that cannot be read or
    contains no definition.
    """
    arguments.check(target=target, name=name, namespace=namespace, filenames=filenames, extensions=extensions)
    filenames = arguments.filename(a, filenames[0]), arguments.filename(b, filenames[1])
    parsed_overrides = read_overrides(arguments.pairs(overrides, "overrides"), name)
    first, second = _read_input(a, from_cluster, filenames[0], "a"), _read_input(b, to_cluster, filenames[1], "b")
    if parsed_overrides != NO_OVERRIDES:
        second = _with_overrides(second, parsed_overrides)
    definitions = definitions_for([first.source, second.source], schemas)
    names = filenames[0] or "a", filenames[1] or "b"
    before, problems = _compile_side(first, target, _target_of(second), extensions)
    after, more_problems = _compile_side(second, target, _target_of(first), extensions)
    all_problems = (*first.problems, *second.problems, *problems, *more_problems)
    diagnostics = tuple({(d.code, d.message, d.path, d.span, d.filename, d.document): d for d in all_problems}.values())
    if any(d.severity == "error" for d in diagnostics):
        return Difference(names, (), diagnostics, compared=False)
    mode = ApplyMode(server_side, force_conflicts)
    applied = _apply(before, after, second, _Application(mode, namespace, definitions))
    all_problems = (*diagnostics, *streams.limit_findings(applied.diagnostics, second.filename))
    return Difference(names, compare(before, applied.after, applied.verdicts), all_problems)


class _Applied(NamedTuple):
    """The outcome of applying the second side over the first."""

    verdicts: dict[int, Apply]
    """By the identity of the second side's object, in `after`."""
    diagnostics: list[Diagnostic]
    """The rejections, with their positions."""
    after: DiffSide
    """The second side, with the objects that the server would keep in place of those applied over live ones."""


class _Application(NamedTuple):
    """How the second side is applied."""

    mode: ApplyMode
    namespace: str | None
    definitions: Definitions | None


def _apply(before: DiffSide, after: DiffSide, second: _Input, how: _Application) -> _Applied:
    """Return the outcome of applying each object of the second side over the first."""
    admit = _admission(after, second, how.definitions)
    places = {id(item): (d.document, path) for d in second.documents for path, item in streams.objects_in(d.data)}
    verdicts: dict[int, Apply] = {}
    stored: dict[int, Mapping[str, Any]] = {}
    diagnostics: list[Diagnostic] = []
    for old, new in same_objects(before.manifests, after.manifests, how.namespace):
        document, under = places.get(id(new), (None, ()))
        outcome = apply_outcome(old, new, after.versions, how.mode, how.definitions)
        verdict = outcome.verdict
        problems = [*outcome.problems, *_namespace_notes(old, new, how.namespace)]
        if verdict.outcome != "unchanged" and not any(problem.severity == "error" for problem in problems):
            problems += admit(old, new if outcome.stored is None else outcome.stored)
        stamped = [streams.to_diagnostic(problem, document, second.filename, under, new) for problem in problems]
        rejection = next((item for item in stamped if item.severity == "error"), None)
        if rejection is not None:  # secrets are masked already
            reason = f"{rejection.message}; {rejection.help}" if rejection.help else rejection.message
            verdict = Apply("refused", reason)
        stored[id(new)] = outcome.stored if outcome.stored is not None else new
        verdicts[id(stored[id(new)])] = verdict
        diagnostics += stamped
    manifests = [stored.get(id(manifest), manifest) for manifest in after.manifests]
    return _Applied(verdicts, diagnostics, after._replace(manifests=manifests))


def _namespace_notes(old: Mapping[str, Any], new: Mapping[str, Any], namespace: str | None) -> Iterator[Problem]:
    """Yield a note about an object that is paired with one in another namespace than kubectl's default."""
    existing = namespace_of(old)
    if namespace is None and "namespace" not in nested_map(new, "metadata") and existing != "default":
        message = f"compared with the {new.get('kind')} of this name in the namespace {existing}"
        help = (
            f"write metadata.namespace, or give --namespace {existing}: kubectl apply uses the namespace of its context"
        )
        yield Problem("guessed-namespace", ("metadata",), message, help, "note", "style", "ptcompile")


_DECIDING_KINDS = frozenset({"LimitRange", "ResourceQuota", "ValidatingAdmissionPolicyBinding"})
"""Kinds whose objects make admission plugins reject an update of others."""


def _admission(
    after: DiffSide, second: _Input, definitions: Definitions | None
) -> Callable[[Mapping[str, Any], Mapping[str, Any]], Iterable[Problem]]:
    """Return a function for what admission plugins reject of an update, by the second side and its profile."""
    existing = second.profile.spec.objects if second.profile is not None else []
    kinds = {str(manifest.get("kind")) for manifest in (*after.manifests, *existing)}
    if _DECIDING_KINDS.isdisjoint(kinds):
        return lambda _old, _new: ()
    from ptcompile.apiserver.admission import ClusterState, admission_problems

    state = ClusterState(after.manifests, after.versions, None, definitions, existing)
    return lambda old, new: admission_problems(new, state, old)


def _read_input(
    source: StreamSource | Spec,
    cluster: ProfileSource | ClusterProfile | None,
    filename: str | None,
    parameter: str,
) -> _Input:
    parsed = streams.read(source, filename, parameter)
    profile, problems = load_profile(cluster)
    diagnostics = [*problems, *(streams.to_diagnostic(problem, None, filename) for problem in parsed.problems)]
    for document in parsed.documents:
        diagnostics += [
            streams.to_diagnostic(problem, document, filename) for problem in streams.not_objects(document.data)
        ]
    if not parsed.documents and not parsed.problems:
        diagnostics.append(streams.to_diagnostic(streams.no_documents(), None, filename))
    documents, _ = apply_to_stream(parsed.documents, NO_OVERRIDES, filename)
    return _Input(parsed, tuple(documents), profile, tuple(streams.limit_findings(diagnostics, filename)), filename)


def _with_overrides(side: _Input, overrides: Overrides) -> _Input:
    """Return the side with its specs changed; its manifests stay."""
    specs = [item.document for item in side.documents if _is_ours(item.data)]
    changed, errors = apply_to_stream(specs, overrides, side.filename)
    manifests = [item for item in side.documents if not _is_ours(item.data)]
    problems = (*side.problems, *overrides.diagnostics, *errors)
    return side._replace(documents=(*changed, *manifests), problems=problems)


def _is_ours(data: Mapping[str, Any]) -> bool:
    return streams.is_ours(data) and data.get("kind") != "ClusterProfile"


def _target_of(side: _Input) -> str | None:
    """Return the target that emits the jobs of a side, or None unless all are of one kind."""
    kinds = {(str(manifest.get("apiVersion")), str(manifest.get("kind"))) for manifest in side.manifests()}
    targets = {_TARGET_OF_KIND[kind] for kind in kinds if kind in _TARGET_OF_KIND}
    return targets.pop() if len(targets) == 1 else None


def _compile_side(
    side: _Input, target: str | None, fallback: str | None, extensions: Extensions | None
) -> tuple[DiffSide, list[Diagnostic]]:
    """Return the manifests of a side; its specs are compiled for `target`, else their own, else `fallback`."""
    from ptcompile.compiler.pipeline import compile_document  # only specs need the compiler

    if side.profile is None:
        return DiffSide(), []
    manifests = side.manifests()
    problems: list[Diagnostic] = []
    for document in side.documents:
        if _is_ours(document.data):
            spec_target = target or (None if nested_map(document.data, "spec").get("target") else fallback)
            compiled = compile_document(document.data, side.profile, spec_target, extensions)
            manifests += compiled.manifests
            problems += document.to_diagnostics(compiled.problems, side.filename)
    return DiffSide(manifests, side.profile.versions()), streams.limit_findings(problems, side.filename)
