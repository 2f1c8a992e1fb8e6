"""The pass `resources`: a role overrides the job, and the job the profile, key by key.

The level that sets a resource sets its request and its limit; nothing is clamped, and no limit is invented.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ptcompile.compiler.passes.resources import resources
from ptcompile.ir.pods import Container, PodTemplate, Resources, resources as amounts
from tests import making

Amounts = Mapping[str, str | None]
Pair = tuple[Amounts, Amounts]
GPU = "nvidia.com/gpu"

TABLE: dict[str, tuple[Pair, Pair, Pair, Pair]] = {
    # (role), (job), (profile), (after): each (requests, limits)
    "nothing at all": (({}, {}), ({}, {}), ({}, {}), ({}, {})),
    "a missing limit stays missing": (({"cpu": "1"}, {}), ({}, {}), ({}, {}), ({"cpu": "1"}, {})),
    "nor does the profile's limit apply: a level sets both request and limit": (
        ({"cpu": "4"}, {}), ({}, {}), ({"cpu": "1"}, {"cpu": "2"}), ({"cpu": "4"}, {}),
    ),
    "a missing device limit equals the request, as Kubernetes requires": (
        ({GPU: "8", "rdma/hca": "1", "hugepages-2Mi": "1Gi"}, {}), ({}, {}), ({}, {}),
        ({GPU: "8", "rdma/hca": "1", "hugepages-2Mi": "1Gi"},) * 2,
    ),
    "a profile's request without a limit gets none either": (
        ({}, {}), ({}, {}), ({"cpu": "1"}, {"memory": "2Gi"}), ({"cpu": "1", "memory": "2Gi"}, {"memory": "2Gi"}),
    ),
    "a role's null removes the job's limit and keeps its request": (
        ({}, {"cpu": None}), ({"cpu": "4"}, {"cpu": "4"}), ({}, {}), ({"cpu": "4"}, {}),
    ),
    "null for both request and limit removes the resource": (
        ({"cpu": None}, {"cpu": None}), ({"cpu": "4"}, {}), ({"cpu": "1"}, {"cpu": "2"}), ({}, {}),
    ),
    "the job's null overrides the profile, but not the role": (
        ({"memory": "1Gi"}, {}), ({}, {"cpu": None, "memory": None}), ({"cpu": "1"}, {"cpu": "2", "memory": "9Gi"}),
        ({"cpu": "1", "memory": "1Gi"}, {}),
    ),
    "a limit whose request is null gets no request": (
        ({"cpu": None}, {"cpu": "2"}), ({}, {}), ({}, {}), ({}, {"cpu": "2"}),
    ),
    "the profile's null adds nothing": (({}, {}), ({}, {}), ({"cpu": "1"}, {"cpu": None}), ({"cpu": "1"}, {})),
    "a role with zero devices does not inherit any": (
        ({GPU: "0"}, {GPU: "0"}), ({GPU: "8"}, {GPU: "8"}), ({}, {}), ({}, {}),
    ),
    "a null gpu removes the device": (({"gpu": None}, {"gpu": None}), ({"gpu": "8"}, {"gpu": "8"}), ({}, {}), ({}, {})),
    "a missing request takes the limit (docs/facts/flyte.md#cases 17)": (
        ({}, {"cpu": "2"}), ({}, {}), ({}, {}), ({"cpu": "2"}, {"cpu": "2"}),
    ),
    "request and limit are unchanged": (({"cpu": "1"}, {"cpu": "2"}), ({}, {}), ({}, {}), ({"cpu": "1"}, {"cpu": "2"})),
    "the job sets the resources that the role omits": (
        ({"cpu": "1"}, {"cpu": "1"}), ({"memory": "4Gi"}, {"memory": "8Gi"}), ({}, {}),
        ({"cpu": "1", "memory": "4Gi"}, {"cpu": "1", "memory": "8Gi"}),
    ),
    "a level sets both request and limit: the job's request is ignored": (
        ({}, {"memory": "4Gi"}), ({"memory": "8Gi"}, {"memory": "16Gi"}), ({}, {}),
        ({"memory": "4Gi"}, {"memory": "4Gi"}),
    ),
    "role over job over profile": (
        ({"cpu": "1"}, {}), ({"cpu": "2", "memory": "2Gi"}, {}),
        ({"cpu": "3", "memory": "3Gi", "ephemeral-storage": "3Gi"}, {}),
        ({"cpu": "1", "memory": "2Gi", "ephemeral-storage": "3Gi"}, {}),
    ),
    "the profile's default limit never clamps (docs/facts/flyte.md#where-ptcompile-differs)": (
        ({"cpu": "40"}, {"cpu": "50"}), ({}, {}), ({"cpu": "10"}, {"cpu": "20"}), ({"cpu": "40"}, {"cpu": "50"}),
    ),
    "gpu takes the profile's name": (({"gpu": "8"}, {"gpu": "8"}), ({}, {}), ({}, {}), ({GPU: "8"}, {GPU: "8"})),
    "a role's gpu leaves cpu and memory to the job (docs/facts/flyte.md#cases 21)": (
        ({"gpu": "4"}, {"gpu": "4"}), ({"cpu": "2", "memory": "4Gi", "gpu": "1"}, {"cpu": "4", "memory": "8Gi"}),
        ({}, {}),
        ({"cpu": "2", "memory": "4Gi", GPU: "4"}, {"cpu": "4", "memory": "8Gi", GPU: "4"}),
    ),
    "an extended resource has an equal request and limit": (
        ({}, {"vpc.amazonaws.com/efa": "4"}), ({}, {}), ({}, {}), ({"vpc.amazonaws.com/efa": "4"},) * 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_a_role_precedes_the_job_and_the_job_the_profile(
    row: tuple[Pair, Pair, Pair, Pair],
) -> None:
    role, whole, defaults, (requests, limits) = row
    cluster = making.profile(
        {"defaults": {"requests": dict(defaults[0]), "limits": dict(defaults[1])}}
    )
    main = Container("pytorch", "img:1", resources=amounts(*role))
    before = making.job(PodTemplate(main), resources=amounts(*whole))
    after = resources(before, making.context(cluster))
    assert after.roles[0].template.main.resources[:2] == (requests, limits)
    assert resources(after, making.context(cluster)) == after


def test_the_accelerator_determines_the_gpu_resource() -> None:
    tpu = {"resourceName": "google.com/tpu", "nodeLabels": {"x": "v5p"}}
    cluster = making.profile({"accelerators": {"v5p": tpu}})
    after = resources(
        making.job(making.template({"gpu": "4"}), accelerator="v5p"), making.context(cluster)
    )
    assert after.roles[0].template.main.resources.limits == {"google.com/tpu": "4"}


def test_a_job_s_gpu_overrides_the_profile_s_default() -> None:
    cluster = making.profile({"defaults": {"requests": {GPU: "1"}}})
    after = resources(making.job(making.template({"gpu": "2"})), making.context(cluster))
    assert after.roles[0].template.main.resources.requests == {GPU: "2"}


def test_resources_have_a_fixed_order() -> None:
    asked = {"rdma/hca": "1", "memory": "1Gi", "a.b/c": "1", "cpu": "1", "ephemeral-storage": "1Gi"}
    after = resources(making.job(making.template(asked)), making.context())
    wanted = ["cpu", "memory", "ephemeral-storage", "a.b/c", "rdma/hca"]
    assert list(after.roles[0].template.main.resources.requests) == wanted
    assert list(after.roles[0].template.main.resources.limits) == ["a.b/c", "rdma/hca"]


def test_each_role_keeps_its_resources() -> None:
    before = making.job(
        making.template({"cpu": "1"}),
        making.template({"cpu": "4"}),
        resources=Resources({"cpu": "9"}),
    )
    after = resources(before, making.context())
    assert [role.template.main.resources.requests["cpu"] for role in after.roles] == ["1", "4"]


@pytest.mark.parametrize("half", ["requests", "limits"])
def test_gpus_of_either_half_get_their_real_name(half: str) -> None:
    before = making.job(making.template(**{half: {"gpu": "2"}}))
    after = resources(before, making.context()).roles[0].template.main.resources
    assert (after.requests, after.limits) == ({GPU: "2"}, {GPU: "2"})
