"""What several targets write on their own account, and why: one sentence for each field."""

from collections.abc import Mapping

NOBODY_REJOINS = "no retries unless you allow some: a replaced pod cannot rejoin a static rendezvous"

NEVER = (
    "A failed container is not restarted in place, so that the failure counts and its log stays, unless you ask for it."
)

NEVER_A_NODE = (
    "A failed container of a node is not restarted in place, so that the failure counts and its log stays; one of "
    "an auxiliary role is, unless you say otherwise."
)

DISRUPTED = (
    "A lost node is not a failure: elastic and spot jobs survive it without counting it, unless onDisruption says "
    "otherwise."
)

DONE = (
    "The job is done when node 0 is, because you say so or because it is elastic: the others may never have been "
    "needed."
)

DONE_BESIDE = "Auxiliary roles never keep the job running: it is done when the trainers are."

ENDING: Mapping[str, str] = {
    "completionMode": "Indexed gives each pod its own number and host name.",
    "backoffLimit": f"The Job has {NOBODY_REJOINS}. Where pods are counted one by one and meet by c10d it is six for "
    "each node, since the loss of node 0 fails all pods.",
    "restartPolicy": NEVER,
    "successPolicy": DONE,
    "podFailurePolicy": DISRUPTED,
}
"""How a batch/v1 Job ends: of the targets job, jobset and trainjob."""

COUNTED: Mapping[str, str] = {
    "completions": "Every node is one pod that must succeed.",
    "parallelism": "All nodes run at once; the default of 1 would run one rank after the other.",
}
"""How many pods a Job has."""

JOBS: Mapping[str, str] = {
    **ENDING,
    "restartPolicy": NEVER_A_NODE,
    "maxRestarts": (
        "How often all Jobs are recreated when one fails: runPolicy.backoffLimit, 6 where you ask for restarts "
        "without a number, else never."
    ),
    "rules.disruption": (
        "A Job that fails because its node is lost has its own reason: the JobSet restarts without counting it, or "
        "ends where onDisruption is FailJob."
    ),
    "rules.deadline": "A Job that passes its deadline fails the JobSet, which would otherwise be retried.",
    "rules.beside": "An auxiliary role whose restarts are used up fails the JobSet, which would otherwise be retried.",
    "successPolicy.operator": DONE_BESIDE,
    "successPolicy.targetReplicatedJobs": DONE_BESIDE,
}
"""How a JobSet ends, and a TrainJob, whose runtime holds one."""
