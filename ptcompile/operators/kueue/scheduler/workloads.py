"""Jobs as Kueue's Workloads: pod sets, the pods that count, and what each pod requests.

Source: Kueue 0.19, pkg/controller/jobs, pkg/workload/resources.go and pkg/workload/workload.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver.admission.limit_range import limits_of, with_container_defaults
from ptcompile.apiserver.admission.mutation import admitted
from ptcompile.apiserver.admission.request import ClusterState
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import (
    Json,
    kind_of,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    object_name,
)
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.gates import gates_of, split_gates
from ptcompile.operators.kueue.queues import (
    GROUP_SIZE,
    MIN_PARALLELISM,
    PREFIX,
    outside_text,
    queue_of,
)
from ptcompile.operators.kueue.scheduler.objects import (
    Cluster,
    Configuration,
    amounts_of,
    priority_value,
)
from ptcompile.operators.kueue.webhooks.pod_sets import PodSetTemplate, pod_sets_of
from ptcompile.operators.kueue.webhooks.pods import group_of
from ptcompile.operators.kueue.webhooks.topology import parse_constraints
from ptcompile.operators.queues.queue_systems import (
    KUEUE_POD_SET_GROUP,
    KUEUE_PRIORITY,
    KUEUE_SLICE,
    KUEUE_SLICE_SIZE,
    KUEUE_TOPOLOGY,
)
from ptcompile.operators.table import expand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.index import Objects

_REPLICA_ORDER = ("launcher", "chief", "master", "ps", "scheduler", "server", "worker", "evaluator")
_SUBMITTER = {
    "containers": [
        {
            "name": "ray-job-submitter",
            "resources": {
                "requests": {"cpu": "500m", "memory": "200Mi"},
                "limits": {"cpu": "1", "memory": "1Gi"},
            },
        }
    ]
}
"""Spec of the pod that KubeRay starts to submit a RayJob without a submitterPodTemplate."""

_SYSTEM_CLASSES = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}


class TopologyRequest(NamedTuple):
    """Where the pods of a pod set are to run."""

    required: str | None = None
    preferred: str | None = None
    is_unconstrained: bool = False
    slices: tuple[tuple[str, int], ...] = ()
    """Levels and sizes of slices, the outermost first."""
    group: str | None = None

    @property
    def is_explicit(self) -> bool:
        """Whether a placement is requested."""
        return bool(self.required or self.preferred or self.is_unconstrained or self.slices)

    @property
    def has_only_slices(self) -> bool:
        """Whether the slices are all that is requested."""
        return bool(self.slices) and not self.required and not self.preferred


class PodSet(NamedTuple):
    """Equal pods of a workload."""

    name: str
    count: int  # type: ignore[assignment]  # not the method that tuples have
    min_count: int | None
    """The fewest pods that are admitted, or None if all must be."""
    spec: Json
    requests: Mapping[str, int]
    """What one pod takes of the quota."""
    node_requests: Mapping[str, int]
    """What one pod takes of its node."""
    topology: TopologyRequest


class Owner(NamedTuple):
    """The job of a Workload."""

    kind: str
    name: str


class Workload:
    """A job as Kueue sees it, and what became of it."""

    def __init__(
        self, name: str, namespace: str, queue: str, priority: int, pod_sets: Sequence[PodSet]
    ) -> None:
        self.name = name
        self.namespace = namespace
        self.queue = queue
        """Name of the LocalQueue."""
        self.priority = priority
        self.pod_sets = tuple(pod_sets)

        self.cluster_queue = ""
        self.order: tuple[str, int] = ("", 0)
        """Time of creation; an older workload is considered first."""
        self.reserved_at: tuple[str, int] = ("", 0)
        self.invalid = ""
        """Why Kueue never tries to admit it, or an empty string."""
        self.owner = Owner("", name)
        self.cursor: list[dict[str, int]] = []
        """Index of the flavor that was tried last, by pod set and resource."""
        self.tried: list[list[dict[str, int]]] = []
        """The cursors of earlier rounds since it last started with the first flavors."""

    def start_over(self) -> None:
        """Try the first flavors next."""
        self.cursor = []
        self.tried = []

    def copy(self) -> Workload:
        """Return an equal workload that was never tried."""
        copy = Workload(self.name, self.namespace, self.queue, self.priority, self.pod_sets)
        copy.cluster_queue = self.cluster_queue
        copy.invalid = self.invalid
        copy.owner = self.owner
        return copy


class NotQueuedError(Exception):
    """Kueue makes no Workload of a job."""


class PartOfGroupError(NotQueuedError):
    """The Workload of a Pod is that of the first Pod of its group."""


def workloads_of(
    manifest: Json, cluster: Cluster, stream: Objects, versions: Versions, state: ClusterState
) -> list[Workload]:
    """Return the workloads that Kueue makes of a job. Raises NotQueuedError if it makes none."""
    queue = queue_of(manifest)
    if not queue:
        raise NotQueuedError(
            "the job names no queue: its label kueue.x-k8s.io/queue-name is missing"
        )

    configured = cluster.configuration.frameworks
    if configured and (outside := outside_text(kind_of(manifest), versions, (), configured)):
        raise NotQueuedError(outside)

    templates = pod_templates(manifest, stream, versions)
    if not templates:
        raise NotQueuedError(
            f"Kueue queues no {nested_string(manifest, 'kind') or 'object'} of this form"
        )

    sets: list[PodSet] = []
    reasons: list[str] = []
    for template, min_count in templates:
        spec = adjusted_spec(nested_map(template.template, "spec"), namespace_of(manifest), state)
        reasons += invalid_resources(spec, namespace_of(manifest), state, len(sets))
        sets.append(
            pod_set(
                template.name,
                template.pods,
                min_count,
                spec,
                topology_request(template.annotations),
                cluster.configuration,
            )
        )

    workload = Workload(
        object_name(manifest),
        namespace_of(manifest),
        queue,
        priority_of(manifest, templates, stream),
        sets,
    )
    if reasons:
        workload.invalid = reasons[0]
    elif split_gates(gates_of(manifest)):
        workload.invalid = f"admission is gated by {gates_of(manifest)}"

    return [workload, *(workload.copy() for _ in range(_copies(manifest) - 1))]


def _copies(manifest: Json) -> int:
    """Return how many workloads Kueue makes of an object: of some kinds one for each group of
    pods.
    """
    if manifest.get("kind") in ("Deployment", "LeaderWorkerSet"):
        return min(_MAX_COPIES, max(1, nested_int(manifest, "spec", "replicas", default=1)))
    return 1


_MAX_COPIES = 1000
"""Workloads of one object; more are not told apart."""


def pod_templates(
    manifest: Json, stream: Objects, versions: Versions
) -> list[tuple[PodSetTemplate, int | None]]:
    """Return the pod sets of a job, each with the fewest pods that are admitted."""
    kind = nested_string(manifest, "kind")
    if kind == "TrainJob":
        return [(item, None) for item in _runtime_templates(manifest, stream, versions)]

    templates = pod_sets_of(manifest)
    if kind in ("MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"):
        templates.sort(
            key=lambda item: _REPLICA_ORDER.index(item.name) if item.name in _REPLICA_ORDER else 99
        )
    elif kind == "RayJob" and templates:
        templates += _submitter_templates(manifest)
    elif kind == "Deployment":
        templates = [item._replace(pods=1) for item in templates]
    elif kind == "Pod" and group_of(manifest)[1]:
        return [(item, None) for item in _group_templates(manifest, stream)]

    min_count = _min_pods(manifest) if kind == "Job" else None
    return [
        (item, None if min_count is None or min_count >= item.pods else min_count)
        for item in templates
    ]


def _runtime_templates(
    manifest: Json, stream: Objects, versions: Versions
) -> Iterator[PodSetTemplate]:
    for role in expand(manifest, versions=versions, related=stream).roles:
        if role.count:
            pod = role.pod(0)
            template = {
                "metadata": {"annotations": pod.annotations},
                "spec": pod.spec,
            }
            yield PodSetTemplate(role.name, ("spec",), template, role.count)


def _submitter_templates(manifest: Json) -> Iterator[PodSetTemplate]:
    spec = nested_map(manifest, "spec")
    if nested_string(spec, "submissionMode") in ("", "K8sJobMode"):
        template = nested_map(spec, "submitterPodTemplate") or {"spec": _SUBMITTER}
        yield PodSetTemplate("submitter", ("spec", "submitterPodTemplate"), template, 1)


def _min_pods(manifest: Json) -> int | None:
    """Return the fewest pods of a Job that are admitted together, or None if all must be."""
    text = nested_string_map(manifest, "metadata", "annotations").get(MIN_PARALLELISM, "")
    if is_short_number(text):
        return int(text)
    return None


def _group_templates(manifest: Json, stream: Objects) -> list[PodSetTemplate]:
    """Return the pod sets of a group of Pods. Raises NotQueuedError for an incomplete group, and
    PartOfGroupError for any but its first Pod.
    """
    _, group = group_of(manifest)
    size = nested_string(manifest, "metadata", "annotations", GROUP_SIZE)
    members = [
        item
        for item in stream.in_namespace(namespace_of(manifest)).of_kind(("v1", "Pod"))
        if group_of(item)[1] == group
    ]
    total = int(size) if is_short_number(size) else 0
    if len(members) < total:
        raise NotQueuedError(f"the group {group} has {len(members)} of {total} pods")
    first = next(map(object_name, members), object_name(manifest))
    if first != object_name(manifest):
        raise PartOfGroupError(f"the group {group} is queued as its first pod, {first}")

    roles: dict[str, list[Json]] = {}
    for member in members:
        shape = _shape(nested_map(admitted(member, ClusterState(stream)), "spec"))
        roles.setdefault(shape, []).append(member)

    from hashlib import sha256

    return [
        PodSetTemplate(
            sha256(shape.encode("utf-8", "surrogatepass")).hexdigest()[:8], (), pods[-1], len(pods)
        )
        for shape, pods in roles.items()
    ]


def _shape(spec: Json) -> str:
    """Return the part of a pod's specification by which Kueue tells the roles of a group apart,
    as Go writes it.
    """
    import json

    def containers(key: str) -> list[dict[str, object]] | None:
        shapes: list[dict[str, object]] = []
        for item in nested_maps(spec, key):
            requests = nested_map(item, "resources", "requests") or None
            shapes.append(
                {
                    "ports": item.get("ports"),
                    "resources": {"requests": requests},
                }
            )
        return shapes or None

    tolerations = [
        {key: item[key] for key in _TOLERATION if item.get(key) is not None}
        for item in nested_maps(spec, "tolerations")
    ]
    shape = {
        "affinity": spec.get("affinity"),
        "containers": containers("containers"),
        "initContainers": containers("initContainers"),
        "nodeSelector": spec.get("nodeSelector"),
        "overhead": spec.get("overhead"),
        "priority": spec.get("priority", 0),
        "resourceClaims": spec.get("resourceClaims"),
        "runtimeClassName": spec.get("runtimeClassName"),
        "tolerations": tolerations or None,
        "topologySpreadConstraints": spec.get("topologySpreadConstraints"),
    }

    return json.dumps({"spec": shape}, separators=(",", ":"), default=str)


_TOLERATION = ("key", "operator", "value", "effect", "tolerationSeconds")
"""The fields of a toleration in Go's order."""


def adjusted_spec(spec: Json, namespace: str, state: ClusterState) -> Json:
    """Return a pod specification with the overhead of its RuntimeClass and the defaults of the
    LimitRanges.
    """
    name = nested_string(spec, "runtimeClassName")
    if name and not spec.get("overhead"):
        for runtime_class in state.objects.by_name(("node.k8s.io/v1", "RuntimeClass"), name):
            spec = {**spec, "overhead": nested_map(runtime_class, "overhead", "podFixed")}
    limits = limits_of(namespace, state)
    if limits is None:
        return spec
    return with_container_defaults(spec, limits)


def invalid_resources(spec: Json, namespace: str, state: ClusterState, index: int) -> Iterator[str]:
    """Yield why Kueue does not try to admit pods with these resources."""
    path = f"spec.podSets[{index}].template.spec"
    for key in ("initContainers", "containers"):
        for i, container in enumerate(nested_maps(spec, key)):
            resources = nested_map(container, "resources")
            limits = amounts.quantities_of(resources, "limits")
            requests = amounts.container_requests(resources)
            names = [
                name for name in sorted(limits.keys() & requests) if requests[name] > limits[name]
            ]
            if names:
                yield _invalid_requests(
                    "resources validation failed",
                    f"{path}.{key}[{i}]",
                    names,
                    "not exceed its limits",
                )

    ranges = limits_of(namespace, state)
    check = "resources didn't satisfy LimitRange constraints"
    if ranges is None:
        return

    container_bounds = ranges.bounds.get("Container", {})
    for key in ("initContainers", "containers"):
        for i, container in enumerate(nested_maps(spec, key)):
            resources = nested_map(container, "resources")
            requests = amounts.container_requests(resources)
            limits = {**requests, **amounts.quantities_of(resources, "limits")}
            for names, why in _out_of_bounds(container_bounds, requests, limits):
                yield _invalid_requests(check, f"{path}.{key}[{i}]", names, why)

    total = amounts.pod_requests(spec)
    for names, why in _out_of_bounds(ranges.bounds.get("Pod", {}), total, total):
        yield _invalid_requests(check, path, names, why)


def _out_of_bounds(
    bounds: Mapping[str, Mapping[str, Quantity]],
    requests: Mapping[str, Quantity],
    limits: Mapping[str, Quantity],
) -> Iterator[tuple[list[str], str]]:
    """Yield the resources with limits above the maximum of LimitRanges, then the resources with
    requests below the minimum, both in Kueue's words.
    """
    highest = bounds.get("max", {})
    lowest = bounds.get("min", {})
    above = [name for name in sorted(highest.keys() & limits) if limits[name] > highest[name]]
    below = [name for name in sorted(lowest.keys() & requests) if requests[name] < lowest[name]]
    if above:
        yield above, "not be above the limitRange max"
    if below:
        yield below, "not be below the limitRange min"


def _invalid_requests(check: str, path: str, names: Iterable[str], why: str) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return f"{check}: {path}: Invalid value: [{listed}]: requests must {why}"


def pod_set(
    name: str,
    pods: int,
    min_count: int | None,
    spec: Json,
    topology: TopologyRequest,
    configuration: Configuration,
) -> PodSet:
    """Return a pod set with the requests of its pods."""
    requests = amounts.pod_requests(spec)
    return PodSet(
        name=name,
        count=max(0, pods),
        min_count=min_count,
        spec=spec,
        requests=amounts_of(counted_requests(requests, configuration)),
        node_requests=amounts_of(requests),
        topology=topology,
    )


def counted_requests(
    requests: Mapping[str, Quantity], configuration: Configuration
) -> Mapping[str, Quantity]:
    """Return what the quota counts of a pod's requests: without excluded resources, and
    transformed.
    """
    kept = {
        name: amount
        for name, amount in requests.items()
        if not name.startswith(configuration.excluded or ("\0",))
    }
    if not configuration.transformations.keys() & kept.keys():
        return kept

    out: dict[str, Quantity] = {}
    for name, amount in kept.items():
        change = configuration.transformations.get(name)
        if change is None or change.is_kept:
            out = amounts.add(out, {name: amount})
        if change is not None:
            multiplier = kept.get(change.multiplied_by) if change.multiplied_by else None
            factor = amount.value if multiplier is None else amount.value * multiplier.value
            out = amounts.add(out, amounts.multiply(change.outputs, factor))

    return out


def topology_request(values: Mapping[str, str]) -> TopologyRequest:
    """Return what the annotations of a pod template request of a topology."""
    size = values.get(KUEUE_SLICE_SIZE, "")
    slices: tuple[tuple[str, int], ...] = ()
    if level := values.get(KUEUE_SLICE):
        slices = ((level, int(size) if is_short_number(size) else 1),)
    elif constraints := values.get(f"{KUEUE_SLICE}-constraints"):
        slices = tuple(parse_constraints(constraints) or ())

    return TopologyRequest(
        values.get(KUEUE_TOPOLOGY["required"]) or None,
        values.get(KUEUE_TOPOLOGY["preferred"]) or None,
        values.get(KUEUE_TOPOLOGY["unconstrained"]) == "true",
        tuple((name, max(1, count)) for name, count in slices),
        values.get(KUEUE_POD_SET_GROUP) or None,
    )


def priority_of(
    manifest: Json, templates: Sequence[tuple[PodSetTemplate, int | None]], stream: Objects
) -> int:
    """Return the priority of a job. Raises NotQueuedError if its class does not exist."""
    name = nested_string_map(manifest, "metadata", "labels").get(KUEUE_PRIORITY)
    if name:
        for version in ("v1beta2", "v1beta1"):
            for priority_class in stream.by_name(
                (f"{PREFIX}{version}", "WorkloadPriorityClass"), name
            ):
                return priority_value(priority_class)
        raise NotQueuedError(f"WorkloadPriorityClass {name} doesn't exist")

    scheduling = nested_map(manifest, "spec", "runPolicy", "schedulingPolicy")
    names = [
        nested_string(scheduling, "priorityClass"),
        *[nested_string(item.template, "spec", "priorityClassName") for item, _ in templates],
    ]
    name = next(filter(None, names), "")
    for priority_class in stream.of_kind(("scheduling.k8s.io/v1", "PriorityClass")):
        is_default = not name and priority_class.get("globalDefault") is True
        if is_default or object_name(priority_class) == name:
            return priority_value(priority_class)

    if name and name not in _SYSTEM_CLASSES:
        raise NotQueuedError(f"PriorityClass {name} doesn't exist")

    return _SYSTEM_CLASSES.get(name, 0)
