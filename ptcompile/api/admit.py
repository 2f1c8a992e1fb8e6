"""`admit`: whether the queues of a cluster admit jobs, now or ever, and what prevents it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.inputs import File, Inputs, Item
from ptcompile.apiserver.evaluations import OutOfEvaluationsError
from ptcompile.diagnostics import Problem, field_path, has_error, problem_at
from ptcompile.kinds.admission import AdmissionRequest
from ptcompile.kubernetes.index import with_existing
from ptcompile.kubernetes.unstructured import as_mappings, kind_of, nested_map, object_name
from ptcompile.operators.table import JOB_KINDS, modeled_queue_system
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile._internal.arguments import ProfileSource, StreamSource
    from ptcompile.diagnostics import Authority, Diagnostic, Path, Severity
    from ptcompile.extending import Extensions
    from ptcompile.kinds.admission import JobAdmission
    from ptcompile.kinds.model import QueueSystem
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec
else:  # as text, NamedTuple would compile them
    Diagnostic = JobAdmission = object


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
        return (
            bool(self.jobs) and not has_error(self.diagnostics) and all(job.outcome == "admitted" for job in self.jobs)
        )

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


def admit(
    source: StreamSource | Spec,
    *,
    cluster: ProfileSource | ClusterProfile | None = None,
    state: StreamSource | None = None,
    filename: str | None = None,
    name: str | None = None,
    overrides: Sequence[tuple[str | Path, Any]] = (),
    extensions: Extensions | None = None,
) -> Admission:
    """Return whether the queue of each job of a stream admits it: now, later or never.

    The jobs are created one after another, each when the one before has its answer. A TrainingJob is compiled first;
    `name` and `overrides` change it as they do for `compile`, and `extensions` are passes and targets of plugins.
    `state` holds the objects of the cluster: a dump by `kubectl get -o yaml`, with the queues, flavors, nodes and
    workloads, and Kueue's Configuration or the ConfigMap with it. What it does not have does not exist. Without it,
    the queues of the stream and of the profile's `objects` decide by their quota alone. `cluster` is a ClusterProfile
    in any form. Mistakes in the stream, the state or the profile never raise.
    """
    inputs = Inputs.read(
        source,
        filename=filename,
        cluster=cluster,
        name=name,
        overrides=overrides,
        extensions=extensions,
    )
    if state is None:
        return admit_inputs(inputs, None)

    dump = File(streams.read_dump(state, None, "state"), arguments.filename(state, "state"))
    return admit_inputs(inputs, [dump])


def admit_inputs(inputs: Inputs, dumps: Sequence[File] | None) -> Admission:
    """Return what becomes of the jobs of all files, created in order; `dumps` together are the state of the cluster."""
    by_quota_alone = dumps is None
    state = Inputs(dumps or (), inputs.given_profile)
    if inputs.has_error or state.has_error:
        return Admission((), (*inputs.diagnostics, *state.diagnostics), by_quota_alone)

    items, diagnostics = inputs.compile_specs()
    existing = state.objects
    system, authority = modeled_queue_system()
    jobs = [item for item in items if _is_job(item.manifest, system)]
    manifests = [item.manifest for item in (*items, *existing)]
    everything = with_existing(manifests, inputs.profile.spec.objects)
    request = AdmissionRequest(
        jobs=[job.manifest for job in jobs],
        objects=everything,
        versions=inputs.versions,
        is_complete=not by_quota_alone,
        frameworks=inputs.frameworks,
    )
    try:
        answers = [] if system.admit is None else system.admit(request)
    except OutOfEvaluationsError:
        too_much = streams.to_diagnostic(_too_much(), None, None)
        return Admission((), (*inputs.diagnostics, *diagnostics, too_much), by_quota_alone)

    quotas = {object_name(o.manifest): o for o in (*existing, *items) if o.manifest.get("kind") == "ClusterQueue"}
    of_jobs = [
        job.to_diagnostic(problem)
        for job, answer in zip(jobs, answers, strict=True)
        if answer is not None
        for problem in _problems(job, answer, _quota_place(answer, quotas), authority, by_quota_alone=by_quota_alone)
    ]
    admitted = tuple([answer for answer in answers if answer is not None])
    return Admission(admitted, inputs.limited(*state.diagnostics, *diagnostics, *of_jobs), by_quota_alone)


def _too_much() -> Problem:
    """Return the problem of jobs and queues whose admission takes too many steps."""
    message = "the jobs, nodes and workloads are too many to tell which are admitted"
    return Problem("too-large", (), message, "admit fewer jobs at once, or leave workloads out", authority="ptcompile")


def _is_job(manifest: Json, system: QueueSystem) -> bool:
    """Return whether an object runs pods or names a queue."""
    named_by = system.named_by
    has_queue = named_by is not None and bool(named_by(nested_map(manifest, "metadata")))
    return kind_of(manifest) in JOB_KINDS or (has_queue and isinstance(manifest.get("kind"), str))


def _problems(
    job: Item, answer: JobAdmission, quota_place: str, authority: Authority, *, by_quota_alone: bool
) -> Iterator[Problem]:
    """Yield why a job is not admitted, and which parts of its admission are not modeled."""
    path = ("spec", "queue") if job.is_compiled else answer.queue_path
    why = f"{answer.reason}{quota_place}"
    if answer.outcome == "never":
        severity: Severity = "error" if answer.is_certain or not by_quota_alone else "warning"
        message = f"{answer.name} can never be admitted: {why}"
        help = answer.advice or "request what the queue can have, or use another queue"
        yield problem_at("never-admitted", path, message, help, severity, "run", authority)
    elif answer.outcome == "waits":
        message = f"{answer.name} is not admitted now: {why}"
        help = answer.advice or "wait until other jobs have ended"
        yield problem_at("not-admitted-now", path, message, help, "warning", "run", authority)
    for note in answer.notes:
        yield problem_at("admission-not-modeled", path, note, None, "note", "style", "ptcompile")


def _quota_place(answer: JobAdmission, quotas: Mapping[str, Item]) -> str:
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
                    place = f"{origin.file.name}:{span.line}" if span is not None else field_path(keys)
                    return f"; the quota is at {place}"
    return ""
