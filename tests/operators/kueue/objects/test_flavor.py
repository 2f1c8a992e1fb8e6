"""ResourceFlavors and Topologies: labels, taints and tolerations, and what may not change."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.objects.flavor import check_flavor_update, check_topology_update
from tests.operators.kueue.objects.making import Json, kueue_object, problems_of

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
def test_the_webhook_rejects_mistakes_at_their_path(spec: Any, path: tuple[Any, ...]) -> None:
    (problem,) = problems_of(kueue_object("ResourceFlavor", spec))
    assert (problem.authority, problem.path) == ("kueue", ("spec", *path))


@pytest.mark.parametrize(
    "spec",
    [
        None,
        {},
        {"nodeTaints": [TAINT, {**TAINT, "effect": "NoExecute"}]},
        {"nodeLabels": {"a": ""}},
    ],
)
def test_valid_flavors_are_accepted(spec: Any) -> None:
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
def test_a_flavor_with_a_topology_changes_in_its_taints_alone(
    change: dict[str, Any], is_valid: bool
) -> None:
    spec = {"topologyName": "t", "nodeLabels": {"a": "b"}}
    old, new = (
        kueue_object("ResourceFlavor", spec),
        kueue_object("ResourceFlavor", {**spec, **change}),
    )
    assert bool(ptcompile.diff(old, new).diagnostics) != is_valid


HOST = "kubernetes.io/hostname"


def topology(*labels: str) -> Json:
    return kueue_object("Topology", {"levels": [{"nodeLabel": label} for label in labels]})


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
@pytest.mark.parametrize(
    ("before", "after", "is_valid"),
    [
        (("a", HOST), ("b", HOST), False),
        (("a",), ("a", HOST), False),
        (("a", HOST), ("a", HOST), True),
    ],
)
def test_levels_of_a_topology_may_change_only_above_the_last(
    before: tuple[str, ...], after: tuple[str, ...], is_valid: bool, version: str
) -> None:
    old, new = (
        {**topology(*labels), "apiVersion": f"kueue.x-k8s.io/{version}"}
        for labels in (before, after)
    )
    paths = [diagnostic.path for diagnostic in ptcompile.diff(old, new).diagnostics]
    assert paths == ([] if is_valid else [("spec", "levels")])


@pytest.mark.parametrize(("release", "fixed"), [(18, True), (19, True), (20, False)])
def test_later_releases_change_levels(release: int, fixed: bool) -> None:
    problems = FieldErrors()
    touched = (("spec", "levels", "0", "nodeLabel"),)
    update = Update(topology("a", HOST), topology("b", HOST), Versions(kueue=(0, release)), touched)
    check_topology_update(update, problems)
    assert [problem.path for problem in problems] == [("spec", "levels")] * fixed


@pytest.mark.parametrize(
    ("release", "topology_name", "touched", "count"),
    [
        ((0, 19), "t", "nodeLabels", 1),
        ((0, 20), "t", "nodeLabels", 0),
        ((0, 19), None, "nodeLabels", 0),
        ((0, 19), "t", "other", 0),
    ],
)
def test_a_flavor_with_a_topology_is_immutable_until_0_20(
    release: tuple[int, int], topology_name: str | None, touched: str, count: int
) -> None:
    problems = FieldErrors()
    flavor = kueue_object(
        "ResourceFlavor", {"topologyName": topology_name, "nodeLabels": {"a": "b"}}
    )
    check_flavor_update(
        Update(flavor, flavor, Versions(kueue=release), (("spec", touched),)), problems
    )
    assert len(problems) == count
