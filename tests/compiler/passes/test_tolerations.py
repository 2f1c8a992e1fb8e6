"""The pass `tolerations`: only GPU roles get the profile's GPU tolerations, sorted, deduplicated and after the
user's.
"""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.passes.tolerations import tolerations
from ptcompile.ir.job import Job
from tests import making

SPOT = {"key": "spot", "operator": "Exists"}
MINE = {"key": "mine", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
CLUSTER = making.profile(
    {
        "gpu": {
            "tolerations": [{"key": "z", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]
        },
        "accelerators": {
            "a100": {
                "nodeLabels": {"gpu": "a100"},
                "tolerations": [{"key": "a100", "operator": "Exists"}],
            }
        },
        "spot": {"tolerations": [SPOT]},
        "defaults": {"tolerations": [{"key": "every", "operator": "Exists"}]},
    }
)


def run(job: Job, cluster: Any = None) -> list[list[dict[str, Any]]]:
    where = making.context(*([cluster] if cluster else []))
    after = tolerations(job, where)
    assert tolerations(after, where) == after
    return [[dict(toleration) for toleration in role.template.tolerations] for role in after.roles]


@pytest.mark.parametrize(
    ("resource", "tolerates"),
    [
        ("nvidia.com/gpu", True),
        ("nvidia.com/mig-1g.5gb", True),
        ("amd.com/gpu", True),
        ("habana.ai/gaudi", True),
        ("google.com/tpu", True),
        ("aws.amazon.com/neuron", True),
        ("cpu", False),
        ("vpc.amazonaws.com/efa", False),
        ("rdma/hca", False),
        ("nvidia.com/gpumem", False),
    ],
)
@pytest.mark.parametrize("cluster", [None, making.profile({"queueSystem": "kueue"})])
def test_the_default_toleration_is_the_resource_s_name(
    cluster: Any, resource: str, tolerates: bool
) -> None:
    """Matches Kubernetes' admission plugin ExtendedResourceToleration."""
    own = {"key": resource, "operator": "Exists", "effect": "NoSchedule"}
    assert run(making.job(making.template(limits={resource: "1"})), cluster) == [
        [own] if tolerates else []
    ]


def test_each_accelerator_has_its_own() -> None:
    job = making.job(making.template(limits={"nvidia.com/gpu": "1", "amd.com/gpu": "1"}))
    assert [one["key"] for one in run(job)[0]] == ["amd.com/gpu", "nvidia.com/gpu"]


def test_a_profile_may_disable_tolerations() -> None:
    job = making.job(making.template(limits={"nvidia.com/gpu": "1"}))
    assert run(job, making.profile({"gpu": {"tolerations": []}})) == [[]]


def test_the_user_s_toleration_is_not_repeated() -> None:
    own = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    assert run(making.job(making.template(limits={"nvidia.com/gpu": "1"}, tolerations=(own,)))) == [
        [own]
    ]


def test_only_the_role_with_a_gpu_gets_tolerations() -> None:
    """Source: docs/facts/flyte.md#cases 7."""
    job = making.job(
        making.template(limits={"cpu": "1"}), making.template(limits={"nvidia.com/gpu": "1"})
    )
    assert [[one["key"] for one in role] for role in run(job)] == [[], ["nvidia.com/gpu"]]


@pytest.mark.parametrize("zero", ["0", "0m", "0.0"])
def test_zero_gpus_need_no_toleration(zero: str) -> None:
    """A zero quantity requests nothing: docs/facts/flyte.md#units-and-names."""
    assert run(making.job(making.template(limits={"nvidia.com/gpu": zero}))) == [[]]


@pytest.mark.parametrize(
    ("limits", "fields", "wanted"),
    [
        ({}, {}, ["every"]),
        ({}, {"spot": True}, ["every", "spot"]),
        ({"nvidia.com/gpu": "1"}, {}, ["b", "every", "z"]),
        ({"nvidia.com/gpu": "1"}, {"accelerator": "a100"}, ["a100", "b", "every", "z"]),
        (
            {"nvidia.com/gpu": "1"},
            {"accelerator": "a100", "spot": True},
            ["a100", "b", "every", "spot", "z"],
        ),
        ({}, {"accelerator": "a100"}, ["every"]),
    ],
)
def test_added_tolerations_are_sorted(
    limits: dict[str, str], fields: dict[str, Any], wanted: list[str]
) -> None:
    (of_role,) = run(making.job(making.template(limits=limits), **fields), CLUSTER)
    assert [one["key"] for one in of_role] == wanted


def test_the_user_s_tolerations_come_first_unchanged_and_once() -> None:
    job = making.job(
        making.template(limits={"nvidia.com/gpu": "1"}, tolerations=(SPOT, MINE)), spot=True
    )
    (of_role,) = run(job, CLUSTER)
    assert of_role[:2] == [SPOT, MINE]
    assert [one["key"] for one in of_role] == ["spot", "mine", "b", "every", "z"]


def test_one_taint_named_twice_by_the_profile_is_one_toleration() -> None:
    twice = making.profile(
        {"gpu": {"tolerations": [SPOT, SPOT]}, "defaults": {"tolerations": [SPOT]}}
    )
    assert run(making.job(making.template(limits={"nvidia.com/gpu": "1"})), twice) == [[SPOT]]


def test_an_absent_operator_is_equal() -> None:
    """In core/v1, operator defaults to Equal, so this toleration is equivalent to the profile's."""
    written = {"key": "k", "value": "dedicated", "effect": "NoSchedule"}
    cluster = making.profile({"gpu": {"tolerations": [{**written, "operator": "Equal"}]}})
    job = making.job(making.template(limits={"nvidia.com/gpu": "1"}, tolerations=(written,)))
    assert run(job, cluster) == [[written]]


BY_RESOURCE = {
    "rdma/hca": [{"key": "rdma", "operator": "Exists"}],
    "ephemeral-storage": [{"key": "disk"}],
}


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, []),
        ({"limits": {"rdma/hca": "1"}}, ["rdma"]),
        ({"limits": {"rdma/hca": "0"}}, []),
        ({"requests": {"ephemeral-storage": "1Gi"}}, ["disk"]),
        ({"sidecars": ({"name": "s", "resources": {"limits": {"rdma/hca": 1}}},)}, ["rdma"]),
        (
            {
                "extra": {
                    "initContainers": [{"name": "i", "resources": {"requests": {"rdma/hca": "1"}}}]
                }
            },
            ["rdma"],
        ),
        ({"limits": {"nvidia.com/gpu": "1"}}, ["nvidia.com/gpu"]),
    ],
)
def test_a_requested_resource_adds_its_toleration(
    fields: dict[str, Any], wanted: list[str]
) -> None:
    """Any container counts, not only the main one.

    Source: docs/facts/flyte.md#gpu-tolerations, #order-of-tolerations, #cases 23, 30.
    """
    (of_role,) = run(
        making.job(making.template(**fields)), making.profile({"resourceTolerations": BY_RESOURCE})
    )
    assert [one["key"] for one in of_role] == wanted


def test_tolerations_of_the_profile_s_template_come_after_the_user_s() -> None:
    base = {"spec": {"tolerations": [{"key": "z"}, SPOT]}}
    where = making.profile({"defaults": {"podTemplate": base, "tolerations": [{"key": "a"}]}})
    (of_role,) = run(making.job(making.template(tolerations=(MINE, SPOT))), where)
    assert [one["key"] for one in of_role] == ["mine", "spot", "a", "z"]
