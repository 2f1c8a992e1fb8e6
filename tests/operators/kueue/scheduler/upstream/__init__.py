"""Cases of Kueue's own tests: the names and the values of its Go tests, in tables with a short notation.

Origin: github.com/kubernetes-sigs/kueue, the files that each table names, as they were in November 2026. Cases about
what is not modeled (node replacement, balanced placement, evicted workloads), and of behavior that is newer than Kueue
0.19, are left out.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ptcompile.kubernetes import quantity
from ptcompile.operators.kueue.scheduler.objects import (
    Cluster,
    FlavorResource,
    amount_of,
    read_cluster,
)
from ptcompile.operators.kueue.scheduler.state import QueueState, Reservation
from ptcompile.operators.kueue.scheduler.workloads import TopologyRequest, Workload

Json = dict[str, Any]
GROUP = "kueue.x-k8s.io/v1beta2"
CONFIGURATION = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}


class Case(NamedTuple):
    """A case of a table, with what all cases of the table share."""

    name: str
    values: Json

    def state(self, configuration: Json | None = None) -> QueueState:
        """Return the case's queues with the workloads that they have admitted."""
        state = QueueState(self.cluster(configuration))
        for admitted in self.values.get("admitted", ()):
            for reservation in read_admitted(admitted):
                state.add(reservation)
        return state

    def cluster(self, configuration: Json | None = None) -> Cluster:
        """Return the case's ClusterQueues and Cohorts."""
        queues, cohorts = self.values.get("queues", {}), self.values.get("cohorts", {})
        objects = [
            *(_holder("ClusterQueue", name, fields) for name, fields in queues.items()),
            *(_holder("Cohort", name, fields) for name, fields in cohorts.items()),
            *self.values.get("objects", ()),
        ]
        return read_cluster([*objects, {**CONFIGURATION, **(configuration or {})}])


@cache
def cases(table: str) -> list[Case]:
    """Return the cases of a table."""
    text = (Path(__file__).parent / f"{table}.yaml").read_text(encoding="utf-8")
    document = yaml.safe_load(text)
    shared = {key: value for key, value in document.items() if key != "cases"}
    return [Case(name, {**shared, **values}) for name, values in document["cases"].items()]


def case_name(case: Case) -> str:
    """Return the name that Kueue gives a case."""
    return case.name


def _holder(kind: str, name: str, fields: Json) -> Json:
    groups = [_group(flavors) for flavors in fields.get("groups", ())]
    rest = {key: value for key, value in fields.items() if key != "groups"}
    return {
        "apiVersion": GROUP,
        "kind": kind,
        "metadata": {"name": name},
        "spec": {**rest, "resourceGroups": groups},
    }


def _group(flavors: dict[str, Json]) -> Json:
    covered = dict.fromkeys(resource for quotas in flavors.values() for resource in quotas)
    rows = [
        {"name": flavor, "resources": [_quota(resource, text) for resource, text in quotas.items()]}
        for flavor, quotas in flavors.items()
    ]
    return {"coveredResources": list(covered), "flavors": rows}


def _quota(resource: str, text: str | int) -> Json:
    """Return a quota that is written nominal, nominal/borrowing limit or nominal/borrowing limit/lending limit."""
    words = ("nominalQuota", "borrowingLimit", "lendingLimit")
    limits = {
        word: value for word, value in zip(words, str(text).split("/"), strict=False) if value
    }
    return {"name": resource, **limits}


def read_admitted(text: str) -> list[Reservation]:
    """Return what is written as "names queue priority usage", with "@time" of admission at its end."""
    words = text.split()
    reserved_at = int(words.pop()[1:]) if words[-1].startswith("@") else 0
    usage = read_usage(word for word in words if "=" in word)
    *names, queue, priority = (word for word in words if "=" not in word)
    return [
        Reservation(_workload(name, queue, int(priority), reserved_at, 1), usage, {})
        for name in names
    ]


def read_incoming(text: str) -> tuple[Workload, dict[FlavorResource, int]]:
    """Return a workload that is written "queue priority usage", older than those that are admitted."""
    queue, priority, *usage = text.split()
    return _workload("incoming", queue, int(priority), 0, 0), read_usage(usage)


def _workload(name: str, queue: str, priority: int, reserved_at: int, created: int) -> Workload:
    workload = Workload(name, "default", queue, priority, ())
    workload.cluster_queue = queue
    workload.order = "", created
    workload.reserved_at = "", reserved_at
    return workload


def read_usage(words: Any) -> dict[FlavorResource, int]:
    """Return amounts that are written "resource=amount" or "flavor:resource=amount"."""
    out = {}
    for word in words:
        key, amount = word.split("=")
        flavor, _, resource = key.rpartition(":")
        out[flavor or "default", resource] = amount_of(resource, quantity.parse(amount))
    return out


def topology_objects(topologies: dict[str, list[str]], values: Json) -> list[Json]:
    """Return Topologies by their levels, the nodes of a case and the pods that run there."""
    levels = next(iter(topologies.values()), [])
    return [
        *(_topology(name, keys) for name, keys in topologies.items()),
        *(node(text, levels) for text in values.get("nodes", ())),
        *(_pod(i, fields) for i, fields in enumerate(values.get("running", ()))),
    ]


def _topology(name: str, levels: list[str]) -> Json:
    spec = {"levels": [{"nodeLabel": level} for level in levels]}
    return {"apiVersion": GROUP, "kind": "Topology", "metadata": {"name": name}, "spec": spec}


def _pod(index: int, fields: Json) -> Json:
    container = {"name": "c", "resources": {"requests": {"cpu": fields.get("cpu", 0)}}}
    spec = {"containers": [container], **({"nodeName": fields["node"]} if "node" in fields else {})}
    metadata = {"name": f"p{index}"}
    status = {"phase": fields.get("phase")}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def topology_request(fields: Json) -> TopologyRequest:
    """Return where pods are to run, which is written with the words of a pod set's topologyRequest."""
    return TopologyRequest(
        required=fields.get("required"),
        preferred=fields.get("preferred"),
        is_unconstrained=fields.get("unconstrained", False),
        slices=tuple(fields.get("slices", {}).items()),
        group=fields.get("group"),
    )


def node(text: str, levels: list[str]) -> Json:
    """Return a node that is written "block rack host resource=amount label:value !taint=value"."""
    words = text.split()
    names = [word for word in words if not {"=", ":"} & set(word)]
    labels = dict(zip(levels, names, strict=False))
    labels |= dict(word.split(":") for word in words if ":" in word)
    taints = [
        {"key": key, "value": value, "effect": "NoSchedule"}
        for key, value in (word[1:].split("=") for word in words if word.startswith("!"))
    ]
    capacity = dict(word.split("=") for word in words if "=" in word and not word.startswith("!"))
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": names[-1], "labels": labels},
        "spec": {"taints": taints},
        "status": {
            "allocatable": {"pods": "10", **capacity},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
