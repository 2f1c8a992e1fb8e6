"""The platform's vocabulary: `kind: ClusterProfile`. A job says what it is; a profile says where it runs.

The words follow Flyte's K8s plugin configuration where it has them (resource tolerations, interruptible nodes, default
env and labels). The built-in profile tolerates `flyte/gpu=dedicated:NoSchedule` on GPU pods, as Flyte's documents do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator

from ptcompile import quantity
from ptcompile.accelerators import is_accelerator
from ptcompile.clusterdevices import (
    Accelerator,
    Fabric,
    Gpu,
    NodeRequirement,
    Toleration,
    built_in_accelerator,
    built_in_fabric,
    counted_resource,
)
from ptcompile.clusterpods import check, in_schema
from ptcompile.clusterqueues import OWN_SCHEDULER, GangScheduler, QueueSystem, Topology
from ptcompile.versions import Versions, parse_version
from ptcompile.vocabulary import Json, Model, Quantity


class Spot(Model):
    """Nodes that can be taken away."""

    node_labels: dict[str, str] = Field({}, description="Labels that such nodes carry; pods get a node affinity.")
    match_expressions: list[NodeRequirement] = Field(
        [], description="What such nodes must be beyond labels, for the same node affinity."
    )
    tolerations: list[Toleration] = Field([], description="Taints of such nodes.")


PodBase = Annotated[Json, AfterValidator(check), Field(json_schema_extra=in_schema)]


class Defaults(Model):
    """What every job gets that does not say otherwise."""

    env: dict[str, str] = Field({}, description="Environment variables.")
    labels: dict[str, str] = Field({}, description="Labels of objects and pods.")
    annotations: dict[str, str] = Field({}, description="Annotations of objects and pods.")
    requests: dict[str, Quantity] = Field({}, description="Requests by Kubernetes resource name.")
    limits: dict[str, Quantity] = Field({}, description="Limits by Kubernetes resource name.")
    node_selector: dict[str, str] = Field({}, description="Labels that every node must have.")
    tolerations: list[Toleration] = Field([], description="Tolerations of every pod.")
    queue: str | None = Field(None, description="Queue of jobs that name none.")
    scheduler_name: str | None = Field(None, description="Scheduler of jobs that name none.")
    service_account_name: str | None = Field(None, description="Identity of pods that name none.")
    image_pull_secrets: list[Json] = Field([], description="Registry credentials of pods that name none.")
    pod_template: PodBase = Field(
        {},
        description="A pod template laid under every job's own, for all else. Its container `pytorch` is the one that "
        "trains. Mappings merge; an item that the job names, its affinity and its dnsConfig are the job's whole.",
    )


class OperatorVersions(Model):
    """Versions of what is installed; the newest known where absent."""

    kubernetes: str | None = Field(None, pattern=r"^1\.\d{1,3}$", description='Such as "1.34".')
    training_operator: str | None = Field(None, pattern=r"^\d+\.\d+", description='Such as "1.9".')
    trainer: str | None = Field(None, pattern=r"^\d+\.\d+", description='Such as "2.2".')
    jobset: str | None = Field(None, pattern=r"^\d+\.\d+", description='Such as "0.10".')
    volcano: str | None = Field(None, pattern=r"^\d+\.\d+", description='Such as "1.12".')
    kueue: str | None = Field(None, pattern=r"^\d+\.\d+", description='Such as "0.19".')
    kai: str | None = Field(None, pattern=r"^\d+\.\d+", description='KAI Scheduler, such as "0.15".')


class OperatorImage(Model):
    """Which image the operator runs."""

    repository: str = Field("ccr.ccs.tencentyun.com/tke-market/pytorch-operator", description="Without the tag.")
    tag: str = Field("latest", description="The image's tag.")


class OperatorNamespace(Model):
    """Where the operator runs."""

    create: bool = Field(True, description="Whether the chart makes the namespace.")
    name: str = Field("pytorch-operator", description="The namespace's name.")


class OperatorDeployment(Model):
    """How the PyTorch operator's chart is deployed. Fields and defaults are those of TKE's PyTorch-Operator chart."""

    image: OperatorImage = Field(default_factory=OperatorImage.model_construct, description="The operator's image.")
    namespace: OperatorNamespace = Field(
        default_factory=OperatorNamespace.model_construct, description="The operator's namespace."
    )


class ProfileSpec(Model):
    """What the platform decides."""

    versions: OperatorVersions = Field(
        default_factory=OperatorVersions.model_construct, description="Kubernetes and the operators."
    )
    cloud: Literal["gke", "eks", "aks"] | None = Field(
        None, description="Whose node labels the built-in accelerators have; those of feature discovery when absent."
    )
    gpu: Gpu = Field(default_factory=Gpu.model_construct, description="What `gpu` means here.")
    accelerators: dict[str, Accelerator] = Field(
        {}, description="The catalogue, by the names that jobs use; it wins over the built-in one, name by name."
    )
    fabrics: dict[str, Fabric] = Field(
        {}, description="What a fabric is here, by the names that jobs use: new ones, or built-in ones changed."
    )
    resource_tolerations: dict[str, list[Toleration]] = Field(
        {}, description="Tolerations by Kubernetes resource name: of pods that ask for it in any container."
    )
    spot: Spot = Field(default_factory=Spot.model_construct, description="Nodes that can be taken away.")
    on_demand: list[NodeRequirement] = Field(
        [], description="What the nodes of jobs that are not spot must be, for their node affinity."
    )
    queue_system: QueueSystem = Field(
        "kueue", description="Who admits a queue's jobs, where the target leaves the choice."
    )
    gang_scheduler: GangScheduler | None = Field(
        None,
        description="Who places the pods of a job all at once, or none of them; the training-operator is started "
        "with the same. Default: volcano or kai where the queues are theirs, else none.",
    )
    schedule_timeout_seconds: int | None = Field(
        None, ge=1, description="How long scheduler-plugins holds places for a gang that is not complete."
    )
    multi_kueue: bool = Field(
        False, description="Whether this is a MultiKueue manager: queued jobs run in other clusters, never here."
    )
    topology: Topology = Field(default_factory=Topology.model_construct, description="The network's levels.")
    defaults: Defaults = Field(
        default_factory=Defaults.model_construct, description="What every job gets that does not say otherwise."
    )
    operator: OperatorDeployment = Field(
        default_factory=OperatorDeployment.model_construct,
        description="The PyTorch operator's chart, for `ptcompile platform`.",
    )
    priorities: dict[str, int] = Field(
        {}, description="Values of priority classes by name, for `ptcompile platform`; 0 where a job names another."
    )

    @field_validator("gang_scheduler")
    @classmethod
    def _queues_have_their_scheduler(cls, value: str | None, given: ValidationInfo) -> str | None:
        system = given.data.get("queue_system")
        if value is not None and system in OWN_SCHEDULER and value != system:
            raise ValueError(f"the queues of {system} are {system}'s scheduler: leave it out, or write {system}")
        return value


class ProfileMetadata(Model):
    """The profile's name."""

    name: str = Field(description="What messages call the profile.")


class ClusterProfile(Model):
    """One cluster, as jobs see it."""

    model_config = ConfigDict(title="ClusterProfile")

    api_version: Literal["ptcompile/v1"] = Field("ptcompile/v1", description="Version of this vocabulary.")
    kind: Literal["ClusterProfile"] = Field("ClusterProfile", description="What this document is.")
    metadata: ProfileMetadata = Field(
        default_factory=lambda: ProfileMetadata.model_construct(name="default"), description="The profile's name."
    )
    spec: ProfileSpec = Field(default_factory=ProfileSpec.model_construct, description="What the platform decides.")

    def versions(self) -> Versions:
        """The versions in force: those given, else the newest known."""
        given = vars(self.spec.versions)
        return _releases(tuple([(name, text) for name, text in given.items() if text is not None]))

    def accelerator(self, name: str | None) -> Accelerator | None:
        """The entry of a name: the profile's own, else the built-in one for its cloud; None where there is none."""
        if name is None:
            return None
        return self.spec.accelerators.get(name) or built_in_accelerator(name, self.spec.cloud)

    def gpu_resource(self, accelerator: str | None) -> str:
        """What `gpu` is called: the named accelerator's resource, else the cluster's."""
        entry = self.accelerator(accelerator)
        return (entry and entry.resource_name) or self.spec.gpu.resource_name

    def fabric(self, name: str | None) -> Fabric | None:
        """The fabric of a name: what the profile's entry says, over the built-in one; None where there is neither."""
        if name is None:
            return None
        own, known = self.spec.fabrics.get(name), built_in_fabric(name)
        if own is None or known is None:
            return own or known
        return known.model_copy(update={field: getattr(own, field) for field in own.model_fields_set})

    def fabric_amounts(self, name: str | None, accelerator: str | None, devices: int) -> dict[str, str]:
        """What a pod with this many of the named accelerator asks for on a fabric, by Kubernetes resource name.

        The profile's amounts, else those of a whole node of that accelerator, else the built-in ones.
        """
        fabric, entry = self.fabric(name), self.accelerator(accelerator)
        amounts = dict(fabric.resources) if fabric else {}
        counted = self.counted(name)
        if entry and counted in amounts and entry.devices_per_node and devices >= entry.devices_per_node:
            amounts[counted] = str(entry.fabric_devices.get(name or "", amounts[counted]))
        return amounts

    def counted(self, name: str | None) -> str | None:
        """The resource of a fabric of which each machine has its own number, where the profile does not give it."""
        own = self.spec.fabrics.get(name or "")
        return None if own and own.resources else counted_resource(name or "")

    def is_accelerator(self, resource: str) -> bool:
        """Whether a resource name stands for an accelerator here."""
        if resource == "gpu" or is_accelerator(resource) or resource == self.spec.gpu.resource_name:
            return True
        own = self.spec.accelerators
        return bool(own) and any(entry.resource_name == resource for entry in own.values())

    def accelerators_in(self, amounts: Mapping[str, str]) -> int:
        """How many accelerators these amounts are, of whatever kind."""
        counts = [quantity.parse(text) for name, text in amounts.items() if self.is_accelerator(name)]
        return sum([count.value for count in counts if count is not None])

    def processes_in(self, amounts: Mapping[str, str], accelerator: str | None) -> int:
        """How many processes these amounts take: one for each accelerator, or as many as the named one's entry says."""
        entry = self.accelerator(accelerator)
        each = entry.processes_per_device if entry else 1
        if each == 1:
            return self.accelerators_in(amounts)
        named = {"gpu", self.gpu_resource(accelerator)}
        ours = {name: amount for name, amount in amounts.items() if name in named}
        others = {name: amount for name, amount in amounts.items() if name not in named}
        return self.accelerators_in(ours) * each + self.accelerators_in(others)

    def uncounted(self, amounts: Mapping[str, str], accelerator: str | None) -> int | None:
        """How many processes these amounts take, where `auto` on the node would be another number; else None.

        torchrun's `auto` counts the devices of CUDA, ROCm and XPU, one process each, and host cores where it sees none
        (PyTorch 2.13); Trainer 2.3 takes a resource for GPUs by the word "gpu" in its name, and counts CPUs otherwise.
        """
        seen = any("gpu" in name.lower() for name in amounts if self.is_accelerator(name))
        processes = self.processes_in(amounts, accelerator)
        return None if seen and processes == self.accelerators_in(amounts) else processes or None


@lru_cache(256)
def _releases(given: tuple[tuple[str, str], ...]) -> Versions:
    return Versions(**{name: parse_version(text) for name, text in given})


DEFAULT_CLUSTER = ClusterProfile.model_construct()
"""The profile that is used where none is given."""


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a ClusterProfile document, for editors."""
    schema = ClusterProfile.model_json_schema(by_alias=True)
    schema["required"] = ["apiVersion", "kind"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "cluster.schema.json", **schema}
