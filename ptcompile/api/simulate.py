"""`simulate`, and `status` for a live object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes.index import Objects
from ptcompile.registry.status import Status
from ptcompile.registry.table import status_of
from ptcompile.source import streams
from ptcompile.source.overrides import OverriddenDocument, Overrides, apply_to_stream, read_overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile._internal.arguments import ProfileSource, StreamSource
    from ptcompile.diagnostics import Diagnostic, Path
    from ptcompile.extending import Extensions
    from ptcompile.simulator.world import World
    from ptcompile.source.documents import Document
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


DEFAULT: Final = "default"
"""The `target` that stands for the one that `compile` chooses."""


def simulate(
    source: StreamSource | Spec,
    *,
    target: str | None = None,
    cluster: ProfileSource | ClusterProfile | None = None,
    filename: str | None = None,
    others: Iterable[str | bytes | Mapping[str, Any]] = (),
    name: str | None = None,
    overrides: Sequence[tuple[str | Path, Any]] = (),
    extensions: Extensions | None = None,
) -> World:
    """Return what every pod of every job of a stream will see.

    A TrainingJob is compiled first: for `target`, or for every target that can express it; "default" is the target that
    `compile` chooses. `name` and `overrides` change it as they do for `compile`. `cluster` is a ClusterProfile in any
    form; its versions decide how operators behave. `others` are streams with related objects,
    such as the file of a TrainJob's runtime; `objects_of` parses them once for several calls. `extensions` are passes
    and targets of plugins, from `ptcompile.extensions`. Mistakes in a text or spec never raise; they are in
    `World.diagnostics`.
    """
    from ptcompile.kubernetes.versions import Versions
    from ptcompile.simulator.world import World, merge_worlds, simulate as simulated

    arguments.check(target=target, name=name, filename=filename, others=others, extensions=extensions)
    filename = arguments.filename(source, filename)
    parsed_overrides = read_overrides(arguments.pairs(overrides, "overrides"), name)
    diagnostics: list[Diagnostic] = [*parsed_overrides.diagnostics]
    profile: ClusterProfile | None = None
    if cluster is not None:
        profile, profile_diagnostics = load_profile(cluster)
        diagnostics += profile_diagnostics
    versions = profile.versions() if profile is not None else Versions()
    documents, problems = _read_objects(source, filename)
    related = objects_of(others)
    specs = [item for item in documents if _is_ours(item.data)]
    plain_objects = [item for item in documents if not _is_ours(item.data)]
    manifests = [item.data for item in plain_objects]
    problems += [
        _to_diagnostic(problem, item, filename)
        for item in plain_objects
        for problem in _object_problems(item.data, profile)
    ]
    stream_objects = Objects(manifests, related)
    worlds = [simulated(manifests, versions=versions, others=related, frameworks=_frameworks(profile))]
    if parsed_overrides.values:
        specs = _with_overrides(specs, parsed_overrides, filename, diagnostics)
    for spec in specs if not parsed_overrides.diagnostics else ():
        worlds.append(_simulate_spec(spec, target, profile, filename, stream_objects, extensions))
    world = merge_worlds([World(diagnostics=(*diagnostics, *problems)), *worlds])
    return world._replace(diagnostics=tuple(streams.limit_findings(world.diagnostics, filename)))


def _frameworks(profile: ClusterProfile | None) -> tuple[str, ...]:
    """Return the kinds that the profile's Kueue manages beyond its defaults."""
    return () if profile is None else tuple(profile.spec.queue_frameworks)


def objects_of(sources: Iterable[str | bytes | Mapping[str, Any]]) -> Objects:
    """Return the objects of several streams, to pass as `others` of `simulate`. Problems of their text are reported
    elsewhere.
    """
    if isinstance(sources, Objects):
        return sources
    return Objects(item.data for source in sources for item in _read_objects(source, None, "others")[0])


class _StreamObject(NamedTuple):
    """One object of a stream, with its document and its path in it."""

    data: Mapping[str, Any]
    document: Document
    path: Path
    changed: OverriddenDocument | None = None
    """The document with overrides, if there are any."""


def _read_objects(
    source: Any, filename: str | None, parameter: str = "source"
) -> tuple[list[_StreamObject], list[Diagnostic]]:
    """Return the objects of a stream, and the problems of its text."""
    parsed = streams.read(source, filename, parameter)
    diagnostics = [streams.to_diagnostic(problem, None, filename) for problem in parsed.problems]
    objects = [
        _StreamObject(manifest, document, path)
        for document in parsed.documents
        for path, manifest in streams.objects_in(document.data)
    ]
    if not objects and not diagnostics:
        diagnostics = [streams.to_diagnostic(streams.no_documents(), None, filename)]
    return objects, diagnostics


def _object_problems(manifest: Mapping[str, Any], profile: ClusterProfile | None) -> list[Problem]:
    """Return the problems of an object that is not a spec.

    An object with a kind and no apiVersion, or the reverse, has an error; other mappings are not objects. A profile has
    a warning if the caller passed none, since it changes nothing.
    """
    from ptcompile.linter.oversized import oversized_parts

    missing = streams.missing_keys(manifest)
    problems = [*oversized_parts(manifest), *(missing if len(missing) == 1 else ())]
    if profile is None and manifest.get("apiVersion") == "ptcompile/v1" and manifest.get("kind") == "ClusterProfile":
        message = "kind: a ClusterProfile among the files is not read"
        help = "pass it with --cluster FILE"
        problems.append(Problem("unknown-kind", ("kind",), message, help, "warning", "run", "ptcompile"))
    return problems


def _with_overrides(
    specs: Sequence[_StreamObject],
    overrides: Overrides,
    filename: str | None,
    diagnostics: list[Diagnostic],
) -> list[_StreamObject]:
    """Return the specs with the overrides applied, and append the errors of those that cannot have them."""
    changed, errors = apply_to_stream([spec.document for spec in specs if not spec.path], overrides, filename)
    diagnostics += errors
    in_lists = [spec for spec in specs if spec.path]
    return [*(_StreamObject(item.data, item.document, (), item) for item in changed), *in_lists]


def _is_ours(document: Mapping[str, Any]) -> bool:
    return document.get("apiVersion") == "ptcompile/v1" and document.get("kind") == "TrainingJob"


def _simulate_spec(
    spec: _StreamObject,
    target: str | None,
    profile: ClusterProfile | None,
    filename: str | None,
    related: Objects,
    extensions: Extensions | None,
) -> World:
    """Return a spec's worlds, one for each target that can express it.

    If no target can, return the diagnostics for the target that `compile` would choose.
    """
    from ptcompile.compiler.location import PlacedProblem, locate
    from ptcompile.compiler.pipeline import compile_document
    from ptcompile.linter.oversized import oversized_parts
    from ptcompile.registry.targets import TARGETS
    from ptcompile.simulator.world import World, merge_worlds, simulate as simulated
    from ptcompile.spec.reader import default_cluster

    cluster = profile or default_cluster()
    worlds: list[World] = []
    oversized_problems: dict[tuple[str, Path], Problem] = {}
    chosen = None if target == DEFAULT else target
    for name in [chosen] if target is not None else list(TARGETS):
        compiled = compile_document(spec.data, cluster, name, extensions)
        manifests = compiled.manifests
        if manifests and compiled.trace is not None and compiled.target is not None:
            world = simulated(
                manifests,
                versions=cluster.versions(),
                others=related,
                target=compiled.target.name,
                frameworks=_frameworks(cluster),
            )
            worlds.append(world)
            placed = [
                PlacedProblem(problem, index)
                for index, item in enumerate(manifests)
                for problem in oversized_parts(item)
            ]
            for problem in locate(placed, spec.data, compiled.trace):
                oversized_problems.setdefault((problem.name, problem.path), problem)
    if not worlds:
        problems = compile_document(spec.data, cluster, chosen, extensions).problems
        return World(diagnostics=tuple(_to_diagnostic(item, spec, filename) for item in problems))
    diagnostics = tuple(_to_diagnostic(item, spec, filename) for item in oversized_problems.values())
    return merge_worlds([World(diagnostics=diagnostics), *worlds])


def _to_diagnostic(problem: Problem, item: _StreamObject, filename: str | None) -> Diagnostic:
    if item.changed is not None:
        return item.changed.to_diagnostic(problem, filename)
    return streams.to_diagnostic(problem, item.document, filename, item.path, item.data)


def status(live: Mapping[str, Any]) -> Status:
    """Return the state of a job from its live object, as `kubectl get -o json` or a client's `to_dict` prints it.

    Contacts no cluster. `live` is a Pod, Job, PyTorchJob, Volcano Job, JobSet or TrainJob; its status is read as its
    controller writes it (Kubernetes 1.36, training-operator 1.9, Volcano 1.16, JobSet 0.12, Trainer 2.3). Raises
    TypeError for a value that is not a mapping and ValueError for any other kind. A status that no controller would
    write does not raise.
    """
    if not isinstance(live, Mapping):
        raise TypeError(f"live: expected a decoded object, not {type(live).__name__}")
    return status_of(live)
