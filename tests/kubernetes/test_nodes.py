"""Which groups of nodes take a pod, and the first reason of those that do not."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.kubernetes.nodes import NAME, NodeGroup, choices_of, fits, reaches, room_for
from ptcompile.kubernetes.quantity import NANO

Json = dict[str, Any]
TAINT = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}


def group(name: str = "a", gpus: int = 4, **changed: Any) -> NodeGroup:
    amounts = {
        "cpu": 16 * NANO,
        "pods": 10 * NANO,
        **({"nvidia.com/gpu": gpus * NANO} if gpus else {}),
    }
    labels = {"pool": ("gold",), "cores": ("16",), NAME: (name,)}
    return NodeGroup(
        (name,), labels, amounts=amounts, lacks=lambda resource: "/" in resource
    )._replace(**changed)


def pod(gpus: int = 4, **spec: Any) -> Json:
    return {"containers": [{"resources": {"limits": {"cpu": 8, "nvidia.com/gpu": gpus}}}], **spec}


def affinity(*terms: Json) -> Json:
    required = {"nodeSelectorTerms": list(terms)}
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    }


def expression(key: str, operator: str, *values: str, field: str = "matchExpressions") -> Json:
    return {field: [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("spec", "changed"),
    [
        (pod(), {}),
        (pod(nodeSelector={"pool": "gold"}), {}),
        (pod(tolerations=[{"operator": "Exists"}]), {"is_cordoned": True, "taints": [TAINT]}),
        (pod(), {"taints": [{**TAINT, "effect": "PreferNoSchedule"}]}),
        (pod(99, nodeName="a"), {"taints": [TAINT]}),
        (pod(0), {"amounts": {}}),
        (pod(nodeSelector={"zone": "b"}), {"is_open": lambda _: True}),
    ],
)
def test_fitting_groups_take_a_pod(spec: Json, changed: Json) -> None:
    assert fits(spec, [group(**changed)]).refused == []


@pytest.mark.parametrize(
    ("spec", "changed", "text", "path"),
    [
        (pod(), {"is_cordoned": True}, "1 is cordoned", ()),
        (pod(), {"taints": [TAINT]}, "1 has the taint dedicated=ml:NoSchedule", ()),
        (pod(tolerations=[{"key": "x"}]), {"taints": [TAINT]},
         "1 has the taint dedicated=ml:NoSchedule", ("tolerations",)),
        (pod(nodeSelector={"pool": "silver"}), {}, "1 lacks the label pool=silver", ("nodeSelector", "pool")),
        (pod(8), {}, "1 has 4 nvidia.com/gpu, 8 are requested",
         ("containers", 0, "resources", "limits", "nvidia.com/gpu")),
        (pod(1, overhead={"cpu": "9"}), {}, "1 has 16 cpu, 17 are requested",
         ("containers", 0, "resources", "limits", "cpu")),
        (pod(), {"amounts": {}}, "1 has no nvidia.com/gpu, 4 are requested",
         ("containers", 0, "resources", "limits", "nvidia.com/gpu")),
        (pod(), {"amounts": {"nvidia.com/gpu": 8 * NANO, "pods": 0}}, "1 has no pods, 1 is requested", ()),
    ],
)  # fmt: skip
def test_the_first_reason_follows_the_scheduler_s_order(
    spec: Json, changed: Json, text: str, path: Any
) -> None:
    placement = fits(spec, [group(**changed)])
    assert placement.text() == f"0/1 node pools fit: {text}"
    assert placement.nearest.path == path


def test_reasons_are_counted() -> None:
    """The texts of issue kubernetes#134740 have no keys; ours name them."""
    groups = [group("small"), group("a", 8, taints=[TAINT]), group("b", 8, taints=[TAINT])]
    placement = fits(pod(8), groups)
    assert placement.text() == (
        "0/3 node pools fit: 2 have the taint dedicated=ml:NoSchedule, 1 has 4 nvidia.com/gpu, 8 are requested"
    )
    assert placement.nearest.help == "tolerate the taint dedicated=ml:NoSchedule (a)"


def test_the_nearest_group_is_the_easiest_to_mend() -> None:
    def help(*groups: NodeGroup) -> str:
        return fits(pod(8), groups).nearest.help

    assert help(group("none", 0)) == "use nodes with nvidia.com/gpu"
    assert (
        help(group("none", 0), group("some", 4))
        == "request at most 4 nvidia.com/gpu in each pod (some)"
    )
    assert help(group("none", 0), group("tainted", 8, taints=[TAINT])).endswith("(tainted)")
    assert help(group("both", 4, taints=[TAINT]), group("some", 4)).endswith("(some)")


def test_a_sentence_has_few_reasons() -> None:
    groups = [group(str(gpus), gpus) for gpus in (7, 7, 6, 6, 5, 5, 4, 4, 3, 2)]
    assert (
        fits(pod(8), groups)
        .text()
        .endswith("2 have 4 nvidia.com/gpu, 8 are requested, 2 for other reasons")
    )


def test_equal_nodes_are_one_group() -> None:
    nodes = group(is_pool=False)._replace(names=("n-1", "n-2"))
    assert fits(pod(8), [nodes]).text() == "0/2 nodes fit: 2 have 4 nvidia.com/gpu, 8 are requested"


@pytest.mark.parametrize(
    ("spec", "matched"),
    [
        ({}, True),
        ({"nodeSelector": {"pool": "gold"}}, True),
        ({"nodeSelector": {"pool": "gold", "zone": "b"}}, False),
        (affinity(expression("cores", "Gt", "8")), True),
        (affinity(expression("cores", "Gt", "16")), False),
        (affinity(expression("cores", "Lt", "17")), True),
        (affinity(expression("cores", "In", "x")), False),
        (affinity(expression("zone", "NotIn", "b")), True),
        (affinity(expression("zone", "Exists")), False),
        (affinity(expression("zone", "Exists"), expression("pool", "Exists")), True),
        (affinity(expression(NAME, "In", "a", field="matchFields")), True),
        (affinity(expression(NAME, "In", "b", field="matchFields")), False),
        (affinity({}), False),
        (affinity(), False),
        (affinity({}, expression("cores", "Exists")), True),
        ({"nodeSelector": {"pool": "silver"}, **affinity(expression("pool", "Exists"))}, False),
        ({"affinity": None}, True),
        (
            {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": 1}}},
            False,
        ),
    ],
)
def test_a_node_must_meet_the_selector_and_one_term(spec: Json, matched: bool) -> None:
    """Kubernetes 1.36, k8s.io/component-helpers scheduling/corev1/nodeaffinity `RequiredNodeAffinity.Match`."""
    assert reaches(choices_of(spec), group()) is matched


@pytest.mark.parametrize(
    ("spec", "matched"),
    [
        ({"nodeSelector": {"type": "a"}}, True),
        ({"nodeSelector": {"type": "c"}}, False),
        ({"nodeSelector": {"type": "a"}, **affinity(expression("type", "NotIn", "a"))}, False),
        ({"nodeSelector": {"size": "9"}}, True),
        ({"nodeSelector": {"size": "3"}}, False),
        (affinity(expression("size", "Exists")), True),
        ({"nodeSelector": {"custom": "x"}}, False),
        ({"nodeSelector": {"topology.kubernetes.io/zone": "x"}}, True),
    ],
)  # fmt: skip
def test_a_pool_may_have_one_of_several_values(spec: Json, matched: bool) -> None:
    pool = NodeGroup(
        ("k",),
        {"type": ("a", "b")},
        requirements={"size": [{"key": "size", "operator": "Gt", "values": ["4"]}]},
        is_open=lambda label: label.startswith("topology."),
    )
    assert reaches(choices_of(spec), pool) is matched


ZONE = "topology.kubernetes.io/zone"
SPREAD = {"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
TERM = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "a"}}}


@pytest.mark.parametrize(
    ("spec", "changed", "fitting"),
    [
        (pod(topologySpreadConstraints=[SPREAD]), {}, False),
        (pod(topologySpreadConstraints=[SPREAD]), {"is_open": lambda _: True}, True),
        (
            pod(topologySpreadConstraints=[{**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}]),
            {},
            True,
        ),
        (
            pod(topologySpreadConstraints=[{**SPREAD, "topologyKey": "kubernetes.io/hostname"}]),
            {},
            True,
        ),
        (pod(topologySpreadConstraints=[{**SPREAD, "topologyKey": "pool"}]), {}, True),
        (
            pod(
                affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}}
            ),
            {},
            False,
        ),
        (
            pod(
                affinity={
                    "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}
                }
            ),
            {},
            True,
        ),
        (pod(topologySpreadConstraints=7, affinity={"podAffinity": [7]}), {}, True),
    ],
)
def test_nodes_need_the_label_by_which_pods_are_spread_or_joined(
    spec: Json, changed: Json, fitting: bool
) -> None:
    placement = fits(spec, [group(**changed)])
    assert bool(placement.fitting) is fitting
    lacks = f"1 lacks the label {ZONE}, a topologyKey of the pod"
    assert (lacks in placement.text()) is not fitting


@pytest.mark.parametrize(
    ("groups", "pods", "apart", "room"),
    [
        ([group(size=3)], [pod(2)], False, 6),
        ([group(size=3)], [pod(2)], True, 3),
        (
            [group(size=3), group("b", 8, size=1)],
            [pod(2)],
            False,
            10 - 2,
        ),  # 16 cpu a node, 8 are requested
        ([group(size=3), group("b")], [pod(2)], False, None),
        ([group(limits={"nvidia.com/gpu": 6 * NANO})], [pod(2)], False, 3),
        ([group(limits={"nvidia.com/gpu": 6 * NANO}, size=1)], [pod(2)], False, 2),
        ([group(size=2), group("b", 8, size=1)], [pod(8), pod(4)], False, 2 + 2),
        ([group(size=3, amounts={})], [pod(1)], False, 0),
        ([group(size=3, amounts={}, lacks=lambda _: False)], [pod(1)], False, None),
    ],
)
def test_room_for_counts_the_pods_that_fit_at_once(
    groups: list[NodeGroup], pods: list[Json], apart: bool, room: int | None
) -> None:
    placements = [fits(spec, groups) for spec in pods]
    assert room_for(placements, apart=apart) == room
