"""The kinds of other projects that Kueue's webhooks check, and how the checks differ between them.

Source: Kueue 0.19, pkg/controller/jobs and pkg/controller/jobframework/validation.go.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.requests import GroupVersionKind
from ptcompile.kubernetes.unstructured import Json, nested_maps, nested_value


class QueuedKind(NamedTuple):
    """What Kueue's webhooks check of one kind."""

    suspend: tuple[str, ...] = ("spec",)
    """Path of the mapping with `suspend`; empty for a Pod, which is suspended by a scheduling
    gate.
    """
    serving: bool = False
    """Whether it runs until it is deleted, so its pods are suspended and not the object itself."""
    elastic: bool = False
    """Whether Kueue resizes it while it runs."""
    prebuilt: bool = True
    """Whether it may name a Workload that exists already."""
    grouped: bool = False
    """Whether two of its pod sets may share one domain."""
    rechecked: bool = True
    """Whether an update repeats the checks of the labels at creation."""


_TRAINING_OPERATOR_JOB = QueuedKind(("spec", "runPolicy"), rechecked=False)

KINDS: dict[GroupVersionKind, QueuedKind] = {
    ("v1", "Pod"): QueuedKind((), rechecked=False),
    ("apps/v1", "Deployment"): QueuedKind(serving=True),
    ("apps/v1", "StatefulSet"): QueuedKind(serving=True),
    ("batch/v1", "Job"): QueuedKind(elastic=True),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): QueuedKind(grouped=True),
    ("kubeflow.org/v1", "JAXJob"): _TRAINING_OPERATOR_JOB._replace(prebuilt=False),
    ("kubeflow.org/v1", "PaddleJob"): _TRAINING_OPERATOR_JOB,
    ("kubeflow.org/v1", "PyTorchJob"): _TRAINING_OPERATOR_JOB,
    ("kubeflow.org/v1", "TFJob"): _TRAINING_OPERATOR_JOB,
    ("kubeflow.org/v1", "XGBoostJob"): _TRAINING_OPERATOR_JOB,
    ("kubeflow.org/v2beta1", "MPIJob"): QueuedKind(("spec", "runPolicy"), grouped=True),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): QueuedKind(serving=True, grouped=True),
    ("ray.io/v1", "RayCluster"): QueuedKind(elastic=True, grouped=True),
    ("ray.io/v1", "RayJob"): QueuedKind(elastic=True, grouped=True),
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): QueuedKind(),
    ("workload.codeflare.dev/v1beta2", "AppWrapper"): QueuedKind(rechecked=False),
}
"""The kinds by apiVersion and name. Volcano Jobs are not among them: Volcano has its own queues."""

SKIPPED_NAMESPACES = frozenset({"kube-system", "kueue-system"})
"""Namespaces that the webhooks' configurations exclude; the second is where Kueue is installed
by default.
"""

MANAGED = "kueue.x-k8s.io/managed"
"""The label and finalizer of a Pod in a queue."""
ADMISSION_GATE = "kueue.x-k8s.io/admission"
"""The scheduling gate of a Pod that is not admitted yet."""
TOPOLOGY_GATE = "kueue.x-k8s.io/topology"
"""The scheduling gate of a Pod that has no place in a topology yet; every queued Pod gets it."""


def is_suspended(manifest: Json, kind: QueuedKind) -> bool:
    """Return whether the job waits: `suspend` is true, or the Pod has Kueue's gate or has ended."""
    if kind.suspend:
        return nested_value(manifest, *kind.suspend, "suspend") is True
    gates = nested_maps(manifest, "spec", "schedulingGates")
    has_ended = nested_value(manifest, "status", "phase") in ("Failed", "Succeeded")
    return has_ended or any(gate.get("name") == ADMISSION_GATE for gate in gates)


def is_ready(manifest: Json) -> bool:
    """Return whether a pod of a serving kind is ready, according to a live object's status."""
    ready = nested_value(manifest, "status", "readyReplicas")
    return isinstance(ready, int) and ready > 0
