"""Whether a queue takes workloads at all, and why not.

Source: Kueue 0.19, pkg/cache/scheduler/clusterqueue.go and pkg/scheduler/scheduler.go.
"""

from __future__ import annotations

from ptcompile.apiserver.validation.metadata import selector_keys
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import nested_string, nested_value
from ptcompile.operators.kueue.queues import admission_checks, has_condition
from ptcompile.operators.kueue.scheduler.objects import Cluster, QuotaHolder
from ptcompile.operators.kueue.scheduler.quota import cohort_chain
from ptcompile.operators.kueue.scheduler.workloads import Workload

_STOPPED = ("Hold", "HoldAndDrain")
_NAME_LABEL = "kubernetes.io/metadata.name"


def why_closed(cluster: Cluster, workload: Workload) -> tuple[str, str]:
    """Return the ClusterQueue of a workload, and why it is not tried there; an empty reason if
    it is.
    """
    local = cluster.local_queues.get((workload.namespace, workload.queue))
    if local is None:
        return "", f"LocalQueue {workload.queue} doesn't exist"

    name = nested_string(local, "spec", "clusterQueue")
    policy = nested_value(local, "spec", "stopPolicy")
    if policy in _STOPPED:
        return name, f"LocalQueue {workload.queue} is inactive: stopPolicy is {policy}"

    queue = cluster.queues.get(name)
    if queue is None:
        return name, f"ClusterQueue {name} doesn't exist"

    why = why_inactive(cluster, queue)
    if why:
        return name, f"ClusterQueue {name} is inactive: {why}"
    if not _admits_namespace(cluster, queue, workload.namespace):
        has_selector = isinstance(queue.spec.get("namespaceSelector"), dict)
        if has_selector:
            why = ""
        else:
            why = f": {name} has no namespaceSelector, which matches no namespace"
        return name, f"Workload namespace doesn't match ClusterQueue selector{why}"

    return name, ""


def why_inactive(cluster: Cluster, queue: QuotaHolder) -> str:
    """Return why a ClusterQueue is inactive, or an empty string."""
    if queue.spec.get("stopPolicy") in _STOPPED:
        return f"stopPolicy is {queue.spec['stopPolicy']}"
    if cohort_chain(cluster, queue) is None:
        return "its cohorts are a cycle"
    if cluster.is_complete:
        return _missing_object(cluster, queue)
    return ""


def _missing_object(cluster: Cluster, queue: QuotaHolder) -> str:
    """Return which object that a ClusterQueue needs is missing or inactive, or an empty string."""
    for name in (name for group in queue.groups for name in group.flavors):
        flavor = cluster.flavors.get(name)
        if flavor is None:
            return f"ResourceFlavor {name} doesn't exist"
        if flavor.topology and flavor.topology not in cluster.topologies:
            return f"Topology {flavor.topology} of flavor {name} doesn't exist"

    for name in admission_checks(queue.spec):
        if name not in cluster.checks:
            return f"AdmissionCheck {name} doesn't exist"
        if not has_condition(cluster.checks[name], "Active"):
            return f"AdmissionCheck {name} is inactive"

    return ""


def _admits_namespace(cluster: Cluster, queue: QuotaHolder, namespace: str) -> bool:
    selector = queue.spec.get("namespaceSelector")
    if not isinstance(selector, dict):
        return False
    if not any(selector.values()):
        return True
    if (
        not cluster.is_complete
        and namespace not in cluster.namespaces
        and not selector_keys(selector) <= {_NAME_LABEL}
    ):
        return True

    return selects(selector, {**cluster.namespaces.get(namespace, {}), _NAME_LABEL: namespace})
