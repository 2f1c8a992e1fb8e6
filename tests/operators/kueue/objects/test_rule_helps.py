"""Helps for the CEL rules of Kueue's CRDs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import ptcompile
from ptcompile._internal.schema_files import load, load_table
from tests.operators.kueue.objects.making import (
    Json,
    cluster_queue,
    kueue_object,
    problems_of,
    workload,
)

RULE_HELPS = load_table("operators/kueue/objects/rule_helps.json")["helps"]
NOT_APPLIED = {"podSetAssignments must have the same number of podSets as the spec"}
"""Rules about the status, which the server drops from what is applied."""
REPLACED = {
    "levels are mutable only when kubernetes.io/hostname is the lowest level both before and after the change",
}
"""Rules of CRDs after 0.19, in whose place another check stands."""


def _messages(node: Any) -> Iterator[str]:
    """Yield the messages of the rules of a CRD, except those of its status."""
    if isinstance(node, dict):
        yield from (rule["message"] for rule in node.get("x-rules", ()) if "message" in rule)
        for key, value in node.items():
            if key not in ("x-rules", "status"):
                yield from _messages(value)


def test_rules_with_a_help_exist() -> None:
    """A help is found by its rule's message, which a newer CRD may change."""
    messages = {
        message for part in load("crds/kueue.x-k8s.io.json").values() for message in _messages(part)
    }
    assert RULE_HELPS.keys() <= messages
    assert messages >= NOT_APPLIED | REPLACED
    for kind in load("crds/kueue.x-k8s.io.json")["kinds"]["kueue.x-k8s.io/v1beta2"].values():
        rules = kind["schema"].get("x-rules", ())
        assert {rule["message"] for rule in rules} <= RULE_HELPS.keys() | NOT_APPLIED


@pytest.mark.parametrize(
    ("manifest", "path"),
    [
        (
            cluster_queue({}, preemption={"borrowWithinCohort": {"policy": "LowerPriority"}}),
            ("spec", "preemption", "borrowWithinCohort", "policy"),
        ),
        (
            cluster_queue({}, flavorFungibility={"preference": "BorrowingOverPreemption"}),
            ("spec", "flavorFungibility", "preference"),
        ),
        (workload({"minCount": 3}), ("spec", "podSets", 0, "minCount")),
        (kueue_object("ResourceFlavor", {"topologyName": "t"}), ("spec", "nodeLabels")),
        (
            kueue_object("Topology", {"levels": [{"nodeLabel": "a"}, {"nodeLabel": "a"}]}),
            ("spec", "levels"),
        ),
    ],
)
def test_a_rule_stands_at_its_field(manifest: Json, path: tuple[Any, ...]) -> None:
    (problem,) = problems_of(manifest)
    assert (problem.authority, problem.path) == ("kube-apiserver", path)
    assert problem.help != "see the rule in the CRD"


def test_a_transition_rule_stands_at_its_field() -> None:
    old, new = (kueue_object("LocalQueue", {"clusterQueue": name}) for name in "ab")
    (diagnostic,) = ptcompile.diff(old, new).diagnostics
    assert diagnostic.path == ("spec", "clusterQueue")
    assert str(diagnostic.help).startswith("delete the object and apply again")
