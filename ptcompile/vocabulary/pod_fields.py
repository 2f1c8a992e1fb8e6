"""What a job says of its pods, and a role may say better of its own."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from ptcompile.vocabulary.fields import Beside
from ptcompile.vocabulary.model import Count, Dict, Json, Model, Resources, Seconds


class EnvSource(Model):
    """A variable that is read when the pod starts: exactly one source."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    secret_key_ref: Json | None = Field(default=None, description="{name, key} of a Secret.")
    config_map_key_ref: Json | None = Field(default=None, description="{name, key} of a ConfigMap.")
    field_ref: Json | None = Field(default=None, description="{fieldPath} of the pod, such as metadata.name.")
    resource_field_ref: Json | None = Field(
        default=None, description="{resource} of the container, such as limits.memory."
    )


RestartPolicy = Literal["Always", "OnFailure", "Never", "ExitCode"]


class PodFields(Model):
    """What a job says of its nodes, and a role may say better of its own.

    null is a value of its own: nothing here, from any source. It removes what the job (for a role), the profile or a
    pass would fill in. Of `image`, `command`, `args` and `restartPolicy` it says nothing.
    """

    image: str | None = Field(default=None, description="Container image.")
    command: list[str] | None = Field(default=None, description="Start this instead of torchrun.")
    args: list[str] | None = Field(default=None, description="Arguments of the script, module, command or image.")
    working_dir: str | None = Field(default=None, description="Working directory of the container.")
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        default=None, description="When to pull."
    )
    resources: Resources = Field(default_factory=Resources.model_construct, description="Per node.")
    env: Dict[str, str | EnvSource | None] = Field(
        default={}, description="Environment variables, in order; null removes one that would be added."
    )
    env_from: list[Json] = Field(default=[], description="Whole ConfigMaps or Secrets as variables.")
    volumes: list[Json] = Field(default=[], description="Volumes, as in a pod.")
    volume_mounts: list[Json] = Field(default=[], description="Where the container sees them, as in a pod.")
    restart_policy: RestartPolicy | None = Field(default=None, description="What happens to a failed pod.")
    service_account_name: str | None = Field(default=None, description="Service account of the pods.")
    image_pull_secrets: list[Json] = Field(default=[], description="[{name}] of registry credentials.")
    node_selector: Dict[str, str | None] = Field(default={}, description="Labels that a node must have.")
    tolerations: list[Json] = Field(default=[], description="Taints that the pods accept, as in a pod.")
    affinity: Json = Field(default={}, description="As in a pod.")
    priority_class_name: str | None = Field(default=None, description="Which pods may be preempted for these.")
    security_context: Json = Field(default={}, description="Of the container.")
    pod_security_context: Json = Field(default={}, description="Of the pod.")
    scheduler_name: str | None = Field(default=None, description="Scheduler other than the cluster's.")
    host_network: bool = Field(default=False, description="Use the node's network.")
    termination_grace_period_seconds: Seconds | None = Field(default=None, description="Between SIGTERM and SIGKILL.")
    pod_labels: Dict[str, str | None] = Field(default={}, description="Labels of the pods.")
    pod_annotations: Dict[str, str | None] = Field(default={}, description="Annotations of the pods.")
    pod_template: Json = Field(
        default={},
        description="A pod template applied over the result, for everything else: {metadata, spec}. Containers (the "
        "one that trains is called pytorch), env, volumes, mounts and tolerations merge by name; null removes a field, "
        "whatever wrote it.",
    )


class RoleSpec(PodFields):
    """A role's own words; what it does not say is the job's."""

    replicas: Count = Field(default=1, description="Number of pods. A master has one.")


MOST_BESIDE = 1024
"""Pods of an auxiliary role. Their names stand in one variable, and Linux ends a variable at 128 KiB: two DNS
labels for each."""


class SideRole(Beside, PodFields):
    """Pods beside those that train, such as data loaders or parameter servers. They are no nodes and have no rank.

    Image, environment, volumes, identity and placement that it does not say are the job's; what it starts, what it asks
    for, its restart policy and its pod template patch are its own. By default (OnFailure) a container of its that
    fails is restarted in its pod, and a pod whose node goes is made again without the trainers.
    """

    replicas: int = Field(default=1, ge=1, le=MOST_BESIDE, description="Number of pods.")
