"""The batch/v1 Job target, with a headless Service: its manifests, and why each field is written.

Why each field (Kubernetes 1.36):
- One node needs neither index nor Service: its completionMode is NonIndexed, the default.
- completionMode Indexed with parallelism equal to completions: every node runs at once, each with a
  stable host name `<job>-<index>` and JOB_COMPLETION_INDEX. Parallelism defaults to 1, which would
  run one rank after the other.
- subdomain and a headless Service of the job's name with publishNotReadyAddresses: `<job>-0.<job>`
  resolves before the pod is ready, so no pod waits for a probe that waits for the rendezvous.
- backoffLimit 0 unless the user asks for restarts: a single replaced pod cannot rejoin a static
  rendezvous, and the default of 6 would leave its peers waiting. The controller replaces failed
  pods one by one, never all of them.
- restartPolicy Never unless the user sets OnFailure, so that a failure counts and its log stays.
- successPolicy (Kubernetes 1.33) ends a job with node 0, an elastic one always: it may never have
  needed the others.
- podFailurePolicy distinguishes a lost node, which is the pod condition DisruptionTarget, from a
  failure: it is not counted for elastic and spot jobs. It needs restartPolicy Never. The old pod
  must end before a new one is created.
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Derived, Job, Target, Wiring
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.operators.batch import endings as batch_endings
from ptcompile.operators.queues.queue_systems import KAI_MIN_MEMBER
from ptcompile.operators.queues.queues import gang_scheduler_of as gang_of
from ptcompile.operators.shared import emitting, endings
from ptcompile.operators.shared.emitting import (
    COMPLETION_INDEX,
    check_equal_roles,
    check_restart_policies,
    check_service_name,
    managed_by,
    object_metadata,
    plain_env,
    rank_source,
    reject_auxiliary_roles,
    reject_host_names,
)
from ptcompile.operators.shared.endings import JOB_ENDING_SENTENCES, POD_COUNT_SENTENCES
from ptcompile.operators.table import has_feature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


_JOB = "facts/kubernetes, Kubernetes 1.36"

DERIVED = (
    Derived("the last pod's host name", "{job}-{last}", _JOB),
    Derived("the Service", "{job}", "facts/kubernetes, Kubernetes 1.36"),
    Derived("the label batch.kubernetes.io/job-name", "{job}", _JOB),
    Derived("the PodGroup's label on pods", "{job}", "facts/training-operator, scheduler-plugins"),
)


def _wiring(job: Job) -> Wiring:
    if job.peak_nodes == 1:
        return Wiring(
            host="localhost",
            node_rank="0",
            rank_from={"value": "0"},
            env=plain_env(job, "localhost", None),
        )

    host = f"{job.name}-0.{_service_name(job)}"
    return Wiring(
        host=host,
        node_rank="$(JOB_COMPLETION_INDEX)",
        rank_from=rank_source(COMPLETION_INDEX),
        env=plain_env(job, host),
    )


def _unsupported(job: Job, cluster: ClusterProfile) -> Problems:
    yield from check_equal_roles(job, "a batch/v1 Job")
    yield from reject_auxiliary_roles(job, "a batch/v1 Job")
    yield from reject_host_names(job, "the Job controller")
    yield from check_restart_policies(job, ("Never", "OnFailure"), "the pods of a batch/v1 Job end")

    instead = "set ttlSecondsAfterFinished, or cleanPodPolicy: Running, which is what a Job does"
    yield from endings.check_clean_pod_policy(
        job, "a batch/v1 Job", "kube-apiserver", instead=instead
    )
    yield from batch_endings.check_success_policy_support(job, cluster, "a batch/v1 Job")
    yield from endings.reject_restart_job(job, "a batch/v1 Job")
    yield from batch_endings.disruption_needs_never(job, "a batch/v1 Job")
    crash = "backoffLimit 0 fails the Job with its first failed pod"
    yield from endings.check_lost_pods(job, each=True, crash=crash, authority="kube-apiserver")

    is_named_alike = job.peak_nodes > 1 and job.names.service is None
    if is_named_alike and not has_feature("digit-first-service", cluster.versions()):
        yield from check_service_name(job, "the job's Service")


def _emit(job: Job, cluster: ClusterProfile) -> list[JsonDict]:
    role, *_ = job.roles
    policy = job.run_policy
    is_multi_node = job.peak_nodes > 1
    spec: JsonDict = {}
    if policy.suspend:
        spec["suspend"] = True
    spec |= managed_by(job, cluster)
    if is_multi_node:
        spec["completionMode"] = "Indexed"
    spec |= {"completions": job.nodes, "parallelism": job.nodes}
    spec |= batch_endings.ending_fields(
        endings.retries(job),
        endings.on_disruption(job),
        in_place=endings.restarts_in_place(role),
        node_0=endings.ends_with_node_0(job),
    )
    if policy.active_deadline_seconds is not None:
        spec["activeDeadlineSeconds"] = policy.active_deadline_seconds
    if policy.ttl_seconds_after_finished is not None:
        spec["ttlSecondsAfterFinished"] = policy.ttl_seconds_after_finished
    template = emitting.with_pod_group(role.template, job, cluster)
    spec["template"] = pod_template.write(
        template,
        main=job.names.container,
        restartPolicy=role.restart_policy or "Never",
        subdomain=_service_name(job) if is_multi_node else None,
    )
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(job, cluster),
        "spec": spec,
    }
    services = [_headless_service(job)] if is_multi_node else []

    return [*services, *emitting.pod_group(job, cluster, "job"), manifest]


def _metadata(job: Job, cluster: ClusterProfile) -> JsonDict:
    """Return the metadata; without its annotation for the gang's size, KAI schedules a Job's
    pods singly (KAI 0.15).
    """
    metadata = object_metadata(job, cluster, "job")
    if gang_of(job, cluster) == "kai":
        metadata["annotations"] = {
            **metadata.get("annotations", {}),
            KAI_MIN_MEMBER: str(job.min_nodes),
        }
    return metadata


def _service_name(job: Job) -> str:
    return job.names.service or job.name


def _headless_service(job: Job) -> JsonDict:
    """Return the Service that gives each pod its name; it precedes the Job so that names resolve
    from the start.
    """
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**object_metadata(job), "name": _service_name(job)},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"batch.kubernetes.io/job-name": job.name},
        },
    }


SENTENCES = {
    **JOB_ENDING_SENTENCES,
    **POD_COUNT_SENTENCES,
    "subdomain": "Pods in the subdomain of the headless Service find each other by name.",
    "clusterIP": "A headless Service gives each pod a DNS name.",
    "publishNotReadyAddresses": (
        "Names resolve before pods are ready, so no pod waits for a probe that waits for the "
        "rendezvous."
    ),
    "selector": "The Service is for the pods of this Job.",
}


JOB = Target(
    name="job",
    title="batch/v1 Indexed Job, with a headless Service",
    authority="kube-apiserver",
    wiring=_wiring,
    overwrites={"JOB_COMPLETION_INDEX": None},
    unsupported=_unsupported,
    emit=_emit,
    derived=DERIVED,
    sentences=SENTENCES,
)
