"""`diff`: how the worlds and the fields of two specs or streams of manifests differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.inputs import (
    AnyProfile,
    Inputs,
    Item,
    JobSource,
    OverridePairs,
    SchemaPaths,
    unique,
)
from ptcompile.diagnostics import Diagnostic, Problem, Problems, has_error
from ptcompile.differ import Difference, DiffSide, compare
from ptcompile.differ.applying import ApplyMode, apply_outcome
from ptcompile.differ.model import Apply
from ptcompile.differ.pairing import is_created, same_objects
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import Json, kind_of, namespace_of, nested_map
from ptcompile.operators.table import BY_TARGET, main_kind
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.crds import Definitions
    from ptcompile.extending import Extensions

_TARGET_OF_KIND = {main_kind(operator).key: target for target, operator in BY_TARGET.items()}
"""The target that emits each kind."""


def diff(
    a: JobSource,
    b: JobSource,
    *,
    target: str | None = None,
    name: str | None = None,
    from_cluster: AnyProfile | None = None,
    to_cluster: AnyProfile | None = None,
    overrides: OverridePairs = (),
    variants: Iterable[str] = (),
    server_side: bool = False,
    force_conflicts: bool = False,
    namespace: str | None = None,
    schemas: SchemaPaths = (),
    filenames: tuple[str | None, str | None] = (None, None),
    extensions: Extensions | None = None,
) -> Difference:
    """Compare two specs, two streams of manifests, one of each, or one source under two profiles;
    report how `b` differs from `a`.

    Specs are compiled first: for `target`, else for their own target, else for the one that emits
    the other side's kind. `name`, `overrides` and `variants` change the specs of `b` as they do for
    `compile`. The profiles are ClusterProfiles in any form; their versions also decide how
    operators expand manifests. `diagnostics` include the reasons for which applying `b` over `a`
    would be rejected (stage apply), and those for which `compile` gives no manifests of `b` as it
    is changed.

    `a` may be the output of `kubectl get -o yaml`, with managed fields or without. Then `b` is
    compared as the server would keep it: what defaults, controllers and other managers wrote stays.
    It is applied as `kubectl apply` does, or with `server_side` as `kubectl apply --server-side`,
    where a field of another manager is a conflict without `force_conflicts`. `namespace` is that of
    objects of `b` that name none.

    `schemas` are files and folders of CRDs or JSON Schemas, for kinds that ptcompile does not know;
    their list keys, defaults and transition rules decide what an apply does. CRDs of either side
    count too.

    `extensions` are passes and targets of plugins, from `ptcompile.extensions`. Mistakes in either
    side never raise; if a text or spec has an error, nothing is compared. Raises ValueError for a
    path in `schemas` that cannot be read or contains no definition.
    """
    arguments.check(target=target, namespace=namespace, filenames=filenames)
    old_name, new_name = filenames
    first = Inputs.read(
        a,
        parameter="a",
        filename=old_name,
        cluster=from_cluster,
        schemas=schemas,
        extensions=extensions,
    )
    second = Inputs.read(
        b,
        parameter="b",
        filename=new_name,
        cluster=to_cluster,
        name=name,
        overrides=overrides,
        variants=variants,
        schemas=schemas,
        extensions=extensions,
    )
    mode = ApplyMode(server_side, force_conflicts)

    return diff_inputs(first, second, target, mode, namespace)


def diff_inputs(
    first: Inputs, second: Inputs, target: str | None, mode: ApplyMode, namespace: str | None
) -> Difference:
    """Return how the second inputs differ from the first, and what an apply of them over the
    first does.
    """
    names = first.filename or "a", second.filename or "b"
    definitions = _definitions_of(first, second)
    old, old_problems = first.compile_specs(target, fallback=_target_of(second))
    new, new_problems = second.compile_specs(
        target, fallback=_target_of(first), judged=bool(second.overrides.values)
    )
    mistakes = unique([*first.limited(*old_problems), *second.limited(*new_problems)])
    if has_error(mistakes):
        return Difference(names, (), mistakes, compared=False)

    before = DiffSide([item.manifest for item in old], first.versions)
    after = DiffSide([item.manifest for item in new], second.versions)
    application = _Application(mode, namespace, definitions)
    applied = _apply(before, after, new, second, application)
    lost = [
        _to_diagnostic(problem, item)
        for problem, item in _lost_nodes(old, new, first, second, namespace)
    ]

    return Difference(
        names,
        compare(before, applied.after, applied.verdicts),
        (*mistakes, *streams.limit_findings([*applied.diagnostics, *lost], second.filename)),
    )


def _lost_nodes(
    old: Sequence[Item], new: Sequence[Item], first: Inputs, second: Inputs, namespace: str | None
) -> Iterator[tuple[Problem, Item]]:
    """Yield why no node takes the pods of a job any more."""
    from ptcompile.linter import run
    from ptcompile.linter.rule import NODE_RULES
    from ptcompile.world.workload import Stream

    earlier = [item.manifest for item in old]
    later = [item.manifest for item in new]
    pools = second.pools_among(Objects(later))
    if pools is None:
        return

    before = Stream(earlier, first.versions, pools=first.pools_among(Objects(earlier)))
    after = Stream(later, second.versions, pools=pools)
    by_id = {id(item.manifest): item for item in new}
    for ours, theirs in same_objects(earlier, later, namespace):
        if not any(run(ours, stream=before, only=NODE_RULES)):
            for problem in run(theirs, stream=after, only=NODE_RULES):
                yield (
                    problem._replace(text=f"no longer: {problem.text}", severity="warning"),
                    by_id[id(theirs)],
                )


def _definitions_of(first: Inputs, second: Inputs) -> Definitions | None:
    """Return the kinds that either side defines."""
    old = first.definitions
    new = second.definitions
    if old is None or new is None:
        return new or old
    return new._replace(kinds={**old.kinds, **new.kinds})


class _Applied(NamedTuple):
    """The outcome of applying the second side over the first."""

    verdicts: dict[int, Apply]
    """By the identity of the second side's object, in `after`."""
    diagnostics: list[Diagnostic]
    """The rejections, with their positions."""
    after: DiffSide
    """The second side, with the objects that the server would keep in place of those applied
    over live ones.
    """


class _Application(NamedTuple):
    """How the second side is applied."""

    mode: ApplyMode
    namespace: str | None
    definitions: Definitions | None


def _apply(
    before: DiffSide, after: DiffSide, items: Sequence[Item], second: Inputs, how: _Application
) -> _Applied:
    """Return the outcome of applying each object of the second side, `items`, over the first."""
    admit = _admission(after, second, how.definitions)
    by_id = {id(item.manifest): item for item in items}
    verdicts: dict[int, Apply] = {}
    stored: dict[int, Json] = {}
    diagnostics: list[Diagnostic] = []
    for manifest in after.manifests:
        if is_created(manifest):
            verdicts[id(manifest)] = Apply(
                "created", "kubectl create makes a new object, and kubectl apply refuses it"
            )

    for old, new in same_objects(before.manifests, after.manifests, how.namespace):
        outcome = apply_outcome(old, new, after.versions, how.mode, how.definitions)
        verdict = outcome.verdict
        problems = [*outcome.problems, *_namespace_notes(old, new, how.namespace)]
        if verdict.outcome != "unchanged" and not has_error(problems):
            problems += admit(old, new if outcome.stored is None else outcome.stored)
        stamped = [_to_diagnostic(problem, by_id[id(new)]) for problem in problems]
        rejection = next((item for item in stamped if item.severity == "error"), None)
        if rejection is not None:  # secrets are masked already
            reason = rejection.message
            if rejection.help:
                reason = f"{reason}; {rejection.help}"
            verdict = Apply("refused", reason)

        stored[id(new)] = outcome.stored if outcome.stored is not None else new
        verdicts[id(stored[id(new)])] = verdict
        diagnostics += stamped

    manifests = [stored.get(id(manifest), manifest) for manifest in after.manifests]
    return _Applied(verdicts, diagnostics, after._replace(manifests=manifests))


def _to_diagnostic(problem: Problem, item: Item) -> Diagnostic:
    """Return a problem of an object. That of a manifest of a spec has the manifest's path, and
    no place in the spec.
    """
    if not item.is_compiled:
        return item.to_diagnostic(problem)
    return streams.to_diagnostic(problem, None, item.file.name, (), item.manifest)


def _namespace_notes(old: Json, new: Json, namespace: str | None) -> Problems:
    """Yield a note about an object that is paired with one in another namespace than kubectl's
    default.
    """
    existing = namespace_of(old)
    if (
        namespace is None
        and "namespace" not in nested_map(new, "metadata")
        and existing != "default"
    ):
        message = f"compared with the {new.get('kind')} of this name in the namespace {existing}"
        help = (
            f"write metadata.namespace, or give --namespace {existing}: kubectl apply uses the "
            "namespace of its context"
        )
        yield Problem(
            "guessed-namespace", ("metadata",), message, help, "note", "style", "ptcompile"
        )


_DECIDING_KINDS = frozenset({"LimitRange", "ResourceQuota", "ValidatingAdmissionPolicyBinding"})
"""Kinds whose objects make admission plugins reject an update of others."""


def _admission(
    after: DiffSide, second: Inputs, definitions: Definitions | None
) -> Callable[[Json, Json], Iterable[Problem]]:
    """Return a function that yields what the admission plugins of the second side's cluster reject
    of an update.
    """
    existing = second.profile.spec.objects
    kinds = {str(manifest.get("kind")) for manifest in (*after.manifests, *existing)}
    if _DECIDING_KINDS.isdisjoint(kinds):
        return lambda _old, _new: ()
    from ptcompile.apiserver.admission import ClusterState, admission_problems

    state = ClusterState(after.manifests, after.versions, None, definitions, existing)
    return lambda old, new: admission_problems(new, state, old)


def _target_of(side: Inputs) -> str | None:
    """Return the target that emits the jobs of a side, or None unless all are of one kind."""
    kinds = {kind_of(item.manifest) for item in side.objects}
    targets = {_TARGET_OF_KIND[kind] for kind in kinds if kind in _TARGET_OF_KIND}
    return targets.pop() if len(targets) == 1 else None
