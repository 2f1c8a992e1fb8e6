"""Workloads of a dump: where their pods are."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.operators.kueue.scheduler.existing import placed_domains
from tests.api.test_admit import GROUP, cluster, job, workload

Json = dict[str, Any]
LEVELS = ["kubernetes.io/hostname"]


@pytest.mark.parametrize(
    ("assignment", "domains"),
    [
        ({"domains": [{"values": ["a"], "count": 2}]}, [(("a",), 2)]),
        (
            {
                "slices": [
                    {
                        "domainCount": 1,
                        "valuesPerLevel": [{"universal": "a"}],
                        "podCounts": {"universal": 3},
                    }
                ]
            },
            [(("a",), 3)],
        ),
        (
            {
                "slices": [
                    {
                        "domainCount": 2,
                        "valuesPerLevel": [
                            {"universal": "rack"},
                            {"individual": {"prefix": "n", "roots": ["1", "2"], "suffix": "-x"}},
                        ],
                        "podCounts": {"individual": [1, 4]},
                    }
                ]
            },
            [(("rack", "n1-x"), 1), (("rack", "n2-x"), 4)],
        ),
        ({"slices": [{"domainCount": -1}, {"domainCount": 1, "podCounts": None}]}, [((), 0)]),
    ],
)
def test_placed_domains_are_read_from_both_versions(
    assignment: Json, domains: list[tuple[tuple[str, ...], int]]
) -> None:
    assert list(placed_domains(assignment)) == domains


def node(name: str, cpu: int = 2, **spec: Any) -> Json:
    ready = [{"type": "Ready", "status": "True"}]
    status = {"allocatable": {"cpu": str(cpu), "pods": "10"}, "conditions": ready}
    labels = {"kubernetes.io/hostname": name}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": status,
    }


def with_hosts(*more: Json) -> list[Json]:
    """Return the queues with a topology of hosts, and other objects."""
    objects = cluster(*more)
    objects[0] = {**objects[0], "spec": {"topologyName": "hosts"}}
    levels = {"levels": [{"nodeLabel": level} for level in LEVELS]}
    return [
        *objects,
        {"apiVersion": GROUP, "kind": "Topology", "metadata": {"name": "hosts"}, "spec": levels},
    ]


def places(admission: ptcompile.Admission) -> list[tuple[tuple[str, ...], int]]:
    (answer,) = admission.jobs
    return [domain for pod_set in answer.pod_sets for domain in pod_set.domains]


def test_placed_workloads_and_other_pods_take_room() -> None:
    placed = workload("w", 2)
    (assigned,) = placed["status"]["admission"]["podSetAssignments"]
    assigned["topologyAssignment"] = {"levels": LEVELS, "domains": [{"values": ["a"], "count": 1}]}
    nodes = [node("a"), node("b"), node("c", unschedulable=True)]
    assert places(ptcompile.admit(job(), state=with_hosts(*nodes, placed))) == [(("b",), 2)]
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    other = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"nodeName": "b", "containers": [container]},
    }
    assert not ptcompile.admit(job(), state=with_hosts(*nodes, placed, other)).ok
    ended = {**other, "status": {"phase": "Succeeded"}}
    assert ptcompile.admit(job(), state=with_hosts(*nodes, placed, ended)).ok


def test_without_nodes_files_alone_do_not_place_pods() -> None:
    objects = with_hosts()
    assert ptcompile.admit([*objects, job()]).ok
    assert not ptcompile.admit(job(), state=objects).ok
