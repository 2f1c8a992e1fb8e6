"""The compiler's job model: immutability, and arithmetic on nodes and resource amounts."""

from __future__ import annotations

import pytest

from ptcompile.ir.job import Job, Role, RunPolicy, TopologyConstraint, map_templates
from ptcompile.ir.pods import Resources, resources
from tests import making


def test_a_level_sets_both_request_and_limit() -> None:
    above, below = Resources({"cpu": "1"}, {"memory": "2Gi"}), Resources({"memory": "1Gi", "x/y": "1"}, {"cpu": "9"})
    assert above.over(below) == Resources({"cpu": "1", "memory": "2Gi", "x/y": "1"}, {"memory": "2Gi", "x/y": "1"})


def test_null_removes_a_request_or_limit_at_its_level_and_below() -> None:
    above = resources({"memory": "4Gi"}, {"cpu": None, "memory": None})
    below = resources({"cpu": "1"}, {"cpu": "2", "memory": "8Gi"})
    assert above.over(below)[:2] == ({"cpu": "1", "memory": "4Gi"}, {})
    assert above.over(below).over(below) == above.over(below)


def test_an_amount_overrides_a_null_of_a_lower_level() -> None:
    below = resources({"cpu": None}, {"cpu": None}).over(Resources({"cpu": "1"}))
    assert below[:2] == ({}, {})
    assert Resources({"cpu": "2"}, {"cpu": "2"}).over(below) == Resources({"cpu": "2"}, {"cpu": "2"})


def test_over_is_idempotent_and_has_an_identity() -> None:
    one = Resources({"cpu": "1"}, {"cpu": "2"})
    assert one.over(one) == one.over(Resources()) == Resources().over(one) == one


def test_nodes_are_pods() -> None:
    job = making.job(making.template(), making.template(), replicas=3)
    assert (job.nodes, job.elastic) == (4, False)
    assert job._replace(min_nodes=2).elastic


def test_map_templates_reaches_each_role() -> None:
    job = making.job(making.template(), making.template())
    changed = map_templates(job, lambda one: one._replace(labels={"a": "b"}))
    assert [role.template.labels for role in changed.roles] == [{"a": "b"}] * 2
    assert [role.template.labels for role in job.roles] == [{}] * 2


@pytest.mark.parametrize("value", [making.job(), making.template(), Resources(), RunPolicy(), making.LAUNCH])
def test_everything_is_frozen(value: object) -> None:
    assert isinstance(value, tuple)
    with pytest.raises(AttributeError):
        setattr(value, type(value)._fields[0], None)  # type: ignore[attr-defined]


def test_zero_is_not_absent() -> None:
    assert RunPolicy(backoff_limit=0) != RunPolicy()
    assert isinstance(making.job(run_policy=RunPolicy(ttl_seconds_after_finished=0)), Job)


def test_map_templates_returns_the_same_job_if_nothing_changes() -> None:
    job = making.job(
        making.template(), making.template(), priority="high", topology=TopologyConstraint("rack", required=True)
    )
    assert map_templates(job, lambda one: one) is job
    beside = job._replace(roles=(*job.roles, Role("ps", 2, making.template(), "OnFailure", trains=False)))
    changed = map_templates(beside, lambda one: one, lambda one: one._replace(labels={"a": "b"}))
    assert [a is b for a, b in zip(changed.roles, beside.roles, strict=True)] == [True, True, False]
    last = beside.roles[2]
    labelled = last._replace(template=last.template._replace(labels={"a": "b"}))
    assert changed == beside._replace(roles=(*beside.roles[:2], labelled))


def test_amounts_have_a_fixed_order() -> None:
    names = ["z/z", "memory", "a/a", "ephemeral-storage", "hugepages-2Mi", "cpu"]
    half = dict.fromkeys(names, "1")
    wanted = ["cpu", "memory", "ephemeral-storage", "a/a", "hugepages-2Mi", "z/z"]
    both = Resources(half, half).over(Resources())
    assert [*both.requests] == [*both.limits] == wanted
