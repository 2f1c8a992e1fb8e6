"""`simulate`, and the status of a live object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.reader import load_profile
from ptcompile.kubernetes.index import Objects
from ptcompile.registry.status import Status
from ptcompile.registry.table import status_of
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile._internal.arguments import StreamSource
    from ptcompile.diagnostics import Diagnostic, Path, Problem
    from ptcompile.extending import Extensions
    from ptcompile.simulator.world import World
    from ptcompile.source.documents import Document
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


def simulate(
    source: StreamSource | Spec,
    *,
    target: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    filename: str | None = None,
    others: Iterable[str | bytes | Mapping[str, Any]] = (),
    extensions: Extensions | None = None,
) -> World:
    """What every pod of every job of a stream will see.

    A TrainingJob of ours is compiled first: for `target`, else for every target that can express it. `cluster` is a
    ClusterProfile in any form; its versions decide what the operators do. `others` are further streams to look at
    only, such as the file of a TrainJob's runtime; `objects_of` reads them once for several calls. `extensions` are
    passes and targets of plugins, by `ptcompile.extensions`. Raises nothing for what a user may have written: what is
    wrong with the text or with a spec is in `World.diagnostics`.
    """
    from ptcompile.kubernetes.versions import Versions
    from ptcompile.linter.oversized import oversized
    from ptcompile.simulator.world import World, merge_worlds, simulate as simulated

    arguments.check(target=target, filename=filename, others=others, extensions=extensions)
    filename = arguments.filename(source, filename)
    diagnostics: list[Diagnostic] = []
    profile: ClusterProfile | None = None
    if cluster is not None:
        profile, diagnostics = load_profile(cluster)
    versions = profile.versions() if profile is not None else Versions()
    documents, found = _documents(source, filename)
    beside = objects_of(others)
    specs = [one for one in documents if _is_ours(one.data)]
    plain = [one for one in documents if not _is_ours(one.data)]
    manifests = [one.data for one in plain]
    found += [_stamped(problem, one, filename) for one in plain for problem in oversized(one.data)]
    given = Objects(manifests, beside)
    worlds = [simulated(manifests, versions=versions, others=beside)]
    for spec in specs:
        worlds.append(_compiled(spec, target, profile, filename, given, extensions))
    world = merge_worlds([World(diagnostics=(*diagnostics, *found)), *worlds])
    return world._replace(diagnostics=tuple(streams.limit_findings(world.diagnostics, filename)))


def objects_of(sources: Iterable[str | bytes | Mapping[str, Any]]) -> Objects:
    """The objects of some streams, as `others` of `simulate`; what is wrong with a text is reported elsewhere."""
    if isinstance(sources, Objects):
        return sources
    return Objects(one.data for source in sources for one in _documents(source, None, "others")[0])


class _StreamObject(NamedTuple):
    """One object of a stream, and where it stands: in which document, under which path."""

    data: Mapping[str, Any]
    document: Document
    under: Path


def _documents(
    given: Any, filename: str | None, parameter: str = "source"
) -> tuple[list[_StreamObject], list[Diagnostic]]:
    """The objects of a stream, and what is wrong with its text."""
    read = streams.read(given, filename, parameter)
    found = [streams.to_diagnostic(problem, None, filename) for problem in read.problems]
    objects = [
        _StreamObject(one, document, at) for document in read.documents for at, one in streams.objects_in(document.data)
    ]
    if not objects and not found:
        found = [streams.to_diagnostic(streams.no_documents(), None, filename)]
    return objects, found


def _is_ours(document: Mapping[str, Any]) -> bool:
    return document.get("apiVersion") == "ptcompile/v1" and document.get("kind") == "TrainingJob"


def _compiled(
    spec: _StreamObject,
    target: str | None,
    profile: ClusterProfile | None,
    filename: str | None,
    beside: Objects,
    extensions: Extensions | None,
) -> World:
    """A spec's worlds, one for each target that can express it.

    Where none can, the findings of the target that `compile` would have taken.
    """
    from ptcompile.compiler.location import PlacedProblem, locate
    from ptcompile.compiler.pipeline import compile_document
    from ptcompile.linter.oversized import oversized
    from ptcompile.registry.targets import TARGETS
    from ptcompile.simulator.world import World, merge_worlds, simulate as simulated
    from ptcompile.spec.reader import default_cluster

    cluster = profile or default_cluster()
    worlds: list[World] = []
    large: dict[tuple[str, Path], Problem] = {}
    for name in [target] if target is not None else list(TARGETS):
        compiled = compile_document(spec.data, cluster, name, extensions)
        manifests = compiled.manifests
        if manifests and compiled.trace is not None:
            worlds.append(simulated(manifests, versions=cluster.versions(), others=beside, target=name))
            found = [PlacedProblem(problem, index) for index, one in enumerate(manifests) for problem in oversized(one)]
            for problem in locate(found, spec.data, compiled.trace):
                large.setdefault((problem.name, problem.path), problem)
    if not worlds:
        problems = compile_document(spec.data, cluster, target, extensions).problems
        return World(diagnostics=tuple(_stamped(one, spec, filename) for one in problems))
    told = tuple(_stamped(one, spec, filename) for one in large.values())
    return merge_worlds([World(diagnostics=told), *worlds])


def _stamped(problem: Problem, one: _StreamObject, filename: str | None) -> Diagnostic:
    return streams.to_diagnostic(problem, one.document, filename, one.under, one.data)


def status(live: Mapping[str, Any]) -> Status:
    """The state of a job from its live object, as `kubectl get -o json` or a client's `to_dict` gives it.

    Pure: nothing is asked of a cluster. `live` is a Pod, a Job, a PyTorchJob, a Volcano Job, a JobSet or a TrainJob;
    the state is read as its controller writes it (Kubernetes 1.36, training-operator 1.9, Volcano 1.16, JobSet 0.12,
    Trainer 2.3). Raises TypeError for what is no mapping and ValueError for any other kind; nothing for a status that
    no controller has written.
    """
    if not isinstance(live, Mapping):
        raise TypeError(f"live: expected a decoded object, not {type(live).__name__}")
    return status_of(live)
