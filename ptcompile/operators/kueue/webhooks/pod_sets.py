"""The pod templates that Kueue counts as the pod sets of an object, and the number of pods in each.

Sources: Kueue 0.19, the function PodSets of each kind below pkg/controller/jobs; the defaults in
the CRDs of KubeRay 1.7 and LeaderWorkerSet 0.10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Path
from ptcompile.kinds.model import KindContext
from ptcompile.kinds.pods import ExpandedRole, PodView
from ptcompile.kinds.templates import indexed_mappings
from ptcompile.kubernetes.index import objects
from ptcompile.kubernetes.requests import GroupVersionKind
from ptcompile.kubernetes.unstructured import (
    Json,
    as_int,
    kind_of,
    namespace_of,
    nested_int,
    nested_map,
    nested_string,
    nested_value,
    string_map,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.queues import PREFIX, api_version, queue_of
from ptcompile.operators.kueue.webhooks.kinds import KINDS, MANAGED
from ptcompile.operators.table import has_feature


class PodSetTemplate(NamedTuple):
    """A pod template of an object, whose pods are one pod set of its Workload."""

    name: str
    path: Path
    """Path of the template in the object."""
    template: Json
    pods: int

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations of its pods; empty if one has no string, since Go then decodes none."""
        written = nested_map(self.template, "metadata", "annotations")
        strings = string_map(written)
        return strings if len(strings) == len(written) else {}

    @property
    def has_requests(self) -> bool:
        """Whether an annotation of its pods is Kueue's."""
        return any(name.startswith("kueue.x-k8s.io/") for name in self.annotations)

    @property
    def annotations_path(self) -> Path:
        """Path of the annotations."""
        return (*self.path, "metadata", "annotations")


def pod_sets_of(manifest: Json) -> list[PodSetTemplate]:
    """Return the pod sets that the object itself shows; a TrainJob's are those of its runtime.
    Accepts any data; never raises.
    """
    read = _READERS.get(kind_of(manifest))
    return [] if read is None else list(read(manifest))


def mark_role(manifest: Json, role: ExpandedRole, request: KindContext) -> ExpandedRole:
    """Return the pods of a role of a queued object with Kueue's labels and annotation (Kueue 0.17).

    The name of the Workload contains a hash of the object's uid. A Pod has only the label of the
    webhook: the others are written when it is admitted, and no earlier.
    """
    kind = KINDS.get(kind_of(manifest))
    if kind is None or kind.serving:
        return role

    labels = {f"{PREFIX}podset": "main" if kind_of(manifest) == _JOB else role.name}
    added_annotations = {f"{PREFIX}workload": "<workload>"}
    queue = queue_of(manifest)
    if has_feature("kueue-queue-labels", request.versions):
        labels[f"{PREFIX}local-queue-name"] = queue
        local_queues = objects(request.related).in_namespace(namespace_of(manifest))
        for local in local_queues.by_name((api_version(request.versions), "LocalQueue"), queue):
            labels[f"{PREFIX}cluster-queue-name"] = nested_string(local, "spec", "clusterQueue")
    if not kind.suspend:
        labels = {MANAGED: "true"}
        added_annotations = {}

    def pod(index: int) -> PodView:
        view = role.pod(index)
        return view._replace(
            labels={**view.labels, **labels},
            annotations={**view.annotations, **added_annotations},
        )

    return role._replace(pod=pod)


_JOB = ("batch/v1", "Job")


def pods_of_job(spec: Json) -> int:
    """Return how many pods of a Job run at once: its parallelism, and no more than its
    completions.
    """
    parallelism = nested_int(spec, "parallelism", default=1)
    completions = spec.get("completions")
    if completions is None:
        return parallelism
    return min(parallelism, as_int(completions, parallelism))


def _pod(manifest: Json) -> Iterator[PodSetTemplate]:
    yield PodSetTemplate("main", (), manifest, 1)


def _job(manifest: Json) -> Iterator[PodSetTemplate]:
    yield _main_set(manifest, pods_of_job(nested_map(manifest, "spec")))


def _serving_pod_sets(manifest: Json) -> Iterator[PodSetTemplate]:
    yield _main_set(manifest, nested_int(manifest, "spec", "replicas", default=1))


def _main_set(manifest: Json, count: int) -> PodSetTemplate:
    path = ("spec", "template")
    return PodSetTemplate("main", path, nested_map(manifest, *path), count)


def _jobset(manifest: Json) -> Iterator[PodSetTemplate]:
    for i, replicated in indexed_mappings(nested_value(manifest, "spec", "replicatedJobs")):
        job = nested_map(replicated, "template", "spec")
        yield PodSetTemplate(
            nested_string(replicated, "name"),
            ("spec", "replicatedJobs", i, "template", "spec", "template"),
            nested_map(job, "template"),
            nested_int(replicated, "replicas", default=1) * pods_of_job(job),
        )


def _replica_specs(field: str) -> Callable[[Json], Iterator[PodSetTemplate]]:
    """Return the reader of a kind of Kubeflow, with the field of its replica types."""

    def read(manifest: Json) -> Iterator[PodSetTemplate]:
        for role, replicas in nested_map(manifest, "spec", field).items():
            path = ("spec", field, str(role), "template")
            yield PodSetTemplate(
                str(role).lower(),
                path,
                nested_map(replicas, "template"),
                nested_int(replicas, "replicas", default=1),
            )

    return read


def _ray(*path: str) -> Callable[[Json], Iterator[PodSetTemplate]]:
    """Return the reader of a kind of Ray with the specification of a cluster at a path."""
    return lambda manifest: ray_pod_sets(nested_map(manifest, *path), path)


def max_pod_sets(versions: Versions) -> int:
    """Return the most pod sets of a Workload: 18 since Kueue 0.19, 10 in 0.18, 8 before."""
    if versions.kueue >= (0, 19):
        return 18
    return 10 if versions.kueue >= (0, 18) else 8


HEAD = "head"
"""Name of the pod set of a Ray cluster's head."""


def ray_pod_sets(cluster: Json, path: Path) -> Iterator[PodSetTemplate]:
    """Yield the head and the worker groups of the specification of a Ray cluster."""
    if not cluster:
        return

    yield PodSetTemplate(
        HEAD,
        (*path, "headGroupSpec", "template"),
        nested_map(cluster, "headGroupSpec", "template"),
        1,
    )
    for i, group in indexed_mappings(cluster.get("workerGroupSpecs")):
        hosts = max(1, nested_int(group, "numOfHosts", default=1))
        yield PodSetTemplate(
            nested_string(group, "groupName"),
            (*path, "workerGroupSpecs", i, "template"),
            nested_map(group, "template"),
            nested_int(group, "replicas") * hosts,  # the CRD's default is 0
        )


def _leader_worker_set(manifest: Json) -> Iterator[PodSetTemplate]:
    """Yield the pod sets of one group of pods, since each group has its own Workload."""
    path = ("spec", "leaderWorkerTemplate")
    template = nested_map(manifest, "spec", "leaderWorkerTemplate")
    has_leader = template.get("leaderTemplate") is not None
    size = nested_int(template, "size", default=1)
    if has_leader:
        yield PodSetTemplate(
            "leader", (*path, "leaderTemplate"), nested_map(template, "leaderTemplate"), 1
        )

    yield PodSetTemplate(
        "worker" if has_leader else "main",
        (*path, "workerTemplate"),
        nested_map(template, "workerTemplate"),
        size - has_leader,
    )


def _hyperpod_job(manifest: Json) -> Iterator[PodSetTemplate]:
    """Yield the replica specs, with the resources of their spares (sagemaker-hyperpod 3.12,
    ReplicaSpec).
    """
    for i, replica in indexed_mappings(nested_value(manifest, "spec", "replicaSpecs")):
        pods = nested_int(replica, "replicas") + nested_int(replica, "spares")
        path: Path = ("spec", "replicaSpecs", i, "template")
        yield PodSetTemplate(
            nested_string(replica, "name"), path, nested_map(replica, "template"), pods
        )


def _app_wrapper(manifest: Json) -> Iterator[PodSetTemplate]:
    """Yield the pod sets of the objects in an AppWrapper: those it declares, else those of the
    kind.
    """
    for i, component in indexed_mappings(nested_value(manifest, "spec", "components")):
        inner = nested_map(component, "template")
        declared = list(indexed_mappings(component.get("podSets")))
        for _, entry in declared:
            keys = nested_string(entry, "path").split(".")
            path: Path = ("spec", "components", i, *keys)
            yield PodSetTemplate(
                "", path, nested_map(component, *keys), nested_int(entry, "replicas", default=1)
            )

        if not declared and kind_of(inner) != kind_of(manifest):
            for pod_set in pod_sets_of(inner):
                yield pod_set._replace(path=("spec", "components", i, "template", *pod_set.path))


_READERS: dict[GroupVersionKind, Callable[[Json], Iterable[PodSetTemplate]]] = {
    ("v1", "Pod"): _pod,
    ("apps/v1", "Deployment"): _serving_pod_sets,
    ("apps/v1", "StatefulSet"): _serving_pod_sets,
    ("batch/v1", "Job"): _job,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): _jobset,
    ("kubeflow.org/v1", "JAXJob"): _replica_specs("jaxReplicaSpecs"),
    ("kubeflow.org/v1", "PaddleJob"): _replica_specs("paddleReplicaSpecs"),
    ("kubeflow.org/v1", "PyTorchJob"): _replica_specs("pytorchReplicaSpecs"),
    ("kubeflow.org/v1", "TFJob"): _replica_specs("tfReplicaSpecs"),
    ("kubeflow.org/v1", "XGBoostJob"): _replica_specs("xgbReplicaSpecs"),
    ("kubeflow.org/v2beta1", "MPIJob"): _replica_specs("mpiReplicaSpecs"),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): _leader_worker_set,
    ("ray.io/v1", "RayCluster"): _ray("spec"),
    ("ray.io/v1", "RayJob"): _ray("spec", "rayClusterSpec"),
    ("sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob"): _hyperpod_job,
    ("sagemaker.amazonaws.com/v1", "HyperPodPytorchJob"): _hyperpod_job,
    ("workload.codeflare.dev/v1beta2", "AppWrapper"): _app_wrapper,
}
