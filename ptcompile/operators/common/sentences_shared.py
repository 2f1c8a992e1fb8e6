"""What several targets write on their own account, and why. What one of them writes alone is its operator's to say."""

from __future__ import annotations

from collections.abc import Mapping

_NEAR_BY_KAI = "KAI keeps the pods close together, on this level of the Topology that the profile names."

OF_ALL_TARGETS: Mapping[str, str] = {
    "apiVersion": "The target's API group and version.",
    "kind": "The target's kind.",
    "metadata.name": "Objects beside the job are named after it and what they are for.",
    "spec.numNodes": "0 leaves it to torchrun to wait for the nodes; a driver before 25.8 holds the pods back until so "
    "many have joined.",
    "channel": "The driver makes the template of this name, by which each pod claims a channel.",
    "requests": "Each pod claims so many devices of this class.",
    "kueue.x-k8s.io/queue-name": "Kueue reads the queue from this label of the object that it admits.",
    "containers.name": (
        "The container that trains has the name that the operator looks for; that of an auxiliary role is named "
        "after the role."
    ),
    "kueue.x-k8s.io/priority-class": "Kueue reads the job's priority from this label of the object that it admits.",
    "managedBy": "On a MultiKueue manager Kueue runs the job in another cluster, and the kind's own controller leaves "
    "it alone.",
    "kai.scheduler/queue": "KAI reads the queue from this label.",
    "labels.priorityClassName": "KAI reads the job's priority from this label, before the class of the pods.",
    "kai.scheduler/batch-min-member": "KAI reads from this annotation how many pods start together.",
    "kai.scheduler/topology": "KAI finds the levels of the network in this Topology, which the profile names.",
    "kai.scheduler/topology-required-placement": _NEAR_BY_KAI,
    "kai.scheduler/topology-preferred-placement": _NEAR_BY_KAI,
    "networkTopology": "Volcano places the pods close together: hard within the tier that the profile gives the "
    "level, soft as near as it can.",
    "priorityClassName": "Volcano orders the jobs of a queue by this class, which is the job's priority.",
    "minMember": "No pod starts before there is room for the job's minimum of nodes and all auxiliary pods.",
    "minResources": "The requests of the pods that start together, so that a full queue does not let the job in.",
    "scheduleTimeoutSeconds": "The profile sets how long the scheduler waits for all pods of the group.",
    "scheduling.k8s.io/group-name": "This annotation assigns a pod to the job's Volcano PodGroup.",
    "scheduling.x-k8s.io/pod-group": "This label assigns a pod to the job's scheduler-plugins PodGroup.",
}

_NEAR_BY_KUEUE = "Kueue keeps pods of a kind close together, on the level that this annotation names by a node label."

OF_PODS: Mapping[str, str] = {
    "kueue.x-k8s.io/podset-required-topology": _NEAR_BY_KUEUE,
    "kueue.x-k8s.io/podset-preferred-topology": _NEAR_BY_KUEUE,
    "kueue.x-k8s.io/podset-group-name": (
        "A group name keeps two kinds of pods close together, one of which is a single pod."
    ),
    "kai.scheduler/queue": "KAI reads the queue from the pods where their object has none.",
    "labels.priorityClassName": "KAI reads the job's priority from the pods where their object has none.",
    "schedulerName": "Pods that Volcano or KAI places name it as their scheduler, where their operator does not.",
}
"""What the pass scheduling writes into pods for those who queue and place them."""
