"""What the targets write on their own account, and why: one sentence for each field. Sources are in `targets/`."""

from __future__ import annotations

from collections.abc import Mapping

ALL_TARGETS: Mapping[str, str] = {
    "apiVersion": "The target's API group and version.",
    "kind": "The target's kind.",
    "kueue.x-k8s.io/queue-name": "Kueue reads the queue from this label of the object that it admits.",
    "containers.name": "The container that trains has the name that the operator looks for.",
}

_NOBODY_REJOINS = "no retry unless you allow some: one replaced pod cannot rejoin a static rendezvous"
_NEVER = (
    "A failed container is not restarted in place, so that the failure counts and its log stays, unless you say so."
)
_DISRUPTED = "A node of an elastic job that is taken away is replaced, and the failure is not counted."
_DONE = "An elastic job is done when node 0 is: the others may never have been needed."

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
    "maxRestarts": "runPolicy.backoffLimit is how often the JobSet makes all its Jobs anew.",
    "failurePolicy.rules": "A Job that passes its deadline fails the JobSet, which would be retried otherwise.",
}

_JOBSET: Mapping[str, str] = {
    **_JOBS,
    **_COUNTED,
    "replicatedJobs.name": "Equal nodes are one replicatedJob `node`; a master and workers are one each.",
    "replicas": "How many Jobs: one with all equal nodes in it, or one for each pod of a role.",
    "network": "Names of pods resolve, and do so before the pods are ready.",
    "RANK": "A pod's number over all roles is JobSet's label job-global-index.",
}

OF_TARGET: Mapping[str, Mapping[str, str]] = {
    "pod": {"restartPolicy": _NEVER},
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
        "restartPolicy": "Always written: Never, or OnFailure where you allow retries, since backoffLimit counts "
        "restarts of containers alone.",
        "elasticPolicy": "A range of nodes is Workers with an elasticPolicy, from which the operator makes torchrun's "
        "PET_* variables.",
        "schedulingPolicy": "Volcano starts the pods of a queue together, when it has room for all that must run.",
        "ports": "The operator reads a port other than 23456 from the container port called pytorchjob-port.",
    },
    "volcano": {
        "schedulerName": "Volcano schedules its own jobs unless you name another scheduler.",
        "minAvailable": "No pod starts before there is room for these many: all nodes, or the fewest of a range.",
        "maxRetry": "One more than the retries that you allow, since the try that reaches it fails the job.",
        "plugins": "The pytorch plugin hands over rank and master by task name, and svc makes the names resolve.",
        "spec.policies": "Without a policy nothing is restarted: a lost pod restarts the whole job, so that all ranks "
        "meet anew.",
        "tasks.policies": "The job is done when node 0 is, and a task that may fail no more ends it.",
        "tasks.name": "Node 0 is a task of its own, because the pytorch plugin gives ranks by task.",
        "tasks.replicas": "One task has node 0, the other all further nodes.",
        "tasks.maxRetry": "Containers that the kubelet restarts are counted by their task.",
        "restartPolicy": _NEVER,
    },
    "trainjob": {
        **_JOBS,
        "runtimeRef": "A TrainJob needs a runtime: the built-in torch-distributed where that does what the job says, "
        "else one of its own.",
        "trainer.numNodes": "The number of nodes is the TrainJob's, not its runtime's.",
        "trainer.numProcPerNode": "Trainer hands it over as PET_NPROC_PER_NODE.",
        "containers.name": "Trainer calls the container that trains `node`, and its webhook wants it.",
        "replicatedJobs.name": "Trainer calls the replicatedJob that trains `node`.",
        "mlPolicy": "The torch policy gives the pods their PET_* variables.",
        "podGroupPolicy": "Trainer makes the group of pods that Volcano starts together.",
        "trainer.kubeflow.org/framework": "The runtime is one of PyTorch.",
        "trainer.kubeflow.org/trainjob-ancestor-step": "Trainer finds the replicatedJob that trains by this label.",
        "scheduling.volcano.sh/queue-name": "Volcano reads the queue from this annotation, which Trainer hands down.",
        "schedulerName": "The pods of a Volcano queue name Volcano as their scheduler, which the runtime does not.",
        "runtimePatches": "What a TrainJob changes in the pods of the built-in runtime is a patch (Trainer 2.2 on).",
        "podTemplateOverrides": "What a TrainJob changes in pods of the built-in runtime is an override (Trainer 2.1).",
        "podSpecOverrides": "What a TrainJob changes in pods of the built-in runtime is an override (Trainer 2.0).",
    },
    "jobset": _JOBSET,
}
"""By target; `ALL_TARGETS` is for what is not here."""
