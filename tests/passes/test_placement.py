"""Placement: the catalogue's labels become node affinity beside the user's; gaps are filled from the profile."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.ir import Job
from ptcompile.passes.placement import placement
from tests import making

GPU = {"nvidia.com/gpu": "1"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}]}
DEFAULTS = {
    "queue": "batch", "schedulerName": "binpack", "serviceAccountName": "trainer",
    "imagePullSecrets": [{"name": "registry"}], "nodeSelector": {"zone": "a", "pool": "ml"},
}  # fmt: skip
CLUSTER = making.profile(
    {
        "accelerators": {"a100": {"nodeLabels": {"gpu": "a100", "nvlink": "yes"}}},
        "spot": {"nodeLabels": {"spot": "true"}},
    }
)


def expression(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": [value]}


def run(job: Job, spec: dict[str, Any] | None = None) -> Job:
    where = making.context(making.profile(spec) if spec is not None else CLUSTER)
    after = placement(job, where)
    assert placement(after, where) == after
    return after


def terms(job: Job, role: int = 0) -> Any:
    return job.roles[role].template.affinity["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]


def test_without_accelerator_or_spot_nothing_is_added() -> None:
    job = making.job(making.template(limits=GPU))
    assert run(job) == job


def test_a_named_accelerator_is_required() -> None:
    """flyte.md 5 case 8."""
    after = run(making.job(making.template(limits=GPU), accelerator="a100"))
    assert terms(after) == [{"matchExpressions": [expression("gpu", "a100"), expression("nvlink", "yes")]}]


def test_spot_is_required_with_and_without_a_gpu() -> None:
    after = run(making.job(making.template(), making.template(limits=GPU), spot=True))
    assert terms(after, 0) == terms(after, 1) == [{"matchExpressions": [expression("spot", "true")]}]


def test_both_stand_in_one_term() -> None:
    after = run(making.job(making.template(limits=GPU), accelerator="a100", spot=True))
    assert [one["key"] for one in terms(after)[0]["matchExpressions"]] == ["gpu", "nvlink", "spot"]


@pytest.mark.parametrize("limits", [{}, {"cpu": "1"}, {"nvidia.com/gpu": "0"}])
def test_a_role_without_a_gpu_is_not_sent_to_gpu_nodes(limits: dict[str, str]) -> None:
    """flyte.md 5 case 25. Their taints would keep it away for ever."""
    after = run(making.job(making.template(limits=limits), making.template(limits=GPU), accelerator="a100"))
    assert after.roles[0].template.affinity == {}
    assert terms(after, 1)


def test_every_term_of_the_user_gets_it_since_terms_are_alternatives() -> None:
    """flyte.md 4.3 and 5 case 24."""
    zone, field = {"matchExpressions": [expression("zone", "a")]}, {"matchFields": [expression("metadata.name", "n")]}
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [zone, field]}, **PREFERRED}, "podAffinity": {}}
    after = run(making.job(making.template(affinity=affinity), spot=True))
    spot = expression("spot", "true")
    assert terms(after) == [
        {"matchExpressions": [expression("zone", "a"), spot]},
        {**field, "matchExpressions": [spot]},
    ]
    assert after.roles[0].template.affinity["podAffinity"] == {}
    assert PREFERRED.items() <= after.roles[0].template.affinity["nodeAffinity"].items()
    assert zone == {"matchExpressions": [expression("zone", "a")]}, "the user's own data is not changed"


def test_an_expression_that_is_there_is_not_repeated() -> None:
    there = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [expression("spot", "true")]}]}}}
    after = run(making.job(making.template(affinity=there), spot=True))
    assert after.roles[0].template.affinity == there


def test_the_profile_fills_gaps() -> None:
    after = run(making.job(), {"defaults": DEFAULTS})
    one = after.roles[0].template
    assert (after.queue, one.node_selector) == ("batch", {"zone": "a", "pool": "ml"})
    assert one.extra == {
        "serviceAccountName": "trainer", "schedulerName": "binpack", "imagePullSecrets": [{"name": "registry"}],
    }  # fmt: skip


def test_the_user_wins() -> None:
    own = {"serviceAccountName": "me", "schedulerName": "default-scheduler", "imagePullSecrets": [{"name": "mine"}]}
    job = making.job(making.template(node_selector={"zone": "b"}, extra=own), queue="urgent")
    after = run(job, {"defaults": DEFAULTS})
    one = after.roles[0].template
    assert (after.queue, one.node_selector, one.extra) == ("urgent", {"zone": "b", "pool": "ml"}, own)
