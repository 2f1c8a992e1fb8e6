"""ResourceFlavors: labels, taints and tolerations, and what may not change."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.operators.kueue.objects.making import kueue_object, problems_of

TAINT = {"key": "a", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"nodeLabels": {"a b": "c"}}, ("nodeLabels", "a b")),
        ({"nodeLabels": {"a": "c d"}}, ("nodeLabels", "a")),
        ({"nodeTaints": [{**TAINT, "key": "a b"}]}, ("nodeTaints", 0, "key")),
        ({"nodeTaints": [{"effect": "NoSchedule"}]}, ("nodeTaints", 0, "key")),
        ({"nodeTaints": [{**TAINT, "value": "b c"}]}, ("nodeTaints", 0, "value")),
        ({"nodeTaints": [TAINT, TAINT]}, ("nodeTaints", 1)),
        ({"tolerations": [{"key": "a b"}]}, ("tolerations", 0, "key")),
    ],
)
def test_refused(spec: Any, path: tuple[Any, ...]) -> None:
    (problem,) = problems_of(kueue_object("ResourceFlavor", spec))
    assert (problem.authority, problem.path) == ("kueue", ("spec", *path))


@pytest.mark.parametrize(
    "spec", [None, {}, {"nodeTaints": [TAINT, {**TAINT, "effect": "NoExecute"}]}, {"nodeLabels": {"a": ""}}]
)
def test_accepted(spec: Any) -> None:
    assert problems_of(kueue_object("ResourceFlavor", spec)) == []


@pytest.mark.parametrize(
    ("change", "is_valid"),
    [
        ({"topologyName": "u"}, False),
        ({"nodeLabels": {"a": "c"}}, False),
        ({"tolerations": [{"key": "a", "operator": "Exists"}]}, False),
        ({"nodeTaints": [TAINT]}, True),
    ],
)
def test_a_flavor_with_a_topology_changes_in_its_taints_alone(change: dict[str, Any], is_valid: bool) -> None:
    spec = {"topologyName": "t", "nodeLabels": {"a": "b"}}
    old, new = kueue_object("ResourceFlavor", spec), kueue_object("ResourceFlavor", {**spec, **change})
    assert bool(ptcompile.diff(old, new).diagnostics) != is_valid
