"""What absent fields of a JobSet mean, by CRD and mutating webhook (JobSet 0.12)."""

from ptcompile.operators.batch.defaults import backoff_limit, completions, one, pod_replacement_policy
from ptcompile.operators.common.defaults import Defaults

_CHILD = ("replicatedJobs", "*", "template", "spec")

DEFAULTS = Defaults(
    {
        ("replicatedJobs", "*", "replicas"): 1,
        ("replicatedJobs", "*", "groupName"): "default",
        ("replicatedJobs", "*", "template", "spec", "completionMode"): "Indexed",
        ("replicatedJobs", "*", "template", "spec", "template", "spec", "restartPolicy"): "OnFailure",
        ("JobSet", "spec", "managedBy"): "jobset.sigs.k8s.io/jobset-controller",
        ("network", "enableDNSHostnames"): True,
        ("network", "publishNotReadyAddresses"): True,
        ("successPolicy", "operator"): "All",
        ("startupPolicy", "startupPolicyOrder"): "AnyOrder",
        ("failurePolicy", "maxRestarts"): 0,
        ("failurePolicy", "restartStrategy"): "Recreate",
        ("retentionPolicy", "whenDeleted"): "Delete",
    },
    {
        (*_CHILD, "backoffLimit"): backoff_limit,
        (*_CHILD, "podReplacementPolicy"): pod_replacement_policy,
        (*_CHILD, "parallelism"): one,
        (*_CHILD, "completions"): completions,
    },
)
