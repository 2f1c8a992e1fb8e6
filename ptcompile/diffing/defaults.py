"""What an absent field means: a field at its default on one side and absent on the other is no difference.

A row is the end of a path, `*` for an item of a list or a key of a mapping that people choose, and before it all
the kind where it is one kind's. The longest row counts. Sources: the defaulting of Kubernetes 1.36 (core/v1, batch/v1),
training-operator 1.9, Volcano 1.16, JobSet 0.12, Trainer 2.3, as their webhooks, CRDs or controllers do it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ptcompile.diffing.values import Path
from ptcompile.kubernetes.untyped import Json

NOTHING: Final = object()
"""There is no default."""

_EMPTY = frozenset(
    {
        "resources", "requests", "limits", "securityContext", "env", "envFrom", "labels", "annotations", "tolerations",
        "nodeSelector", "affinity", "volumes", "volumeMounts", "ports", "command", "args", "imagePullSecrets",
        "initContainers", "runPolicy", "volumeDevices", "hostAliases", "selector",
    }
)  # fmt: skip
"""Fields that mean nothing when they are empty."""

_FALSE = frozenset(
    {
        "hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "stdin", "stdinOnce", "tty", "readOnly",
        "privileged", "readOnlyRootFilesystem", "runAsNonRoot", "optional", "suspend", "manualSelector",
        "publishNotReadyAddresses", "runLauncherAsNode", "setHostnameAsFQDN",
    }
)  # fmt: skip

_POD: dict[str, Any] = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
    "enableServiceLinks": True,
    "serviceAccountName": "default",
}
_CONTAINER: dict[str, Any] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_PROBE: dict[str, Any] = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_CONTAINERS = ("containers", "initContainers")

ROWS: dict[Path, Any] = {
    ("metadata", "namespace"): "default",
    **{("template", "spec", field): value for field, value in _POD.items()},
    **{("Pod", "spec", field): value for field, value in _POD.items()},
    **{(key, "*", field): value for key in _CONTAINERS for field, value in _CONTAINER.items()},
    **{(probe, field): value for probe in _PROBES for field, value in _PROBE.items()},
    ("httpGet", "scheme"): "HTTP",
    ("httpGet", "path"): "/",
    ("env", "*", "value"): "",
    ("fieldRef", "apiVersion"): "v1",
    ("tolerations", "*", "operator"): "Equal",
    ("ports", "*", "protocol"): "TCP",
    ("emptyDir", "medium"): "",
    ("hostPath", "type"): "",
    **{(source, "defaultMode"): 0o644 for source in ("configMap", "secret", "downwardAPI", "projected")},
    ("Service", "spec", "type"): "ClusterIP",
    ("Service", "spec", "sessionAffinity"): "None",
    ("Service", "spec", "internalTrafficPolicy"): "Cluster",
    ("batch/Job", "spec", "completionMode"): "NonIndexed",
    ("batch/Job", "spec", "managedBy"): "kubernetes.io/job-controller",
    ("onPodConditions", "*", "status"): "True",
    # training-operator 1.9: in the controller
    ("pytorchReplicaSpecs", "*", "replicas"): 1,
    ("pytorchReplicaSpecs", "*", "restartPolicy"): "OnFailure",
    ("PyTorchJob", "spec", "nprocPerNode"): "auto",
    ("PyTorchJob", "spec", "runPolicy", "cleanPodPolicy"): "None",
    ("PyTorchJob", "spec", "runPolicy", "managedBy"): "kubeflow.org/training-operator",
    # Volcano 1.16: CRD and mutating webhook; 0 retries are 3 too
    ("batch.volcano.sh/Job", "spec", "queue"): "default",
    ("batch.volcano.sh/Job", "spec", "schedulerName"): "volcano",
    ("batch.volcano.sh/Job", "spec", "maxRetry"): 3,
    ("scheduling.volcano.sh/PodGroup", "spec", "queue"): "default",
    ("tasks", "*", "maxRetry"): 3,
    ("tasks", "*", "replicas"): 0,
    ("tasks", "*", "template", "spec", "schedulerName"): NOTHING,  # it is the job's
    ("partitionPolicy", "minPartitions"): 0,
    ("networkTopology", "mode"): "hard",
    # JobSet 0.12: CRD and mutating webhook
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
    # Trainer 2.3: CRDs
    ("runtimeRef", "apiGroup"): "trainer.kubeflow.org",
    ("runtimeRef", "kind"): "ClusterTrainingRuntime",
    ("TrainJob", "spec", "managedBy"): "trainer.kubeflow.org/trainjob-controller",
    ("mlPolicy", "numNodes"): 1,
    ("mpi", "numProcPerNode"): 1,
    ("mpi", "mpiImplementation"): "OpenMPI",
    ("mpi", "sshAuthMountPath"): "/root/.ssh",
    ("flux", "numProcPerNode"): 1,
    ("coscheduling", "scheduleTimeoutSeconds"): 60,
    ("networkTopology", "highestTierAllowed"): 1,
}


def _pull(container: Json) -> Any:
    """Always for a moving tag or none, else IfNotPresent."""
    image = container.get("image")
    if not isinstance(image, str):
        return NOTHING
    last = image.rpartition("/")[2]
    moving = "@" not in last and (":" not in last or last.endswith(":latest"))
    return "Always" if moving else "IfNotPresent"


def _backoff(job: Json) -> Any:
    return 2**31 - 1 if "backoffLimitPerIndex" in job else 6


def _replacement(job: Json) -> Any:
    """When a pod is made anew that has not ended yet: not before it has, where a policy must see how it ended."""
    return "Failed" if job.get("podFailurePolicy") else "TerminatingOrFailed"


def _tasks(job: Json) -> Any:
    """Of a Volcano job: all pods, or what the tasks say of themselves."""
    tasks = job.get("tasks")
    found = list(tasks.values()) if isinstance(tasks, dict) else []
    counts = [one.get("minAvailable", one.get("replicas", 0)) for one in found if isinstance(one, dict)]
    return sum(counts) if all(isinstance(n, int) for n in counts) else NOTHING


COMPUTED: dict[Path, Callable[[Json], Any]] = {
    **{(key, "*", "imagePullPolicy"): _pull for key in _CONTAINERS},
    ("Service", "spec", "ports", "*", "targetPort"): lambda port: port.get("port", NOTHING),
    ("batch/Job", "spec", "backoffLimit"): _backoff,
    ("batch/Job", "spec", "parallelism"): lambda _job: 1,
    ("batch/Job", "spec", "podReplacementPolicy"): _replacement,
    ("replicatedJobs", "*", "template", "spec", "backoffLimit"): _backoff,
    ("replicatedJobs", "*", "template", "spec", "podReplacementPolicy"): _replacement,
    ("replicatedJobs", "*", "template", "spec", "parallelism"): lambda _job: 1,
    ("batch.volcano.sh/Job", "spec", "minAvailable"): _tasks,
    ("tasks", "*", "minAvailable"): lambda task: task.get("replicas", 0),
}
"""Defaults that come from the mapping that would hold the field."""


def is_default(path: Path, value: Any, side: Json) -> bool:
    """Whether a value that the other side has is what an absent field means in this one.

    `side` is the object without it, in its normal form; `path` leads there.
    """
    if path[-1] in _EMPTY and value in ({}, []):
        return True
    if default(path, side) == value:
        return True
    # A mapping of defaults alone, where the server would make one.
    return isinstance(value, Mapping) and bool(value) and all(is_default((*path, k), v, side) for k, v in value.items())


def default(path: Path, side: Json) -> Any:
    """What an absent field means, or `NOTHING`."""
    place = _place(path, side)
    if place[-2:-1] == ("requests",) and place[0] != "batch.volcano.sh/Job":  # Volcano reads templates as they are
        return _below(side, (*path[:-2], "limits")).get(path[-1], NOTHING)
    for start in range(len(place)):
        row = place[start:]
        if row in COMPUTED:
            return COMPUTED[row](_below(side, path[:-1]))
        if row in ROWS:
            return ROWS[row]
    return False if path[-1] in _FALSE else NOTHING


def _place(path: Path, side: Json) -> Path:
    """The kind and the path, with `*` for names: a kind of two groups is told apart."""
    kind, version = str(side.get("kind")), str(side.get("apiVersion"))
    group = version.rpartition("/")[0]
    out = [f"{group}/{kind}" if kind in {"Job", "PodGroup"} else kind]
    for i, part in enumerate(path):
        held = path[i - 1] if i else ""
        out.append("*" if part.startswith("[") or held == "pytorchReplicaSpecs" else part)
    return tuple(out)


def _below(side: Json, path: Path) -> Json:
    value: Any = side
    for part in path:
        key = part[1:-1] if part.startswith("[") else part
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}
