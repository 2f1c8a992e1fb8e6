"""The models of a ClusterProfile: devices, pools, queues, versions, defaults.

The words follow Flyte's K8s plugin configuration where it has them (resource tolerations,
interruptible nodes, default env and labels).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator

from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.spec import base
from ptcompile.spec.base import Dict, Json, Model, QuantityField, optional, part
from ptcompile.spec.checks import check_gang_scheduler, check_pod_template, extend_schema
from ptcompile.spec.objects import Profile

PodBase = Annotated[
    Json, AfterValidator(check_pod_template), Field(json_schema_extra=extend_schema)
]
"""A pod template beneath the job's own, whose fields win."""


class Toleration(Model):
    """A taint that pods accept, as in a pod."""

    key: str | None = None
    operator: Literal["Exists", "Equal"] | None = None
    value: str | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    toleration_seconds: int | None = None


class NodeRequirement(Model):
    """Requirement on a node's labels, as in a node affinity."""

    key: str = Field(description="The label.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"] = Field(
        description="Comparison of the label with the values."
    )
    values: list[str] | None = optional("Values to compare with; none for Exists and DoesNotExist.")


class DeviceClaim(Model):
    """Devices that each pod claims from a DRA driver (resource.k8s.io)."""

    device_class_name: str = Field(
        description="DeviceClass of the devices, such as mrdma.google.com."
    )
    count: int = optional("Number of devices per pod.", 1, ge=1)
    selectors: list[str] = optional("CEL expressions that each device must satisfy.", [])


class GpuClaim(Model):
    """How pods claim GPUs from NVIDIA's DRA driver."""

    device_class_name: str = optional("DeviceClass of whole GPUs.", "gpu.nvidia.com")
    slice_device_class_name: str = optional("DeviceClass of MIG slices.", "mig.nvidia.com")
    selectors: list[str] = optional("CEL expressions that each device must satisfy.", [])


class GpuSharing(Model):
    """How pods share GPUs where neither labels of the nodes nor the device plugin's ConfigMap
    tell.
    """

    strategy: Literal["time-slicing", "mps", "mig"] = Field(
        description="What divides a GPU: time slicing or MPS of the device plugin, or MIG with its "
        "strategy single."
    )
    refuses_several: bool | None = optional(
        "Whether the kubelet refuses pods that request more than one share "
        "(failRequestsGreaterThanOne). Default: "
        "with mps, which always did before device plugin 0.20."
    )


class Gpu(Model):
    """What `gpu` means in this cluster."""

    resource_name: str = optional("Resource that `gpu` requests.", "nvidia.com/gpu")
    tolerations: list[Toleration] | None = optional(
        "Tolerations of pods that request an accelerator. Default: the NoSchedule taint whose key "
        "is the resource's name, such as nvidia.com/gpu."
    )
    claim: GpuClaim | None = optional(
        "If set, pods claim NVIDIA GPUs and MIG slices from the DRA driver instead of requesting "
        "them by resource name."
    )
    sharing: GpuSharing | None = optional(
        "If set, each device that `resourceName` counts is a share of a GPU, on nodes that do not "
        "say otherwise."
    )


class Accelerator(Model):
    """One entry of the catalog: an accelerator that jobs may request by name."""

    resource_name: str | None = optional(
        "Resource of this accelerator, if it differs from that of `gpu`."
    )
    node_labels: dict[str, str] = Field(
        description="Labels of nodes with this accelerator; pods get a node affinity."
    )
    match_expressions: list[NodeRequirement] = optional(
        "Further requirements on those nodes, such as the absence of a slice's label.", []
    )
    tolerations: list[Toleration] = optional("Taints of nodes with this accelerator.", [])
    processes_per_device: int = optional(
        "Number of processes per device: the cores of a Trainium, else 1.", 1, ge=1
    )
    one_drives_all: bool = optional(
        "Whether one process may drive all devices of a node, as with PyTorch/XLA's SPMD.", False
    )
    env: dict[str, str] = optional("Environment variables of pods that request it.", {})
    devices_per_node: int | None = optional("Number of devices on a whole node.", ge=1)
    fabric_devices: dict[str, int] = optional(
        "Number of devices on a whole node for each fabric.", {}
    )
    nodes_per_domain: int | None = optional(
        "Number of nodes in an NVLink domain, such as 18 for an NVL72 rack; absent if NVLink ends "
        "at the node.",
        ge=2,
    )


class Fabric(Model):
    """A network between nodes, by the name that jobs use. Absent fields come from the built-in
    fabric of that name.
    """

    resources: Dict[str, QuantityField] = optional(
        "What a pod requests, by Kubernetes resource name.", {}
    )
    capabilities: list[str] = optional("Linux capabilities of the container that trains.", [])
    env: dict[str, str] = optional("Environment variables.", {})
    annotations: dict[str, str] = optional(
        "Annotations of the pods, such as k8s.v1.cni.cncf.io/networks for a second interface.", {}
    )
    device_network: str | None = optional(
        "Network that the annotation k8s.v1.cni.cncf.io/networks names once for each of the "
        "fabric's devices."
    )
    claims: dict[str, DeviceClaim] = optional("Devices that a pod claims, by the claim's name.", {})
    compute_domain: bool = optional(
        "Whether each job has a ComputeDomain of NVIDIA's DRA driver, in which GPUs of several "
        "nodes share memory over NVLink.",
        False,
    )
    pod_template: PodBase = optional(
        "A pod template for everything else, such as a sidecar daemon. The job's fields win.", {}
    )


class Taint(Model):
    """A taint of a node, as in a node's spec."""

    key: str = Field(description="The taint's key.")
    value: str = optional("The taint's value.", "")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = optional(
        "What happens to pods that do not tolerate it.", "NoSchedule"
    )


class NodePool(Model):
    """Nodes of one shape. A cluster whose profile lists pools has no other nodes, unless
    `otherPools` says so.
    """

    machine: str | None = optional(
        "Machine type, such as p5.48xlarge; for built-in types this is enough to know the size."
    )
    allocatable: Dict[str, QuantityField] = optional(
        "Resources of a node that pods can use, by Kubernetes resource name (`kubectl describe "
        "node`, Allocatable). They override the machine type's built-in size.",
        {},
    )
    labels: dict[str, str] = optional("Labels of its nodes.", {})
    taints: list[Taint] = optional("Taints of its nodes.", [])
    count: int | None = optional(
        "Number of nodes, or the maximum with an autoscaler; unlimited if absent.", ge=0
    )


QueueSystemName = Literal["kueue", "volcano", "kai"]
GangScheduler = Literal["none", "volcano", "scheduler-plugins", "kai", "kubernetes"]
QueueFramework = Literal[
    "kubeflow.org/jaxjob",
    "kubeflow.org/paddlejob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob",
]


class TopologyLevel(Model):
    """One level of the network, such as a rack, with the names of its domains for each
    scheduler.
    """

    node_label: str | None = optional("Label whose value names a node's domain (Kueue, KAI).")
    tier: int | None = optional("Tier of the HyperNodes that are its domains (Volcano).", ge=0)


class ClusterTopology(Model):
    """The network's levels, by the names that jobs use."""

    name: str | None = optional("The Topology object that has these levels (KAI).")
    levels: dict[str, TopologyLevel] = optional("By name, such as rack.", {})


class Spot(Model):
    """Preemptible nodes."""

    node_labels: dict[str, str] = optional("Labels of such nodes; pods get a node affinity.", {})
    match_expressions: list[NodeRequirement] = optional(
        "Further requirements on such nodes, for the same node affinity.", []
    )
    tolerations: list[Toleration] = optional("Taints of such nodes, which pods tolerate.", [])


class Defaults(Model):
    """Defaults of every job."""

    env: dict[str, str] = optional("Environment variables.", {})
    labels: dict[str, str] = optional("Labels of objects and pods.", {})
    annotations: dict[str, str] = optional("Annotations of objects and pods.", {})
    requests: Dict[str, QuantityField | None] = optional(
        "Requests by Kubernetes resource name, for jobs that set no amount of it.", {}
    )
    limits: Dict[str, QuantityField | None] = optional(
        "Limits by Kubernetes resource name, for jobs that set no amount of it; none if absent.", {}
    )
    node_selector: dict[str, str] = optional("Labels that every node must have.", {})
    tolerations: list[Toleration] = optional("Tolerations of every pod.", [])
    queue: str | None = optional("Queue of jobs that name none.")
    scheduler_name: str | None = optional("Scheduler of jobs that name none.")
    service_account_name: str | None = optional("Service account of pods that name none.")
    image_pull_secrets: list[Json] = optional("Registry credentials of pods that name none.", [])
    pod_template: PodBase = optional(
        "A pod template for every job, for everything else. Its container `pytorch` is the one "
        "that trains. Mappings merge, and the job's fields win; list items that the job names, its "
        "affinity and its dnsConfig replace the template's.",
        {},
    )


_RELEASE = r"^[0-9]{1,4}\.[0-9]{1,4}(?:[.+-][0-9A-Za-z.+-]{0,60})?$"
"""What `parse_version` reads: 1.9, 1.9.4, 1.9.0-rc.1."""


def _release(description: str) -> Any:
    """Return a field for a release, for its class body."""
    return optional(description, pattern=_RELEASE)


class OperatorVersions(Model):
    """Installed versions; the newest known version if absent."""

    kubernetes: str | None = optional('Kubernetes, such as "1.34".', pattern=r"^1\.[0-9]{1,3}$")
    training_operator: str | None = _release('Kubeflow training-operator, such as "1.9".')
    trainer: str | None = _release('Kubeflow Trainer, such as "2.2".')
    jobset: str | None = _release('JobSet, such as "0.10".')
    volcano: str | None = _release('Volcano, such as "1.12".')
    kueue: str | None = _release('Kueue, such as "0.19".')
    kai: str | None = _release('KAI Scheduler, such as "0.15".')
    mpi_operator: str | None = _release('MPI Operator, such as "0.8".')
    lws: str | None = _release('LeaderWorkerSet, such as "0.10".')
    kuberay: str | None = _release('KubeRay, such as "1.7".')
    nvidia_dra: str | None = _release('DRA driver for NVIDIA GPUs, such as "25.8".')
    device_plugin: str | None = _release('NVIDIA device plugin for GPUs, such as "0.17".')
    torch: str | None = _release('PyTorch in the images, such as "2.5".')


class FeatureGates(Model):
    """Feature gates that differ from their defaults."""

    kubernetes: dict[str, bool] = optional(
        "Feature gates of kube-apiserver by name, as in its `--feature-gates`, such as "
        "EmptyDirVolumeMode: true.",
        {},
    )
    jobset: dict[str, bool] = optional(
        "Feature gates of JobSet's manager by name, such as InPlaceRestart: true.", {}
    )


class OperatorImage(Model):
    """Image of the operator."""

    repository: str = optional(
        "Without the tag.", "ccr.ccs.tencentyun.com/tke-market/pytorch-operator"
    )
    tag: str = optional("The image's tag.", "latest")


class OperatorNamespace(Model):
    """Namespace of the operator."""

    create: bool = optional("Whether the chart creates the namespace.", True)
    name: str = optional("The namespace's name.", "pytorch-operator")


class OperatorDeployment(Model):
    """How the PyTorch operator's chart is deployed. Fields and defaults are those of TKE's
    PyTorch-Operator chart.
    """

    image: OperatorImage = part(OperatorImage, "The operator's image.")
    namespace: OperatorNamespace = part(OperatorNamespace, "The operator's namespace.")


class ProfileSpec(Model):
    """Settings of the cluster."""

    model_config = ConfigDict(json_schema_extra={"x-check": "own-scheduler"})

    versions: OperatorVersions = part(OperatorVersions, "Versions of Kubernetes and the operators.")
    feature_gates: FeatureGates = part(
        FeatureGates,
        "Feature gates of Kubernetes and JobSet that differ from their defaults in the release.",
    )
    cloud: Literal["gke", "eks", "aks", "oke"] | None = optional(
        "Cloud whose node labels identify built-in accelerators; without it, the labels of "
        "feature discovery do."
    )
    platform: Literal["gke-autopilot", "openshift"] | None = optional(
        "Managed platform, whose admission refuses more than the API server: GKE Autopilot's "
        "Warden, and OpenShift's security context constraints, of which restricted-v2 is assumed."
    )
    cluster_domain: str = optional(
        "Domain of the cluster's DNS names, as in the kubelets' `clusterDomain`.",
        "cluster.local",
        pattern=r"^[a-z0-9]([-a-z0-9.]{0,250}[a-z0-9])?$",
    )
    gpu: Gpu = part(Gpu, "What `gpu` means in this cluster.")
    accelerators: dict[str, Accelerator] = optional(
        "Accelerators by the names that jobs use. They override built-in ones of the same name.", {}
    )
    fabrics: dict[str, Fabric] = optional(
        "Fabrics by the names that jobs use: new ones, or changes to built-in ones.", {}
    )
    node_pools: dict[str, NodePool] = optional(
        "The cluster's nodes by pool. If set, jobs are checked against these pools instead of the "
        "machine types of the cloud.",
        {},
    )
    other_pools: bool = optional(
        "Whether the cluster may have nodes that nodePools does not list, such as pools that have "
        "none now: what fits no listed pool is then a warning.",
        False,
    )
    resource_tolerations: dict[str, list[Toleration]] = optional(
        "Tolerations by Kubernetes resource name, for pods that request it in any container.", {}
    )
    spot: Spot = part(Spot, "Preemptible nodes.")
    on_demand: list[NodeRequirement] = optional(
        "Requirements on the nodes of jobs that are not spot, for their node affinity.", []
    )
    queue_system: QueueSystemName = optional(
        "System that admits a queue's jobs, if the target leaves the choice.", "kueue"
    )
    gang_scheduler: GangScheduler | None = optional(
        "Scheduler that places all pods of a job at once or none of them; the training-operator "
        "must be started with the same one. kubernetes is kube-scheduler with the feature gates "
        "that featureGates names (Kubernetes 1.35). Default: volcano or kai if it is the queue "
        "system, else none."
    )
    schedule_timeout_seconds: int | None = optional(
        "How long scheduler-plugins reserves room for an incomplete gang.", ge=1
    )
    pod_security: str | None = optional(
        "Pod Security level of namespaces whose level is unknown, such as restricted or "
        "baseline:v1.34. compile fills in the fields that it requires and rejects violations.",
        pattern=r"^(privileged|baseline|restricted)(:(latest|v1\.\d{1,3}))?$",
    )
    objects: list[Json] = optional(
        "Objects of the cluster by which its API server admits others: Namespaces, LimitRanges, "
        "ResourceQuotas, PriorityClasses, ValidatingAdmissionPolicies, their bindings and "
        "parameters; for `ptcompile admit`, its queues, flavors and topologies. An object of the "
        "files replaces one of the same name.",
        [],
    )
    multi_kueue: bool = optional(
        "Whether this is a MultiKueue manager: queued jobs run in other clusters, never here.",
        False,
    )
    queue_frameworks: list[QueueFramework] = optional(
        "Kinds that Kueue manages beyond its defaults, by their names in `integrations.frameworks` "
        "of its configuration. Kueue 0.19 leaves out those of training-operator.",
        [],
    )
    topology: ClusterTopology = part(ClusterTopology, "The network's levels.")
    defaults: Defaults = part(Defaults, "Defaults of every job.")
    operator: OperatorDeployment = part(
        OperatorDeployment, "The PyTorch operator's chart, for `ptcompile platform`."
    )
    priorities: dict[str, int] = optional(
        "Values of priority classes by name, for `ptcompile platform`; 0 for others that jobs "
        "name.",
        {},
    )

    @field_validator("gang_scheduler")
    @classmethod
    def _queues_have_their_scheduler(cls, value: str | None, info: ValidationInfo) -> str | None:
        check_gang_scheduler(info.data.get("queue_system"), value)
        return value


class ProfileMetadata(Model):
    """The profile's name."""

    name: str = Field(description="Name of the profile in messages.")


class ClusterProfile(Profile, Model):
    """A cluster, as far as its jobs depend on it."""

    model_config = ConfigDict(title="ClusterProfile")

    api_version: Literal["ptcompile/v1"] = optional("Version of the format.", "ptcompile/v1")
    kind: Literal["ClusterProfile"] = optional("Kind of the document.", "ClusterProfile")
    metadata: ProfileMetadata = Field(
        default_factory=lambda: ProfileMetadata.model_construct(name="default"),
        json_schema_extra={"default": {"name": "default"}},
        description="The profile's name.",
    )
    spec: ProfileSpec = part(ProfileSpec, "Settings of the cluster.")


def json_schema() -> JsonDict:
    """Return the JSON Schema of a ClusterProfile document."""
    return base.json_schema(ClusterProfile, "cluster.schema.json", ["apiVersion", "kind"])
