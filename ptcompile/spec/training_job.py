"""Models of a TrainingJob, its pods and its roles.

Names and defaults follow the systems that they configure: torchrun's and flytekitplugins-kfpytorch
1.16 `Elastic` for the launch (monitor interval 5 s, no restarts, 15 minutes to join, shared memory
on), Kubernetes for the pod, Kubeflow training-operator 1.9 for the run policy, Volcano's PyTorch
plugin for task names and port.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from ptcompile._internal.schema_files import load_table
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.spec import base, checks
from ptcompile.spec.base import (
    Count,
    Dict,
    DnsLabel,
    DnsSubdomain,
    Interval,
    Json,
    Metadata,
    Model,
    Nnodes,
    NprocPerNode,
    Port,
    QuantityField,
    Resources,
    Seconds,
    optional,
    part,
)
from ptcompile.spec.objects import AuxiliaryRole, Nodes


class EnvSource(Model):
    """Source of a variable whose value is read when the pod starts. Set exactly one field."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    secret_key_ref: Json | None = optional("Key of a Secret: {name, key}.")
    config_map_key_ref: Json | None = optional("Key of a ConfigMap: {name, key}.")
    field_ref: Json | None = optional("Field of the pod: {fieldPath}, such as metadata.name.")
    resource_field_ref: Json | None = optional(
        "Amount of the container: {resource}, such as limits.memory."
    )


RestartPolicy = Literal["Always", "OnFailure", "Never", "ExitCode"]


class PodFields(Model):
    """Pod settings of a job, which a role may override.

    null means none, from any source: it removes what the job (for a role), the profile or a pass
    would fill in. It has no effect on `image`, `command`, `args` and `restartPolicy`.
    """

    image: str | None = optional("Container image.")
    command: list[str] | None = optional("Command to start instead of torchrun.")
    args: list[str] | None = optional("Arguments of the script, module, command or image.")
    working_dir: str | None = optional("Working directory of the container.")
    ports: list[Json] = optional(
        "Ports of the container, as in a pod. The port where the nodes meet needs none.", []
    )
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = optional(
        "When to pull the image."
    )
    resources: Resources = part(Resources, "Resources per node.")
    env: Dict[str, str | EnvSource | None] = optional(
        "Environment variables, in order; null removes one that would be added.", {}
    )
    env_from: list[Json] = optional("ConfigMaps or Secrets whose keys become variables.", [])
    volumes: list[Json] = optional("Volumes, as in a pod.", [])
    volume_mounts: list[Json] = optional("Mounts of the volumes, as in a container.", [])
    restart_policy: RestartPolicy | None = optional("What happens to a failed pod.")
    service_account_name: str | None = optional("Service account of the pods.")
    image_pull_secrets: list[Json] = optional("Secrets with registry credentials: [{name}].", [])
    node_selector: Dict[str, str | None] = optional("Labels that a node must have.", {})
    tolerations: list[Json] = optional("Taints that the pods accept, as in a pod.", [])
    affinity: Json = optional("Affinity, as in a pod.", {})
    priority_class_name: str | None = optional(
        "Priority class of the pods, which decides which pods they may preempt."
    )
    security_context: Json = optional("Security context of the container.", {})
    pod_security_context: Json = optional("Security context of the pod.", {})
    scheduler_name: str | None = optional("Scheduler of the pods, if not the cluster's default.")
    host_network: bool = optional("Use the node's network.", False)
    termination_grace_period_seconds: Seconds | None = optional(
        "Seconds between SIGTERM and SIGKILL."
    )
    pod_labels: Dict[str, str | None] = optional("Labels of the pods.", {})
    pod_annotations: Dict[str, str | None] = optional("Annotations of the pods.", {})
    pod_template: Json = optional(
        "A pod template applied over the result, for everything else: {metadata, spec}. Containers "
        "(the one that trains is called pytorch), env, volumes, mounts and tolerations merge by "
        "name; null removes a field, no matter what set it.",
        {},
    )


class RoleSpec(PodFields):
    """Settings of a role. Absent fields come from the job."""

    replicas: Count = optional("Number of pods. A master has one.", 1)


MAX_AUXILIARY_PODS = 1024
"""Maximum number of pods of an auxiliary role. One variable lists their host names, two DNS labels
each, and Linux limits a variable to 128 KiB.
"""


class SideRole(AuxiliaryRole, PodFields):
    """Auxiliary pods, such as data loaders or parameter servers. They are not nodes and have no
    rank.

    Image, environment, volumes, identity and placement default to the job's; command, resources,
    restart policy and pod template do not. By default (OnFailure) a failed container is restarted
    in its pod, and a pod whose Kubernetes node is lost is recreated without restarting the nodes of
    the job.
    """

    replicas: int = optional("Number of pods.", 1, ge=1, le=MAX_AUXILIARY_PODS)


class Elastic(Model):
    """How torchrun runs the job. Every field is torchrun's."""

    defaults: Literal["ptcompile", "torchrun"] = optional(
        "Whose defaults apply to monitorInterval, rdzvId and rdzvConfigs. With torchrun, ptcompile "
        "also adds no variables for torchrun to the pods, such as OMP_NUM_THREADS.",
        "ptcompile",
    )
    nnodes: Nnodes | None = optional(
        "Number of nodes, or MIN:MAX. Default: 1, or the number that `nodes` or the roles set."
    )
    nproc_per_node: NprocPerNode | None = optional(
        "Processes per node: a number, auto, cpu, gpu or xpu. Default: one per accelerator that a "
        "node requests (more for an accelerator with several cores, such as Trainium), or one "
        "without accelerators."
    )
    start_method: Literal["spawn", "fork", "forkserver"] = optional(
        "How torchrun starts processes of a Python function.", "spawn"
    )
    monitor_interval: Interval | None = optional(
        "Seconds between two checks of the processes; null leaves it to torchrun.", 5
    )
    max_restarts: Count = optional("How often torchrun restarts the whole group of processes.", 0)
    rdzv_backend: Literal["c10d", "static", "etcd", "etcd-v2"] | None = optional(
        "Rendezvous backend. Default: c10d for a range of nodes or with restarts, else static. A "
        "single node runs with --standalone, or at masterPort if this is static."
    )
    rdzv_id: str | None = optional(
        "Rendezvous id. Default: the job's name; null leaves it to torchrun."
    )
    rdzv_endpoint: (
        Annotated[str, Field(json_schema_extra={"pattern": "^.+:0*[1-9][0-9]*$"})] | None
    ) = optional("HOST:PORT of an etcd server; other backends need none.")
    rdzv_configs: Dict[str, str | int | None] = optional(
        "Rendezvous options, added to the defaults: timeout and join_timeout of 900 seconds each "
        "and, with c10d, a read_timeout equal to timeout. null leaves an option to torchrun.",
        {},
    )


class RestartInPlace(Model):
    """Exit statuses of the training container that the kubelet answers by a restart in the pod."""

    exit_codes: list[Annotated[int, Field(ge=1, le=255)]] = Field(
        description="Exit statuses of the training container, such as 137."
    )
    action: Literal["Restart", "RestartAllContainers"] = optional(
        "What starts again: the training container, or all containers of its pod, init containers "
        "too (Kubernetes 1.36).",
        "Restart",
    )


class RunPolicy(Model):
    """Retries, the end of the job, and cleanup. 0 is a value; an absent field has the default that
    it names.

    The values are Kubernetes': Ignore, Count and FailJob are actions of a Job's podFailurePolicy,
    RestartPod and RestartJob are Volcano's (1.12).
    """

    model_config = ConfigDict(
        json_schema_extra={
            "if": {
                "required": ["onPodFailure"],
                "properties": {"onPodFailure": {"const": "FailJob"}},
            },
            "then": {"properties": {"backoffLimit": {"enum": [0, None]}}},
        }
    )

    clean_pod_policy: Literal["None", "All", "Running"] | None = optional(
        "Pods to delete when the job ends. Default on every target: Running, because pods that "
        "still run would hold their GPUs."
    )
    ttl_seconds_after_finished: Seconds | None = optional(
        "Delete the job this many seconds after its end."
    )
    active_deadline_seconds: int | None = optional("End the job after this many seconds.", ge=1)
    backoff_limit: Count | Literal["Unlimited"] | None = optional(
        "Number of failures to retry, or Unlimited. Default: 0, which means no retries; 6 if "
        "restartPolicy OnFailure or onPodFailure requests restarts; 6 per node if pods of a c10d "
        "rendezvous restart one by one."
    )
    suspend: bool = optional("Create the job without starting it.", False)
    on_pod_failure: Literal["RestartPod", "RestartJob", "FailJob"] | None = optional(
        "What happens when a pod fails: restart that pod, restart all pods, or end the job. "
        "Default: without retries, end the job; with retries, restart the pod for a range of "
        "nodes, else all pods if the operator can."
    )
    on_disruption: Literal["Ignore", "Count", "FailJob"] | None = optional(
        "What happens when a node is lost (drained, preempted, failed): a restart that is not "
        "counted, one that counts as a failure, or the end of the job. Default: Ignore for spot "
        "and a range of nodes, else Count."
    )
    success_policy: Literal["Node0", "AllNodes"] | None = optional(
        "Which nodes must succeed for the job to succeed. Default: node 0 for a range of nodes, "
        "else the operator's rule."
    )
    restart_in_place: RestartInPlace | None = optional(
        "Exit statuses after which the kubelet restarts a node in its pod: the pod does not fail, "
        "and no limit but activeDeadlineSeconds counts it (Kubernetes 1.35)."
    )


class Volcano(Model):
    """Older form of names.master and names.worker, only for Volcano."""

    master_task: DnsLabel = optional("Name of the task with node 0 (names.master).", "master")
    worker_task: DnsLabel = optional(
        "Name of the task with the other nodes (names.worker).", "worker"
    )


EntryPoint = Annotated[str, Field(json_schema_extra={"pattern": "^\\S*$"})]
"""A file or a module. The frontend rejects a command line and names the fields for it."""


class Names(Model):
    """Names of the job's parts, if the operator leaves the choice. Host names are derived from
    them.
    """

    container: DnsLabel | None = optional("Name of the container that trains. Default: pytorch.")
    node: DnsLabel | None = optional(
        "Name of a JobSet's replicatedJob of equal nodes. Default: node."
    )
    master: DnsLabel | None = optional(
        "Name of node 0's Volcano task or replicatedJob. Default: master."
    )
    worker: DnsLabel | None = optional(
        "Name of the other nodes' Volcano task or replicatedJob. Default: worker."
    )
    master_container: DnsLabel | None = optional(
        "Name of the container that trains in node 0. Default: that of container."
    )
    worker_container: DnsLabel | None = optional(
        "Name of the container that trains in the other nodes. Default: that of container."
    )
    task: DnsLabel | None = optional(
        "Name of one Volcano task for all nodes, whose ranks are VC_TASK_INDEX. Default: node 0 "
        "has a task of its own, for Volcano's pytorch plugin."
    )
    service: DnsLabel | None = optional(
        "Name of the headless Service of a batch/v1 Job. Default: the job's name."
    )


class RuntimeRef(Model):
    """A Kubeflow Trainer runtime that exists in the cluster."""

    name: str = Field(description="Name of the runtime.")
    kind: Literal["ClusterTrainingRuntime", "TrainingRuntime"] = optional(
        "Whether the runtime belongs to the cluster or to the job's namespace.",
        "ClusterTrainingRuntime",
    )
    api_group: Literal["trainer.kubeflow.org"] = optional(
        "API group of the runtime.", "trainer.kubeflow.org"
    )


class Topology(Model):
    """How close together the pods run: within one domain of a topology level that the profile
    defines or that is built in for its cloud, such as subblock on gke. Set one of the two fields.
    """

    model_config = ConfigDict(
        json_schema_extra={"minProperties": 1, "maxProperties": 1, "x-check": "one-level"}
    )

    required: str | None = optional("Level, such as rack; the job waits until it fits into one.")
    preferred: str | None = optional("Level, such as rack; the job spreads further if it must.")

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Topology:
        return checks.check_topology(self)


def _requires(*names: str) -> JsonDict:
    """Return the part of a JSON Schema that requires these fields to be set and not null."""
    return {
        "required": list(names),
        "properties": {name: {"not": {"type": "null"}} for name in names},
    }


_START_FIELDS = ("script", "module", "command", "args")
_NO_RESTART: JsonDict = {"properties": {"restartPolicy": {"enum": ["Never", None]}}}


class JobSpec(Nodes, PodFields):
    """The job, independent of the cluster. The profile says where it runs."""

    model_config = ConfigDict(
        # for editors only, because the frontend reports these contradictions with better messages
        json_schema_extra={
            "allOf": [
                {"not": _requires("script", "module")},
                {"not": _requires("script", "command")},
                {"not": _requires("module", "command")},
                {"not": _requires("nodes", "master")},
                {"not": _requires("nodes", "worker")},
                {
                    "if": _requires("elastic"),
                    "then": {"anyOf": [_requires(word) for word in _START_FIELDS]},
                },
                {
                    "if": {
                        "required": ["runPolicy"],
                        "properties": {"runPolicy": _requires("onPodFailure")},
                    },
                    "then": {
                        "properties": {
                            "master": _NO_RESTART,
                            "worker": _NO_RESTART,
                            **_NO_RESTART["properties"],
                        }
                    },
                },
            ]
        }
    )

    target: str | None = optional(
        "Operator to write manifests for. Default: chosen by what the job needs."
    )
    script: EntryPoint | None = optional(
        "Python file that torchrun starts on every node. Its arguments go into args."
    )
    module: EntryPoint | None = optional(
        "Python module that torchrun starts on every node. Its arguments go into args."
    )
    nodes: int | None = optional(
        "Number of identical nodes; with a range in elastic.nnodes, the initial number.", ge=1
    )
    elastic: Elastic | None = optional(
        "torchrun's settings, and the number of nodes if it varies. With command, the torchrun "
        "that it starts gets them as PET_* variables."
    )
    master: RoleSpec | None = optional("Node 0, if it differs from the workers.")
    worker: RoleSpec | None = optional("The other nodes.")
    accelerator: str | None = optional(
        "Accelerator, by its name in the profile or the built-in catalog, such as nvidia-h100."
    )
    fabric: str | None = optional(
        "Network between nodes: efa, infiniband, roce, tcpx, tcpxo, gib, rdma-vf, nvlink-domain, "
        "or a name from the profile."
    )
    spot: bool = optional(
        "Whether the job may run on preemptible nodes. It survives preemption if the operator can.",
        False,
    )
    pod_security: str | None = optional(
        "Pod Security level that every pod must pass, such as restricted. It overrides the "
        "profile's.",
        pattern=r"^(privileged|baseline|restricted)(:(latest|v1\.\d{1,3}))?$",
    )
    shared_memory: bool | QuantityField = optional(
        "Memory volume at /dev/shm. A quantity limits it, otherwise the memory limit does.", True
    )
    run_policy: RunPolicy = part(RunPolicy, "Retries, the end of the job, and cleanup.")
    queue: DnsSubdomain | None = optional(
        "Queue that admits the job (Kueue's, Volcano's or KAI's). Default: the profile's; null: "
        "none."
    )
    priority: DnsSubdomain | None = optional(
        "Priority class of the job in its queue, which decides the order of admission. The pods' "
        "is priorityClassName."
    )
    topology: Topology | None = optional("How close together the pods run.")
    master_port: Port = optional("Port of node 0 for the rendezvous.", 23456)
    names: Names = part(Names, "Names of the job's parts, if the operator leaves the choice.")
    volcano: Volcano = part(Volcano, "Task names on Volcano: see names.")
    runtime_ref: RuntimeRef | None = optional(
        "A Trainer runtime for the target trainjob. The TrainJob then contains only what the spec "
        "sets; image, command and resources may come from the runtime."
    )
    min_available: Annotated[int, Field(ge=1)] | None = optional(
        "Number of pods that a gang scheduler starts only together. Default: all pods, or the "
        "minimum of a range of nodes and all pods of other roles."
    )
    manifest: dict[str, Json | None] = optional(
        "A patch for the finished object of each target, for fields that nothing else sets. Named "
        "lists merge by name; null removes a field. TARGET/KIND, such as job/Service, patches an "
        "object beside the job; null removes it.",
        {},
    )
    roles: dict[str, SideRole] = optional(
        "Auxiliary pods by a name of your choice, such as data loaders or parameter servers. Every "
        "pod finds the host names of a role in the variable <ROLE>_HOSTS, and the job does not "
        "wait for them to end.",
        {},
    )


VariantsByName = Annotated[
    dict[str, JobSpec],
    Field(
        json_schema_extra={
            "minProperties": 1,
            "propertyNames": {"pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},
        }
    ),
]
"""Parts of a spec by name."""


class Spec(Model):
    """One training job, or several that have most of their fields in common."""

    api_version: Literal["ptcompile/v1"] = optional("Version of the format.", "ptcompile/v1")
    kind: Literal["TrainingJob"] = optional("Kind of the document.", "TrainingJob")
    metadata: Metadata = Field(description="Name, namespace, labels and annotations.")
    spec: JobSpec = Field(description="The job.")
    variants: VariantsByName | list[VariantsByName] | None = optional(
        "Jobs that differ from this one, by name: parts of a spec that are merged over it as a "
        "role is. A list of maps stands for their product. The document itself is then no job.",
    )


def json_schema() -> JsonDict:
    """Return the JSON Schema of a TrainingJob document, with an example for each field.

    Editors show the examples, and `ptcompile explain spec.FIELD` compiles them.
    """
    schema = base.json_schema(Spec, "spec.schema.json", ["apiVersion", "kind", "metadata", "spec"])
    for model, definition in schema["$defs"].items():
        for name, field in definition.get("properties", {}).items():
            if (value := _example(model, name)) is not None:
                field["examples"] = [value]
    return schema


def _example(model: str, field: str) -> Any:
    """Return the example of a field, or None if it has none: the older spelling of a name, and
    constants.

    Fields of Kubernetes' pods are the same in each model.
    """
    examples = load_table("spec/examples.json")
    inherited = {"Resources": "ResourceList"}
    for name in (model, inherited.get(model, "")):
        by_field = examples["models"].get(name, {})
        if field in by_field:
            return by_field[field]

    if model in {"JobSpec", "RoleSpec", "SideRole"}:
        return examples["pod"].get(field)

    return None
