"""`requires` and `platform`: what a cluster must have for a job, and how to set it up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api import compile
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic, Path
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.operators.table import RUNS_PODS
from ptcompile.requirements.dump import ProfileDraft, draft_profile
from ptcompile.requirements.jobs import Requirement, requires_spec
from ptcompile.requirements.setup import Setup, plan_setup
from ptcompile.source import streams
from ptcompile.source.overrides import apply_to_stream, read_overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile._internal.arguments import ProfileSource, StreamSource
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


class Requirements(NamedTuple):
    """The requirements of a stream's jobs without duplicates, and the problems of its specs."""

    requirements: tuple[Requirement, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no errors. Warnings are allowed."""
        return not any(d.severity == "error" for d in self.diagnostics)

    def text(self) -> str:
        """Return the requirements as text, one per line."""
        return "".join(f"{requirement}\n" for requirement in self.requirements)


def requires(
    spec: StreamSource | Spec,
    *,
    target: str | None = None,
    cluster: ProfileSource | ClusterProfile | None = None,
    name: str | None = None,
    filename: str | None = None,
    overrides: Sequence[tuple[str | Path, Any]] = (),
) -> Requirements:
    """Return what the jobs of a stream need: software with versions, CRDs, referenced objects and node resources.

    Arguments as for `compile`. A stream of manifests without a spec, such as an MPIJob, is accepted too; `target` does
    not affect it. If `diagnostics` has an error, there are no requirements. Mistakes in the stream or profile never
    raise.
    """
    arguments.check(target=target, name=name, filename=filename)
    profile, profile_problems = load_profile(cluster)
    if profile is None:
        return Requirements((), tuple(profile_problems))
    if (manifests := manifests_of_stream(spec, filename)) is not None:
        from ptcompile.requirements import jobs as of_manifests

        return Requirements(of_manifests.requires_manifests(manifests, profile), tuple(profile_problems))
    specs, result = specs_that_compile(spec, profile, target, filename, name=name, overrides=overrides)
    requirements = dict.fromkeys(
        requirement for job_spec in specs for requirement in requires_spec(job_spec, profile, target)
    )
    return Requirements(tuple(requirements), (*profile_problems, *result.diagnostics))


def manifests_of_stream(spec: StreamSource | Spec, filename: str | None) -> list[Json] | None:
    """Return the objects of a stream that has jobs but no TrainingJob; None for any other stream."""
    parsed = streams.read(spec, filename, "spec")
    objects = [manifest for document in parsed.documents for _, manifest in streams.objects_in(document.data)]
    has_spec = any(map(streams.is_ours, objects))
    has_job = any(kind_of(manifest) in RUNS_PODS for manifest in objects)
    return objects if has_job and not has_spec and not parsed.problems else None


def specs_that_compile(
    spec: StreamSource | Spec,
    profile: ClusterProfile,
    target: str | None,
    filename: str | None,
    *,
    name: str | None = None,
    overrides: Sequence[tuple[str | Path, Any]] = (),
) -> tuple[list[Spec], compile.Result]:
    """Return the specs of a stream with the overrides, or none if one does not compile, and what they compile to."""
    from ptcompile.compiler.frontend.reader import decode_spec

    result = compile.compile(
        spec, target=target, cluster=profile, name=name, filename=filename, overrides=overrides, lint=False
    )
    if not result.ok:
        return [], result
    parsed = streams.read(spec, filename, "spec")
    documents, _ = apply_to_stream(parsed.documents, read_overrides(overrides, name), filename)
    decoded = (decode_spec(document.data)[0] for document in documents)
    return [job_spec for job_spec in decoded if job_spec is not None], result


def platform(
    cluster: ProfileSource | ClusterProfile | None = None,
    specs: Sequence[str | bytes | Mapping[str, Any] | Spec] = (),
    *,
    filename: str | None = None,
) -> Setup:
    """Return what a cluster needs before these jobs run: objects for kubectl, Helm values, and a list of other
    requirements.

    `cluster` is a ClusterProfile in any form, by default the built-in one; `filename` is its name, for positions in
    diagnostics. `specs` are streams of jobs; without jobs, the setup is for PyTorchJobs. If `diagnostics` has an error,
    every other field is empty. Mistakes in the streams or profile never raise. Raises TypeError if `specs` is a single
    text.
    """
    if isinstance(specs, str | bytes | Mapping):
        raise TypeError("specs: expected a list of job streams, not a single one")
    profile, profile_problems = load_profile(cluster, filename=filename)
    decoded = [specs_that_compile(stream, profile, None, None) for stream in specs] if profile is not None else []
    diagnostics = (*profile_problems, *(problem for _, result in decoded for problem in result.diagnostics))
    if profile is None or any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return Setup((), {}, (), diagnostics)
    setup = plan_setup(profile, [spec for specs_of_stream, _ in decoded for spec in specs_of_stream])
    return setup._replace(diagnostics=diagnostics)


def profile_from_dump(dump: StreamSource, *, filename: str | None = None) -> ProfileDraft:
    """Return the profile of the cluster from a dump of its objects: the output of `kubectl get ... -A -o yaml`.

    If `diagnostics` has an error, every other field is empty. Mistakes in the dump never raise.
    """
    parsed = streams.read_dump(dump, filename, "dump")
    diagnostics = [streams.to_diagnostic(problem, None, filename) for problem in parsed.problems]
    if not parsed.documents and not parsed.problems:
        diagnostics.append(streams.to_diagnostic(streams.no_documents(blocks_compile=True), None, filename))
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return ProfileDraft({}, (), tuple(diagnostics))
    objects = [manifest for document in parsed.documents for _, manifest in streams.objects_in(document.data)]
    return draft_profile(objects)._replace(diagnostics=tuple(diagnostics))
