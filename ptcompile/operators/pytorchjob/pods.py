"""Pods of a PyTorchJob: templates, expansion, gang, rendezvous and behavior on failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.kinds.model import KindContext, LostPod, Retry, kubelet_retry
from ptcompile.kinds.pods import ExpandedRole, Expansion, PodView, template_parts
from ptcompile.kinds.templates import (
    Template,
    cluster_host_name,
    env_value,
    limit_sentences,
    suspension_notes,
    with_containers,
    with_env,
    with_items,
)
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_int,
    as_mapping,
    as_mappings,
    as_string,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_value,
    object_name,
    without_falsy,
)
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.queues.queue_systems import run_policy_group

CONTAINER = "pytorch"
PORT_NAME = "pytorchjob-port"
PORT = 23456
_PREFIX = "training.kubeflow.org/"
_INIT_IMAGE = "alpine:3.10"
_INIT_SCRIPT = (
    "err=1;for i in $(seq 100); do if nslookup {master}; then err=0 && break; fi;"
    "echo waiting for master; sleep 2; done; exit $err"
)


def expand(manifest: Json, request: KindContext) -> Expansion:
    """Return the pods, one headless Service for each, and the PodGroup's size for a gang
    scheduler.
    """
    spec = nested_map(manifest, "spec")
    replicas = {
        str(k).capitalize(): as_mapping(v)
        for k, v in nested_map(spec, "pytorchReplicaSpecs").items()
        if v is not None
    }
    settings = nested_value(spec, "elasticPolicy", "rdzvConf")
    if settings is not None and not as_mappings(settings):
        panic = (
            "the controller panics on an empty rdzvConf (training-operator 1.9): no pod is created"
        )
        return Expansion(refused=(panic,))

    job = _PyTorchJob(manifest, spec, replicas, request.versions)
    roles = tuple(job.role(name) for name in ("Master", "Worker") if name in replicas)
    # the Services of a role differ only in their index, so at most 100 are listed
    services = tuple(job.service(role, i) for role in roles for i in range(min(role.count, 100)))

    return Expansion(
        roles, services, run_policy_group(spec, sum(job.counts.values())), notes=tuple(job.notes())
    )


class _PyTorchJob:
    """Values shared by all pods of one job."""

    def __init__(
        self, manifest: Json, spec: Json, replicas: dict[str, Json], versions: Versions
    ) -> None:
        self.name = object_name(manifest).replace("/", "-")
        self.namespace = namespace_of(manifest)
        self.spec = spec
        self.replicas = replicas
        self.versions = versions
        self.counts = {
            name: max(0, nested_int(r, "replicas", default=1)) for name, r in replicas.items()
        }
        self.templates = {
            name: _with_port(nested_map(r, "template", "spec")) for name, r in replicas.items()
        }
        self.elastic = spec.get("elasticPolicy")

    def notes(self) -> Iterator[str]:
        yield from suspension_notes(nested_map(self.spec, "runPolicy"), "spec.runPolicy")
        if "Master" in self.counts and self.counts.get("Worker"):
            yield (
                f"the operator gives workers an init container with the image {_INIT_IMAGE}, "
                "unless its flag --pytorch-init-container-image names another: they start only "
                "where it can be pulled"
            )

    def role(self, kind: str) -> ExpandedRole:
        metadata, _ = template_parts(self.replicas[kind].get("template"))
        spec = self.pod_spec(kind)
        return ExpandedRole(
            kind.lower(), self.counts[kind], lambda index: self.pod(kind, index, spec, metadata)
        )

    def pod_spec(self, kind: str) -> JsonDict:
        """Return the pod spec without the env, which depends on the index."""
        policy = nested_string(self.replicas[kind], "restartPolicy") or "OnFailure"
        spec = {
            **self.templates[kind],
            "restartPolicy": "Never" if policy == "ExitCode" else policy,
        }
        if kind != "Worker" or "Master" not in self.replicas:
            return spec

        script = _INIT_SCRIPT.format(master=f"{self.name}-master-0")
        init_container = {
            "name": "init-pytorch",
            "image": _INIT_IMAGE,
            "command": ["sh", "-c", script],
            "resources": {
                "requests": {"cpu": "50m", "memory": "10Mi"},
                "limits": {"cpu": "100m", "memory": "20Mi"},
            },
        }

        return with_items(spec, "initContainers", [init_container])

    def pod(self, kind: str, index: int, spec: Json, metadata: Json) -> PodView:
        name = f"{self.name}-{kind.lower()}-{index}"
        env = self.env(kind, index)
        is_leader = index == 0 and (kind == "Master" or "Master" not in self.replicas)

        return PodView(
            name=name,
            role=kind.lower(),
            index=index,
            namespace=self.namespace,
            hostname=nested_string(spec, "hostname") or None,
            subdomain=nested_string(spec, "subdomain") or None,
            dns=cluster_host_name(name, None, self.namespace),
            labels={
                **nested_string_map(metadata, "labels"),
                **self.labels(kind, index, is_leader=is_leader),
            },
            annotations=nested_string_map(metadata, "annotations"),
            main=CONTAINER,
            spec=with_containers(spec, lambda c: with_env(c, env)),
        )

    def labels(self, kind: str, index: int, *, is_leader: bool = False) -> dict[str, str]:
        labels = {
            f"{_PREFIX}job-name": self.name,
            f"{_PREFIX}operator-name": "pytorchjob-controller",
            f"{_PREFIX}replica-index": str(index),
            f"{_PREFIX}replica-type": kind.lower(),
        }
        if is_leader:
            return {**labels, f"{_PREFIX}job-role": "master"}
        return labels

    def service(self, role: ExpandedRole, index: int) -> Json:
        kind = role.name.capitalize()
        ports = []
        # the operator does not copy the protocol of a port
        for port in nested_maps(_main_container(self.templates[kind]), "ports"):
            fields = {"name": port.get("name"), "port": nested_int(port, "containerPort")}
            ports.append(without_falsy(fields))

        return {
            "metadata": {"name": f"{self.name}-{role.name}-{index}", "namespace": self.namespace},
            "spec": {
                "clusterIP": "None",
                "selector": self.labels(kind, index),
                "ports": ports,
            },
        }

    def env(self, kind: str, index: int) -> list[Json]:
        """Return the variables in the order in which the operator appends them (1.9); older
        releases lack some.
        """
        is_before_1_7 = self.versions.training_operator < (1, 7)
        master_env = self.env_of_master(kind, index)
        nproc_env = [] if is_before_1_7 else self.env_of_nproc()
        nnodes_env: list[Json] = (
            [] if is_before_1_7 else [env_value("PET_NNODES", str(sum(self.counts.values())))]
        )
        if self.elastic is not None and "Worker" in self.replicas:
            nnodes_env = self.env_of_elastic()
        if self.versions.training_operator < (1, 8) and "Master" not in self.replicas:
            nproc_env = []

        return [
            env_value("PYTHONUNBUFFERED", "0" if is_before_1_7 else "1"),
            *master_env,
            *nproc_env,
            *nnodes_env,
        ]

    def env_of_master(self, kind: str, index: int) -> list[Json]:
        if "Master" not in self.replicas:
            return []

        port = str(_master_port(self.templates["Master"]))
        address = f"{self.name}-master-0"
        rank = str(index if kind == "Master" else index + 1)
        total = sum(self.counts.values())
        if self.versions.training_operator < (1, 7):
            plain = [
                ("MASTER_PORT", port),
                ("MASTER_ADDR", address),
                ("WORLD_SIZE", str(total)),
                ("RANK", rank),
            ]
            return [env_value(k, v) for k, v in plain]

        nproc = atoi(nested_string(self.spec, "nprocPerNode"))
        # as in Go, where the product overflows 64 bits silently
        world_size = (total * (1 if nproc is None else nproc) + 2**63) % 2**64 - 2**63
        pairs = [
            ("MASTER_PORT", port),
            ("PET_MASTER_PORT", port),
            ("MASTER_ADDR", address),
            ("PET_MASTER_ADDR", address),
            ("WORLD_SIZE", str(world_size)),
            ("RANK", rank),
            ("PET_NODE_RANK", rank),
        ]

        return [env_value(k, v) for k, v in pairs]

    def env_of_nproc(self) -> list[Json]:
        processes = self.spec.get("nprocPerNode")
        if processes is None and nested_value(self.elastic, "nProcPerNode") is not None:
            return []
        return [
            env_value("PET_NPROC_PER_NODE", "auto" if processes is None else as_string(processes))
        ]

    def env_of_elastic(self) -> list[Json]:
        policy = as_mapping(self.elastic)
        low, high = elastic_range(policy, self.counts["Worker"])
        host = f"{self.name}-worker-0"
        port = _master_port(self.templates["Worker"])
        backend = "c10d"
        if policy.get("rdzvHost") is not None:
            host = nested_string(policy, "rdzvHost")
        if policy.get("rdzvPort") is not None:
            port = as_int(policy["rdzvPort"])
        if policy.get("rdzvBackend") is not None:
            backend = nested_string(policy, "rdzvBackend")

        variables = [
            ("PET_RDZV_ENDPOINT", f"{host}:{port}"),
            ("PET_RDZV_BACKEND", backend),
            ("PET_NNODES", f"{low}:{high}"),
        ]
        for key, name in _ELASTIC_OPTIONS:
            if policy.get(key) is not None:
                variables.append((name, str(policy[key])))
        if policy.get("rdzvConf") is not None:
            settings = [
                f"{nested_string(setting, 'key')}={nested_string(setting, 'value')}"
                for setting in nested_maps(policy, "rdzvConf")
            ]
            variables.append(("PET_RDZV_CONF", ",".join(settings)))
        if policy.get("standalone") is True:
            variables.append(("PET_STANDALONE", ""))

        return [env_value(k, v) for k, v in variables]


_ELASTIC_OPTIONS = (
    ("maxRestarts", "PET_MAX_RESTARTS"),
    ("nProcPerNode", "PET_NPROC_PER_NODE"),
    ("rdzvId", "PET_RDZV_ID"),
)


def elastic_range(policy: Json, workers: int) -> tuple[int, int]:
    """Return the fewest and the most nodes of an elasticPolicy; an absent bound is the other one,
    or else the number of workers.
    """
    low = policy.get("minReplicas")
    high = policy.get("maxReplicas")
    fewest = high if low is None else low
    most = low if high is None else high
    return as_int(fewest, workers), as_int(most, workers)


def _main_container(spec: Json) -> Json:
    """Return the container named `pytorch`, else the first one, else an empty one."""
    containers = nested_maps(spec, "containers")
    matches = [c for c in containers if c.get("name") == CONTAINER]
    return (matches or containers or [{}])[0]


def _with_port(spec: Json) -> Json:
    """Return the pod spec with the default port on its main container, unless it has a port with
    that name.
    """
    main = _main_container(spec)
    if any(p.get("name") == PORT_NAME for p in nested_maps(main, "ports")):
        return spec

    port = {"name": PORT_NAME, "containerPort": PORT}

    def add(container: Json) -> Json:
        if container is main:
            return with_items(container, "ports", [port])
        return container

    return with_containers(spec, add)


def _master_port(spec: Json) -> int:
    ports = nested_maps(_main_container(spec), "ports")
    return next((nested_int(p, "containerPort") for p in ports if p.get("name") == PORT_NAME), PORT)


def is_recreated(manifest: Json, template: Template) -> bool:
    """Return whether a lost pod of a replica type is recreated."""
    is_never = _restart_policy(manifest, template.role) == "Never"
    return not is_never and nested_value(manifest, "spec", "runPolicy", "backoffLimit") != 0


def lost_pod(manifest: Json, role: str) -> LostPod:
    """Return what the training-operator does about a lost pod: it recreates a deleted pod without
    counting it.

    `role` is a replica type in any case.
    """
    if _restart_policy(manifest, role) == "Never":
        return LostPod("none", "the job fails")
    return LostPod("pod", "the pod is recreated and not counted")


def _restart_policy(manifest: Json, role: str) -> str:
    """Return the restartPolicy of a replica type in any case."""
    replicas = nested_map(manifest, "spec", "pytorchReplicaSpecs")
    replica = next(
        (replica for name, replica in replicas.items() if name.lower() == role.lower()), None
    )
    return nested_string(replica, "restartPolicy") or "OnFailure"


_RETRYABLE_EXIT = 128
"""First exit status after which `ExitCode` recreates the pod."""


def restarts(manifest: Json, role: str, exit_code: int | None) -> tuple[Retry, ...]:
    """Return what answers a failed pod of a replica type; see `Kind.restarts`.

    The controller fails the job at the container restart that reaches backoffLimit, and does not
    count recreated pods (training-operator 1.9,
    docs/facts/training-operator.md#restarts-and-the-end).
    """
    policy = _restart_policy(manifest, role)
    is_permanent = exit_code is not None and exit_code < _RETRYABLE_EXIT
    if policy == "Never" or (policy == "ExitCode" and is_permanent):
        return ()
    if exit_code is None or policy == "ExitCode":
        return (Retry("pod", None, "pod", f"restartPolicy {policy}"),)

    limit = nested_value(manifest, "spec", "runPolicy", "backoffLimit")
    if limit is None:
        return (kubelet_retry(None, "job", f"restartPolicy {policy}"),)

    limit = as_int(limit)
    return (kubelet_retry(max(limit - 1, 0), "job", f"backoffLimit {limit}"),)


def pod_templates(manifest: Json) -> Iterator[Template]:
    """Yield the pod templates of Master and Worker, as written."""
    for role, replica in nested_map(manifest, "spec", "pytorchReplicaSpecs").items():
        path = ("spec", "pytorchReplicaSpecs", role, "template")
        yield Template(
            path,
            nested_value(replica, "template"),
            role,
            nested_int(replica, "replicas", default=1),
            CONTAINER,
        )


_RESTART_SENTENCES: dict[str, str] = {
    "Always": "a failed pod is recreated",
    "OnFailure": "the kubelet restarts a container that fails; a failed pod is recreated",
    "Never": "a failed pod fails the job, and the other pods go on",
    "ExitCode": "exit codes from 128 on recreate the pod, 1 to 127 fail the job",
}


def describe_failures(manifest: Json, release: Version) -> Iterator[str]:
    """Yield sentences about what a PyTorchJob does on failure and at its end.

    Until 1.9.3 the operator deletes the pods before it marks the job that has exceeded a limit as
    failed, whatever cleanPodPolicy says (kubeflow/trainer issue 3419).
    """
    spec = nested_map(manifest, "spec")
    policy = nested_map(spec, "runPolicy")
    roles = [str(name) for name in nested_map(spec, "pytorchReplicaSpecs")]
    for name in roles:
        restart = _restart_policy(manifest, name)
        yield f"{name} restartPolicy {restart}: {_RESTART_SENTENCES.get(restart, 'unknown policy')}"
        yield f"{name}, a lost node: {lost_pod(manifest, name).text}"

    limit = policy.get("backoffLimit")
    if limit is None:
        yield "no backoffLimit: restarts are unlimited"
    elif limit == 0:
        yield "backoffLimit 0: the first restart of a container fails the job"
    else:
        yield (
            f"backoffLimit {limit}: the job fails when its running pods count that many container "
            "restarts"
        )
    if "Master" in roles:
        yield (
            "the job succeeds with its Master, even while workers run or have failed, and if its "
            "process exits 0 on SIGTERM when its node is drained"
        )
    elif spec.get("elasticPolicy") is not None:
        yield "the job succeeds with any of its workers (elastic)"
    else:
        yield "the job succeeds when all workers have"

    clean_policy = nested_string(policy, "cleanPodPolicy") or "None"
    limits = [
        name for name in ("backoffLimit", "activeDeadlineSeconds") if policy.get(name) is not None
    ]
    kept = "all pods stay"
    if limits and release < (1, 9):
        kept = (
            f"all pods are deleted if {' or '.join(limits)} is exceeded (until 1.9.3), else they "
            "stay"
        )
    clean_effects = {
        "None": kept,
        "Running": "pods that still run are deleted",
        "All": "all pods are deleted",
    }
    yield (
        f"cleanPodPolicy {clean_policy}: at the end "
        f"{clean_effects.get(clean_policy, 'that policy is unknown')}"
    )
    yield from limit_sentences(policy, "the job")


def gang_scheduler(manifest: Json) -> str:
    """Return the scheduler of the job's PodGroup, or "" if only the operator's own settings decide.

    The operator writes PodGroups for Volcano or for scheduler-plugins, and sets schedulerName where
    the pods have none (training-operator 1.9).
    """
    spec = nested_map(manifest, "spec")
    names = {
        nested_string(replica, "template", "spec", "schedulerName")
        for replica in nested_map(spec, "pytorchReplicaSpecs").values()
    }
    if not nested_map(spec, "runPolicy", "schedulingPolicy"):
        return "volcano" if "volcano" in names else ""
    return "volcano" if names <= {"volcano", ""} else "scheduler-plugins"


def lacks_rendezvous(manifest: Json, options: Mapping[str, str]) -> bool:
    """Return whether the job has only Workers, no elasticPolicy and no address among torchrun's
    options.
    """
    return lacks_master(nested_map(manifest, "spec")) and not (
        {"master-addr", "rdzv-endpoint"} & options.keys()
    )


def lacks_master(spec: Json) -> bool:
    """Return whether the job has only Workers and no elasticPolicy."""
    has_master = "Master" in nested_map(spec, "pytorchReplicaSpecs")
    return not has_master and spec.get("elasticPolicy") is None
