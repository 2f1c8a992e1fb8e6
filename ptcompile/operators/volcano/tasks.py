"""A Volcano job as its controller holds it: tasks, plugins, names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ptcompile.kubernetes.goflags import Value, parse
from ptcompile.kubernetes.untyped import integer, mapping, text
from ptcompile.kubernetes.versions import Version
from ptcompile.operators.common.expansion import MOST_NAMED
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


class Task(NamedTuple):
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
        policy = mapping(self.source.get("partitionPolicy"))
        partitions = integer(policy.get("minPartitions"))
        by_partition = partitions * integer(policy.get("partitionSize")) if partitions > 0 else self.replicas
        return integer(given, by_partition) if given is not None else by_partition


class VolcanoJob(NamedTuple):
    """A job after the mutating webhook's defaults."""

    name: str
    namespace: str
    spec: Json
    tasks: tuple[Task, ...]
    plugins: Mapping[str, list[str]]
    version: Version

    @property
    def queue(self) -> str:
        """The queue, `default` where none is written."""
        return text(self.spec.get("queue")) or "default"

    def task(self, name: object) -> Task | None:
        """The first task of this name."""
        return next((t for t in self.tasks if t.name == name), None)

    def pod_name(self, task: Task, index: int) -> str:
        """`<job>-<task>-<index>`."""
        return f"{self.name}-{task.name}-{index}"

    def hosts(self, task: Task) -> list[str]:
        """`<host name>.<subdomain>` of each pod of a task; one only where the template sets the host name."""
        subdomain = text(task.spec.get("subdomain")) or self.name
        hostname = text(task.spec.get("hostname"))
        if hostname:
            return [f"{hostname}.{subdomain}"]
        return [f"{self.pod_name(task, i)}.{subdomain}" for i in range(min(task.replicas, MOST_NAMED))]


Change = Callable[[Task, int, "Json", dict[str, str]], "Json"]
"""Task, index, pod spec and the annotations to fill -> the new pod spec."""


class Plugin(NamedTuple):
    """What a plugin does to a job."""

    change: Change | None = None
    services: tuple[Json, ...] = ()
    configmaps_of: Callable[[], tuple[Json, ...]] = tuple
    notes: tuple[str, ...] = ()
    failure: str | None = None
    """Why the controller creates no pod."""


def flags_of(name: str, args: Sequence[str], defaults: Mapping[str, Value]) -> tuple[dict[str, Value], tuple[str, ...]]:
    """A plugin's flags, and a note where Volcano stops reading its arguments."""
    flags, problem = parse(args, defaults)
    return flags, (f"plugin {name}: {problem}",) if problem else ()
