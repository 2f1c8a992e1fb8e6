"""What the target volcano writes on its own account, and why: one sentence for each field."""

from collections.abc import Mapping

from ptcompile.operators.common.sentences import NEVER_A_NODE

SENTENCES: Mapping[str, str] = {
    "schedulerName": "Volcano schedules its own jobs unless you name another scheduler.",
    "minAvailable": "No pod starts before there is room for these many: all nodes or the fewest of a range, and "
    "the pods beside them.",
    "spec.maxRetry": "One more than the retries that you allow, since the try that reaches it fails the job; where "
    "lost nodes alone restart it, the most there is.",
    "minSuccess": "All nodes must succeed, and Volcano counts the pods that do.",
    "plugins": "The pytorch plugin hands over rank and master by task name, and svc makes the names resolve.",
    "spec.policies": "What follows when a pod fails or its node goes: without a policy a failed pod stays as it is.",
    "tasks.policies": "The job is done when node 0 is, a task that may fail no more ends it, and where pods beside "
    "the trainers come back alone a lost node is the matter of its task.",
    "tasks.name": "Node 0 is a task of its own, because the pytorch plugin gives ranks by task; so is each role "
    "beside the trainers.",
    "tasks.replicas": "One task has node 0, the other all further nodes; each role beside them is one.",
    "tasks.maxRetry": "Containers that the kubelet restarts are counted by their task.",
    "restartPolicy": NEVER_A_NODE,
}
