"""Topologies: their levels do not change."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.objects.topology import check_topology_update
from ptcompile.registry.model import Update
from tests.operators.kueue.objects.making import Json, kueue_object

HOST = "kubernetes.io/hostname"


def topology(*labels: str) -> Json:
    return kueue_object("Topology", {"levels": [{"nodeLabel": label} for label in labels]})


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
@pytest.mark.parametrize(
    ("before", "after", "is_valid"),
    [(("a", HOST), ("b", HOST), False), (("a",), ("a", HOST), False), (("a", HOST), ("a", HOST), True)],
)
def test_levels(before: tuple[str, ...], after: tuple[str, ...], is_valid: bool, version: str) -> None:
    old, new = ({**topology(*labels), "apiVersion": f"kueue.x-k8s.io/{version}"} for labels in (before, after))
    paths = [diagnostic.path for diagnostic in ptcompile.diff(old, new).diagnostics]
    assert paths == ([] if is_valid else [("spec", "levels")])


@pytest.mark.parametrize(("release", "fixed"), [(18, True), (19, True), (20, False)])
def test_later_releases_change_levels(release: int, fixed: bool) -> None:
    problems: list[Problem] = []
    touched = (("spec", "levels", "0", "nodeLabel"),)
    update = Update(topology("a", HOST), topology("b", HOST), Versions(kueue=(0, release)), touched)
    check_topology_update(update, problems)
    assert [problem.path for problem in problems] == [("spec", "levels")] * fixed
