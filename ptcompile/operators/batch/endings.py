"""Ending fields of a batch/v1 Job, shared by the targets job, jobset and trainjob (Kubernetes
1.36).
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.ir.job import Job
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.operators.shared import endings
from ptcompile.operators.shared.emitting import SPEC, unsupported_by_target
from ptcompile.operators.table import has_feature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import OnDisruption
    from ptcompile.spec.cluster_profile import ClusterProfile

_DISRUPTED = {"type": "DisruptionTarget", "status": "True"}


def ending_fields(retries: int, lost: OnDisruption, *, in_place: bool, node_0: bool) -> JsonDict:
    """Return backoffLimit, successPolicy and podFailurePolicy of a Job.

    `retries` is the number of retried failures, `lost` the action for a lost node, `in_place`
    whether the kubelet restarts containers, which excludes a podFailurePolicy, `node_0` whether the
    Job ends with its index 0.
    """
    spec: JsonDict = {"backoffLimit": retries}
    if node_0:
        spec["successPolicy"] = {"rules": [{"succeededIndexes": "0"}]}
    if lost != "Count" and not in_place:
        spec["podFailurePolicy"] = {
            "rules": [{"action": lost, "onPodConditions": [dict(_DISRUPTED)]}]
        }
    return spec


def check_success_policy_support(job: Job, cluster: ClusterProfile, kind: str) -> Problems:
    """Yield an error if a Job must end before all its pods have, and Kubernetes is older than
    1.33.
    """
    if endings.ends_with_node_0(job) and not has_feature("job-success-policy", cluster.versions()):
        path = endings.SUCCESS_POLICY
        help = "use AllNodes"
        if job.run_policy.success_policy is None:
            path = (*SPEC, "elastic", "nnodes")
            help = "use a fixed number of nodes"
        yield unsupported_by_target(
            path,
            f"{kind} ends with node 0 through a Job's success policy, which Kubernetes has since "
            "1.33",
            f"{help}, or use the target pytorchjob or volcano",
        )


def disruption_needs_never(job: Job, kind: str) -> Problems:
    """Yield an error or a warning if containers restart in place, so `kind` counts a lost node as a
    failure.

    For an auxiliary role that is the default: a lost node counts as one of its restarts.
    """
    role = next((role for role in job.training_roles if role.restart_policy == "OnFailure"), None)
    if role is None:
        return

    why = f"{kind} tells a lost node from a failure only with restartPolicy Never"
    if job.run_policy.on_disruption in {"Ignore", "FailJob"}:
        yield unsupported_by_target(
            endings.ON_DISRUPTION,
            why,
            "use restartPolicy Never with onPodFailure, or the target volcano",
        )
    elif job.spot and job.run_policy.on_disruption is None:
        yield endings.approximation(
            (*SPEC, "spot"),
            f"{why}: with OnFailure it counts as one of the {endings.retries(job)} that "
            "backoffLimit allows",
            "use restartPolicy Never with onPodFailure",
            "kube-apiserver",
        )
