"""Passes on auxiliary roles: their pods are not nodes, and only get the resources that they request."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler import passes
from ptcompile.ir.job import Job, Role
from ptcompile.ir.pods import PodTemplate, Resources
from ptcompile.spec.cluster_profile import ClusterProfile
from tests import making
from tests.making import DEFAULT_CLUSTER

GPUS = Resources({"cpu": "8", "gpu": "8"}, {"cpu": "8", "gpu": "8"})
PROFILE = making.profile(
    {
        "defaults": {"env": {"SITE": "x"}, "requests": {"cpu": "100m"}, "labels": {"team": "ml"}},
        "resourceTolerations": {"rdma/hca": [{"key": "rdma", "operator": "Exists"}]},
        "accelerators": {"a100": {"nodeLabels": {"gpu": "a100"}}},
    }
)


def after(
    beside: PodTemplate,
    cluster: ClusterProfile = DEFAULT_CLUSTER,
    target: str = "jobset",
    **fields: Any,
) -> tuple[PodTemplate, PodTemplate]:
    """Return the templates of the node and of an auxiliary role after all passes."""
    job = making.job(replicas=2, **{"resources": GPUS, **fields})
    job = job._replace(roles=(*job.roles, Role("loader", 1, beside, "OnFailure", trains=False)))
    done = passes.run(job, making.context(cluster, target))
    assert passes.run(done, making.context(cluster, target)) == done
    node, other = done.roles
    return node.template, other.template


def names(template: PodTemplate) -> list[str]:
    return [entry["name"] for entry in template.main.env]


def test_auxiliary_roles_do_not_get_the_resources_of_a_node() -> None:
    node, loader = after(making.template())
    assert node.main.resources.limits == {"cpu": "8", "nvidia.com/gpu": "8"}
    assert loader.main.resources == Resources()
    _, loader = after(making.template({"memory": "1Gi"}), PROFILE)
    assert loader.main.resources.requests == {"cpu": "100m", "memory": "1Gi"}


def test_tolerations_and_placement_depend_on_the_role_s_resources() -> None:
    node, loader = after(making.template(), PROFILE, accelerator="a100")
    assert node.tolerations
    assert node.affinity
    assert not loader.tolerations
    assert not loader.affinity
    _, loader = after(
        making.template(limits={"gpu": "1", "rdma/hca": "1"}), PROFILE, accelerator="a100"
    )
    assert [toleration["key"] for toleration in loader.tolerations] == ["nvidia.com/gpu", "rdma"]
    assert loader.affinity == node.affinity


@pytest.mark.parametrize("target", ["volcano", "trainjob", "jobset"])
@pytest.mark.parametrize("launch", [making.LAUNCH, None])
def test_auxiliary_roles_do_not_join_the_rendezvous(target: str, launch: Any) -> None:
    node, loader = after(making.template(), target=target, launch=launch)
    assert names(loader) == ["LOADER_HOSTS"]
    assert loader.main.command is None
    assert names(node)[0] == "LOADER_HOSTS"
    assert (node.main.command is None) == (launch is None)


def test_auxiliary_roles_get_the_profile_s_variables_but_not_torchrun_s() -> None:
    node, loader = after(making.template(), PROFILE)
    assert names(node) == ["SITE", "LOADER_HOSTS", "OMP_NUM_THREADS"]
    assert names(loader) == ["SITE", "LOADER_HOSTS"]
    assert loader.labels == {"team": "ml"}


@pytest.mark.parametrize(
    ("size", "volume"),
    [(True, {"medium": "Memory"}), ("64Gi", {"medium": "Memory"}), (False, None)],
)
def test_shared_memory_does_not_need_the_size_of_a_node(
    size: bool | str, volume: dict[str, str] | None
) -> None:
    _, loader = after(making.template(), shared_memory=size)
    assert [item["emptyDir"] for item in loader.volumes] == ([volume] if volume else [])
    assert [mount["mountPath"] for mount in loader.main.mounts] == (["/dev/shm"] if volume else [])  # noqa: S108


def test_auxiliary_roles_do_not_count_as_nodes() -> None:
    job: Job = making.job(replicas=3)
    more = job._replace(roles=(*job.roles, Role("ps", 5, making.template(), trains=False)))
    assert more.nodes == 3
    assert not more.elastic
    assert len(more.training_roles) == 1
    assert len(more.auxiliary_roles) == 1
