"""Light versions of Flyte's types: names, fields, defaults and meaning of flytekitplugins-kfpytorch
1.16.

Two things differ. The policies are plain enums (the plugin's are dataclasses without fields, so all
their members are equal), and nothing is checked or raised here: `convert` reports every mistake at
once, with its path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ptcompile.ir.job import JOIN_TIMEOUT_SECONDS

Amount = str | int | float | Sequence[str | int | float] | None
"""A quantity, or with `task(resources=...)` a pair (request, limit)."""


class RestartPolicy(Enum):
    """What happens to a failed pod of a replica group."""

    ALWAYS = "Always"
    FAILURE = "OnFailure"
    NEVER = "Never"


class CleanPodPolicy(Enum):
    """Which pods are deleted when the job ends."""

    NONE = "None"
    ALL = "All"
    RUNNING = "Running"


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources of one pod. `cpu` in cores, `mem` and `ephemeral_storage` in bytes, `gpu` in
    whole devices.
    """

    cpu: Amount = None
    mem: Amount = None
    gpu: Amount = None
    ephemeral_storage: Amount = None


@dataclass(frozen=True, slots=True)
class RunPolicy:
    """When the job ends and what remains of it. Times are seconds; unlike in Flyte, 0 is a
    value.
    """

    clean_pod_policy: CleanPodPolicy | None = None
    ttl_seconds_after_finished: int | None = None
    active_deadline_seconds: int | None = None
    backoff_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Worker:
    """The replica group of the workers."""

    image: str | None = None
    requests: Resources | None = None
    limits: Resources | None = None
    replicas: int | None = None
    restart_policy: RestartPolicy | None = None


@dataclass(frozen=True, slots=True)
class Master:
    """The single pod that is node 0."""

    image: str | None = None
    requests: Resources | None = None
    limits: Resources | None = None
    restart_policy: RestartPolicy | None = None


@dataclass(frozen=True, slots=True)
class PyTorch:
    """A master and its workers; each pod runs one process. `num_workers` is the old name of
    `worker.replicas`.
    """

    master: Master = Master()
    worker: Worker = Worker()
    run_policy: RunPolicy | None = None
    num_workers: int | None = None
    increase_shared_mem: bool = True


@dataclass(frozen=True, slots=True)
class Elastic:
    """A torchrun launch. `nnodes` is a number or MIN:MAX; `monitor_interval` is seconds."""

    nnodes: int | str = 1
    nproc_per_node: int = 1
    start_method: str = "spawn"
    monitor_interval: float = 5
    max_restarts: int = 0
    rdzv_configs: Mapping[str, Any] = field(
        default_factory=lambda: dict.fromkeys(("timeout", "join_timeout"), JOIN_TIMEOUT_SECONDS)
    )
    increase_shared_mem: bool = True
    run_policy: RunPolicy | None = None


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """A pod around the task, as in flytekit 1.16. `pod_spec` is a Kubernetes PodSpec as plain
    data.
    """

    pod_spec: Mapping[str, Any] | None = None
    primary_container_name: str = "primary"
    labels: Mapping[str, str] | None = None
    annotations: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Secret:
    """A key of a Kubernetes Secret, as in flytekit 1.16. `mount_requirement` is ANY, ENV_VAR or
    FILE; ANY is a file.
    """

    group: str | None = None
    key: str | None = None
    group_version: str | None = None
    mount_requirement: str = "ANY"
    env_var: str | None = None
