"""Volcano's pytorch plugin (1.16): MASTER_ADDR, MASTER_PORT, WORLD_SIZE and RANK for `torch.distributed`."""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile.kubernetes.goflags import Value
from ptcompile.kubernetes.untyped import integer, items, text
from ptcompile.operators.common import podspec
from ptcompile.operators.volcano.tasks import Plugin, Task, VolcanoJob, flags_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

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


def pytorch(job: VolcanoJob, args: Sequence[str]) -> Plugin:
    """Env and a port for the main containers of every task; nothing at all where no task is named as --master."""
    flags, notes = flags_of("pytorch", args, FLAGS)
    if job.version < (1, 14):
        flags["wait-master-enabled"] = False
    master, worker = job.task(flags["master"]), job.task(flags["worker"])
    if master is None:
        missing = f"plugin pytorch: no task is named {flags['master']!r}, so the pods get no env and no port"
        return Plugin(notes=(*notes, missing))
    address = _address(job, master)
    port = integer(flags["port"])
    counted = job.tasks if job.version < (1, 12) else [t for t in (master, worker) if t is not None]
    world = sum(t.replicas for t in {id(t): t for t in counted}.values())
    common = [
        podspec.value("MASTER_ADDR", address),
        podspec.value("MASTER_PORT", str(port)),
        podspec.value("WORLD_SIZE", str(world)),
    ]

    def change(task: Task, index: int, spec: Json, annotations: dict[str, str]) -> Json:
        del annotations
        rank = index + 1 if task is worker else 0
        ranked = task is worker or task is master
        env = [*common, podspec.value("RANK", str(rank))] if ranked else common
        out = podspec.with_containers(spec, lambda c: podspec.with_env(_with_port(c, port), env), init=False)
        if task is worker and flags["wait-master-enabled"]:
            out = _waiting(out, address, flags)
        return out

    return Plugin(change, notes=notes)


def _address(job: VolcanoJob, master: Task) -> str:
    hostname = text(master.spec.get("hostname")) or job.pod_name(master, 0)
    return f"{hostname}.{text(master.spec.get('subdomain')) or job.name}"


def _with_port(container: Json, port: int) -> Json:
    """The port, unless one of that number is there; its name is not looked at."""
    if any(integer(p.get("containerPort")) == port for p in items(container.get("ports"))):
        return container
    return podspec.with_items(container, "ports", [{"name": PORT_NAME, "containerPort": port}])


def _waiting(spec: Json, host: str, flags: dict[str, Value]) -> dict[str, object]:
    """The init container that polls the master, unless one of that name is there."""
    if any(c.get("name") == "wait-for-master" for c in items(spec.get("initContainers"))):
        return dict(spec)
    script = _WAIT.format(host=host, port=flags["port"], timeout=flags["wait-master-timeout"])
    waiting = {"name": "wait-for-master", "image": flags["wait-master-image"], "command": ["sh", "-c", script]}
    return podspec.with_items(spec, "initContainers", [waiting])
