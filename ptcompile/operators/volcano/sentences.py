"""What the target volcano writes on its own account, and why: one sentence for each field."""

from collections.abc import Mapping

from ptcompile.operators.common.sentences import NEVER_A_NODE

SENTENCES: Mapping[str, str] = {
    "schedulerName": "Volcano schedules its own jobs unless you name another scheduler.",
    "minAvailable": (
        "No pod starts before there is room for this many: all nodes or the minimum of a range, and the auxiliary pods."
    ),
    "spec.maxRetry": (
        "One more than the retries that you allow, since the attempt that reaches it fails the job; where only lost "
        "nodes restart it, the maximum."
    ),
    "minSuccess": "All nodes must succeed, and Volcano counts the pods that do.",
    "plugins": "The pytorch plugin sets rank and master by task name, and svc makes the names resolve.",
    "spec.policies": "What happens when a pod fails or its node is lost: without a policy a failed pod stays as it is.",
    "tasks.policies": (
        "The job is done when node 0 is, a task out of retries ends it, and where auxiliary pods are replaced alone "
        "a lost node is handled by its task."
    ),
    "tasks.name": (
        "Node 0 is a task of its own, because the pytorch plugin assigns ranks by task; so is each auxiliary role."
    ),
    "tasks.replicas": "One task has node 0, the other all further nodes; each auxiliary role is one task.",
    "tasks.maxRetry": "Containers that the kubelet restarts are counted by their task.",
    "restartPolicy": NEVER_A_NODE,
}
