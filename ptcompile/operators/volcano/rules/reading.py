"""What rules read of a Volcano Job: its lifecycle policies with the tasks that they are about, its plugins' flags."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Edit, Path
from ptcompile.kubernetes.goflags import Value, parse
from ptcompile.kubernetes.unstructured import as_mappings, as_string, as_strings, nested_map
from ptcompile.kubernetes.versions import Version
from ptcompile.linter.subject import Subject
from ptcompile.operators.volcano.plugins import FLAGS as PYTORCH, DefaultedJob, VolcanoTask
from ptcompile.operators.volcano.pods import read
from ptcompile.registry.model import KindContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json

QUEUE_KEYS: Final = ("volcano.sh/queue-name", "scheduling.volcano.sh/queue-name")
"""What names the queue of a bare pod, or is written by Volcano itself."""

_MASTER_WORKER: Final[dict[str, Value]] = {"master": "master", "worker": "worker"}
_FLAGS: Final[dict[str, dict[str, Value]]] = {
    "pytorch": PYTORCH,
    "svc": {"publish-not-ready-addresses": False, "disable-network-policy": False, "inject-hosts-env": True},
    "ssh": {"ssh-key-file-path": "", "ssh-private-key": "", "ssh-public-key": "", "ssh-port": 22},
    "mpi": {**_MASTER_WORKER, "port": 22},
    "hcclrank": _MASTER_WORKER,
    "tensorflow": {"ps": "", "worker": "", "chief": "", "evaluator": "", "port": 2222},
    "ray": {
        "head": "", "headContainer": "", "worker": "", "workerContainer": "",
        "port": 6379, "dashboardPort": 8265, "clientPort": 10001,
    },
    "env": {},
}  # fmt: skip
_SINCE: Final = {
    "wait-master-enabled": (1, 14),
    "wait-master-timeout": (1, 14),
    "wait-master-image": (1, 14),
    "inject-hosts-env": (1, 16),
}


def volcano_job(subject: Subject) -> DefaultedJob:
    """A Volcano Job after the mutating webhook's defaults."""
    return subject.once(_read)


def _read(subject: Subject) -> DefaultedJob:
    return read(subject.manifest, KindContext(versions=subject.versions))


class Policy(NamedTuple):
    """One lifecycle policy, of the job or of a task."""

    path: Path
    data: Json
    tasks: tuple[tuple[int, VolcanoTask], ...]
    """The tasks with pods that it is about, each with its place in the list."""
    restarts: frozenset[str]
    """Their restartPolicies."""
    partitioned: bool
    """Whether one of them has partitions."""

    @property
    def events(self) -> list[str]:
        """`event` and `events` as one list."""
        return [*filter(None, [as_string(self.data.get("event"))]), *as_strings(self.data.get("events"))]

    @property
    def action(self) -> str:
        """What it does, or an empty string."""
        return as_string(self.data.get("action"))

    @property
    def on_failure(self) -> bool:
        """Whether a failed pod sets it off."""
        return bool({"PodFailed", "*"} & set(self.events)) or self.data.get("exitCode") is not None


def tasks_with_pods(subject: Subject) -> tuple[tuple[int, VolcanoTask], ...]:
    """The tasks that have pods, each with its place in the list."""
    return tuple((i, task) for i, task in enumerate(volcano_job(subject).tasks) if task.replicas > 0)


def policies(subject: Subject) -> Iterator[Policy]:
    """The policies of the job, then those of its tasks."""
    yield from _policies(subject.spec, ("spec", "policies"), tasks_with_pods(subject))
    for place, task in enumerate(volcano_job(subject).tasks):
        own = ((place, task),) if task.replicas > 0 else ()
        yield from _policies(task.source, ("spec", "tasks", place, "policies"), own)


def _policies(holder: Json, path: Path, tasks: tuple[tuple[int, VolcanoTask], ...]) -> Iterator[Policy]:
    found = as_mappings(holder.get("policies"))
    if not found:
        return
    kinds = frozenset(restarts(task) for _, task in tasks)
    partitioned = any(nested_map(task.source, "partitionPolicy") for _, task in tasks)
    for i, policy in enumerate(found):
        yield Policy((*path, i), policy, tasks, kinds, partitioned)


def restarts(task: VolcanoTask) -> str:
    """The restartPolicy of a task's pods; Always where none is written, as the API server fills in."""
    return as_string(task.spec.get("restartPolicy")) or "Always"


def pod_path(place: int, *more: str | int) -> Path:
    """Where something of a task's pod spec stands."""
    return ("spec", "tasks", place, "template", "spec", *more)


def never_restart(tasks: tuple[tuple[int, VolcanoTask], ...]) -> tuple[Edit, ...]:
    """Makes these tasks' pods fail where they would be restarted in place."""
    return tuple(Edit("set", pod_path(i, "restartPolicy"), "Never") for i, _ in tasks)


def flags_of(plugin: str, version: Version) -> dict[str, Value]:
    """The flags that a plugin of this release of Volcano knows, with their defaults."""
    return {name: value for name, value in _FLAGS.get(plugin, {}).items() if version >= _SINCE.get(name, version)}


def flag(subject: Subject, plugin: str, name: str) -> Value | None:
    """A flag's value as the plugin reads it; None for a plugin that the job has not, or a flag that is not known."""
    args = volcano_job(subject).plugins.get(plugin)
    return None if args is None else parse(args, flags_of(plugin, subject.versions.volcano))[0].get(name)


def pytorch_tasks(subject: Subject) -> tuple[VolcanoTask, VolcanoTask | None] | None:
    """The master and the worker task of the pytorch plugin; None where it does nothing."""
    master = volcano_job(subject).task(flag(subject, "pytorch", "master") or None)
    return None if master is None else (master, volcano_job(subject).task(flag(subject, "pytorch", "worker") or None))


def with_argument(subject: Subject, plugin: str, argument: str) -> Edit:
    """Gives a plugin one more argument."""
    path = ("spec", "plugins", plugin)
    listed = isinstance(nested_map(subject.spec, "plugins").get(plugin), list)
    return Edit("append", path, argument) if listed else Edit("set", path, [argument])
