"""`requires` and `platform`: what a cluster must have for a job, and how to set it up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.compile import Result, compile_inputs
from ptcompile.api.inputs import (
    NODE_KINDS,
    AnyProfile,
    File,
    Inputs,
    JobSource,
    OverridePairs,
    read_profile,
)
from ptcompile.diagnostics import Diagnostic, has_error
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.unstructured import Json, kind_of
from ptcompile.operators.table import BY_TARGET, JOB_KINDS
from ptcompile.requirements.dump import ProfileDraft, draft_profile
from ptcompile.requirements.jobs import Requirement, requires_spec
from ptcompile.requirements.setup import Setup, plan_setup
from ptcompile.source import streams
from ptcompile.source.overrides import read_overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions
    from ptcompile.spec.training_job import Spec


class Requirements(NamedTuple):
    """The requirements of a stream's jobs without duplicates, and the problems of its specs."""

    requirements: tuple[Requirement, ...]
    """Each once, sorted by kind."""
    diagnostics: tuple[Diagnostic, ...]
    """Mistakes in the specs and the profile."""

    @property
    def ok(self) -> bool:
        """Whether there are no errors. Warnings are allowed."""
        return not has_error(self.diagnostics)

    def text(self) -> str:
        """Return the requirements as text, one per line."""
        return "".join(f"{requirement}\n" for requirement in self.requirements)


class StreamJobs(NamedTuple):
    """The jobs of a stream: its specs, or its manifests if it has no spec."""

    specs: Sequence[Spec]
    """The specs with the overrides; none if one does not compile."""
    manifests: Sequence[Json]
    """What the specs compile to, or the objects of the stream."""
    result: Result
    """What compile says of the specs."""


def requires(
    spec: JobSource,
    *,
    target: str | None = None,
    cluster: AnyProfile | None = None,
    name: str | None = None,
    filename: str | None = None,
    overrides: OverridePairs = (),
    variants: Iterable[str] = (),
    extensions: Extensions | None = None,
) -> Requirements:
    """Return what the jobs of a stream need: software with versions, CRDs, referenced objects and
    node resources.

    Arguments as for `compile`. A stream of manifests without a spec, such as an MPIJob, is accepted
    too; `target` does not affect it. If `diagnostics` has an error, there are no requirements.
    Mistakes in the stream or profile never raise.
    """
    arguments.check(target=target)
    inputs = Inputs.read(
        spec,
        parameter="spec",
        filename=filename,
        cluster=cluster,
        name=name,
        overrides=overrides,
        variants=variants,
        extensions=extensions,
    )
    jobs = jobs_of(inputs, target)

    return Requirements(requirements_of([jobs], inputs, target), jobs.result.diagnostics)


def jobs_of(inputs: Inputs, target: str | None) -> StreamJobs:
    """Return the jobs of a file, whose specs compile for `target`, else for their own one.

    The nodes of a dump are among the manifests.
    """
    objects = inputs.created
    has_spec = any(map(streams.is_ours, objects))
    is_known = any(
        kind_of(manifest) in JOB_KINDS or kind_of(manifest) in NODE_KINDS for manifest in objects
    )
    if is_known and not has_spec:
        manifests = () if inputs.has_error else objects
        return StreamJobs((), manifests, Result((), inputs.limited()))

    result = compile_inputs(inputs, target)
    if not result.ok:
        return StreamJobs((), (), result)

    from ptcompile.compiler.frontend.reader import decode_spec

    decoded = [decode_spec(document.data)[0] for document in inputs.documents]
    return StreamJobs([spec for spec in decoded if spec is not None], result.manifests, result)


def requirements_of(
    jobs: Iterable[StreamJobs], inputs: Inputs, target: str | None
) -> tuple[Requirement, ...]:
    """Return what jobs need, each requirement once; `inputs` have the profile and the plugins."""
    from ptcompile.requirements.nodes import requires_of_nodes

    streams_of_jobs = [*jobs]
    needed = [
        item
        for stream in streams_of_jobs
        for item in _requirements_of_stream(stream, inputs, target)
    ]
    pools = inputs.pools_among(
        Objects(manifest for stream in streams_of_jobs for manifest in stream.manifests)
    )
    for stream in streams_of_jobs:
        needed += requires_of_nodes(stream.manifests, inputs.versions, pools)

    return tuple(dict.fromkeys(needed))


def _requirements_of_stream(
    jobs: StreamJobs, inputs: Inputs, target: str | None
) -> Iterator[Requirement]:
    """Yield what the jobs of a stream need. What plugins add to specs is seen in the manifests."""
    from ptcompile.requirements.jobs import requires_manifests

    is_built_in = target is None or target in BY_TARGET
    of_specs = [
        requirement
        for spec in (jobs.specs if is_built_in else ())
        for requirement in requires_spec(spec, inputs.profile, target)
    ]
    yield from of_specs
    if not jobs.specs or inputs.extensions is not None:
        named = {(requirement.kind, requirement.name) for requirement in of_specs}
        for requirement in requires_manifests(jobs.manifests, inputs.profile):
            if (requirement.kind, requirement.name) not in named:
                yield requirement


def platform(
    cluster: AnyProfile | None = None,
    specs: Sequence[JobSource] = (),
    *,
    filename: str | None = None,
    name: str | None = None,
    overrides: OverridePairs = (),
    variants: Iterable[str] = (),
    extensions: Extensions | None = None,
) -> Setup:
    """Return what a cluster needs before these jobs run: objects for kubectl, Helm values, and a
    list of other requirements.

    `cluster` is a ClusterProfile in any form, by default the built-in one; `filename` is its name,
    for positions in diagnostics. `specs` are streams of jobs, which compile with the passes of
    `extensions`; `name`, `overrides` and `variants` change each stream as they do for `compile`.
    Without jobs, the setup is for PyTorchJobs. If `diagnostics` has an error, every other field is
    empty. Mistakes in the streams or profile never raise. Raises TypeError if `specs` is a single
    text.
    """
    if isinstance(specs, str | bytes | Mapping):
        raise TypeError("specs: expected a list of job streams, not a single one")

    arguments.check(filename=filename, name=name, extensions=extensions)
    parsed_overrides = read_overrides(
        arguments.pairs(overrides, "overrides"), name, arguments.strings(variants, "variants")
    )
    profile = read_profile(cluster, filename=filename)
    settings = Inputs(
        (), profile.profile, overrides=parsed_overrides, profile_diagnostics=profile.diagnostics
    )
    if settings.has_wrong_settings:
        return Setup((), {}, (), settings.settings_diagnostics)

    files = [
        File(streams.read(spec, None, "specs"), arguments.filename(spec, None)) for spec in specs
    ]
    inputs = [
        Inputs([file], profile.profile, overrides=parsed_overrides, extensions=extensions)
        for file in files
    ]
    jobs = [jobs_of(of_file, None) for of_file in inputs]
    diagnostics = (
        *profile.diagnostics,
        *(item for stream in jobs for item in stream.result.diagnostics),
    )
    if has_error(diagnostics):
        return Setup((), {}, (), diagnostics)

    setup = plan_setup(settings.profile, [spec for stream in jobs for spec in stream.specs])
    return setup._replace(diagnostics=diagnostics)


def profile_from_dumps(dumps: Sequence[File]) -> ProfileDraft:
    """Return the profile of the cluster from dumps of its objects: outputs of `kubectl get ... -A
    -o yaml`, which together have all of them.

    If `diagnostics` has an error, every other field is empty. Mistakes in a dump never raise.
    """
    inputs = Inputs(dumps)
    if inputs.has_error:
        return ProfileDraft({}, (), tuple(inputs.diagnostics))
    draft = draft_profile([item.manifest for item in inputs.items])
    return draft._replace(diagnostics=tuple(inputs.diagnostics))
