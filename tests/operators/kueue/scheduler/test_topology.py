"""In which domains of a topology pods are placed, as Kueue's own tests say."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.operators.kueue.scheduler.objects import read_cluster
from ptcompile.operators.kueue.scheduler.state import QueueState
from ptcompile.operators.kueue.scheduler.topology import (
    FlavorTopology,
    PlacementError,
    PlacementRequest,
)
from ptcompile.operators.kueue.scheduler.workloads import PodSet
from tests.operators.kueue.scheduler.upstream import (
    GROUP,
    Case,
    case_name,
    cases,
    read_usage,
    topology_objects,
    topology_request,
)

Json = dict[str, Any]


def topology_of(values: Json) -> FlavorTopology:
    """Return the topology `default` of a case's nodes."""
    flavor = {"nodeLabels": values.get("flavor", {}), "topologyName": "default"}
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 99}]}],
    }
    objects = [
        _object("ResourceFlavor", "f", flavor),
        _object("ClusterQueue", "q", {"resourceGroups": [group]}),
        *topology_objects({"default": values["levels"]}, values),
    ]
    state = QueueState(read_cluster(objects))
    return state.topologies(state.queues["q"])["f"]


def _object(kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}


def request_of(text: str, values: Json) -> PlacementRequest:
    """Return the placement that a pod set asks for, which is written "name count requests of a pod"."""
    name, count, *words = text.split()
    placement = topology_request(values.get("request", {}))
    requests = {resource: amount for (_, resource), amount in read_usage(words).items()}
    pod_set = PodSet(name, int(count), None, values.get("spec", {}), requests, requests, placement)
    return PlacementRequest(pod_set, pod_set.count, values.get("implied", False))


def placed(values: Json) -> dict[str, dict[str, int]] | str:
    """Return the number of pods by domain of each pod set, or why they are not placed."""
    requests = [request_of(text, values) for text in values["pods"]]
    try:
        placements = topology_of(values).place(requests, {}, is_empty=False)
    except PlacementError as error:
        return str(error)
    return {
        name: {" ".join(names): count for names, count in p.domains}
        for name, p in placements.items()
    }


@pytest.mark.parametrize("case", cases("topology"), ids=case_name)
def test_find_topology_assignments(case: Case) -> None:
    assert placed(case.values) == case.values["placed"]


HOSTS = ["kubernetes.io/hostname"]
SPREAD: Json = {"levels": HOSTS, "request": {"preferred": HOSTS[0], "group": "g"}}


@pytest.mark.parametrize(
    ("nodes", "workers", "outcome"),
    [
        (["h1 cpu=3", "h2 cpu=2"], 4, {"leader": {"h1": 1}, "workers": {"h1": 2, "h2": 2}}),
        (["h1 cpu=3", "h2 cpu=2"], 5, 'topology "default" allows to fit only 4 out of 5 pod(s)'),
        (
            ["h1 cpu=3", "h2 cpu=2", "h3 cpu=1"],
            3,
            {"leader": {"h1": 1}, "workers": {"h1": 2, "h3": 1}},
        ),
        (
            ["h1 cpu=3", "h2 cpu=2", "h3 cpu=1"],
            5,
            {"leader": {"h1": 1}, "workers": {"h1": 2, "h2": 2, "h3": 1}},
        ),
        (
            ["h1 cpu=500m", "h2 cpu=500m"],
            1,
            'topology "default" doesn\'t allow to fit any of 1 pod(s).',
        ),
    ],
)
def test_a_leader_stays_beside_workers_that_need_several_hosts(
    nodes: list[str], workers: int, outcome: Any
) -> None:
    where = placed(
        {**SPREAD, "nodes": nodes, "pods": ["leader 1 cpu=1", f"workers {workers} cpu=1"]}
    )
    assert where[: len(outcome)] == outcome if isinstance(where, str) else where == outcome


LAYERS: Json = {
    "levels": ["block", "rack", *HOSTS],
    "request": {"required": "block", "slices": {"block": 8, "rack": 4, HOSTS[0]: 2}},
    "pods": ["main 8 cpu=1"],
}


@pytest.mark.parametrize(
    ("nodes", "outcome"),
    [
        (
            ["b1 r1 x1 cpu=3", "b1 r1 x2 cpu=3", "b1 r2 x3 cpu=5", "b1 r2 x4 cpu=1"],
            {"main": {"x1": 2, "x2": 2, "x3": 4}},
        ),
        (
            ["b1 r1 x1 cpu=3", "b1 r1 x2 cpu=3", "b1 r2 x3 cpu=3", "b1 r2 x4 cpu=1"],
            'topology "default" doesn\'t allow to fit any of 1 slice(s)',
        ),
        (
            ["b1 r1 x1 cpu=7", "b1 r2 x2 cpu=7"],
            {"main": {"x1": 4, "x2": 4}},
        ),
    ],
    ids=["a host takes pairs, a rack fours", "a rack with a pair less", "a rack takes no six"],
)
def test_slices_of_slices_are_placed_together(nodes: list[str], outcome: Any) -> None:
    """Each rack takes pods in fours and each host in pairs (KEP 2724, Multi-level Topology Aware scheduling)."""
    assert placed({**LAYERS, "nodes": nodes}) == outcome


def test_hosts_below_the_last_layer_take_any_number() -> None:
    request = {"required": "block", "slices": {"block": 8, "rack": 4}}
    nodes = ["b1 r1 x1 cpu=3", "b1 r1 x2 cpu=1", "b1 r2 x3 cpu=4"]
    outcome = {"main": {"x1": 3, "x2": 1, "x3": 4}}
    assert placed({**LAYERS, "request": request, "nodes": nodes}) == outcome


def test_an_unconstrained_group_stays_on_a_host_that_just_takes_it() -> None:
    values = {**SPREAD, "request": {"unconstrained": True, "group": "g"}}
    pods = ["leader 1 cpu=1", "workers 2 cpu=1"]
    where = placed({**values, "nodes": ["h1 cpu=3", "h2 cpu=2"], "pods": pods})
    assert where == {"leader": {"h1": 1}, "workers": {"h1": 2}}
