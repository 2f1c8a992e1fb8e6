"""Kueue's queues, for `platform` and `requires` (Kueue 0.19)."""

from __future__ import annotations

from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.common.queue_system import QueueSystem
from ptcompile.operators.kueue.marks import queue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def api(versions: Versions) -> str:
    """API group and version: v1beta2 today (Kueue 0.19), v1beta1 before 0.15."""
    return f"kueue.x-k8s.io/v1beta{2 if versions.kueue >= (0, 15) else 1}"


def _cluster_queue(local: dict[str, Any]) -> tuple[str, str]:
    """The ClusterQueue behind a LocalQueue. It holds the quota, which no file here knows, so it is not written."""
    why = "with its quota; if yours has another name, write it as clusterQueue of the LocalQueue"
    return f"ClusterQueue/{local['spec']['clusterQueue']}", why


def _device_class(name: str, versions: Versions) -> tuple[str, str]:
    """Kueue admits no job whose classes it cannot count (Kueue 0.19, pkg/dra/claims.go)."""
    if versions.kueue < (0, 18):
        why = "the feature gate DynamicResourceAllocation is on: Kueue has counted claims since 0.18"
    else:
        why = f"resources.deviceClassMappings names {name}, and the ClusterQueue has quota for its name there"
    return "Configuration/kueue", why


QUEUES = QueueSystem(
    api,
    "LocalQueue",
    lambda name: {"clusterQueue": name},
    namespaced=True,
    priority="WorkloadPriorityClass",
    behind=_cluster_queue,
    devices=_device_class,
    named_by=queue,
)
