"""Any value anywhere in a stream of manifests: import returns a spec that compiles, or findings, and never raises."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import ptcompile
from ptcompile.operators.targets import TARGETS
from tests.making import smallest
from tests.places import places, put
from tests.strategies import GARBAGE

JOB = """
    env: {A: "1"}
    volumes: [{name: v, emptyDir: {}}]
    volumeMounts: [{name: v, mountPath: /v}]
"""
ROLES = "    nodes: 2\n    roles: {data: {replicas: 1, command: [serve]}}"
MORE = {"pod": "", "job": "    nodes: 2", "pytorchjob": "    nodes: 2"}
"""Extra fields for targets without roles."""
OF_NO_KNOWN_KIND = {
    "apiVersion": "x.io/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "n"},
}
"""An object of an unknown kind, whose fields are not validated."""


@cache
def manifests(target: str) -> list[Any]:
    """Return the manifests of a job, and an object of a kind that import does not know."""
    made = ptcompile.compile(smallest(JOB + MORE.get(target, ROLES)), target=target)
    assert made.ok
    return [*made.manifests, OF_NO_KNOWN_KIND]


def assert_total(stream: list[Any], *, lossy: bool) -> None:
    """Assert that imported specs compile, and that an import without specs has diagnostics."""
    imported = ptcompile.import_manifests(stream, lossy=lossy)
    assert imported.found or imported.diagnostics
    for spec in imported.found:
        assert ptcompile.compile(spec.yaml(), cluster=imported.profile, lint=False).ok


def test_a_job_without_pods_is_imported() -> None:
    """No pod runs the template's torchrun, so its options are unknown."""
    path = (0, "spec", "replicatedJobs", 0, "template", "spec", "completions")
    assert_total(put(manifests("jobset"), path, 0), lossy=False)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=40)
@given(data=st.data(), lossy=st.booleans())
def test_any_value_anywhere_is_imported_or_reported(
    target: str, data: st.DataObject, lossy: bool
) -> None:
    whole = manifests(target)
    path = data.draw(st.sampled_from(list(places(whole))))
    value: Any = data.draw(
        st.sampled_from([None, "", [], {}, 0, 1.5, [None], [1], "::x", {"name": {}}]) | GARBAGE
    )
    assert_total(put(whole, path, value), lossy=lossy)
