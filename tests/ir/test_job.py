"""The compiler's job model: immutability, and arithmetic on nodes and resource amounts."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.ir.job import (
    JOIN_TIMEOUT_SECONDS,
    Derived,
    IndexedGroup,
    Job,
    JobClaim,
    JobNames,
    Role,
    RunPolicy,
    TopologyConstraint,
    accelerators_in,
    map_templates,
    with_rendezvous,
)
from ptcompile.ir.pods import Container, PodTemplate, Resources, resources
from tests import making


def test_a_level_sets_both_request_and_limit() -> None:
    above, below = (
        Resources({"cpu": "1"}, {"memory": "2Gi"}),
        Resources({"memory": "1Gi", "x/y": "1"}, {"cpu": "9"}),
    )
    assert above.over(below) == Resources(
        {"cpu": "1", "memory": "2Gi", "x/y": "1"}, {"memory": "2Gi", "x/y": "1"}
    )


def test_null_removes_a_request_or_limit_at_its_level_and_below() -> None:
    above = resources({"memory": "4Gi"}, {"cpu": None, "memory": None})
    below = resources({"cpu": "1"}, {"cpu": "2", "memory": "8Gi"})
    assert above.over(below)[:2] == ({"cpu": "1", "memory": "4Gi"}, {})
    assert above.over(below).over(below) == above.over(below)


def test_an_amount_overrides_a_null_of_a_lower_level() -> None:
    below = resources({"cpu": None}, {"cpu": None}).over(Resources({"cpu": "1"}))
    assert below[:2] == ({}, {})
    assert Resources({"cpu": "2"}, {"cpu": "2"}).over(below) == Resources(
        {"cpu": "2"}, {"cpu": "2"}
    )


def test_over_is_idempotent_and_has_an_identity() -> None:
    one = Resources({"cpu": "1"}, {"cpu": "2"})
    assert one.over(one) == one.over(Resources()) == Resources().over(one) == one


def test_nodes_are_pods() -> None:
    job = making.job(making.template(), making.template(), replicas=3)
    assert job.nodes == 4
    assert not job.elastic
    assert job._replace(min_nodes=2).elastic


def test_map_templates_reaches_each_role() -> None:
    job = making.job(making.template(), making.template())
    changed = map_templates(job, lambda template: template._replace(labels={"a": "b"}))
    assert [role.template.labels for role in changed.roles] == [{"a": "b"}] * 2
    assert [role.template.labels for role in job.roles] == [{}] * 2


@pytest.mark.parametrize(
    "value", [making.job(), making.template(), Resources(), RunPolicy(), making.LAUNCH]
)
def test_everything_is_frozen(value: object) -> None:
    assert isinstance(value, tuple)
    with pytest.raises(AttributeError):
        setattr(value, type(value)._fields[0], None)  # type: ignore[attr-defined]


def test_zero_is_not_absent() -> None:
    assert RunPolicy(backoff_limit=0) != RunPolicy()
    assert isinstance(making.job(run_policy=RunPolicy(ttl_seconds_after_finished=0)), Job)


def test_map_templates_loses_no_field() -> None:
    role = Role._make(Role._fields)._replace(template=making.template())
    job = Job._make(Job._fields)._replace(roles=(role,))
    changed = map_templates(job, lambda template: template._replace(labels={"a": "b"}))
    assert changed._replace(roles=job.roles) == job
    assert [changed_role._replace(template=role.template) for changed_role in changed.roles] == [
        role
    ]


def test_with_env_loses_no_field() -> None:
    main = Container._make(Container._fields)
    template = PodTemplate._make(PodTemplate._fields)._replace(main=main)
    assert main.with_env([])._replace(env=main.env) == main
    assert template.with_env([])._replace(main=main) == template


def test_map_templates_returns_the_same_job_if_nothing_changes() -> None:
    job = making.job(
        making.template(),
        making.template(),
        priority="high",
        topology=TopologyConstraint("rack", required=True),
    )
    assert map_templates(job, lambda template: template) is job
    beside = job._replace(
        roles=(*job.roles, Role("ps", 2, making.template(), "OnFailure", trains=False))
    )
    changed = map_templates(
        beside, lambda template: template, lambda template: template._replace(labels={"a": "b"})
    )
    assert [a is b for a, b in zip(changed.roles, beside.roles, strict=True)] == [True, True, False]
    last = beside.roles[2]
    labelled = last._replace(template=last.template._replace(labels={"a": "b"}))
    assert changed == beside._replace(roles=(*beside.roles[:2], labelled))


def test_amounts_have_a_fixed_order() -> None:
    names = ["z/z", "memory", "a/a", "ephemeral-storage", "hugepages-2Mi", "cpu"]
    half = dict.fromkeys(names, "1")
    expected = ["cpu", "memory", "ephemeral-storage", "a/a", "hugepages-2Mi", "z/z"]
    both = Resources(half, half).over(Resources())
    assert [*both.requests] == [*both.limits] == expected


def test_a_spec_that_sets_nothing_has_the_defaults_of_a_job() -> None:
    spec, _ = decode_spec(yaml.safe_load(making.smallest()))
    assert spec is not None
    job = lower(spec, making.DEFAULT_CLUSTER)
    assert job == Job("train", job.roles, 1, launch=job.launch)
    assert not job.spot
    assert job.shared_memory is True
    assert job.master_port == 23456
    assert not job.compute_domain
    assert not job.runtime_nodes
    assert not job.run_policy.suspend
    assert job.names == JobNames()
    assert [role.trains for role in job.roles] == [True]


def test_a_group_is_one_job() -> None:
    assert IndexedGroup("node", 4).jobs == 1


def test_a_derived_name_is_a_label() -> None:
    assert Derived("the pod", "{job}-0", "docs/facts").limit == 63


def test_a_job_counts_its_nodes_and_pods() -> None:
    loaders = Role("loader", 2, making.template(), trains=False)
    job = making.job(replicas=4, min_nodes=2, max_nodes=6)
    job = job._replace(roles=(*job.roles, loaders))
    assert job.nodes == 4
    assert job.pods == 6
    assert job.min_pods == 4
    assert job.peak_nodes == 6
    assert job.elastic
    assert [role.name for role in job.training_roles] == ["node"]
    assert job.auxiliary_roles == (loaders,)
    fixed = making.job(replicas=4)
    assert fixed.peak_nodes == 4
    assert fixed.min_pods == 4
    assert not fixed.elastic


C10D: list[dict[str, Any]] = [
    {"max_restarts": 1},
    {"min_nodes": 1},
    {"restart": "OnFailure"},
    {"restart": "Always", "on_pod_failure": "RestartJob"},
    {"backoff_limit": 3},
    {"on_pod_failure": "RestartPod"},
    {"on_disruption": "Ignore"},
    {"spot": True},
    {"rdzv_backend": "c10d"},
    {"rdzv_backend": "c10d", "replicas": 1},
]
STATIC: list[dict[str, Any]] = [
    {},
    {"max_restarts": 1, "replicas": 1},
    {"restart": "Never"},
    {"backoff_limit": 0},
    {"on_pod_failure": "FailJob"},
    {"backoff_limit": 3, "on_pod_failure": "RestartJob"},
    {"on_disruption": "Count"},
    {"spot": True, "on_disruption": "Count"},
    {"rdzv_backend": "static", "max_restarts": 1},
    {"loader": "OnFailure"},
]


def rendezvous(
    replicas: int = 2, restart: Any = None, loader: Any = None, runtime: Any = None, **settings: Any
) -> dict[str, Any]:
    """Return backend and settings of a launch, which has no backend unless it is among the settings."""
    launch = making.LAUNCH._replace(rdzv_backend=None)
    launch = launch._replace(
        **{name: settings.pop(name) for name in launch._fields if name in settings}
    )
    policy = RunPolicy(
        **{name: settings.pop(name) for name in RunPolicy._fields if name in settings}
    )
    job = making.job(
        replicas=replicas, launch=launch, run_policy=policy, runtime=runtime, **settings
    )
    role = job.roles[0]._replace(restart_policy=restart)
    job = job._replace(
        roles=(role, *([Role("l", 1, making.template(), loader, trains=False)] if loader else []))
    )
    done = with_rendezvous(job, launch)
    return {"backend": done.rdzv_backend, **done.rdzv_conf}


@pytest.mark.parametrize("settings", C10D, ids=str)
def test_nodes_that_may_return_meet_through_c10d(settings: dict[str, Any]) -> None:
    assert rendezvous(**settings)["backend"] == "c10d"


@pytest.mark.parametrize("settings", STATIC, ids=str)
def test_other_nodes_meet_statically(settings: dict[str, Any]) -> None:
    assert rendezvous(**settings)["backend"] == "static"


WAIT = str(JOIN_TIMEOUT_SECONDS)
WAITS = {"timeout": WAIT, "join_timeout": WAIT}


@pytest.mark.parametrize(
    ("settings", "waits"),
    [
        ({}, WAITS),
        ({"replicas": 1}, {}),
        ({"replicas": 1, "rdzv_conf": {"a": "b"}}, {"a": "b"}),
        ({"spot": True}, {**WAITS, "read_timeout": WAIT}),
        (
            {"spot": True, "rdzv_conf": {"timeout": "60"}},
            {**WAITS, "timeout": "60", "read_timeout": "60"},
        ),
        (
            {"spot": True, "rdzv_conf": {"timeout": "soon"}},
            {**WAITS, "timeout": "soon", "read_timeout": WAIT},
        ),
        (
            {"spot": True, "rdzv_conf": {"timeout": None}},
            {**WAITS, "timeout": None, "read_timeout": None},
        ),
        ({"spot": True, "rdzv_conf": {"read_timeout": "5"}}, {**WAITS, "read_timeout": "5"}),
        ({"rdzv_conf": {"timeout": "60"}}, {**WAITS, "timeout": "60"}),
        ({"runtime": {"name": "r"}}, WAITS),
        ({"runtime": {"name": "r"}, "entry": ()}, {}),
        ({"entry": ()}, WAITS),
    ],
    ids=str,
)
def test_the_backend_decides_how_long_nodes_wait(
    settings: dict[str, Any], waits: dict[str, str | None]
) -> None:
    launch = rendezvous(**settings)
    del launch["backend"]
    assert launch == waits


def test_accelerators_of_claims_are_counted() -> None:
    claims = [
        JobClaim("gpus", "train-gpus", "gpu.nvidia.com", 4, accelerators=True),
        JobClaim("nics", "train-nics", "nic", 2),
        JobClaim("more", "train-more", "gpu.nvidia.com", 8, accelerators=True),
    ]
    pod = {"resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "train-gpus"},
                              {"name": "nics", "resourceClaimTemplateName": "train-nics"},
                              {"name": "own", "resourceClaimName": "shared"}]}  # fmt: skip
    assert accelerators_in(claims, pod) == 4
    assert accelerators_in(claims, {"resourceClaims": None}) == accelerators_in(claims, {}) == 0


def test_removed_settings_of_the_rendezvous_are_not_written() -> None:
    assert making.LAUNCH._replace(rdzv_conf={"timeout": "60", "read_timeout": None}).settings == {
        "timeout": "60"
    }


def test_a_null_keeps_a_request_or_a_limit_empty() -> None:
    given = resources({"cpu": "1", "memory": None}, {"cpu": None})
    assert given == Resources(
        {"cpu": "1"}, {}, frozenset({("requests", "memory"), ("limits", "cpu")})
    )
    below = Resources({"cpu": "2", "memory": "4Gi"}, {"cpu": "8", "memory": "8Gi", "x/y": "1"})
    assert given.over(below) == Resources(
        {"cpu": "1", "x/y": "1"},
        {"memory": "8Gi", "x/y": "1"},
        frozenset({("requests", "memory"), ("limits", "cpu")}),
    )


def test_a_lower_level_s_null_counts_for_resources_that_the_upper_one_does_not_name() -> None:
    below = resources({"cpu": "2"}, {"cpu": None, "memory": None})
    above = Resources({}, {"memory": "1Gi"})
    assert above.over(below) == Resources(
        {"cpu": "2", "memory": "1Gi"}, {"memory": "1Gi"}, frozenset({("limits", "cpu")})
    )


def test_resources_that_are_never_shared_have_equal_requests_and_limits() -> None:
    assert Resources({"gpu": "8", "nvidia.com/gpu": "1", "cpu": "2"}, {}).over(
        Resources({}, {})
    ) == Resources(
        {"cpu": "2", "gpu": "8", "nvidia.com/gpu": "1"}, {"gpu": "8", "nvidia.com/gpu": "1"}
    )
