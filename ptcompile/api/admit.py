"""`admit`: whether the queues of a cluster admit jobs, now or ever, and what prevents it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.inputs import AnyProfile, File, Inputs, Item, JobSource, OverridePairs
from ptcompile.apiserver.evaluations import OutOfEvaluationsError
from ptcompile.diagnostics import (
    Authority,
    Diagnostic,
    Problem,
    Problems,
    Severity,
    field_path,
    has_error,
    own_problem,
    problem_at,
)
from ptcompile.kinds.admission import AdmissionRequest, JobAdmission
from ptcompile.kubernetes.index import Objects, with_existing
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_mappings,
    kind_of,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_value,
    object_name,
)
from ptcompile.operators.table import JOB_KINDS, modeled_queue_system
from ptcompile.source import streams
from ptcompile.world.nodes import pools_of_objects
from ptcompile.world.workload import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import StreamSource
    from ptcompile.extending import Extensions
    from ptcompile.kinds.model import QueueSystem


_NODE_KINDS = ("Node", "Pod", "Workload")
"""Kinds that are many in a dump and decide nothing about the pods of a job, once the nodes are
grouped.
"""
_BY_QUOTA_ALONE = "by quota alone: without --state, nothing is taken to be in use\n"
_TOO_MUCH = Problem(
    name="too-large",
    path=(),
    text="the jobs, nodes and workloads are too many to tell which are admitted",
    help="admit fewer jobs at once, or leave workloads out",
    authority="ptcompile",
)
"""The problem of jobs and queues whose admission takes too many steps."""


class Admission(NamedTuple):
    """What becomes of the jobs of a stream, in the order in which they are created."""

    jobs: tuple[JobAdmission, ...]
    """In the order in which they are created."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Mistakes in the sources, and a finding for each job that is not admitted."""
    by_quota_alone: bool = False
    """Whether no state of the cluster was given, so that nothing else is taken to be in use."""

    @property
    def ok(self) -> bool:
        """Whether there are jobs, all are admitted, and there are no errors."""
        return (
            bool(self.jobs)
            and not has_error(self.diagnostics)
            and all(job.outcome == "admitted" for job in self.jobs)
        )

    def text(self) -> str:
        """Return the answers as text, with a line for each pod set."""
        from ptcompile.report.layout import join_escaped

        head = _BY_QUOTA_ALONE if self.by_quota_alone and self.jobs else ""
        return head + join_escaped(line for job in self.jobs for line in job.lines())

    def to_dict(self) -> JsonDict:
        """Return the JSON form (schemas/admission.schema.json); a job has its name as key, or kind,
        namespace and name if several jobs share the name.
        """
        names = [job.name for job in self.jobs]
        return {
            "version": 1,
            "byQuotaAlone": self.by_quota_alone,
            "jobs": {
                job.name
                if names.count(job.name) == 1
                else f"{job.kind}/{job.namespace}/{job.name}": job.to_dict()
                for job in self.jobs
            },
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }


def admit(
    source: JobSource,
    *,
    cluster: AnyProfile | None = None,
    state: StreamSource | None = None,
    filename: str | None = None,
    name: str | None = None,
    overrides: OverridePairs = (),
    variants: Iterable[str] = (),
    extensions: Extensions | None = None,
) -> Admission:
    """Return whether the queue of each job of a stream admits it: now, later or never.

    The jobs are created one after another, each when the one before has its answer. A TrainingJob
    is compiled first; `name`, `overrides` and `variants` change it as they do for `compile`;
    `extensions` are of plugins. `state` holds the objects of the cluster: a dump by `kubectl get -o
    yaml`, with the queues, flavors, nodes and workloads, and Kueue's Configuration or the ConfigMap
    with it. What it does not have does not exist. Without it, the queues of the stream and of the
    profile's `objects` decide by their quota alone. `cluster` is a ClusterProfile in any form.
    Mistakes in the stream, the state or the profile never raise.
    """
    inputs = Inputs.read(
        source,
        filename=filename,
        cluster=cluster,
        name=name,
        overrides=overrides,
        variants=variants,
        extensions=extensions,
    )
    if state is None:
        return admit_inputs(inputs, None)

    dump = File(streams.read_dump(state, None, "state"), arguments.filename(state, "state"))
    return admit_inputs(inputs, [dump])


def admit_inputs(inputs: Inputs, dumps: Sequence[File] | None) -> Admission:
    """Return what becomes of the jobs of all files, created in order; `dumps` together are the
    state of the cluster.
    """
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
        answers = _without_queues(request, system) or (
            system.admit(request) if system.admit is not None else []
        )
    except OutOfEvaluationsError:
        too_much = streams.to_diagnostic(_TOO_MUCH, None, None)
        return Admission((), (*inputs.diagnostics, *diagnostics, too_much), by_quota_alone)

    quotas = {
        object_name(o.manifest): o
        for o in (*existing, *items)
        if o.manifest.get("kind") == "ClusterQueue"
    }
    of_jobs = [
        job.to_diagnostic(problem)
        for job, answer in zip(jobs, answers, strict=True)
        if answer is not None
        for problem in _problems(
            job, answer, _quota_place(answer, quotas), authority, by_quota_alone=by_quota_alone
        )
    ]
    nodes = _Nodes(inputs, everything, jobs)
    for i, (job, answer) in enumerate(zip(jobs, answers, strict=True)):
        problems = [] if answer is None else [*nodes.problems(job, answer)]
        of_jobs += map(job.to_diagnostic, problems)
        if problems and answer is not None and not answer.queue and answer.outcome == "admitted":
            answers[i] = answer._replace(outcome="waits", reason=problems[0].text)

    admitted = tuple([answer for answer in answers if answer is not None])
    return Admission(
        admitted, inputs.limited(*state.diagnostics, *diagnostics, *of_jobs), by_quota_alone
    )


def _without_queues(request: AdmissionRequest, system: QueueSystem) -> list[JobAdmission | None]:
    """Return that nothing keeps the jobs, if the state of a cluster has no queue."""
    if not request.is_complete or any(
        each.get("kind") in (system.kind, "ClusterQueue") for each in request.objects
    ):
        return []

    return [
        JobAdmission(nested_string(job, "kind"), object_name(job), namespace_of(job), "admitted")
        for job in request.jobs
    ]


class _Nodes:
    """The nodes of the cluster: whether they take the pods of jobs that no queue keeps."""

    def __init__(self, inputs: Inputs, everything: Objects, jobs: Sequence[Item]) -> None:
        self._objects = everything
        self._versions = inputs.versions
        names = {object_name(job.manifest) for job in jobs}
        pods = everything.of_kind(("v1", "Pod"))
        self._running = [pod for pod in pods if names.isdisjoint(_owner_names(pod))]
        self._listed = inputs.pools if inputs.pools is not None and inputs.pools.is_listed else None
        self._streams: dict[tuple[frozenset[str] | None, bool], Stream | None] = {}

    def problems(self, job: Item, answer: JobAdmission) -> Problems:
        """Yield why no node takes the pods of a job: never, or, of one that preempts no other,
        not now.
        """
        from ptcompile.linter import run
        from ptcompile.linter.rule import NODE_RULES

        if answer.queue and answer.outcome != "admitted":
            return

        path = ("spec",) if job.is_compiled else None
        flavors = _flavors_of(answer)
        for is_now in (False, True):
            stream = self._stream(flavors, is_now)
            problems: list[Problem] = []
            if stream is not None:
                problems += run(job.manifest, stream=stream, only=NODE_RULES)
            if is_now:
                problems = [] if answer.victims else [_not_now(problem) for problem in problems]
            yield from (
                problem if path is None else problem._replace(path=path) for problem in problems
            )
            if problems or self._listed is not None:
                return

    def _stream(self, flavors: frozenset[str] | None, is_now: bool) -> Stream | None:
        """Return the objects with the nodes that pods of these flavors see, or None if no nodes are
        known.
        """
        key = (flavors, is_now)
        if key not in self._streams:
            running = self._running if is_now else ()
            pools = self._listed or pools_of_objects(self._objects, running)
            chosen = [each for each in self._objects if each.get("kind") == "ResourceFlavor"]
            if pools is not None and flavors is not None:
                pools = pools._replace(
                    flavors=[each for each in chosen if object_name(each) in flavors]
                )

            others = [each for each in self._objects if each.get("kind") not in _NODE_KINDS]
            self._streams[key] = (
                None if pools is None else Stream(others, self._versions, pools=pools)
            )

        return self._streams[key]


def _flavors_of(answer: JobAdmission) -> frozenset[str] | None:
    """Return the flavors that all pods of a job use, or None if its pod sets use different ones."""
    if not answer.pod_sets:
        return frozenset()

    chosen = {frozenset(pod_set.flavors.values()) for pod_set in answer.pod_sets}
    return chosen.pop() if len(chosen) == 1 else None


def _owner_names(pod: Json) -> set[str]:
    """Return the names of a pod's owners and the values of its labels; controllers put the names of
    indirect owners, such as the job of a JobSet's Job, into labels.
    """
    metadata = nested_map(pod, "metadata")
    owners = nested_maps(metadata, "ownerReferences")
    return {
        *nested_string_map(metadata, "labels").values(),
        *(nested_string(owner, "name") for owner in owners),
    }


def _not_now(problem: Problem) -> Problem:
    help = "wait until other pods have ended, or request less"
    text = f"{problem.text} while the pods of others run"
    return problem._replace(name="not-admitted-now", text=text, help=help, severity="warning")


def _is_job(manifest: Json, system: QueueSystem) -> bool:
    """Return whether an object runs pods or names a queue."""
    named_by = system.named_by
    has_queue = named_by is not None and bool(named_by(manifest))
    return kind_of(manifest) in JOB_KINDS or (has_queue and isinstance(manifest.get("kind"), str))


def _problems(
    job: Item, answer: JobAdmission, quota_place: str, authority: Authority, *, by_quota_alone: bool
) -> Problems:
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
    elif answer.reason:
        help = (
            "add its kind to integrations.frameworks of Kueue's configuration, or convert the job "
            "to another kind"
        )
        yield problem_at(
            "kueue-framework-off", path, answer.reason, help, "warning", "run", authority
        )

    for note in answer.notes:
        yield own_problem("admission-not-modeled", path, note, None, "note", "style")


def _quota_place(answer: JobAdmission, quotas: Mapping[str, Item]) -> str:
    """Return where the quota that is too small is written, or an empty string."""
    origin = quotas.get(answer.cluster_queue)
    if origin is None or not answer.quota:
        return ""

    flavor, resource = answer.quota
    groups = nested_value(origin.manifest, "spec", "resourceGroups")
    for i, group in enumerate(as_mappings(groups)):
        for j, item in enumerate(nested_maps(group, "flavors")):
            for k, quota in enumerate(nested_maps(item, "resources")):
                if (item.get("name"), quota.get("name")) == (flavor, resource):
                    keys = ("spec", "resourceGroups", i, "flavors", j, "resources", k)
                    span = origin.document.span((*origin.path, *keys))
                    if span is not None:
                        place = f"{origin.file.name}:{span.line}"
                    else:
                        place = field_path(keys)
                    return f"; the quota is at {place}"

    return ""
