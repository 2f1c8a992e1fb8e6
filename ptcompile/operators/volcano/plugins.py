"""Volcano's job plugins (svc, env, ssh, pytorch ...) on the pods of its tasks.

A plugin is a function: job and arguments -> `Plugin`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.goflags import Value, parse
from ptcompile.kubernetes.unstructured import as_int, as_mapping, as_mappings, as_string, string_map
from ptcompile.kubernetes.versions import Version
from ptcompile.registry import templates
from ptcompile.registry.pods import MOST_NAMED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


class VolcanoTask(NamedTuple):
    """One task: its name after defaulting, its number of pods, its template's metadata and spec, and all as written."""

    name: str
    replicas: int
    metadata: Json
    spec: Json
    source: Json

    @property
    def min_available(self) -> int:
        """How many of its pods must fit at once: as written, else by partitions, else all."""
        given = self.source.get("minAvailable")
        policy = as_mapping(self.source.get("partitionPolicy"))
        partitions = as_int(policy.get("minPartitions"))
        by_partition = partitions * as_int(policy.get("partitionSize")) if partitions > 0 else self.replicas
        return as_int(given, by_partition) if given is not None else by_partition


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
        """The queue, `default` where none is written."""
        return as_string(self.spec.get("queue")) or "default"

    def task(self, name: object) -> VolcanoTask | None:
        """The first task of this name."""
        return next((t for t in self.tasks if t.name == name), None)

    def pod_name(self, task: VolcanoTask, index: int) -> str:
        """`<job>-<task>-<index>`."""
        return f"{self.name}-{task.name}-{index}"

    def hosts(self, task: VolcanoTask) -> list[str]:
        """`<host name>.<subdomain>` of each pod of a task; one only where the template sets the host name."""
        subdomain = as_string(task.spec.get("subdomain")) or self.name
        hostname = as_string(task.spec.get("hostname"))
        if hostname:
            return [f"{hostname}.{subdomain}"]
        return [f"{self.pod_name(task, i)}.{subdomain}" for i in range(min(task.replicas, MOST_NAMED))]


PodTransform = Callable[[VolcanoTask, int, "Json", dict[str, str]], "Json"]
"""Task, index, pod spec and the annotations to fill -> the new pod spec."""


class PluginEffect(NamedTuple):
    """What a plugin does to a job."""

    change: PodTransform | None = None
    services: tuple[Json, ...] = ()
    configmaps_of: Callable[[], tuple[Json, ...]] = tuple
    notes: tuple[str, ...] = ()
    failure: str | None = None
    """Why the controller creates no pod."""


def flags_of(name: str, args: Sequence[str], defaults: Mapping[str, Value]) -> tuple[dict[str, Value], tuple[str, ...]]:
    """A plugin's flags, and a note where Volcano stops reading its arguments."""
    flags, problem = parse(args, defaults)
    return flags, (f"plugin {name}: {problem}",) if problem else ()


PORT_NAME = "pytorchjob-port"
FLAGS: dict[str, Value] = {
    "master": "master",
    "worker": "worker",
    "port": 23456,
    "wait-master-enabled": False,
    "wait-master-timeout": 300,
    "wait-master-image": "busybox:1.36.1",
}
_WAIT = """echo "Waiting for {host}:{port}"
waited=0
until {{ nc -z {host} {port} || echo > /dev/tcp/{host}/{port}; }} 2>/dev/null; do
  [ $waited -ge {timeout} ] && exit 1
  sleep 2
  waited=$((waited + 2))
done"""


def pytorch(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Env and a port for the main containers of every task; nothing at all where no task is named as --master."""
    flags, notes = flags_of("pytorch", args, FLAGS)
    if job.version < (1, 14):
        flags["wait-master-enabled"] = False
    master, worker = job.task(flags["master"]), job.task(flags["worker"])
    if master is None:
        missing = f"plugin pytorch: no task is named {flags['master']!r}, so the pods get no env and no port"
        return PluginEffect(notes=(*notes, missing))
    address = _address(job, master)
    port = as_int(flags["port"])
    counted = job.tasks if job.version < (1, 12) else [t for t in (master, worker) if t is not None]
    world = sum(t.replicas for t in {id(t): t for t in counted}.values())
    common = [
        templates.value("MASTER_ADDR", address),
        templates.value("MASTER_PORT", str(port)),
        templates.value("WORLD_SIZE", str(world)),
    ]

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del annotations
        rank = index + 1 if task is worker else 0
        ranked = task is worker or task is master
        env = [*common, templates.value("RANK", str(rank))] if ranked else common
        out = templates.with_containers(spec, lambda c: templates.with_env(_with_port(c, port), env), init=False)
        if task is worker and flags["wait-master-enabled"]:
            out = _waiting(out, address, flags)
        return out

    return PluginEffect(change, notes=notes)


def _address(job: DefaultedJob, master: VolcanoTask) -> str:
    hostname = as_string(master.spec.get("hostname")) or job.pod_name(master, 0)
    return f"{hostname}.{as_string(master.spec.get('subdomain')) or job.name}"


def _with_port(container: Json, port: int) -> Json:
    """The port, unless one of that number is there; its name is not looked at."""
    if any(as_int(p.get("containerPort")) == port for p in as_mappings(container.get("ports"))):
        return container
    return templates.with_items(container, "ports", [{"name": PORT_NAME, "containerPort": port}])


def _waiting(spec: Json, host: str, flags: dict[str, Value]) -> dict[str, object]:
    """The init container that polls the master, unless one of that name is there."""
    if any(c.get("name") == "wait-for-master" for c in as_mappings(spec.get("initContainers"))):
        return dict(spec)
    script = _WAIT.format(host=host, port=flags["port"], timeout=flags["wait-master-timeout"])
    waiting = {"name": "wait-for-master", "image": flags["wait-master-image"], "command": ["sh", "-c", script]}
    return templates.with_items(spec, "initContainers", [waiting])


_MOUNT = "/etc/volcano"


def env(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """The pod's index within its task, twice."""
    del job, args

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del task, annotations
        entries = [templates.value("VK_TASK_INDEX", str(index)), templates.value("VC_TASK_INDEX", str(index))]
        return _everywhere(spec, lambda c: templates.with_env(c, entries))

    return PluginEffect(change)


def _everywhere(spec: Json, change: Callable[[Json], Json]) -> Json:
    """The pod spec with a change made to each init container and each main one."""
    return templates.with_containers(templates.with_containers(spec, change, init=True), change, init=False)


def svc(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Host names, a headless Service, and a ConfigMap with the hosts of every task."""
    defaults: dict[str, Value] = {"publish-not-ready-addresses": False, "disable-network-policy": False}
    if job.version >= (1, 16):
        defaults["inject-hosts-env"] = True
    flags, notes = flags_of("svc", args, defaults)
    name = f"{job.name}-svc"
    entries = [
        {"name": key, "valueFrom": {"configMapKeyRef": {"name": name, "key": key}}}
        for task in job.tasks
        for key in (f"VC_{_upper(task)}_HOSTS", f"VC_{_upper(task)}_NUM")
        if flags.get("inject-hosts-env", True)
    ]
    mount = {"name": name, "mountPath": _MOUNT}
    volume = {"name": name, "configMap": {"name": name}}

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del annotations
        named = {
            **spec,
            "hostname": as_string(spec.get("hostname")) or job.pod_name(task, index),
            "subdomain": as_string(spec.get("subdomain")) or job.name,
        }
        mounted = templates.with_items(named, "volumes", [volume])
        return _everywhere(
            mounted, lambda c: templates.with_items(templates.with_env(c, entries), "volumeMounts", [mount])
        )

    if not flags["disable-network-policy"]:
        notes = (*notes, f"NetworkPolicy {job.name}: only pods of this job can reach its pods")
    service = _service(job, publish=bool(flags["publish-not-ready-addresses"]))
    return PluginEffect(change, (service,), lambda: (_config(job, name),), notes)


def _upper(task: VolcanoTask) -> str:
    return task.name.upper().replace("-", "_")


def _service(job: DefaultedJob, *, publish: bool) -> Json:
    selector = {"volcano.sh/job-name": job.name, "volcano.sh/job-namespace": job.namespace}
    return {
        "metadata": {"name": job.name, "namespace": job.namespace},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": publish, "selector": selector},
    }


def _config(job: DefaultedJob, name: str) -> Json:
    data: dict[str, str] = {}
    for task in job.tasks:
        hosts = job.hosts(task)
        data[f"{task.name.replace('-', '_')}.host"] = "\n".join(hosts)
        data[f"VC_{_upper(task)}_HOSTS"] = ",".join(hosts)
        data[f"VC_{_upper(task)}_NUM"] = str(len(hosts))
    return {"metadata": {"name": name, "namespace": job.namespace}, "data": data}


def ssh(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Keys for passwordless ssh between the pods, from one Secret."""
    path = "/root/.ssh"
    flags, notes = flags_of(
        "ssh", args, {"ssh-key-file-path": path, "ssh-private-key": "", "ssh-public-key": "", "ssh-port": 22}
    )
    mount = {"name": f"{job.name}-ssh", "mountPath": flags["ssh-key-file-path"], "subPath": ".ssh"}
    mode = 0o600 if flags["ssh-key-file-path"] == path else 0o644
    volume = {"name": f"{job.name}-ssh", "secret": {"secretName": f"{job.name}-ssh", "defaultMode": mode}}

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del task, index, annotations
        mounted = templates.with_items(spec, "volumes", [volume])
        return _everywhere(mounted, lambda c: templates.with_items(c, "volumeMounts", [mount]))

    return PluginEffect(change, notes=notes)


def mpi(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """The workers' host names for the master's containers, and ssh's port for all."""
    flags, notes = flags_of("mpi", args, {"master": "master", "worker": "worker", "port": 22})
    worker = job.task(flags["worker"])
    hosts = [templates.value("MPI_HOST", ",".join(job.hosts(worker)))] if worker else []
    if worker is None:
        notes = (*notes, f"plugin mpi: no task is named {flags['worker']!r}: the master's pods get nothing")
    port = {"name": "mpijob-port", "containerPort": flags["port"]}

    def with_port(container: Json) -> Json:
        taken = any(as_int(p.get("containerPort")) == flags["port"] for p in as_mappings(container.get("ports")))
        return container if taken else templates.with_items(container, "ports", [port])

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del index, annotations
        leads = task.name == flags["master"]
        if leads and worker is None:
            return spec
        entries = hosts if leads else []
        return _everywhere(spec, lambda c: templates.with_env(with_port(c), entries))

    return PluginEffect(change, notes=notes)


_TF_ROLES = ("ps", "worker", "chief", "evaluator")


def tensorflow(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """TF_CONFIG for the tasks that it knows, in every main container."""
    flags, notes = flags_of("tensorflow", args, {**{r: r for r in _TF_ROLES}, "port": 2222})
    tasks = {role: job.task(flags[role]) for role in _TF_ROLES}
    cluster = {
        role: [f"{host}:{flags['port']}" for host in _tf_hosts(job, task)] for role, task in tasks.items() if task
    }

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del annotations
        role = next((r for r, t in tasks.items() if t is task), None)
        if role is None:
            return spec
        config = {"cluster": cluster, "task": {"type": role, "index": index}}
        entry = templates.value("TF_CONFIG", json.dumps(config, separators=(",", ":")))
        return templates.with_containers(spec, lambda c: templates.with_env(c, [entry]), init=False)

    return PluginEffect(change, notes=notes)


def _tf_hosts(job: DefaultedJob, task: VolcanoTask) -> list[str]:
    subdomain = as_string(task.spec.get("subdomain")) or job.name
    hostname = as_string(task.spec.get("hostname"))
    return [f"{hostname or job.pod_name(task, i)}.{subdomain}" for i in range(min(task.replicas, MOST_NAMED))]


def hcclrank(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """The annotation with the rank for Huawei's collectives: kept, else from RANK, else from task and index."""
    flags, notes = flags_of("hcclrank", args, {"master": "master", "worker": "worker"})
    masters = job.task(flags["master"])

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        given = string_map(task.metadata.get("annotations")).get("hccl/rankIndex")
        written = [
            e for c in as_mappings(spec.get("containers")) for e in as_mappings(c.get("env")) if e.get("name") == "RANK"
        ]
        if given is not None:
            return spec
        if written:
            annotations["hccl/rankIndex"] = as_string(written[0].get("value"))
        elif task.name == flags["master"]:
            annotations["hccl/rankIndex"] = str(index)
        elif task.name == flags["worker"]:
            annotations["hccl/rankIndex"] = str(index + (masters.replicas if masters else 0))
        return spec

    return PluginEffect(change, notes=notes)


def ray(job: DefaultedJob, args: Sequence[str]) -> PluginEffect:
    """Ports for the head's container; the command of head and worker containers is replaced by `ray start`."""
    flags, notes = flags_of(
        "ray",
        args,
        {
            "head": "head",
            "worker": "worker",
            "headContainer": "head",
            "workerContainer": "worker",
            "port": 6379,
            "dashboardPort": 8265,
            "clientPort": 10001,
        },
    )
    head = job.task(flags["head"])
    if head is None:
        return PluginEffect(notes=notes, failure=f"plugin ray: no task is named {flags['head']!r}: no pod is created")
    named = (("gcs", "port"), ("dashboard", "dashboardPort"), ("client-server", "clientPort"))
    ports = [{"name": name, "containerPort": flags[flag]} for name, flag in named]

    def change(task: VolcanoTask, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del index, annotations
        if task is not head:
            return spec
        target = flags["headContainer"]

        def add(container: Json) -> Json:
            return templates.with_items(container, "ports", ports) if container.get("name") == target else container

        return templates.with_containers(spec, add, init=False)

    overwritten = "plugin ray: the commands of the head and worker containers are replaced by `ray start ...`"
    return PluginEffect(change, notes=(*notes, overwritten))


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
