"""What several targets write on their own account, and why: one sentence for each field."""

from collections.abc import Mapping

NOBODY_REJOINS = "no retry unless you allow some: one replaced pod cannot rejoin a static rendezvous"

NEVER = "A failed container is not restarted in place, so that the failure counts and its log stays, unless you say so."

NEVER_A_NODE = (
    "A failed container of a node is not restarted in place, so that the failure counts and its log stays, and one "
    "beside the trainers is, unless you say otherwise."
)

DISRUPTED = (
    "A node that goes is told from a failure: elastic and spot jobs outlive it uncounted, unless onDisruption says "
    "otherwise."
)

DONE = "The job is done when node 0 is, as you say or as it is elastic: the others may never have been needed."

DONE_BESIDE = "Roles beside the trainers never keep the job running: it is done with those that train."

ENDING: Mapping[str, str] = {
    "completionMode": "Indexed gives each pod a number and a host name of its own.",
    "backoffLimit": f"The Job has {NOBODY_REJOINS}. Where pods are counted one by one and meet by c10d it is six for "
    "each node, since the loss of node 0 fails the pods of all.",
    "restartPolicy": NEVER,
    "successPolicy": DONE,
    "podFailurePolicy": DISRUPTED,
}
"""How a batch/v1 Job ends: of the targets job, jobset and trainjob."""

COUNTED: Mapping[str, str] = {
    "completions": "Every node is one pod that must end well.",
    "parallelism": "All nodes run at once; the default of 1 would run one rank after the other.",
}
"""How many pods a Job has."""

JOBS: Mapping[str, str] = {
    **ENDING,
    "restartPolicy": NEVER_A_NODE,
    "maxRestarts": "How often all Jobs are made anew when one fails: runPolicy.backoffLimit, 6 where you ask for "
    "restarts without a number, else never.",
    "rules.disruption": "A Job that fails as its node goes is told by its reason: the JobSet starts again without "
    "counting it, or ends where onDisruption is FailJob.",
    "rules.deadline": "A Job that passes its deadline fails the JobSet, which would be retried otherwise.",
    "rules.beside": "A role beside the trainers whose restarts are used up fails the JobSet, which would be retried "
    "otherwise.",
    "successPolicy.operator": DONE_BESIDE,
    "successPolicy.targetReplicatedJobs": DONE_BESIDE,
}
"""How a JobSet ends, and a TrainJob, whose runtime holds one."""
