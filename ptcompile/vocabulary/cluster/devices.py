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


class Gpu(Model):
    """What `gpu` means in this cluster."""

    resource_name: str = Field(default="nvidia.com/gpu", description="Resource that `gpu` requests.")
    tolerations: list[Toleration] | None = Field(
        default=None,
        description="Added only to pods that request an accelerator. Default: of a taint NoSchedule whose "
        "key is the resource's own name, such as nvidia.com/gpu.",
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


class Fabric(Model):
    """A network between nodes, by the name that jobs use. What is not said is the built-in fabric's of that name."""

    resources: Dict[str, Quantity] = Field(default={}, description="What a pod requests, by Kubernetes resource name.")
    capabilities: list[str] = Field(default=[], description="Linux capabilities of the container that trains.")
    env: dict[str, str] = Field(default={}, description="Environment variables.")
    annotations: dict[str, str] = Field(
        default={}, description="Annotations of the pods, such as k8s.v1.cni.cncf.io/networks for a second interface."
    )
    pod_template: PodBase = Field(
        default={}, description="A pod template under the job's own for everything else, such as a sidecar daemon."
    )
