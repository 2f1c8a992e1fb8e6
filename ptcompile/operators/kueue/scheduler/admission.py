"""Whether Kueue admits jobs that are created one after another, now or ever, and what prevents
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from ptcompile._internal.lazy import Pattern, cached_property
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import pluralize
from ptcompile.apiserver.admission.request import ClusterState
from ptcompile.kinds.admission import AdmissionRequest, AdmittedPodSet, JobAdmission, PreemptedJob
from ptcompile.kubernetes.unstructured import (
    Json,
    kind_of,
    namespace_of,
    nested_map,
    nested_string,
    nested_value,
    object_name,
)
from ptcompile.operators.kueue.queues import PREFIX, QUEUE, admission_checks, outside_text, queue_of
from ptcompile.operators.kueue.scheduler.cycle import Scheduler
from ptcompile.operators.kueue.scheduler.existing import existing_workloads
from ptcompile.operators.kueue.scheduler.flavors import Assignment, Fit, assign
from ptcompile.operators.kueue.scheduler.objects import Cluster, Quota, read_cluster
from ptcompile.operators.kueue.scheduler.preemption import simulate
from ptcompile.operators.kueue.scheduler.shares import quota_shares
from ptcompile.operators.kueue.scheduler.workloads import (
    NotQueuedError,
    PartOfGroupError,
    Workload,
    workloads_of,
)

_ENDLESS = 10**24
_NOT_MODELED = {
    "kueue.x-k8s.io/multikueue": "MultiKueue, which admits it in another cluster",
    "kueue.x-k8s.io/provisioning-request": "the ProvisioningRequest that must succeed first",
}
"""Checks that are not modeled, by the controller of the admission check."""


class Verdict(NamedTuple):
    """Whether a job is admitted to empty queues."""

    fits: bool
    reason: str = ""
    is_certain: bool = True
    """Whether neither other queues nor other nodes than the known ones could change it."""
    lacks_nodes: bool = False
    """Whether other queues could not, and other nodes could."""


class EmptyQueues:
    """The queues of a cluster without workloads: a job that these do not admit is never admitted."""

    def __init__(self, cluster: Cluster) -> None:
        self.scheduler = Scheduler(cluster)

    @cached_property
    def _boundless_scheduler(self) -> Scheduler:
        """The same queues in cohorts that lend without end, on nodes without end."""
        return Scheduler(self._lending.cluster._replace(places_pods=False))

    @cached_property
    def _lending(self) -> Scheduler:
        """The same queues in cohorts that lend without end."""
        cluster = self.scheduler.cluster
        roots = [
            node.root.holder
            for node in self.scheduler.state.queues.values()
            if node.parent is not None
        ]
        keys = {key for queue in cluster.queues.values() for key in queue.quotas}
        quotas = dict.fromkeys(keys, Quota(_ENDLESS, None, None))
        endless = {holder.name: holder._replace(quotas=quotas) for holder in roots}
        return Scheduler(cluster._replace(cohorts={**cluster.cohorts, **endless}))

    def judge(self, workloads: Sequence[Workload]) -> Verdict:
        """Return whether the workloads of a job are admitted there together."""
        fits, reason = _try_alone(self.scheduler, workloads)
        if fits:
            return Verdict(True)

        fits_without_bounds, _ = _try_alone(self._boundless_scheduler, workloads)
        if not fits_without_bounds:
            return Verdict(False, reason)

        fits_nodes, _ = _try_alone(self._lending, workloads)
        return Verdict(False, reason, is_certain=False, lacks_nodes=not fits_nodes)


def _try_alone(scheduler: Scheduler, workloads: Sequence[Workload]) -> tuple[bool, str]:
    """Return whether workloads are admitted to empty queues, and why not; the queues are empty
    again afterwards.
    """
    copies = [workload.copy() for workload in workloads]
    for copy in copies:
        copy.order = scheduler.tick()
        scheduler.submit(copy)
    scheduler.settle()
    waiting = [copy for copy in copies if copy not in scheduler.assignments]
    reason = next((scheduler.messages.get(copy, "") for copy in waiting), "")
    for copy in copies:
        scheduler.withdraw(copy)

    return not waiting, reason


def would_fit(scheduler: Scheduler, workload: Workload, counts: Sequence[int] = ()) -> bool:
    """Return whether a workload would be admitted without preemption."""
    return (
        workload.cluster_queue in scheduler.state.queues
        and assign_in(scheduler, workload, counts).fit == Fit.FIT
    )


def assign_in(scheduler: Scheduler, workload: Workload, counts: Sequence[int] = ()) -> Assignment:
    """Return what a workload would get now; its ClusterQueue must be active."""
    return assign(workload.copy(), scheduler.state, simulate(scheduler.state), counts)


def admit_jobs(request: AdmissionRequest) -> list[JobAdmission | None]:
    """Return what becomes of each job, in order, after all were created."""
    cluster = read_cluster(request.objects, is_complete=request.is_complete)
    state = ClusterState(request.objects, request.versions)
    scheduler = Scheduler(cluster)
    empty = EmptyQueues(cluster)
    _restore_workloads(request, scheduler, state)

    # a later job may preempt an earlier one, so all are submitted before any is answered
    submitted: list[tuple[list[Workload], str] | JobAdmission | None] = []
    for job in request.jobs:
        if outside := _admission_outside_queues(job, cluster, request):
            submitted.append(outside)
            continue

        try:
            workloads = workloads_of(job, cluster, request.objects, request.versions, state)
        except PartOfGroupError:
            submitted.append(None)
            continue
        except NotQueuedError as error:
            submitted.append(([], str(error)))
            continue

        for workload in workloads:
            workload.order = scheduler.tick()
            scheduler.submit(workload)
        scheduler.settle()
        submitted.append((workloads, ""))

    admissions: list[JobAdmission | None] = []
    for job, item in zip(request.jobs, submitted, strict=True):
        if item is None or isinstance(item, JobAdmission):
            admissions.append(item)
        else:
            workloads, reason = item
            admissions.append(_admission(job, workloads, reason, scheduler, empty))

    return admissions


def _restore_workloads(
    request: AdmissionRequest, scheduler: Scheduler, state: ClusterState
) -> None:
    """Restore the Workloads of a dump, except those of the jobs that are to be created."""
    jobs = {
        (nested_string(job, "kind"), namespace_of(job), object_name(job)) for job in request.jobs
    }
    for version in ("v1beta2", "v1beta1"):
        manifests = request.objects.of_kind((f"{PREFIX}{version}", "Workload"))
        for workload in existing_workloads(scheduler.cluster, manifests, state):
            owner = workload.owner
            if (owner.kind, workload.namespace, owner.name) not in jobs:
                scheduler.restore(workload)


def _admission_outside_queues(
    job: Json, cluster: Cluster, request: AdmissionRequest
) -> JobAdmission | None:
    """Return the answer for a job that no queue keeps, although it names one: Kueue does not
    manage its kind.
    """
    text = outside_text(
        kind_of(job), request.versions, request.frameworks, cluster.configuration.frameworks
    )
    if not (text and queue_of(job)):
        return None

    spec = nested_map(job, "spec")
    is_suspended = True in (spec.get("suspend"), nested_value(spec, "runPolicy", "suspend"))

    return JobAdmission(
        kind=kind_of(job).name,
        name=object_name(job),
        namespace=namespace_of(job),
        outcome="never" if is_suspended else "admitted",
        reason=f"{text.rpartition(':')[0]}: nothing ends its suspension" if is_suspended else text,
        queue_path=("metadata", "labels", QUEUE),
    )


def _admission(
    job: Json, workloads: Sequence[Workload], reason: str, scheduler: Scheduler, empty: EmptyQueues
) -> JobAdmission:
    """Return the answer for a job: admitted, waiting for others, or never admitted, with the
    reason.
    """
    queue = queue_of(job)
    never = JobAdmission(
        nested_string(job, "kind"),
        object_name(job),
        namespace_of(job),
        "never",
        reason,
        queue=queue,
        queue_path=("metadata", "labels", QUEUE),
    )
    if not workloads:
        return never

    first, *_ = workloads
    admission = never._replace(
        cluster_queue=first.cluster_queue,
        notes=tuple(_not_looked_at(scheduler.cluster, first)),
        quotas=tuple(quota_shares(workloads, scheduler)),
    )
    waiting = [workload for workload in workloads if workload not in scheduler.assignments]
    if not waiting:
        victims = {p.workload: p.how for p in scheduler.preemptions if p.preemptor in workloads}
        return admission._replace(
            outcome="admitted",
            pod_sets=tuple(_pod_sets(scheduler.assignments[first])),
            victims=tuple(
                PreemptedJob(v.owner.name, v.namespace, how) for v, how in victims.items()
            ),
        )

    first_waiting, *_ = waiting
    verdict = empty.judge(workloads)
    if verdict.fits:
        admission = admission._replace(
            outcome="waits",
            reason=scheduler.messages.get(first_waiting)
            or _waiting_reason(scheduler, first_waiting),
        )
        tried = scheduler
    else:
        admission = admission._replace(reason=verdict.reason)
        tried = empty.scheduler

    preemptors = [p.preemptor.name for p in scheduler.preemptions if p.workload in workloads]
    is_open = first_waiting.cluster_queue in scheduler.state.queues and not first_waiting.invalid

    return admission._replace(
        is_certain=verdict.is_certain,
        preempted_by=preemptors[-1] if preemptors else "",
        quota=assign_in(tried, first_waiting).exceeded if is_open else None,
        advice=_advice(first_waiting, scheduler, tried) or _toleration(verdict.reason),
    )


_UNTOLERATED = Pattern(r"untolerated taint \{(\S+) (\S*) (\S+) <nil>\} in flavor ([\w.-]+)")


def _toleration(reason: str) -> str:
    """Return the toleration that pods lack, if a taint of a flavor is the cause, or an empty
    string.
    """
    if not (taint := _UNTOLERATED.search(reason)):
        return ""

    key, value, effect, flavor = taint.groups()
    return (
        f"give the pods a toleration of {key}{f'={value}' if value else ''}:{effect}, the taint "
        f"of flavor {flavor}"
    )


def _pod_sets(assignment: Assignment) -> Iterator[AdmittedPodSet]:
    for item in assignment.pod_sets:
        levels, domains = item.placement or ((), ())
        flavors = {resource: choice.name for resource, choice in item.flavors.items()}
        yield AdmittedPodSet(item.pod_set.name, item.count, flavors, levels, domains)


def _waiting_reason(scheduler: Scheduler, workload: Workload) -> str:
    """Return which workload a workload waits behind."""
    head = scheduler.head(workload.cluster_queue)
    if head is None or head is workload:
        return "waits for the next round of the scheduler"
    return f"waits behind {head.owner.name}, which is first in the queue and does not fit"


def _not_looked_at(cluster: Cluster, workload: Workload) -> Iterator[str]:
    """Yield a note for each part of the admission that is not modeled."""
    queue = cluster.queues.get(workload.cluster_queue)
    if queue is not None:
        for name in admission_checks(queue.spec):
            controller = nested_string(cluster.checks.get(name, {}), "spec", "controllerName")
            missing = _NOT_MODELED.get(controller, "its controller, which must set it ready")
            yield f"AdmissionCheck {name}: not looked at is {missing}"
    if any(pod_set.spec.get("resourceClaims") for pod_set in workload.pod_sets):
        yield "the devices of resource claims are not looked at"


_MAX_QUEUES = 8
"""Limit of the other queues that are tried for a workload, so that n of them are not tried for n
workloads.
"""


def _advice(workload: Workload, scheduler: Scheduler, tried: Scheduler) -> str:
    """Return what would certainly let a workload in: another queue, or fewer pods.

    `tried` has the queues as they are, or empty ones if the workload never fits.
    """
    if workload.invalid:
        return ""

    names = (
        name
        for namespace, name in scheduler.cluster.local_queues
        if namespace == workload.namespace and name != workload.queue
    )
    for name in islice(names, _MAX_QUEUES):
        copy = workload.copy()
        copy.queue = name
        if scheduler.opens(copy) and would_fit(scheduler, copy):
            return f"queue {name} would admit it now"

    # the most pods that fit are found by halving
    indexes = [i for i, pod_set in enumerate(workload.pod_sets) if pod_set.count > 1]
    if len(indexes) != 1 or workload.cluster_queue not in scheduler.state.queues:
        return ""

    (scaled,) = indexes
    counts = [pod_set.count for pod_set in workload.pod_sets]
    low = 0
    high = counts[scaled] - 1
    while low < high:
        middle = (low + high + 1) // 2
        counts[scaled] = middle
        if would_fit(tried, workload, counts):
            low = middle
        else:
            high = middle - 1

    if low == 0:
        return ""

    pods = f"{pluralize(low, 'pod')} of {workload.pod_sets[scaled].name}"
    if tried is scheduler:
        return f"{pods} would fit now"

    return f"no more than {pods} can ever fit"
