"""The Pod target for jobs of one node: its manifest, and why each field is written.

Nothing recreates the pod when its node is lost, and nothing deletes it: run policy fields other
than a deadline need a Job. restartPolicy defaults to Never so that a failure is visible; the
kubelet counts no restarts. A plain command finds the same MASTER_ADDR, MASTER_PORT, WORLD_SIZE and
RANK as on the other targets.
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import UNLIMITED, Derived, Job, Target, Wiring
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.operators.shared import emitting, endings
from ptcompile.operators.shared.emitting import (
    RUN_POLICY,
    SPEC,
    check_restart_policies,
    object_metadata,
    plain_env,
    reject_auxiliary_roles,
    role_path,
    unsupported_by_target,
)
from ptcompile.operators.shared.endings import NEVER_TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


DERIVED = (Derived("the pod's host name", "{job}", "facts/kubernetes, Kubernetes 1.36"),)


def _wiring(job: Job) -> Wiring:
    env = plain_env(job, "localhost", None)
    return Wiring(host="localhost", node_rank="0", rank_from={"value": "0"}, env=env)


def _unsupported(job: Job, _cluster: ClusterProfile) -> Problems:
    if job.peak_nodes > 1:
        yield unsupported_by_target(
            (*SPEC, "nodes"),
            f"a Pod is one node, and the job has {job.peak_nodes}",
            "use the target job, pytorchjob or volcano",
        )

    yield from reject_auxiliary_roles(job, "a Pod")
    yield from check_restart_policies(
        job, ("Never", "OnFailure", "Always"), "a pod has no ExitCode policy"
    )

    policy = job.run_policy
    honored_limits = {None, 0}
    # the kubelet restarts containers without a limit
    if endings.restarts_in_place(job.roles[0]):
        honored_limits.add(UNLIMITED)
    needs_job = {
        "ttlSecondsAfterFinished": policy.ttl_seconds_after_finished is not None,
        "backoffLimit": policy.backoff_limit not in honored_limits,
        "cleanPodPolicy": policy.clean_pod_policy == "All",
        "suspend": policy.suspend,
    }
    for field, is_set in needs_job.items():
        if is_set:
            yield unsupported_by_target(
                (*RUN_POLICY, field),
                f"a Pod has no {field}: no controller manages it",
                "use the target job",
            )

    yield from _unsupported_endings(job)


def _unsupported_endings(job: Job) -> Problems:
    policy = job.run_policy
    reason = "nothing recreates a Pod"
    if policy.on_pod_failure in {"RestartPod", "RestartJob"}:
        yield unsupported_by_target(
            endings.ON_POD_FAILURE, reason, "use the target job, or restartPolicy OnFailure"
        )
    path = endings.survival_path(job)
    if path == endings.ON_DISRUPTION:
        yield unsupported_by_target(path, f"{reason} when its node is lost", "use the target job")
    elif path is not None and job.nodes == 1:
        yield endings.approximation(
            path, f"{reason} when its node is lost", "use the target job", "kubelet"
        )

    if job.nodes != 1:
        return

    for role in job.training_roles:
        if role.restart_policy == "OnFailure" and policy.backoff_limit is None:
            yield endings.approximation(
                (*role_path(role), "restartPolicy"),
                "the kubelet restarts a failed container forever: a Pod has no backoffLimit",
                "use the target job",
                "kubelet",
            )


def _emit(job: Job, cluster: ClusterProfile) -> list[JsonDict]:
    role, *_ = job.roles
    template = pod_template.write(
        emitting.with_single_pod_queue(role.template, job, cluster),
        main=job.names.container,
        restartPolicy=role.restart_policy or "Never",
        activeDeadlineSeconds=job.run_policy.active_deadline_seconds,
    )
    metadata = object_metadata(job, cluster, "pod")
    defaults = cluster.spec.defaults
    for key, default_values in (("labels", defaults.labels), ("annotations", defaults.annotations)):
        pod_values = {
            k: v
            for k, v in template.get("metadata", {}).get(key, {}).items()
            if default_values.get(k) != v
        }
        if pod_values or key in metadata:
            metadata[key] = {**metadata.get(key, {}), **pod_values}

    return [{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}]


POD = Target(
    name="pod",
    title="v1 Pod, one node",
    authority="kube-apiserver",
    wiring=_wiring,
    overwrites={},
    unsupported=_unsupported,
    emit=_emit,
    derived=DERIVED,
    sentences={"restartPolicy": NEVER_TEXT},
)
