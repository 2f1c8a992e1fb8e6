"""Trainer's plugins (torch, MPI, torchtune ...) and their effect on a runtime's JobSet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ptcompile._internal.namedtuple import Any
from ptcompile.diagnostics import Path
from ptcompile.kinds.pods import MAX_NAMED_HOSTS, FieldOrigin
from ptcompile.kinds.templates import (
    COMPLETION_INDEX,
    env_from_field,
    env_value,
    upsert_env,
    with_containers,
    with_items,
    with_port,
)
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_mapping,
    as_mappings,
    as_strings,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_strings,
    nested_value,
    object_name,
)
from ptcompile.kubernetes.versions import Version
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.patches import with_env_merged
from ptcompile.operators.trainer.runtimes import step_label, tune_model

PORT = 29500
TRAINER: Path = ("spec", "trainer")
NUM_NODES: Path = (*TRAINER, "numNodes")
_TORCH_FIELDS: dict[str, Path] = {
    "PET_NNODES": NUM_NODES,
    "PET_NPROC_PER_NODE": (*TRAINER, "numProcPerNode"),
}
_NO_FIELDS: Mapping[str, Path] = MappingProxyType({})
INDEX_PATH = f"metadata.annotations['{COMPLETION_INDEX}']"


@dataclass(slots=True)
class Build:
    """A JobSet under construction: the TrainJob, its patched runtime, and what the policy fills
    in.
    """

    manifest: Json
    runtime: Json
    spec: Json
    jobs: list[Json]
    version: Version = (2, 3)
    configmaps: list[Json] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    set_fields: frozenset[str] = frozenset()
    """Fields of the trainer's container that the policy has already set."""
    pod_group: Json | None = None
    failure: str | None = None
    origins: list[tuple[Path, FieldOrigin]] = field(default_factory=list)
    """Where the parts of the JobSet were written."""

    @property
    def name(self) -> str:
        """The TrainJob's name, which is also the JobSet's."""
        return object_name(self.manifest)

    @property
    def master(self) -> str:
        """The first node's host name as other pods resolve it; literal, regardless of the
        runtime's names.
        """
        return f"{self.name}-node-0-0.{self.name}"

    @property
    def trainer(self) -> Json | None:
        """`spec.trainer`, or None if it is absent."""
        trainer = nested_value(self.manifest, "spec", "trainer")
        return None if trainer is None else as_mapping(trainer)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return runtimes.node_count(self.manifest, self.runtime)

    @property
    def gpus(self) -> int:
        """The number of GPUs of each node."""
        return runtimes.gpu_count(runtimes.node_resources(self.manifest, self.runtime))

    @property
    def nproc_per_node(self) -> str:
        """The number of processes of each node, or `auto`."""
        return runtimes.nproc_per_node(self.manifest, self.runtime, self.version)

    def set_nodes(self, count: int, *, job: str | None = None) -> None:
        """Set the number of pods of the trainer's job, or of the job named `job`."""
        self._change(job, lambda replicated: with_pod_count(replicated, count))

    def _change(self, job: str | None, change: Callable[[Json], Json]) -> None:
        self.jobs = [change(rj) if self._is_selected(rj, job) else rj for rj in self.jobs]

    def _is_selected(self, replicated: Json, job: str | None) -> bool:
        """Return whether a replicatedJob is the one named `job`, or without a name the
        trainer's.
        """
        if job:
            return replicated.get("name") == job
        return step_label(replicated) == "trainer"

    def on_container(
        self, change: Callable[[Json], Json], *, job: str | None = None, name: str = "node"
    ) -> None:
        """Apply `change` to the container named `name` in the trainer's job, or in the job named
        `job`.
        """
        self._change(job, lambda replicated: _change_container(replicated, name, change))

    def add_env(
        self,
        env: Sequence[Json],
        fields: Mapping[str, Path] = _NO_FIELDS,
        *,
        job: str | None = None,
        name: str = "node",
    ) -> None:
        """Set variables of a container; `fields` names the field of the TrainJob that decides the
        value of a variable.
        """
        self.on_container(lambda c: upsert_env(c, env), job=job, name=name)
        for replicated in self.jobs:
            if not self._is_selected(replicated, job):
                continue

            for entry in env:
                path = (*container_path(replicated, name), "env", entry["name"])
                field_path = fields.get(entry["name"], TRAINER)
                self.origins.append((path, FieldOrigin(field_path, "Trainer")))

    def on_pod(self, change: Callable[[Json], Json], *, job: str | None = None) -> None:
        """Apply `change` to the pod spec of the trainer's job, or of the job named `job`."""
        self._change(job, lambda replicated: change_pod(replicated, change))


def container_path(replicated: Json, name: str) -> Path:
    """Return the path of a container in the JobSet, with names instead of indexes."""
    return (
        "spec",
        "replicatedJobs",
        nested_string(replicated, "name"),
        "template",
        "spec",
        "template",
        "spec",
        "containers",
        name,
    )


def with_pod_count(replicated: Json, count: Any) -> Json:
    """Return the replicatedJob with a number of pods, which all must succeed."""
    template = nested_map(replicated, "template")
    spec = {**nested_map(template, "spec"), "parallelism": count, "completions": count}
    return {**replicated, "template": {**template, "spec": spec}}


def change_pod(replicated: Json, change: Callable[[Json], Json]) -> Json:
    """Return the replicatedJob with `change` applied to its pod spec."""
    template = nested_map(replicated, "template")
    job = nested_map(replicated, "template", "spec")
    pod_template = nested_map(job, "template")
    job = {
        **job,
        "template": {**pod_template, "spec": change(nested_map(pod_template, "spec"))},
    }
    return {**replicated, "template": {**template, "spec": job}}


def _change_container(replicated: Json, name: str, change: Callable[[Json], Json]) -> Json:
    def container(old: Json) -> Json:
        return change(old) if old.get("name") == name else old

    return change_pod(replicated, lambda spec: with_containers(spec, container, init=True))


def apply_plain(build: Build) -> None:
    """Set the number of nodes and the TrainJob's env."""
    build.set_nodes(build.nodes)
    env = (build.trainer or {}).get("env")
    build.on_container(lambda c: with_env_merged(c, env))


def _with_rendezvous_port(container: Json) -> Json:
    return with_port(container, {"containerPort": PORT})


def apply_mpi(build: Build) -> None:
    """Add OpenMPI's host file and ssh keys; with runLauncherAsNode the launcher is also a node."""
    policy = nested_map(build.runtime, "spec", "mlPolicy", "mpi")
    count = build.nodes
    as_node = policy.get("runLauncherAsNode") is True

    # the launcher is a node too, so it leaves one fewer to the workers
    workers = max(1, count - 1) if as_node else count
    build.set_nodes(1)
    build.set_nodes(workers, job="node")
    slots = _mpi_slots(build, policy)

    _add_mpi_mounts(build, nested_string(policy, "sshAuthMountPath") or "/root/.ssh")
    env = [
        env_value("OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile"),
        env_value("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
        env_value("OMPI_MCA_orte_set_default_slots", str(slots)),
        env_value("OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10"),
    ]
    trainer_env = (build.trainer or {}).get("env")
    build.add_env(env)
    build.on_container(lambda c: with_env_merged(c, trainer_env), job="node")
    for job in build.jobs:
        if job.get("name") == "node":
            path = (*container_path(job, "node"), "env")
            build.origins.append((path, FieldOrigin((*TRAINER, "env"))))

    hosts = [
        f"{build.name}-node-0-{i}.{build.name} slots={slots}\n"
        for i in range(min(workers, MAX_NAMED_HOSTS))
    ]
    if as_node:
        hosts.append(f"{build.name}-launcher-0-0.{build.name} slots={slots}\n")
    build.configmaps.append(
        {
            "metadata": {"name": f"{build.name}-mpi-hostfile"},
            "data": {"hostfile": "".join(hosts)},
        }
    )


def _mpi_slots(build: Build, policy: Json) -> int:
    """Return processes per node: the TrainJob's, else the runtime's; a runtime's 1 becomes the
    number of GPUs.
    """
    processes = (build.trainer or {}).get("numProcPerNode")
    if type(processes) is int:
        return processes
    runtime_slots = nested_int(policy, "numProcPerNode", default=1)
    gpus = build.gpus
    return gpus if runtime_slots == 1 and gpus > 1 else runtime_slots


def _add_mpi_mounts(build: Build, path: str) -> None:
    keys = {
        "name": "mpi-ssh-auth",
        "secret": {"secretName": f"{build.name}-mpi-ssh-auth"},
    }
    hosts = {
        "name": "mpi-hostfile",
        "configMap": {"name": f"{build.name}-mpi-hostfile"},
    }
    keys_mount = [{"name": "mpi-ssh-auth", "mountPath": path}]

    for job in ("node", None):
        build.on_pod(lambda s: with_items(s, "volumes", [keys]), job=job)
        build.on_container(lambda c: with_items(c, "volumeMounts", keys_mount), job=job)
    build.on_pod(lambda s: with_items(s, "volumes", [hosts]))
    hosts_mount = [{"name": "mpi-hostfile", "mountPath": "/etc/mpi"}]
    build.on_container(lambda c: with_items(c, "volumeMounts", hosts_mount))


_FLUX_IMAGE = "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy"
_FLUX_CONFIG = "/etc/flux-config"
_FLUX_MOUNTS = ("/mnt/flux", "/opt/software", _FLUX_CONFIG, "/curve", "/dev/shm")  # noqa: S108


def apply_flux(build: Build) -> None:
    """Run a Flux broker on every node: add an init container that installs Flux, and wrap the
    command in its entry point.
    """
    trainer = build.trainer
    if trainer is not None and trainer.get("numNodes") is None:
        build.failure = (
            "the controller panics on a flux runtime without spec.trainer.numNodes (Trainer 2.3)"
        )
        return

    apply_plain(build)
    entries = as_mappings((trainer or {}).get("env"))
    image = next(
        (nested_string(e, "value") for e in entries if e.get("name") == "FLUX_VIEW_IMAGE"),
        _FLUX_IMAGE,
    )
    installer = {
        "name": "flux-installer",
        "image": image,
        "command": ["/bin/bash", "/etc/flux-config/init.sh"],
        "volumeMounts": [_flux_mount("/mnt/flux"), _flux_mount(_FLUX_CONFIG)],
    }
    user_command = " ".join(as_strings((trainer or {}).get("command"))).strip()
    command = ["/bin/bash", "/etc/flux-config/entrypoint.sh", user_command]
    mounts = [*map(_flux_mount, _FLUX_MOUNTS)]
    build.on_pod(lambda pod: with_items(pod, "initContainers", [installer]))
    build.on_container(
        lambda container: with_items({**container, "command": command}, "volumeMounts", mounts)
    )
    build.set_fields = frozenset({"command"})


def _flux_mount(path: str) -> JsonDict:
    """Return the mount at a path: of the volume with Flux's configuration, or of that with Flux."""
    name = "flux-config" if path == _FLUX_CONFIG else "flux-install"
    return {"name": name, "mountPath": path}


_RUNTIME_OPTIONS = (
    "output_dir=",
    "tokenizer.path=",
    "tokenizer.merges_file=",
    "checkpointer.checkpoint_dir=",
)


def apply_torchtune(build: Build) -> None:
    """Append rendezvous, recipe, config and the runtime's own paths to the command."""
    trainer = build.trainer or {}
    nodes = build.nodes
    single = nodes <= 1 and not _has_several_processes(build)
    arguments = [] if single else [f"--rdzv_endpoint={build.master}:{PORT}"]
    recipe, config = _recipe_and_config(build, nodes, single=single)
    steps = nested_maps(build.spec, "replicatedJobs")
    node = next((replicated for replicated in steps if step_label(replicated) == "trainer"), {})
    container = runtimes.find_container(node, "node") or {}
    # the TrainJob's command replaces that of the runtime, whose paths stay
    overrides = [
        part for part in nested_strings(container, "command") if part.startswith(_RUNTIME_OPTIONS)
    ]
    arguments += [recipe, "--config", config, *overrides]
    command = [*nested_strings(trainer, "command"), *arguments]
    build.set_fields = frozenset({"command"})
    build.on_container(lambda c: {**c, "command": command})


def _has_several_processes(build: Build) -> bool:
    """Return whether a node runs more than one process."""
    count = build.nproc_per_node
    if count != "auto":
        return count != "1"
    return build.gpus > 1


def _recipe_and_config(build: Build, nodes: int, *, single: bool) -> tuple[str, str]:
    """Return recipe and config for the model in the runtime's name and the LoRA arguments."""
    model = tune_model(nested_string(build.manifest, "spec", "runtimeRef", "name"))
    args = as_strings((build.trainer or {}).get("args"))
    lora = any(a.startswith("model.lora_attn_modules") for a in args)
    is_quantized = lora and "model.quantize_base=True" in args
    scope = "single_device" if single else "distributed"
    method = "lora" if lora else "full"
    suffix = "qlora" if is_quantized else method
    if single:
        suffix += "_single_device"
    elif nodes > 1:
        suffix += "_multinode"

    return f"{method}_finetune_{scope}", f"{model}_{suffix}"


def apply_torch(build: Build) -> None:
    """Set torchrun's PET variables; do nothing if `spec.trainer` is absent (2.3, issue 4076)."""
    apply_plain(build)
    if build.trainer is None:
        build.notes.append("spec.trainer is absent: the pods get no PET_* variables (Trainer 2.3)")
        return

    node_variables = [
        env_value("PET_NNODES", str(build.nodes)),
        env_value("PET_NPROC_PER_NODE", build.nproc_per_node),
        env_from_field("PET_NODE_RANK", INDEX_PATH),
    ]
    variables = [
        *node_variables,
        env_value("PET_MASTER_ADDR", build.master),
        env_value("PET_MASTER_PORT", str(PORT)),
    ]
    tune = nested_strings(build.trainer, "command") == ["tune", "run"]
    build.add_env(node_variables if tune else variables, _TORCH_FIELDS)
    build.on_container(_with_rendezvous_port)
    # since Trainer 2.3 a runtime can name further containers that get the variables
    for target in nested_maps(
        build.runtime, "spec", "mlPolicy", "torch", "envInjection", "targets"
    ):
        for name in nested_strings(target, "containerNames"):
            build.add_env(variables, _TORCH_FIELDS, job=nested_string(target, "jobName"), name=name)

    if tune:
        apply_torchtune(build)


def apply_jax(build: Build) -> None:
    """Set JAX's coordinator, number of processes and process id."""
    count = build.nodes
    build.set_nodes(count)
    if build.trainer is None:
        return

    env = [
        env_value("JAX_NUM_PROCESSES", str(count)),
        env_from_field("JAX_PROCESS_ID", INDEX_PATH),
        env_value("JAX_COORDINATOR_ADDRESS", f"{build.master}:{PORT}"),
    ]
    build.add_env(env, {"JAX_NUM_PROCESSES": NUM_NODES})
    build.on_container(_with_rendezvous_port)


def apply_xgboost(build: Build) -> None:
    """Set up XGBoost's tracker: one worker per GPU, or one without GPUs."""
    count = build.nodes
    build.set_nodes(count)
    if build.trainer is None:
        return

    processes = build.trainer.get("numProcPerNode")
    gpus = build.gpus
    if type(processes) is int:
        workers_per_node = processes
    else:
        workers_per_node = max(1, gpus)

    env = [
        env_value("DMLC_TRACKER_URI", build.master),
        env_value("DMLC_TRACKER_PORT", str(PORT)),
        env_from_field("DMLC_TASK_ID", INDEX_PATH),
        env_value("DMLC_NUM_WORKER", str(count * workers_per_node)),
    ]
    build.add_env(env, {"DMLC_NUM_WORKER": NUM_NODES})
    build.on_container(_with_rendezvous_port)


PLUGINS: dict[str, Callable[[Build], None]] = {
    "plain": apply_plain,
    "torch": apply_torch,
    "mpi": apply_mpi,
    "jax": apply_jax,
    "xgboost": apply_xgboost,
    "flux": apply_flux,
}
