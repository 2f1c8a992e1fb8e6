"""The JobSet target: its manifests, and why each field is written.

Why each field (JobSet 0.12):
- Equal nodes are one replicatedJob, `node` unless `names` sets another name, with one Job:
  parallelism equal to completions, completionMode Indexed. The pods are `<name>-node-0-<i>.<name>`,
  and JOB_COMPLETION_INDEX is the rank.
- A master and workers are two replicatedJobs, whether or not they differ. Completion indexes begin
  at 0 in each Job and a command line cannot add, so each pod is a separate Job, and the rank is
  JobSet's label job-global-index: it counts Jobs in the order of the replicatedJobs, the master's
  first. torchrun reads it through the variable RANK.
- enableDNSHostnames and publishNotReadyAddresses are explicit: names resolve before pods are ready.
  The subdomain is left to its default, the JobSet's name, which is the name of the Service.
- An auxiliary role is a replicatedJob after the training ones, so job-global-index stays their
  rank: one Job, pods `<name>-<role>-0-<i>.<name>`.
- The module `endings` covers how the job ends and what is retried.
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Derived, IndexedGroup, Job, Role, Target, Wiring, backend
from ptcompile.ir.pods import PodTemplate
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.operators.jobset import endings
from ptcompile.operators.queues.queue_systems import KAI_MIN_MEMBER
from ptcompile.operators.queues.queues import gang_scheduler_of as gang_of
from ptcompile.operators.shared import emitting
from ptcompile.operators.shared.emitting import (
    COMPLETION_INDEX,
    auxiliary_hosts,
    check_restart_policies,
    check_service_name,
    managed_by,
    object_metadata,
    plain_env,
    rank_source,
    reject_host_names,
    role_path,
    unsupported_by_target,
)
from ptcompile.operators.shared.endings import (
    JOBSET_ENDING_SENTENCES,
    POD_COUNT_SENTENCES,
    check_clean_pod_policy,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


_JOBSET = "facts/jobset, JobSet 0.12"

DERIVED = (
    Derived("the last pod", "{job}-{group}-{last_job}-{last}-xxxxx", _JOBSET),
    Derived("the Job", "{job}-{group}-{last_job}", _JOBSET),
    Derived("the Service and the label jobset.sigs.k8s.io/jobset-name", "{job}", _JOBSET),
    Derived("the PodGroup's label on pods", "{job}", "facts/training-operator, scheduler-plugins"),
)


_GLOBAL_INDEX = "metadata.labels['jobset.sigs.k8s.io/job-global-index']"


def _wiring(job: Job) -> Wiring:
    first = job.names.master if _has_two_roles(job) else job.names.node
    host = "localhost" if job.peak_nodes == 1 else f"{job.name}-{first}-0-0.{job.name}"
    rank = _GLOBAL_INDEX if _has_two_roles(job) else COMPLETION_INDEX
    node_rank = "$(RANK)" if _has_two_roles(job) else "$(JOB_COMPLETION_INDEX)"

    return Wiring(
        host=host,
        node_rank=node_rank,
        rank_from=rank_source(rank),
        env=plain_env(job, host, rank),
        hosts=auxiliary_hosts(job, "-0"),
    )


def _has_two_roles(job: Job) -> bool:
    """Return whether master and worker are two replicatedJobs.

    Called before and after the passes, so it must not read what they fill in.
    """
    return len(job.training_roles) > 1


def _needs_rank(job: Job) -> bool:
    """Return whether torchrun's command line contains $(RANK), which must then be a variable of
    the container.
    """
    launch = job.launch
    return (
        _has_two_roles(job)
        and launch is not None
        and bool(launch.entry)
        and backend(job, launch) == "static"
    )


def _unsupported(job: Job, cluster: ClusterProfile) -> Problems:
    yield from check_restart_policies(
        job, ("Never", "OnFailure"), "the pods of a JobSet's Jobs end"
    )
    instead = "set ttlSecondsAfterFinished, or cleanPodPolicy: Running, which is what a JobSet does"
    yield from check_clean_pod_policy(job, "a JobSet", "jobset", instead=instead)
    yield from endings.check_endings(job, cluster, "a JobSet", by_role=_has_two_roles(job))
    if _needs_rank(job):
        for role in job.training_roles:
            if any(entry.get("name") == "RANK" for entry in role.template.main.env):
                yield unsupported_by_target(
                    (*role_path(role), "env", "RANK"),
                    "torchrun reads the node's rank from RANK, which ptcompile sets from a JobSet "
                    "label",
                    "remove RANK, or use nodes instead of two roles",
                )

    yield from reject_host_names(job, "JobSet")
    yield from check_service_name(job, "the JobSet's Jobs and Service")


def _replicated_jobs(job: Job) -> list[tuple[Role, str, int, int]]:
    """Return the replicatedJobs, each as its role, its name, its number of Jobs and the pods of
    each Job.
    """
    if _has_two_roles(job):
        job_names = {"master": job.names.master, "worker": job.names.worker}
        training = [(role, job_names[role.name], role.replicas, 1) for role in job.training_roles]
    else:
        training = [(job.roles[0], job.names.node, 1, job.nodes)]

    return training + [(role, role.name, 1, role.replicas) for role in job.auxiliary_roles]


def _groups(job: Job) -> list[IndexedGroup]:
    return [IndexedGroup(name, pods, jobs) for _, name, jobs, pods in _replicated_jobs(job)]


def _emit(job: Job, cluster: ClusterProfile) -> list[JsonDict]:
    policy = job.run_policy
    spec: JsonDict = {}
    if policy.suspend:
        spec["suspend"] = True
    spec |= managed_by(job, cluster)
    spec["network"] = {"enableDNSHostnames": True, "publishNotReadyAddresses": True}
    deadline = policy.active_deadline_seconds
    training_jobs = [name for role, name, _, _ in _replicated_jobs(job) if role.trains]
    if success := endings.success_policy(job, training_jobs):
        spec["successPolicy"] = success
    if failure := endings.failure_policy(job, deadline):
        spec["failurePolicy"] = failure
    if policy.ttl_seconds_after_finished is not None:
        spec["ttlSecondsAfterFinished"] = policy.ttl_seconds_after_finished

    spec["replicatedJobs"] = []
    for role, name, jobs, pods in _replicated_jobs(job):
        child = {
            "completionMode": "Indexed",
            "completions": pods,
            "parallelism": pods,
            **endings.child_job(job, role, deadline, by_role=_has_two_roles(job)),
            "template": _pod_template(role, job, cluster),
        }
        metadata = kai_min_member(job, cluster) if role.trains else {}
        template = {**metadata, "spec": child}
        spec["replicatedJobs"].append({"name": name, "replicas": jobs, "template": template})

    manifest = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": object_metadata(job, cluster, "jobset"),
        "spec": spec,
    }

    return [*emitting.pod_group(job, cluster, "jobset"), manifest]


def _pod_template(role: Role, job: Job, cluster: ClusterProfile) -> JsonDict:
    template = emitting.with_pod_group(_with_rank(role, job), job, cluster)
    main = job.names.container_of(role.name) if role.trains else None
    return pod_template.write(template, main=main, restartPolicy=role.restart_policy or "Never")


def kai_min_member(job: Job, cluster: ClusterProfile) -> JsonDict:
    """Return the metadata of an elastic Job template: KAI counts all pods of a Job as its gang by
    default (KAI 0.15).
    """
    if not job.elastic or gang_of(job, cluster) != "kai":
        return {}
    return {"metadata": {"annotations": {KAI_MIN_MEMBER: str(job.min_nodes)}}}


def _with_rank(role: Role, job: Job) -> PodTemplate:
    template = role.template
    if not (role.trains and _needs_rank(job)):
        return template
    other_variables = tuple(entry for entry in template.main.env if entry.get("name") != "RANK")
    rank = {"name": "RANK", **rank_source(_GLOBAL_INDEX)}
    return template._replace(main=template.main._replace(env=(*other_variables, rank)))


SENTENCES = {
    **JOBSET_ENDING_SENTENCES,
    **POD_COUNT_SENTENCES,
    "completions": "The pods of a Job: all equal nodes, one of a master and workers, or all of an auxiliary "
    "role.",
    "parallelism": "All pods run at once; the default of 1 would run one rank after the other.",
    "replicatedJobs.name": "Equal nodes are one replicatedJob `node`; a master, workers and each auxiliary role have "
    "one each.",
    "replicas": "How many Jobs: one with all its pods, or one for each pod of a master and workers.",
    "network": "Names of pods resolve, even before the pods are ready.",
    "RANK": "A pod's number over all roles is JobSet's label job-global-index.",
}


JOBSET = Target(
    name="jobset",
    title="jobset.x-k8s.io/v1alpha2 JobSet",
    authority="jobset",
    wiring=_wiring,
    overwrites={"JOB_COMPLETION_INDEX": None},
    unsupported=_unsupported,
    emit=_emit,
    groups=_groups,
    derived=DERIVED,
    sentences=SENTENCES,
)
