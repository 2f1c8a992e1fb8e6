"""`admit`: whether the queues of a cluster admit jobs, now or ever, and what prevents it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.evaluations import OutOfEvaluationsError
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Problem, field_path
from ptcompile.kubernetes.index import with_existing
from ptcompile.kubernetes.unstructured import as_mappings, kind_of, nested_map, object_name
from ptcompile.registry.admission import AdmissionRequest
from ptcompile.registry.table import RUNS_PODS, modeled_queue_system
from ptcompile.source import streams
from ptcompile.source.overrides import NO_OVERRIDES, apply_to_stream, read_overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile._internal.arguments import ProfileSource, StreamSource
    from ptcompile.diagnostics import Authority, Diagnostic, Path, Severity
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.registry.admission import JobAdmission
    from ptcompile.registry.model import QueueSystem
    from ptcompile.source.documents import Document, Source
    from ptcompile.source.overrides import OverriddenDocument, Overrides
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec
else:  # as text, NamedTuple would compile them
    Diagnostic = JobAdmission = Json = Document = Source = Path = OverriddenDocument = object


_BY_QUOTA_ALONE: Final = "by quota alone: without --state, nothing is taken to be in use\n"


class Admission(NamedTuple):
    """What becomes of the jobs of a stream, in the order in which they are created."""

    jobs: tuple[JobAdmission, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    """Mistakes in the sources, and a finding for each job that is not admitted."""
    by_quota_alone: bool = False
    """Whether no state of the cluster was given, so that nothing else is taken to be in use."""

    @property
    def ok(self) -> bool:
        """Whether there are jobs, all are admitted, and there are no errors."""
        has_error = any(diagnostic.severity == "error" for diagnostic in self.diagnostics)
        return bool(self.jobs) and not has_error and all(job.outcome == "admitted" for job in self.jobs)

    def text(self) -> str:
        """Return the answers as text, with a line for each pod set."""
        from ptcompile.report.layout import join_escaped

        head = _BY_QUOTA_ALONE if self.by_quota_alone and self.jobs else ""
        return head + join_escaped(line for job in self.jobs for line in job.lines())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form (schemas/admission.schema.json); a job has its name as key, or kind, namespace and name
        if several jobs share the name.
        """
        names = [job.name for job in self.jobs]
        return {
            "version": 1,
            "byQuotaAlone": self.by_quota_alone,
            "jobs": {
                job.name if names.count(job.name) == 1 else f"{job.kind}/{job.namespace}/{job.name}": job.to_dict()
                for job in self.jobs
            },
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }


class _Stream(NamedTuple):
    """One source as it was read, with its name in findings."""

    source: Source
    filename: str | None


class _Origin(NamedTuple):
    """An object, and where it was read."""

    manifest: Json
    document: Document
    filename: str | None
    path: Path
    is_spec: bool = False
    overridden: OverriddenDocument | None = None
    """The spec's document with the overrides, if there are any."""

    def to_diagnostic(self, problem: Problem, manifest: Json | None) -> Diagnostic:
        """Return a problem as a diagnostic of the object, or of the override that caused it."""
        if self.overridden is not None:
            return self.overridden.to_diagnostic(problem, self.filename)
        return streams.to_diagnostic(problem, self.document, self.filename, self.path, manifest)


def admit(
    source: StreamSource | Spec,
    *,
    cluster: ProfileSource | ClusterProfile | None = None,
    state: StreamSource | None = None,
    filename: str | None = None,
    name: str | None = None,
    overrides: Sequence[tuple[str | Path, Any]] = (),
) -> Admission:
    """Return whether the queue of each job of a stream admits it: now, later or never.

    The jobs are created one after another, each when the one before has its answer. A TrainingJob is compiled first;
    `name` and `overrides` change it as they do for `compile`.
    `state` holds the objects of the cluster: a dump by `kubectl get -o yaml`, with the queues, flavors, nodes and
    workloads, and Kueue's Configuration or the ConfigMap with it. What it does not have does not exist. Without it,
    the queues of the stream and of the profile's `objects` decide by their quota alone. `cluster` is a ClusterProfile
    in any form. Mistakes in the stream, the state or the profile never raise.
    """
    arguments.check(filename=filename, name=name)
    changes = read_overrides(arguments.pairs(overrides, "overrides"), name)
    streams_read = [_Stream(streams.read(source, filename), arguments.filename(source, filename))]
    dumps = (
        None
        if state is None
        else [_Stream(streams.read_dump(state, None, "state"), arguments.filename(state, "state"))]
    )
    profile, diagnostics = load_profile(cluster)
    return admit_streams(streams_read, dumps, profile, diagnostics, changes)


def admit_files(
    inputs: Iterable[tuple[bytes, str]],
    state: Iterable[tuple[bytes, str]] | None,
    profile: ClusterProfile,
    *,
    name: str | None = None,
    overrides: Sequence[tuple[str | Path, Any]] = (),
) -> Admission:
    """Return the same for files, whose objects form one stream; each is its content and its name."""
    read = [_Stream(streams.read(content, name), name) for content, name in inputs]
    dumps = (
        None if state is None else [_Stream(streams.read_dump(content, name, "state"), name) for content, name in state]
    )
    return admit_streams(read, dumps, profile, [], read_overrides(overrides, name))


def admit_streams(
    inputs: Sequence[_Stream],
    state: Sequence[_Stream] | None,
    profile: ClusterProfile | None,
    diagnostics: list[Diagnostic],
    overrides: Overrides = NO_OVERRIDES,
) -> Admission:
    """Return what becomes of the jobs of all streams, created in order."""
    diagnostics += overrides.diagnostics
    for stream in (*inputs, *(state or ())):
        diagnostics += [streams.to_diagnostic(problem, None, stream.filename) for problem in stream.source.problems]
        if not stream.source.documents and not stream.source.problems:
            diagnostics.append(streams.to_diagnostic(streams.no_documents(), None, stream.filename))
    if profile is None or any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return Admission((), tuple(diagnostics), state is None)
    origins = [origin for stream in inputs for origin in _origins(stream, profile, diagnostics, overrides)]
    existing = [origin for stream in state or () for origin in _objects(stream)]
    system, authority = modeled_queue_system()
    jobs = [origin for origin in origins if _is_job(origin.manifest, system)]
    everything = with_existing([origin.manifest for origin in (*origins, *existing)], profile.spec.objects)
    admit_jobs = system.admit
    request = AdmissionRequest([job.manifest for job in jobs], everything, profile.versions(), state is not None)
    try:
        answers = [] if admit_jobs is None else admit_jobs(request)
    except OutOfEvaluationsError:
        diagnostics.append(streams.to_diagnostic(_too_much(), None, None))
        return Admission((), tuple(diagnostics), state is None)
    quotas = {object_name(o.manifest): o for o in (*existing, *origins) if o.manifest.get("kind") == "ClusterQueue"}
    for job, answer in zip(jobs, answers, strict=True):
        if answer is not None:
            problems = _problems(job, answer, _quota_place(answer, quotas), authority, by_quota_alone=state is None)
            diagnostics += [job.to_diagnostic(problem, None if job.is_spec else job.manifest) for problem in problems]
    jobs_admitted = tuple(answer for answer in answers if answer is not None)
    return Admission(jobs_admitted, tuple(streams.limit_findings(diagnostics, None)), state is None)


def _too_much() -> Problem:
    """Return the problem of jobs and queues whose admission takes too many steps."""
    message = "the jobs, nodes and workloads are too many to tell which are admitted"
    return Problem("too-large", (), message, "admit fewer jobs at once, or leave workloads out", authority="ptcompile")


def _origins(
    stream: _Stream, profile: ClusterProfile, diagnostics: list[Diagnostic], overrides: Overrides
) -> Iterator[_Origin]:
    """Yield the objects of a stream, with the manifests of a spec in its place; a spec with an error has none."""
    from ptcompile.compiler.pipeline import compile_document

    for origin in _with_overrides([*_objects(stream)], overrides, diagnostics):
        if not streams.is_ours(origin.manifest):
            yield origin
        elif _is_spec(origin):
            compiled = compile_document(origin.manifest, profile)
            diagnostics += [origin.to_diagnostic(problem, origin.manifest) for problem in compiled.problems]
            for manifest in compiled.manifests:
                yield origin._replace(manifest=manifest, is_spec=True)


def _is_spec(origin: _Origin) -> bool:
    return streams.is_ours(origin.manifest) and origin.manifest.get("kind") == "TrainingJob"


def _with_overrides(
    origins: Sequence[_Origin], overrides: Overrides, diagnostics: list[Diagnostic]
) -> Iterator[_Origin]:
    """Yield the objects, with the overrides applied to specs that are separate documents. A spec that cannot have
    them is an error and is left out.
    """
    if not overrides.values:
        yield from origins
        return
    specs = [origin for origin in origins if _is_spec(origin) and not origin.path]
    filename = specs[0].filename if specs else None
    changed, errors = apply_to_stream([spec.document for spec in specs], overrides, filename)
    diagnostics += errors
    by_document = {id(item.document): item for item in changed}
    for origin in origins:
        if not _is_spec(origin) or origin.path:
            yield origin
        elif (overridden := by_document.get(id(origin.document))) is not None:
            yield origin._replace(manifest=overridden.data, overridden=overridden)


def _objects(stream: _Stream) -> Iterator[_Origin]:
    for document in stream.source.documents:
        for path, manifest in streams.objects_in(document.data):
            yield _Origin(manifest, document, stream.filename, path)


def _is_job(manifest: Json, system: QueueSystem) -> bool:
    """Return whether an object runs pods or names a queue."""
    named_by = system.named_by
    has_queue = named_by is not None and bool(named_by(nested_map(manifest, "metadata")))
    return kind_of(manifest) in RUNS_PODS or (has_queue and isinstance(manifest.get("kind"), str))


def _problems(
    job: _Origin, answer: JobAdmission, quota_place: str, authority: Authority, *, by_quota_alone: bool
) -> Iterator[Problem]:
    """Yield why a job is not admitted, and which parts of its admission are not modeled."""
    path = ("spec", "queue") if job.is_spec else answer.queue_path
    why = f"{answer.reason}{quota_place}"
    if answer.outcome == "never":
        severity: Severity = "error" if answer.is_certain or not by_quota_alone else "warning"
        message = f"{field_path(path)}: {answer.name} can never be admitted: {why}"
        help = answer.advice or "request what the queue can have, or use another queue"
        yield Problem("never-admitted", path, message, help, severity, "run", authority)
    elif answer.outcome == "waits":
        message = f"{field_path(path)}: {answer.name} is not admitted now: {why}"
        help = answer.advice or "wait until other jobs have ended"
        yield Problem("not-admitted-now", path, message, help, "warning", "run", authority)
    for note in answer.notes:
        yield Problem("admission-not-modeled", path, f"{field_path(path)}: {note}", None, "note", "style", "ptcompile")


def _quota_place(answer: JobAdmission, quotas: Mapping[str, _Origin]) -> str:
    """Return where the quota that is too small is written, or an empty string."""
    origin = quotas.get(answer.cluster_queue)
    if origin is None or not answer.quota:
        return ""
    flavor, resource = answer.quota
    groups = nested_map(origin.manifest, "spec").get("resourceGroups")
    for i, group in enumerate(as_mappings(groups)):
        for j, item in enumerate(as_mappings(group.get("flavors"))):
            for k, quota in enumerate(as_mappings(item.get("resources"))):
                if (item.get("name"), quota.get("name")) == (flavor, resource):
                    keys = ("spec", "resourceGroups", i, "flavors", j, "resources", k)
                    span = origin.document.span((*origin.path, *keys))
                    place = f"{origin.filename}:{span.line}" if span is not None else field_path(keys)
                    return f"; the quota is at {place}"
    return ""
