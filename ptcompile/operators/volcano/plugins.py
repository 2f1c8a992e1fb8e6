"""Volcano's job plugins (svc, env, ssh, pytorch ...) and their effect on the pods of tasks.

A plugin is a function from a job and arguments to a `PluginEffect`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kinds.pods import MAX_NAMED_HOSTS
from ptcompile.kinds.templates import env_value, with_containers, with_env, with_items, with_port
from ptcompile.kubernetes.goflags import Value, parse
from ptcompile.kubernetes.unstructured import (
    Json,
    as_int,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
)
from ptcompile.kubernetes.versions import Version


class VolcanoTask(NamedTuple):
    """A task: its defaulted name, number of pods, template metadata and spec, and its source."""

    name: str
    replicas: int
    metadata: Json
    spec: Json
    source: Json

    @property
    def min_available(self) -> int:
        """Number of its pods that must fit at once: as written, else by partitions, else all."""
        policy = nested_map(self.source, "partitionPolicy")
        partitions = nested_int(policy, "minPartitions")
        if partitions > 0:
            by_partition = partitions * nested_int(policy, "partitionSize")
        else:
            by_partition = self.replicas
        return nested_int(self.source, "minAvailable", default=by_partition)


class DefaultedJob(NamedTuple):
    """A job after the mutating webhook's defaults."""

    name: str
    namespace: str
    spec: Json
    tasks: tuple[VolcanoTask, ...]
    plugins: Mapping[str, list[str]]
    version: Version

    @property
    def queue(self) -> str:
        """The queue, `default` if none is set."""
        return nested_string(self.spec, "queue") or "default"

    def task(self, name: object) -> VolcanoTask | None:
        """Return the first task with this name, or None."""
        return next((t for t in self.tasks if t.name == name), None)

    def pod_name(self, task: VolcanoTask, index: int) -> str:
        """Return `<job>-<task>-<index>`."""
        return f"{self.name}-{task.name}-{index}"

    def hosts(self, task: VolcanoTask) -> list[str]:
        """Return `<host name>.<subdomain>` of each pod of a task; only one if the template sets
        the host name.
        """
        subdomain = nested_string(task.spec, "subdomain") or self.name
        hostname = nested_string(task.spec, "hostname")
        if hostname:
            return [f"{hostname}.{subdomain}"]
        return [
            f"{self.pod_name(task, i)}.{subdomain}"
            for i in range(min(task.replicas, MAX_NAMED_HOSTS))
        ]


PodTransform = Callable[[VolcanoTask, int, "Json", dict[str, str]], "Json"]
"""Maps task, index, pod spec and the annotations to fill to the new pod spec."""


class PluginEffect(NamedTuple):
    """Effect of a plugin on a job."""

    change: PodTransform | None = None
    services: tuple[Json, ...] = ()
    configmaps_of: Callable[[], tuple[Json, ...]] = tuple
    notes: tuple[str, ...] = ()
    failure: str | None = None
    """Why the controller creates no pod."""


_SSH_PATH = "/root/.ssh"
_TF_ROLES = ("ps", "worker", "chief", "evaluator")
_MASTER_WORKER: dict[str, Value] = {"master": "master", "worker": "worker"}
FLAGS: dict[str, dict[str, Value]] = {
    "ssh": {
        "ssh-key-file-path": _SSH_PATH,
        "ssh-private-key": "",
        "ssh-public-key": "",
        "ssh-port": 22,
    },
    "env": {},
    "svc": {
        "publish-not-ready-addresses": False,
        "disable-network-policy": False,
        "inject-hosts-env": True,
    },
    "tensorflow": {**{role: role for role in _TF_ROLES}, "port": 2222},
    "mpi": {**_MASTER_WORKER, "port": 22},
    "pytorch": {
        **_MASTER_WORKER,
        "port": 23456,
        "wait-master-enabled": False,
        "wait-master-timeout": 300,
        "wait-master-image": "busybox:1.36.1",
    },
    "hcclrank": _MASTER_WORKER,
    "ray": {
        "head": "head",
        "worker": "worker",
        "headContainer": "head",
        "workerContainer": "worker",
        "port": 6379,
        "dashboardPort": 8265,
        "clientPort": 10001,
    },
}
"""The flags of each plugin with their defaults (Volcano 1.16)."""

_SINCE = {
    "wait-master-enabled": (1, 14),
    "wait-master-timeout": (1, 14),
    "wait-master-image": (1, 14),
    "inject-hosts-env": (1, 16),
}


def flags_of(plugin: str, version: Version) -> dict[str, Value]:
    """Return the flags that a plugin knows in this Volcano release, with their defaults."""
    return {
        name: value
        for name, value in FLAGS.get(plugin, {}).items()
        if version >= _SINCE.get(name, version)
    }


def parse_flags(
    name: str, args: Sequence[str], defaults: Mapping[str, Value]
) -> tuple[dict[str, Value], tuple[str, ...]]:
    """Return a plugin's flags, and a note if Volcano stops reading its arguments early."""
    flags, problem = parse(args, defaults)
    return flags, (f"plugin {name}: {problem}",) if problem else ()


PORT_NAME = "pytorchjob-port"
_WAIT_SCRIPT = """echo "Waiting for {host}:{port}"
waited=0
until {{ nc -z {host} {port} || echo > /dev/tcp/{host}/{port}; }} 2>/dev/null; do
  [ $waited -ge {timeout} ] && exit 1
  sleep 2
  waited=$((waited + 2))
done"""


def pytorch(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Add variables and a port to the main containers of every task; do nothing if no task is
    named as --master.
    """
    flags, notes = parse_flags("pytorch", args, FLAGS["pytorch"])
    if job.version < (1, 14):
        flags["wait-master-enabled"] = False
    master = job.task(flags["master"])
    worker = job.task(flags["worker"])
    if master is None:
        note = (
            f"plugin pytorch: no task is named {flags['master']!r}, so the pods get no env and no "
            "port"
        )
        return PluginEffect(notes=(*notes, note))

    hostname = nested_string(master.spec, "hostname") or job.pod_name(master, 0)
    address = f"{hostname}.{nested_string(master.spec, 'subdomain') or job.name}"
    port = {"name": PORT_NAME, "containerPort": as_int(flags["port"])}
    if job.version < (1, 12):
        world_size = sum(task.replicas for task in job.tasks)
    else:
        world_size = master.replicas
        if worker is not None and worker is not master:
            world_size += worker.replicas
    common = [
        env_value("MASTER_ADDR", address),
        env_value("MASTER_PORT", str(port["containerPort"])),
        env_value("WORLD_SIZE", str(world_size)),
    ]

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del annotations
        rank = index + 1 if task is worker else 0
        has_rank = task is worker or task is master
        env = [*common, env_value("RANK", str(rank))] if has_rank else common
        changed = with_containers(spec, lambda c: with_env(with_port(c, port), env))
        if task is worker and flags["wait-master-enabled"]:
            changed = _with_wait_container(changed, address, flags)

        return changed

    return PluginEffect(change, notes=notes)


def _with_wait_container(spec: Json, host: str, flags: dict[str, Value]) -> dict[str, object]:
    """Return the pod spec with the init container that polls the master, unless it has one with
    that name.
    """
    if any(c.get("name") == "wait-for-master" for c in nested_maps(spec, "initContainers")):
        return dict(spec)

    script = _WAIT_SCRIPT.format(
        host=host, port=flags["port"], timeout=flags["wait-master-timeout"]
    )
    container = {
        "name": "wait-for-master",
        "image": flags["wait-master-image"],
        "command": ["sh", "-c", script],
    }

    return with_items(spec, "initContainers", [container])


_HOSTS_MOUNT_PATH = "/etc/volcano"


def env(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Add the pod's index in its task, under two names."""
    del job, args

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del task, annotations
        entries = [
            env_value("VK_TASK_INDEX", str(index)),
            env_value("VC_TASK_INDEX", str(index)),
        ]
        return with_containers(spec, lambda c: with_env(c, entries), init=True)

    return PluginEffect(change)


def svc(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Add host names, a headless Service, and a ConfigMap with the hosts of every task."""
    flags, notes = parse_flags("svc", args, flags_of("svc", job.version))
    name = f"{job.name}-svc"
    entries: list[Json] = []
    if flags.get("inject-hosts-env", True):
        for task in job.tasks:
            for key in (hosts_variable(task), f"VC_{_env_part(task)}_NUM"):
                source = {"configMapKeyRef": {"name": name, "key": key}}
                entries.append({"name": key, "valueFrom": source})

    mount = {"name": name, "mountPath": _HOSTS_MOUNT_PATH}
    volume = {"name": name, "configMap": {"name": name}}

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del annotations
        with_names = {
            **spec,
            "hostname": nested_string(spec, "hostname") or job.pod_name(task, index),
            "subdomain": nested_string(spec, "subdomain") or job.name,
        }
        with_volume = with_items(with_names, "volumes", [volume])

        return with_containers(
            with_volume,
            lambda c: with_items(with_env(c, entries), "volumeMounts", [mount]),
            init=True,
        )

    if not flags["disable-network-policy"]:
        notes = (*notes, f"NetworkPolicy {job.name}: only pods of this job can reach its pods")
    service = _headless_service(job, publish=bool(flags["publish-not-ready-addresses"]))

    return PluginEffect(change, (service,), lambda: (_hosts_configmap(job, name),), notes)


def hosts_variable(task: VolcanoTask) -> str:
    """Return the name of the variable with the hosts of a task's pods."""
    return f"VC_{_env_part(task)}_HOSTS"


def _env_part(task: VolcanoTask) -> str:
    return task.name.upper().replace("-", "_")


def _headless_service(job: DefaultedJob, *, publish: bool) -> Json:
    selector = {"volcano.sh/job-name": job.name, "volcano.sh/job-namespace": job.namespace}
    return {
        "metadata": {"name": job.name, "namespace": job.namespace},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": publish, "selector": selector},
    }


def _hosts_configmap(job: DefaultedJob, name: str) -> Json:
    data: dict[str, str] = {}
    for task in job.tasks:
        hosts = job.hosts(task)
        data[f"{task.name.replace('-', '_')}.host"] = "\n".join(hosts)
        data[hosts_variable(task)] = ",".join(hosts)
        data[f"VC_{_env_part(task)}_NUM"] = str(len(hosts))
    return {
        "metadata": {"name": name, "namespace": job.namespace},
        "data": data,
    }


def ssh(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Mount keys for passwordless ssh between the pods, from one Secret."""
    flags, notes = parse_flags("ssh", args, FLAGS["ssh"])
    mount = {"name": f"{job.name}-ssh", "mountPath": flags["ssh-key-file-path"], "subPath": ".ssh"}
    mode = 0o600 if flags["ssh-key-file-path"] == _SSH_PATH else 0o644
    volume = {
        "name": f"{job.name}-ssh",
        "secret": {"secretName": f"{job.name}-ssh", "defaultMode": mode},
    }

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del task, index, annotations
        with_volume = with_items(spec, "volumes", [volume])
        return with_containers(
            with_volume, lambda c: with_items(c, "volumeMounts", [mount]), init=True
        )

    return PluginEffect(change, notes=notes)


def mpi(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Add the workers' host names to the master's containers, and the ssh port to all
    containers.
    """
    flags, notes = parse_flags("mpi", args, FLAGS["mpi"])
    worker = job.task(flags["worker"])
    hosts = [env_value("MPI_HOST", ",".join(job.hosts(worker)))] if worker else []
    if worker is None:
        notes = (
            *notes,
            f"plugin mpi: no task is named {flags['worker']!r}: the master's pods get nothing",
        )

    port = {"name": "mpijob-port", "containerPort": flags["port"]}

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del index, annotations
        is_master = task.name == flags["master"]
        if is_master and worker is None:
            return spec
        entries = hosts if is_master else []
        return with_containers(spec, lambda c: with_env(with_port(c, port), entries), init=True)

    return PluginEffect(change, notes=notes)


def tensorflow(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Add TF_CONFIG to every main container of the tasks with a TensorFlow role."""
    flags, notes = parse_flags("tensorflow", args, FLAGS["tensorflow"])
    tasks = {role: job.task(flags[role]) for role in _TF_ROLES}
    cluster = {
        role: [f"{host}:{flags['port']}" for host in _tf_hosts(job, task)]
        for role, task in tasks.items()
        if task
    }

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del annotations
        role = next((r for r, t in tasks.items() if t is task), None)
        if role is None:
            return spec
        config = {
            "cluster": cluster,
            "task": {"type": role, "index": index},
        }
        entry = env_value("TF_CONFIG", json.dumps(config, separators=(",", ":")))
        return with_containers(spec, lambda c: with_env(c, [entry]))

    return PluginEffect(change, notes=notes)


def _tf_hosts(job: DefaultedJob, task: VolcanoTask) -> list[str]:
    subdomain = nested_string(task.spec, "subdomain") or job.name
    hostname = nested_string(task.spec, "hostname")
    return [
        f"{hostname or job.pod_name(task, i)}.{subdomain}"
        for i in range(min(task.replicas, MAX_NAMED_HOSTS))
    ]


def hcclrank(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Add the rank annotation of Huawei's collectives: kept, else from RANK, else from task and
    index.
    """
    flags, notes = parse_flags("hcclrank", args, FLAGS["hcclrank"])
    master_task = job.task(flags["master"])

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        if "hccl/rankIndex" in nested_string_map(task.metadata, "annotations"):
            return spec

        variables = [e for c in nested_maps(spec, "containers") for e in nested_maps(c, "env")]
        ranks = [nested_string(e, "value") for e in variables if e.get("name") == "RANK"]
        if ranks:
            annotations["hccl/rankIndex"] = ranks[0]
        elif task.name == flags["master"]:
            annotations["hccl/rankIndex"] = str(index)
        elif task.name == flags["worker"]:
            annotations["hccl/rankIndex"] = str(
                index + (master_task.replicas if master_task else 0)
            )

        return spec

    return PluginEffect(change, notes=notes)


def ray(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Add ports to the head's container; `ray start` replaces the command of head and worker
    containers.
    """
    flags, notes = parse_flags("ray", args, FLAGS["ray"])
    head = job.task(flags["head"])
    if head is None:
        return PluginEffect(
            notes=notes,
            failure=f"plugin ray: no task is named {flags['head']!r}: no pod is created",
        )

    port_flags = (("gcs", "port"), ("dashboard", "dashboardPort"), ("client-server", "clientPort"))
    ports = [{"name": name, "containerPort": flags[flag]} for name, flag in port_flags]

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del index, annotations
        if task is not head:
            return spec

        target = flags["headContainer"]

        def add(container: Json) -> Json:
            if container.get("name") == target:
                return with_items(container, "ports", ports)
            return container

        return with_containers(spec, add)

    note = (
        "plugin ray: the commands of the head and worker containers are replaced by `ray start ...`"
    )

    return PluginEffect(change, notes=(*notes, note))


PLUGINS: dict[str, Callable[[DefaultedJob, Sequence[str]], PluginEffect]] = {
    "env": env,
    "hcclrank": hcclrank,
    "mpi": mpi,
    "pytorch": pytorch,
    "ray": ray,
    "ssh": ssh,
    "svc": svc,
    "tensorflow": tensorflow,
}
