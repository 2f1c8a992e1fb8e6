"""What an administrator makes for the queues of a queue system, and what their names stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptcompile.kubernetes.versions import Versions
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]


class QueueSystem(NamedTuple):
    """The objects by which one queue system knows queues, priorities and classes of devices."""

    api: Callable[[Versions], str]
    """API group and version of its queues."""
    kind: str
    """Kind of its queues."""
    spec: Callable[[str], Json]
    """The spec of a queue of this name."""
    namespaced: bool = False
    """Whether a queue is in the namespace of its jobs, and not the cluster's."""
    there: frozenset[str] = frozenset()
    """Queues that its release brings along."""
    priority: str = "PriorityClass"
    """Kind of the class of a job in its queue."""
    behind: Callable[[Json], tuple[str, str]] | None = None
    """Of a queue, what else must exist, and why."""
    devices: Callable[[str, Versions], tuple[str, str]] | None = None
    """Of a DeviceClass, what must be configured before jobs that claim its devices are admitted, and why."""
    named_by: Callable[[Mapping[str, Any]], str] | None = None
    """Of the metadata of another operator's object, the queue that it names, or an empty text."""
