"""What the targets write on their own account, and why: one sentence for each field. Sources are in `operators/`."""

from __future__ import annotations

from collections.abc import Mapping

_NEAR_BY_KAI = "KAI keeps the pods near to each other, on this level of the Topology that the profile names."

ALL_TARGETS: Mapping[str, str] = {
    "apiVersion": "The target's API group and version.",
    "kind": "The target's kind.",
    "kueue.x-k8s.io/queue-name": "Kueue reads the queue from this label of the object that it admits.",
    "containers.name": "The container that trains has the name that the operator looks for, and that of a role beside "
    "the trainers is called after the role.",
    "kueue.x-k8s.io/priority-class": "Kueue reads the job's priority from this label of the object that it admits.",
    "managedBy": "On a MultiKueue manager Kueue runs the job in another cluster, and the kind's own controller leaves "
    "it alone.",
    "kai.scheduler/queue": "KAI reads the queue from this label.",
    "labels.priorityClassName": "KAI reads the job's priority from this label, before the class of the pods.",
    "kai.scheduler/batch-min-member": "KAI reads from this annotation how many pods start together.",
    "kai.scheduler/topology": "KAI finds the levels of the network in this Topology, which the profile names.",
    "kai.scheduler/topology-required-placement": _NEAR_BY_KAI,
    "kai.scheduler/topology-preferred-placement": _NEAR_BY_KAI,
    "networkTopology": "Volcano places the pods near to each other: hard within the tier that the profile gives the "
    "level, soft as near as it can.",
    "priorityClassName": "Volcano orders the jobs of a queue by this class, which is the job's priority.",
    "minMember": "No pod starts before there is room for the fewest nodes that the job runs with and all pods beside "
    "them.",
    "minResources": "The requests of the pods that start together, so that a full queue does not let the job in.",
    "scheduleTimeoutSeconds": "The profile says how long the scheduler waits for all pods of the group.",
    "spec.queue": "A job that names no queue gets the profile's, and Volcano reads it from the PodGroup.",
    "scheduling.k8s.io/group-name": "By this annotation a pod belongs to the job's PodGroup of Volcano's.",
    "scheduling.x-k8s.io/pod-group": "By this label a pod belongs to the job's PodGroup of scheduler-plugins.",
}

_NOBODY_REJOINS = "no retry unless you allow some: one replaced pod cannot rejoin a static rendezvous"
_NEVER = (
    "A failed container is not restarted in place, so that the failure counts and its log stays, unless you say so."
)
_NEVER_A_NODE = (
    "A failed container of a node is not restarted in place, so that the failure counts and its log stays, and one "
    "beside the trainers is, unless you say otherwise."
)
_DISRUPTED = (
    "A node that goes is told from a failure: elastic and spot jobs outlive it uncounted, unless onDisruption says "
    "otherwise."
)
_DONE = "The job is done when node 0 is, as you say or as it is elastic: the others may never have been needed."
_DONE_BESIDE = "Roles beside the trainers never keep the job running: it is done with those that train."

_BESIDE_COUNTED = "Trainer counts the nodes, and the pods of other roles are counted here; all run at once."

_ENDING: Mapping[str, str] = {
    "completionMode": "Indexed gives each pod a number and a host name of its own.",
    "backoffLimit": f"The Job has {_NOBODY_REJOINS}.",
    "restartPolicy": _NEVER,
    "successPolicy": _DONE,
    "podFailurePolicy": _DISRUPTED,
}

_COUNTED: Mapping[str, str] = {
    "completions": "Every node is one pod that must end well.",
    "parallelism": "All nodes run at once; the default of 1 would run one rank after the other.",
}

_JOBS: Mapping[str, str] = {
    **_ENDING,
    "restartPolicy": _NEVER_A_NODE,
    "maxRestarts": "How often all Jobs are made anew when one fails: runPolicy.backoffLimit, 6 where you ask for "
    "restarts without a number, else never.",
    "rules.disruption": "A Job that fails as its node goes is told by its reason: the JobSet starts again without "
    "counting it, or ends where onDisruption is FailJob.",
    "rules.deadline": "A Job that passes its deadline fails the JobSet, which would be retried otherwise.",
    "rules.beside": "A role beside the trainers whose restarts are used up fails the JobSet, which would be retried "
    "otherwise.",
    "successPolicy.operator": _DONE_BESIDE,
    "successPolicy.targetReplicatedJobs": _DONE_BESIDE,
}

_JOBSET: Mapping[str, str] = {
    **_JOBS,
    **_COUNTED,
    "completions": "The pods of a Job: all equal nodes, one of a master and workers, or all of a role beside them.",
    "parallelism": "All pods run at once; the default of 1 would run one rank after the other.",
    "replicatedJobs.name": "Equal nodes are one replicatedJob `node`; a master, workers and each role beside them are "
    "one each.",
    "replicas": "How many Jobs: one with all its pods in it, or one for each pod of a master and workers.",
    "network": "Names of pods resolve, and do so before the pods are ready.",
    "RANK": "A pod's number over all roles is JobSet's label job-global-index.",
}

OF_TARGET: Mapping[str, Mapping[str, str]] = {
    "pod": {
        "restartPolicy": _NEVER,
        "scheduling.volcano.sh/queue-name": "Volcano reads the queue from this annotation of a pod without a PodGroup "
        "of its own.",
    },
    "job": {
        **_ENDING,
        **_COUNTED,
        "subdomain": "Pods in the subdomain of the headless Service find each other by name.",
        "clusterIP": "A Service without an address of its own gives each pod its name.",
        "publishNotReadyAddresses": "Names resolve before pods are ready, so nobody waits for a probe that waits for "
        "the rendezvous.",
        "selector": "The Service is for the pods of this Job.",
    },
    "pytorchjob": {
        "nprocPerNode": "The operator counts WORLD_SIZE and hands over PET_NPROC_PER_NODE from this text.",
        "replicas": "The Master is node 0, and the webhook wants its replicas written out; the Workers are all the "
        "other nodes, or all nodes of a range.",
        "restartPolicy": "Always written: Never, where a failed pod fails the job, or OnFailure, where containers are "
        "restarted and lost pods made anew.",
        "backoffLimit": "It counts the restarts of containers, and would be without limit if it were not said beside "
        "OnFailure.",
        "cleanPodPolicy": "A job that fails would leave its other pods as they are, restarting or waiting for peers.",
        "elasticPolicy": "A range of nodes is Workers with an elasticPolicy, from which the operator makes torchrun's "
        "PET_* variables.",
        "schedulingPolicy": "The operator makes the PodGroup from it, whose pods start together when there is room for "
        "all that must run.",
        "ports": "The operator reads a port other than 23456 from the container port called pytorchjob-port.",
    },
    "volcano": {
        "schedulerName": "Volcano schedules its own jobs unless you name another scheduler.",
        "minAvailable": "No pod starts before there is room for these many: all nodes or the fewest of a range, and "
        "the pods beside them.",
        "spec.maxRetry": "One more than the retries that you allow, since the try that reaches it fails the job; where "
        "lost nodes alone restart it, the most there is.",
        "minSuccess": "All nodes must succeed, and Volcano counts the pods that do.",
        "plugins": "The pytorch plugin hands over rank and master by task name, and svc makes the names resolve.",
        "spec.policies": "What follows when a pod fails or its node goes: without a policy a failed pod stays as it "
        "is.",
        "tasks.policies": "The job is done when node 0 is, a task that may fail no more ends it, and where pods beside "
        "the trainers come back alone a lost node is the matter of its task.",
        "tasks.name": "Node 0 is a task of its own, because the pytorch plugin gives ranks by task; so is each role "
        "beside the trainers.",
        "tasks.replicas": "One task has node 0, the other all further nodes; each role beside them is one.",
        "tasks.maxRetry": "Containers that the kubelet restarts are counted by their task.",
        "restartPolicy": _NEVER_A_NODE,
    },
    "trainjob": {
        **_JOBS,
        "completions": _BESIDE_COUNTED,
        "parallelism": _BESIDE_COUNTED,
        "replicas": "A role beside the trainers is one Job.",
        "runtimeRef": "A TrainJob needs a runtime: the built-in torch-distributed where that does what the job says, "
        "else one of its own.",
        "trainer.numNodes": "The number of nodes is the TrainJob's, not its runtime's.",
        "trainer.numProcPerNode": "Trainer hands it over as PET_NPROC_PER_NODE.",
        "containers.name": "Trainer calls the container that trains `node`, and its webhook wants it; others are "
        "called after their role.",
        "replicatedJobs.name": "Trainer calls the replicatedJob that trains `node`; others are called after their "
        "role.",
        "mlPolicy": "The torch policy gives the pods their PET_* variables.",
        "podGroupPolicy": "Trainer makes the PodGroup from it, whose pods start together.",
        "trainer.kubeflow.org/framework": "The runtime is one of PyTorch.",
        "trainer.kubeflow.org/trainjob-ancestor-step": "Trainer finds the replicatedJob that trains by this label.",
        "scheduling.volcano.sh/queue-name": "Volcano reads the queue from this annotation, which Trainer hands down.",
        "runtimePatches": "What a TrainJob changes in the pods of the built-in runtime is a patch (Trainer 2.2 on).",
        "podTemplateOverrides": "What a TrainJob changes in pods of the built-in runtime is an override (Trainer 2.1).",
        "podSpecOverrides": "What a TrainJob changes in pods of the built-in runtime is an override (Trainer 2.0).",
    },
    "jobset": _JOBSET,
}
"""By target; `ALL_TARGETS` is for what is not here."""
