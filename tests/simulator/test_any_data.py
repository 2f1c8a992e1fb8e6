"""Names given by operators, arbitrary data, and wide jobs."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ptcompile.simulator.as_text import overview
from ptcompile.simulator.world import simulate
from tests.counting import steps
from tests.oracle import rows
from tests.simulator.worlds import everything, jobset, pod_of, pytorchjob, volcano


@pytest.mark.parametrize("operator", ["pytorchjob", "volcano", "jobset", "trainjob"])
def test_pods_have_the_names_that_operators_give(operator: str) -> None:
    right = wrong = 0
    for row, manifest in list(rows(operator))[::9]:
        if row["accepted"] and row.get("pods"):
            names = {pod["name"] for pod in simulate([manifest]).to_dict()["pods"]}
            right += sum(pod["name"] in names for pod in row["pods"])
            wrong += sum(pod["name"] not in names for pod in row["pods"])
    assert right > 20
    assert wrong <= right * 0.005


@pytest.mark.parametrize("operator", ["pytorchjob", "volcano", "jobset", "trainjob"])
def test_recorded_manifests_raise_nothing(operator: str) -> None:
    for _, manifest in list(rows(operator))[::40]:
        everything(simulate([manifest]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.sampled_from([pytorchjob(), volcano(), jobset(["torchrun"]), pod_of({})]), st.data())
def test_any_data_is_accepted(manifest: dict[str, Any], data: st.DataObject) -> None:
    out = copy.deepcopy(manifest)
    node: Any = out["spec"]
    while isinstance(node, dict | list) and node:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.integers(0, 3)) == 0 or not isinstance(node[key], dict | list):
            node[key] = data.draw(JSON)
            break
        node = node[key]
    everything(simulate([out]))


def test_a_wide_job_costs_as_much_as_a_narrow_one() -> None:
    """10,000 pods take less than 5 times the work of 100, because they are folded."""

    def cost(workers: int) -> int:
        return steps(lambda: overview(simulate([pytorchjob(workers), volcano(workers)])))

    _, few, many = cost(100), cost(100), cost(10_000)  # load modules before measuring
    assert many < 5 * few
