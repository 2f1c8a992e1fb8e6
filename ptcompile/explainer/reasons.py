"""One sentence for each field that a pass or a target writes.

Sentences are looked up along the path from the value upwards: by a key, a key with its parent key (`containers.name`),
the name of a list item, alone or with its list (`rules.deadline`), or an option (`--nnodes`). The empty key is the
fallback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile.ir.job import Target
from ptcompile.operators.queues.queue_systems import QUEUE_ANNOTATION
from ptcompile.operators.targets import sentences_of
from ptcompile.simulator.launchers.torchrun import OWN_STORE

_KAI_TOPOLOGY = "KAI keeps the pods close together, on this level of the Topology that the profile names."

TARGET_SENTENCES: Mapping[str, str] = {
    "apiVersion": "The target's API group and version.",
    "kind": "The target's kind.",
    "metadata.name": "Objects besides the job are named after the job and their purpose.",
    "spec.numNodes": "With 0, torchrun waits for the nodes; a driver before 25.8 holds the pods back until this "
    "number has joined.",
    "channel": "The driver creates the template with this name, through which each pod claims a channel.",
    "requests": "Each pod claims this number of devices of this class.",
    "kueue.x-k8s.io/queue-name": "Kueue reads the queue from this label of the object that it admits.",
    "containers.name": (
        "The main container has the name that the operator looks for; the container of an auxiliary role is named "
        "after the role."
    ),
    "kueue.x-k8s.io/priority-class": "Kueue reads the job's priority from this label of the object that it admits.",
    "managedBy": "On a MultiKueue manager, Kueue runs the job in another cluster and the kind's own controller "
    "ignores it.",
    "kai.scheduler/queue": "KAI reads the queue from this label.",
    "labels.priorityClassName": "KAI reads the job's priority from this label, before the class of the pods.",
    "kai.scheduler/batch-min-member": "KAI reads from this annotation how many pods start together.",
    "kai.scheduler/topology": "KAI finds the levels of the network in this Topology, which the profile names.",
    "kai.scheduler/topology-required-placement": _KAI_TOPOLOGY,
    "kai.scheduler/topology-preferred-placement": _KAI_TOPOLOGY,
    "networkTopology": "Volcano places the pods close together: hard within the tier that the profile gives the "
    "level, soft as close as possible.",
    "priorityClassName": "The scheduler compares groups by this class: in a queue of Volcano the job's priority, in a "
    "gang of Kubernetes that of its pods.",
    "minMember": "No pod starts before the cluster has room for the job's minimum of nodes and all auxiliary pods.",
    "minResources": "The requests of the pods that start together, so that a full queue does not let the job in.",
    "scheduleTimeoutSeconds": "The profile sets how long the scheduler waits for all pods of the group.",
    "schedulingPolicy": "kube-scheduler starts the job's minimum of nodes and all auxiliary pods at once, or no pod.",
    "schedulingConstraints": "All pods of the group run in one domain of this node label.",
    "disruptionMode": "A job of fixed size cannot go on without a pod, so it is preempted as a whole.",
    "podGroups": "kube-scheduler starts the job's minimum of nodes and all auxiliary pods at once, or no pod.",
    "schedulingGroup": "This field assigns a pod to the job's PodGroup of Kubernetes.",
    "workloadRef": "This field assigns a pod to the group in the job's Workload of Kubernetes.",
    "scheduling.k8s.io/group-name": "This annotation assigns a pod to the job's Volcano PodGroup.",
    "scheduling.x-k8s.io/pod-group": "This label assigns a pod to the job's scheduler-plugins PodGroup.",
}

_KUEUE_TOPOLOGY = "Kueue keeps pods of a kind close together, on the level that this annotation names by a node label."

SCHEDULING_SENTENCES: Mapping[str, str] = {
    "kueue.x-k8s.io/podset-required-topology": _KUEUE_TOPOLOGY,
    "kueue.x-k8s.io/podset-preferred-topology": _KUEUE_TOPOLOGY,
    "kueue.x-k8s.io/podset-group-name": (
        "A group name keeps two kinds of pods close together, one of which is a single pod."
    ),
    "kai.scheduler/queue": "KAI reads the queue from the pods if their object has none.",
    "labels.priorityClassName": "KAI reads the job's priority from the pods if their object has none.",
    "schedulerName": "Pods that Volcano or KAI places name it as their scheduler, unless the operator does so.",
}
"""Fields that the scheduling pass writes into pods for queue systems and schedulers."""


SPEC_SENTENCES: Mapping[str, str] = {
    "": "What you wrote is carried over.",
    "dnsPolicy": "A pod on its node's network resolves the names of Services only with ClusterFirstWithHostNet.",
}
"""Fields that a job has before the first pass."""

_PRECEDENCE = (
    "A role's amount wins over the job's, the job's over the profile's; `gpu` is the resource that the profile names."
)

PASS_SENTENCES: Mapping[str, Mapping[str, str]] = {
    "resources": {
        "requests": f"A single amount is both request and limit; a missing request equals the limit. {_PRECEDENCE}",
        "limits": "A single amount is both request and limit; for devices and huge pages, a missing limit equals "
        f"the request. {_PRECEDENCE}",
    },
    "processes": {
        "": "torchrun's `auto` miscounts TPUs, Gaudis and Neuron devices, so ptcompile replaces it with the number of "
        "devices times the processes per device.",
    },
    "fabric": {
        "resources": (
            "The number of fabric devices that the profile sets, else that of a whole node with the accelerator, "
            "else the fabric's minimum."
        ),
        "capabilities": (
            "The fabric's driver needs these capabilities; a container that drops one by name keeps it dropped."
        ),
        "env": "The fabric's software reads these variables; yours and the profile's defaults win.",
        "annotations": "Training pods request the fabric's networks and devices by annotations; yours win.",
        "": "The fabric's daemons, volumes and pod settings fill the fields that the job's own pod template leaves "
        "unset.",
    },
    "placement": {
        "affinity": (
            "What the profile requires of the accelerator's nodes and of spot nodes must hold in every term of the "
            "required node affinity."
        ),
        "nodeSelector": "The profile's node selector adds the labels that yours does not have.",
        "serviceAccountName": "Pods that name no service account get the profile's.",
        "schedulerName": "Pods that name no scheduler get the profile's.",
        "imagePullSecrets": "Pods that name no registry credentials get the profile's.",
        "queue": "A job that names no queue gets the profile's.",
        QUEUE_ANNOTATION: "A job that names no queue gets the profile's.",
        "": "The profile's pod template fills the fields that the job's own leaves unset.",
    },
    "scheduling": SCHEDULING_SENTENCES,
    "tolerations": {
        "": "Pods that request an accelerator tolerate the taints of its nodes: the profile's, else the taint named "
        "after the resource. Spot jobs and resources with their own taints get tolerations too. Yours come first.",
    },
    "claims": {
        "podAffinity": "The nodes of a ComputeDomain are kept in one rack, where NVLink reaches, unless topology sets "
        "another placement.",
        "labels": "The pod affinity finds the nodes of the job's ComputeDomain by this label, to keep them in one "
        "rack.",
        "compute-domain-channel": "Each node claims a channel of the job's ComputeDomain, by which its GPUs reach the "
        "memory of those in other nodes.",
        "resourceClaims": "Devices that the fabric's driver hands out by claims, and GPUs if the profile sets "
        "gpu.claim.",
        "claims": "The main container gets the devices that its pod claims.",
    },
    "shm": {
        "volumeMounts": "Without a volume, /dev/shm has 64 MiB, too little for DataLoader workers and NCCL: the main "
        "container gets a memory volume there, unless you mount your own or say sharedMemory: false.",
        "volumes": "The volume at /dev/shm is in memory, and the pod's memory limit is its limit.",
        "sizeLimit": "sharedMemory sets the size limit of the volume at /dev/shm.",
    },
    "volumes": {
        "annotations": "Because of this annotation, the CSI driver's webhook adds the sidecar that mounts the volume.",
    },
    "rendezvous": {
        "command": "torchrun starts the script or module, without a shell.",
        "--standalone": "With one node, torchrun keeps the rendezvous local.",
        "--nnodes": "torchrun gets the number of nodes, or the minimum and the maximum.",
        "--nproc-per-node": "torchrun gets the processes per node; the default is one per GPU.",
        "--node-rank": "The kubelet replaces $(...) with the node's number, which this operator provides that way.",
        "--master-addr": "A fixed number of nodes joins at node 0, under a name that resolves from every pod.",
        "--master-port": "A fixed number of nodes joins at node 0, on masterPort.",
        "--rdzv-backend": (
            "A range of nodes, or nodes that restart, join through torchrun's c10d store: nodes of a static "
            "rendezvous cannot join again."
        ),
        "--rdzv-endpoint": "The store is on node 0 and masterPort, unless you name an etcd server.",
        "--rdzv-id": "The rendezvous is named after the job, unless you name it.",
        "--rdzv-conf": "Nodes wait 15 minutes for each other, unless rdzvConfigs says otherwise. c10d does not read "
        "`timeout`: there read_timeout is how long they wait for node 0, 60 seconds by default.",
        "--max-restarts": "torchrun restarts the whole group of processes this many times.",
        "--monitor-interval": "torchrun checks its processes every 5 seconds, unless you say otherwise.",
        "--start-method": "torchrun starts the processes of a Python function in this way.",
        OWN_STORE: (
            "Since PyTorch 2.4 torchrun keeps the store of the first rendezvous, and a recreated or late pod fails the "
            "whole job (measured on 2.13); with a store per rendezvous it joins."
        ),
        "PET_LOCAL_ADDR": (
            "A pod on its node's network announces its address: c10d would publish the node's host name, which the "
            "others may not resolve."
        ),
        "env": (
            "These variables give a plain command the address of node 0, the number of nodes and its own rank; no "
            "operator sets them here."
        ),
    },
    "restarts": {
        "restartPolicy": "A container with rules needs its own policy; this is the pod's.",
        "restartPolicyRules": (
            "The kubelet restarts the node in its pod after these exit statuses; the pod does not fail, and no limit "
            "counts it."
        ),
    },
    "hosts": {
        "": "Every pod finds the host names of an auxiliary role in this variable, unless you set it.",
    },
    "env": {
        "OMP_NUM_THREADS": (
            "If several processes share a node, each computes with one thread, as torchrun sets it for its own "
            "children."
        ),
        "": "The profile's variables and those of the named accelerator come before yours, and yours win.",
    },
    "security": {
        "automountServiceAccountToken": "At the Pod Security level restricted, a pod without its own service account "
        "gets no token: training does not talk to the API server.",
        "": "podSecurity: restricted requires this of every pod and container.",
    },
    "metadata": {
        "labels": "The profile's labels are on objects and pods; yours win.",
        "annotations": "The profile's annotations are on objects and pods; yours win.",
    },
}
"""Sentences of the passes, keyed by pass name."""


def sentence(by: str, target: Target, keys: Sequence[str]) -> str:
    """Return the sentence for a value with the keys of `values.ShownLeaf`; `by` as in `Cause`."""
    tables = {"spec": (SPEC_SENTENCES,), "target": (sentences_of(target.name), TARGET_SENTENCES)}.get(by) or (
        PASS_SENTENCES.get(by, {}),
    )
    for table in tables:
        text = next((table[key] for key in keys if key in table), table.get(""))
        if text is not None:
            return text
    return f"The target writes {target.title}." if by == "target" else f"The pass {by} wrote it."
