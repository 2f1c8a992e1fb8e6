"""Pods of an MPIJob: templates, defaults, expansion and behavior on failure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ptcompile.kinds.model import KindContext, KindDefaults, LostPod
from ptcompile.kinds.pods import MAX_NAMED_HOSTS, ExpandedRole, Expansion, PodView, template_parts
from ptcompile.kinds.templates import (
    Template,
    cluster_host_name,
    env_value,
    limit_sentences,
    suspension_notes,
    with_env,
    with_items,
)
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_mapping,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_value,
    object_name,
)
from ptcompile.operators.queues.queue_systems import run_policy_group

DEFAULTS = KindDefaults(
    {
        ("MPIJob", "spec", "slotsPerWorker"): 1,
        ("MPIJob", "spec", "runLauncherAsWorker"): False,
        ("MPIJob", "spec", "sshAuthMountPath"): "/root/.ssh",
        ("MPIJob", "spec", "launcherCreationPolicy"): "AtStartup",
        ("MPIJob", "spec", "mpiImplementation"): "OpenMPI",
        ("MPIJob", "spec", "runPolicy", "cleanPodPolicy"): "None",
        ("MPIJob", "spec", "runPolicy", "backoffLimit"): 6,
        ("mpiReplicaSpecs", "Launcher", "replicas"): 1,
        ("mpiReplicaSpecs", "Launcher", "restartPolicy"): "OnFailure",
        ("mpiReplicaSpecs", "Worker", "restartPolicy"): "Never",
    },
)
DEFAULT_REPLICAS = {"Launcher": 1, "Worker": 0}


def pod_templates(manifest: Json) -> Iterator[Template]:
    """Yield the pod templates of both replica types, as written."""
    for role, replica in nested_map(manifest, "spec", "mpiReplicaSpecs").items():
        path = ("spec", "mpiReplicaSpecs", role, "template")
        replicas = nested_int(replica, "replicas", default=DEFAULT_REPLICAS.get(role, 1))
        yield Template(path, nested_value(replica, "template"), role, replicas)


_PREFIX = "training.kubeflow.org/"
_SSH_PATH = "/root/.ssh"
_CONFIG_PATH = "/etc/mpi"
_SSH_ARGS = "-o ConnectionAttempts=10"


def expand(manifest: Json, request: KindContext) -> Expansion:
    """Return the launcher, the workers, their headless Service, and the ConfigMap with the
    hostfile.
    """
    del request
    job = _MPIJob(manifest)
    if "Launcher" not in job.replicas:
        return Expansion(
            refused=("the controller ignores an MPIJob without a Launcher (MPI Operator 0.8)",)
        )

    roles = tuple(
        ExpandedRole(name, job.counts[kind], partial(job.pod, kind))
        for kind, name in (("Launcher", "launcher"), ("Worker", "worker"))
        if kind in job.replicas
    )

    return Expansion(
        roles,
        (job.service(),),
        run_policy_group(job.spec, job.counts.get("Worker", 0) + 1),
        lambda: (job.config_map(),),
        jobs=(
            {
                "name": f"{job.name}-launcher",
                "role": "launcher",
                "parallelism": 1,
                "completions": 1,
            },
        ),
        notes=tuple(job.notes()),
    )


class _MPIJob:
    """Values shared by all pods of one job."""

    def __init__(self, manifest: Json) -> None:
        self.name = object_name(manifest)
        self.namespace = namespace_of(manifest)
        self.spec = spec = nested_map(manifest, "spec")
        self.replicas = {
            str(k): as_mapping(v)
            for k, v in nested_map(spec, "mpiReplicaSpecs").items()
            if v is not None
        }
        self.counts = {
            k: max(0, nested_int(r, "replicas", default=DEFAULT_REPLICAS.get(k, 1)))
            for k, r in self.replicas.items()
        }

        self.slots = nested_int(spec, "slotsPerWorker", default=1)
        self.launcher_works = spec.get("runLauncherAsWorker") is True
        self.implementation = nested_string(spec, "mpiImplementation") or "OpenMPI"

    def pod(self, kind: str, index: int) -> PodView:
        """Return a pod of a replica type; a Job creates the launcher's, whose name ends in
        random characters.
        """
        is_launcher = kind == "Launcher"
        name = f"{self.name}-launcher" if is_launcher else f"{self.name}-worker-{index}"
        metadata, spec = template_parts(self.replicas[kind].get("template"))
        dns = None
        # the Service selects the launcher only if it is a worker
        if not is_launcher or self.launcher_works:
            dns = cluster_host_name(name, self.name, self.namespace)

        return PodView(
            name=name,
            role=kind.lower(),
            index=index,
            namespace=self.namespace,
            random_suffix=is_launcher,
            hostname=name,
            subdomain=self.name,
            dns=dns,
            job=name if is_launcher else None,
            labels={**nested_string_map(metadata, "labels"), **self.labels(kind, index)},
            annotations=nested_string_map(metadata, "annotations"),
            spec=self.pod_spec(kind, spec, name),
        )

    def pod_spec(self, kind: str, spec: Json, name: str) -> JsonDict:
        """Return the template with the controller's additions: names, keys, the hostfile, the
        MPI's variables.
        """
        is_launcher = kind == "Launcher"
        restart = nested_string(self.replicas[kind], "restartPolicy") or (
            "OnFailure" if is_launcher else "Never"
        )
        folder = nested_string(self.spec, "sshAuthMountPath") or _SSH_PATH
        mode = {"defaultMode": 0o600} if folder == _SSH_PATH else {}
        mounts = [{"name": "ssh-auth", "mountPath": folder}]
        volumes: list[Json] = [
            {
                "name": "ssh-auth",
                "secret": {"secretName": f"{self.name}-ssh", **mode},
            }
        ]
        if is_launcher:
            mounts.append({"name": "mpi-job-config", "mountPath": _CONFIG_PATH})
            volumes.append(
                {
                    "name": "mpi-job-config",
                    "configMap": {"name": f"{self.name}-config"},
                }
            )
        first, *sidecars = nested_maps(spec, "containers") or [{}]
        container = with_env(with_items(first, "volumeMounts", mounts), self.env(kind))
        if not is_launcher and not first.get("command") and not first.get("args"):
            container["command"] = ["/usr/sbin/sshd", "-De"]
        searches = [
            *(nested_value(spec, "dnsConfig", "searches") or []),
            cluster_host_name(self.name, None, self.namespace),
        ]
        changed = {
            **with_items(spec, "volumes", volumes),
            "containers": [container, *sidecars],
        }
        host_fields = {
            "hostname": name,
            "subdomain": self.name,
            "dnsConfig": {**nested_map(spec, "dnsConfig"), "searches": searches},
        }

        return {**changed, **host_fields, "restartPolicy": restart}

    def env(self, kind: str) -> list[Json]:
        """Return the variables of the first container; a launcher that is not a worker sees no
        GPU.
        """
        role = env_value("K_MPI_JOB_ROLE", kind.lower())
        if kind != "Launcher":
            return [role]

        slots = str(self.slots)
        hosts = f"{_CONFIG_PATH}/hostfile"
        variables_by_mpi = {
            "OpenMPI": [
                ("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
                ("OMPI_MCA_orte_default_hostfile", hosts),
                ("OMPI_MCA_plm_rsh_args", _SSH_ARGS),
                ("OMPI_MCA_orte_set_default_slots", slots),
            ],
            "Intel": [
                ("I_MPI_HYDRA_HOST_FILE", hosts),
                ("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", _SSH_ARGS),
                ("I_MPI_PERHOST", slots),
            ],
            "MPICH": [("HYDRA_HOST_FILE", hosts), ("HYDRA_LAUNCH_EXTRA_ARGS", _SSH_ARGS)],
        }
        pairs = variables_by_mpi.get(self.implementation, [])
        if self.launcher_works:
            no_gpus = []
        else:
            no_gpus = [("NVIDIA_VISIBLE_DEVICES", ""), ("NVIDIA_DRIVER_CAPABILITIES", "")]

        return [role, *(env_value(name, value) for name, value in (*pairs, *no_gpus))]

    def labels(self, kind: str, index: int) -> dict[str, str]:
        """Return a pod's labels; workers count from 1 if the launcher is worker 0."""
        if kind == "Worker" and self.launcher_works:
            index += 1
        return {
            f"{_PREFIX}job-name": self.name,
            f"{_PREFIX}operator-name": "mpi-operator",
            f"{_PREFIX}job-role": kind.lower(),
            f"{_PREFIX}replica-index": str(index),
        }

    def service(self) -> Json:
        """Return the headless Service that resolves the hosts' names."""
        selector = {f"{_PREFIX}job-name": self.name, f"{_PREFIX}operator-name": "mpi-operator"}
        if not self.launcher_works:
            selector[f"{_PREFIX}job-role"] = "worker"
        spec: JsonDict = {"clusterIP": "None", "selector": selector}
        if self.launcher_works:
            spec["publishNotReadyAddresses"] = True
        return {
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": spec,
        }

    def config_map(self) -> Json:
        """Return the ConfigMap with mpirun's hostfile; workers beyond a limit are left out."""
        workers = min(self.counts.get("Worker", 0), MAX_NAMED_HOSTS)
        hosts = [f"{self.name}-launcher"] if self.launcher_works else []
        hosts += [f"{self.name}-worker-{i}" for i in range(workers)]
        suffix = f" slots={self.slots}" if self.implementation == "OpenMPI" else f":{self.slots}"
        lines = "".join(f"{host}.{self.name}.{self.namespace}.svc{suffix}\n" for host in hosts)

        return {
            "metadata": {"name": f"{self.name}-config", "namespace": self.namespace},
            "data": {"hostfile": lines},
        }

    def notes(self) -> tuple[str, ...]:
        """Return notes about behavior that the objects do not show."""
        mpirun = (
            "mpirun in the launcher starts the processes; the operator sets no MASTER_ADDR, RANK "
            "or WORLD_SIZE"
        )
        return mpirun, *suspension_notes(nested_map(self.spec, "runPolicy"), "spec.runPolicy")


def lost_pod(manifest: Json, role: str) -> LostPod:
    """Return what the mpi-operator does about a lost pod: only the launcher's Job counts."""
    if role.lower() != "launcher":
        return LostPod("pod", "mpirun fails with it; the controller creates a new pod")
    if nested_int(manifest, "spec", "runPolicy", "backoffLimit", default=6) == 0:
        return LostPod("none", "the job fails")
    return LostPod("pod", "its Job creates a new pod, which is counted")


def describe_failures(manifest: Json) -> Iterator[str]:
    """Yield sentences about what an MPIJob does on failure and at its end."""
    spec = nested_map(manifest, "spec")
    replicas = {str(k): as_mapping(v) for k, v in nested_map(spec, "mpiReplicaSpecs").items()}
    policy = nested_map(spec, "runPolicy")
    restart = nested_string(replicas, "Launcher", "restartPolicy") or "OnFailure"
    if restart == "OnFailure":
        effect = "the kubelet restarts it in place"
    else:
        effect = "its Job creates a new pod"

    yield (
        f"a launcher that fails: {effect}, at most backoffLimit "
        f"{nested_int(policy, 'backoffLimit', default=6)} times"
    )
    if "Worker" in replicas:
        in_place = nested_string(replicas["Worker"], "restartPolicy") == "OnFailure"
        if in_place:
            worker_effect = "the kubelet restarts it in place"
        else:
            worker_effect = "the controller creates a new pod"
        yield (
            f"a worker that fails: mpirun fails with it; {worker_effect}, and the launcher is "
            "retried"
        )

    yield "the job succeeds or fails with its launcher"
    clean_policy = nested_string(policy, "cleanPodPolicy") or "None"
    effects = {
        "None": "all workers stay",
        "Running": "running workers are deleted",
        "All": "all workers are deleted",
    }
    yield (
        f"cleanPodPolicy {clean_policy}: at the end "
        f"{effects.get(clean_policy, 'that policy is unknown')}"
    )
    yield from limit_sentences(policy, "the job")
