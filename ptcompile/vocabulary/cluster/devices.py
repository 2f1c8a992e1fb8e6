"""What a profile says of a cluster's accelerators and its fabrics."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ptcompile.vocabulary.cluster.pod_base import check, in_schema
from ptcompile.vocabulary.model import Dict, Json, Model, Quantity

PodBase = Annotated[Json, AfterValidator(check), Field(json_schema_extra=in_schema)]
"""A pod template that is laid under the job's own."""


class Toleration(Model):
    """A taint that pods accept, as in a pod."""

    key: str | None = None
    operator: Literal["Exists", "Equal"] | None = None
    value: str | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    toleration_seconds: int | None = None


class NodeRequirement(Model):
    """What the labels of a node must say, as in a node affinity."""

    key: str = Field(description="The label.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"] = Field(
        description="How the label is compared."
    )
    values: list[str] | None = Field(
        default=None, description="What it is compared with; nothing for Exists, DoesNotExist."
    )


class DeviceClaim(Model):
    """Devices that each pod claims of a DRA driver (resource.k8s.io)."""

    device_class_name: str = Field(description="DeviceClass of the devices, such as mrdma.google.com.")
    count: int = Field(default=1, ge=1, description="How many a pod claims.")
    selectors: list[str] = Field(default=[], description="CEL expressions that each device satisfies.")


class GpuClaim(Model):
    """How GPUs are claimed of NVIDIA's DRA driver."""

    device_class_name: str = Field(default="gpu.nvidia.com", description="DeviceClass of whole GPUs.")
    slice_device_class_name: str = Field(default="mig.nvidia.com", description="DeviceClass of MIG slices.")
    selectors: list[str] = Field(default=[], description="CEL expressions that each device satisfies.")


class Gpu(Model):
    """What `gpu` means in this cluster."""

    resource_name: str = Field(default="nvidia.com/gpu", description="Resource that `gpu` requests.")
    tolerations: list[Toleration] | None = Field(
        default=None,
        description="Added only to pods that request an accelerator. Default: of a taint NoSchedule whose "
        "key is the resource's own name, such as nvidia.com/gpu.",
    )
    claim: GpuClaim | None = Field(
        default=None,
        description="Where given, pods claim NVIDIA GPUs and MIG slices of the DRA driver, and no longer count them.",
    )


class Accelerator(Model):
    """One entry of the catalogue: a name that jobs may ask for."""

    resource_name: str | None = Field(
        default=None, description="Resource of this accelerator, if it differs from that of `gpu`."
    )
    node_labels: dict[str, str] = Field(description="Labels of nodes with it; pods get a node affinity.")
    match_expressions: list[NodeRequirement] = Field(
        default=[], description="Further requirements on those nodes, such as the absence of a slice's label."
    )
    tolerations: list[Toleration] = Field(default=[], description="Taints of those nodes.")
    processes_per_device: int = Field(
        default=1, ge=1, description="How many processes one device takes: the cores of a Trainium, else 1."
    )
    one_drives_all: bool = Field(
        default=False, description="Whether one process may drive all devices of a node, as with PyTorch/XLA's SPMD."
    )
    env: dict[str, str] = Field(default={}, description="Environment variables of pods that request it.")
    devices_per_node: int | None = Field(default=None, ge=1, description="How many a whole node has.")
    fabric_devices: dict[str, int] = Field(
        default={}, description="How many devices of a fabric, by its name, come with a whole node."
    )
    nodes_per_domain: int | None = Field(
        default=None,
        ge=2,
        description="How many nodes one NVLink domain joins, such as 18 of an NVL72 rack; absent where NVLink ends at "
        "the node.",
    )


class Fabric(Model):
    """A network between nodes, by the name that jobs use. What is not said is the built-in fabric's of that name."""

    resources: Dict[str, Quantity] = Field(default={}, description="What a pod requests, by Kubernetes resource name.")
    capabilities: list[str] = Field(default=[], description="Linux capabilities of the container that trains.")
    env: dict[str, str] = Field(default={}, description="Environment variables.")
    annotations: dict[str, str] = Field(
        default={}, description="Annotations of the pods, such as k8s.v1.cni.cncf.io/networks for a second interface."
    )
    device_network: str | None = Field(
        default=None,
        description="Network that the annotation k8s.v1.cni.cncf.io/networks names once for each of the fabric's "
        "devices.",
    )
    claims: dict[str, DeviceClaim] = Field(default={}, description="Devices that a pod claims, by the claim's name.")
    compute_domain: bool = Field(
        default=False,
        description="Whether each job has a ComputeDomain of NVIDIA's DRA driver, in which GPUs of several nodes share "
        "memory over NVLink.",
    )
    pod_template: PodBase = Field(
        default={}, description="A pod template under the job's own for everything else, such as a sidecar daemon."
    )


class Taint(Model):
    """A taint of a node, as in a node's spec."""

    key: str = Field(description="The taint's key.")
    value: str = Field(default="", description="The taint's value.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(
        default="NoSchedule", description="What happens to pods that do not tolerate it."
    )


class NodePool(Model):
    """Nodes of one shape. What the profile says of its pools is all that there is."""

    machine: str | None = Field(
        default=None, description="Machine type, such as p5.48xlarge; built-in ones need no more to know their size."
    )
    allocatable: Dict[str, Quantity] = Field(
        default={},
        description="What a node leaves pods, by Kubernetes resource name (`kubectl describe node`, Allocatable). "
        "It wins over what is built in of the machine.",
    )
    labels: dict[str, str] = Field(default={}, description="Labels of its nodes.")
    taints: list[Taint] = Field(default=[], description="Taints of its nodes.")
    count: int | None = Field(
        default=None, ge=0, description="How many nodes there are, or may be with an autoscaler; any number if absent."
    )
