"""The pass `claims`: NVLink channels per node, a fabric's devices, and GPUs if the profile claims them."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.compiler.passes import run as run_passes
from ptcompile.compiler.passes.claims import claims
from ptcompile.ir.job import Job, accelerators_in
from ptcompile.ir.pods import write
from ptcompile.spec.cluster_profile import ClusterProfile
from tests import making

EKS = making.profile({"cloud": "eks"})
CLAIMED = making.profile({"gpu": {"claim": {"selectors": ["device.driver == 'gpu.nvidia.com'"]}}})
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def after(limits: dict[str, str], cluster: ClusterProfile, replicas: int = 2, **fields: Any) -> Job:
    job = making.job(
        making.template(limits, limits, **fields.pop("template", {})), replicas=replicas, **fields
    )
    where = making.context(cluster)
    done = claims(job, where)
    assert claims(done, where) == done
    return done


def pod(job: Job) -> dict[str, Any]:
    spec: dict[str, Any] = write(job.roles[0].template)["spec"]
    return spec


def test_without_claims_nothing_changes() -> None:
    job = making.job(making.template({"nvidia.com/gpu": "8"}, {"nvidia.com/gpu": "8"}))
    assert claims(job, making.context(EKS)) is job


def test_each_node_claims_a_channel_in_one_rack() -> None:
    done = after(
        {"nvidia.com/gpu": "4"}, EKS, 18, fabric="nvlink-domain", accelerator="nvidia-gb200"
    )
    assert done.compute_domain
    assert not done.claims, "the driver makes the template of the channels"
    spec = pod(done)
    (claim,) = spec["resourceClaims"]
    assert claim["resourceClaimTemplateName"] == f"{done.name}-compute-domain-channel"
    assert spec["containers"][0]["resources"]["claims"] == [{"name": claim["name"]}]
    assert spec["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "4"}, (
        "the device plugin still counts them"
    )
    (term,) = spec["affinity"]["podAffinity"][REQUIRED]
    assert term["topologyKey"] == "nvidia.com/gpu.clique"
    assert term["labelSelector"]["matchLabels"].items() <= done.roles[0].template.labels.items()


@pytest.mark.parametrize(
    "fields",
    [
        {"replicas": 19},  # more nodes than a rack has
        {"replicas": 1},
        {"replicas": 2, "topology": making.nearness("block")},
        {"replicas": 2, "template": {"affinity": {"podAffinity": {REQUIRED: []}, "mine": 1}}},
    ],
)
def test_no_rack_affinity_if_the_user_or_the_rack_size_prevents_it(fields: dict[str, Any]) -> None:
    done = after(
        {"nvidia.com/gpu": "4"}, EKS, fabric="nvlink-domain", accelerator="nvidia-gb200", **fields
    )
    written = fields.get("template", {}).get("affinity", {})
    assert done.roles[0].template.affinity == written


def test_a_rack_of_gke_is_a_sub_block() -> None:
    gke = making.profile({"cloud": "gke"})
    done = after({"nvidia.com/gpu": "4"}, gke, fabric="nvlink-domain", accelerator="nvidia-gb200")
    (term,) = pod(done)["affinity"]["podAffinity"][REQUIRED]
    assert term["topologyKey"] == "cloud.google.com/gce-topology-subblock"


def test_the_ports_of_a4x_max_are_claimed() -> None:
    gke = making.profile({"cloud": "gke"})
    done = after({"nvidia.com/gpu": "4"}, gke, fabric="nvlink-domain", accelerator="nvidia-gb300")
    assert [(claim.name, claim.device_class, claim.count) for claim in done.claims] == [
        ("rdma", "mrdma.google.com", 8)
    ]
    names = [claim["name"] for claim in pod(done)["resourceClaims"]]
    assert names == ["rdma", "compute-domain-channel"]


def test_gpus_are_claimed_and_no_longer_counted() -> None:
    done = after({"cpu": "8", "nvidia.com/gpu": "8"}, CLAIMED)
    (claim,) = done.claims
    assert (claim.template, claim.device_class, claim.count) == (
        f"{done.name}-gpu-8",
        "gpu.nvidia.com",
        8,
    )
    assert claim.selectors == ("device.driver == 'gpu.nvidia.com'",)
    spec = pod(done)
    assert spec["containers"][0]["resources"] == {
        "requests": {"cpu": "8"}, "limits": {"cpu": "8"}, "claims": [{"name": "gpu"}],
    }  # fmt: skip
    assert accelerators_in(done.claims, spec) == 8


def test_a_mig_slice_is_claimed_by_its_profile() -> None:
    (claim,) = after({"nvidia.com/mig-1g.10gb.me": "1"}, CLAIMED).claims
    assert (claim.name, claim.device_class) == ("mig-1g-10gb-me", "mig.nvidia.com")
    assert claim.selectors[0] == "device.attributes['gpu.nvidia.com'].profile == '1g.10gb+me'"


def test_other_accelerators_remain_extended_resources() -> None:
    done = after({"google.com/tpu": "4"}, CLAIMED)
    assert not done.claims
    assert done.roles[0].template.main.resources.limits == {"google.com/tpu": "4"}


def test_the_user_s_claim_with_the_same_name_is_unchanged() -> None:
    mine = {"name": "gpu", "resourceClaimTemplateName": "mine"}
    done = after({"nvidia.com/gpu": "1"}, CLAIMED, template={"extra": {"resourceClaims": [mine]}})
    assert pod(done)["resourceClaims"] == [mine]


def test_all_passes_twice_claim_gpus_once() -> None:
    job = making.job(making.template({"nvidia.com/gpu": "2"}, {"nvidia.com/gpu": "2"}))
    once = run_passes(job, making.context(CLAIMED))
    twice = run_passes(once, making.context(CLAIMED))
    assert twice == once


def test_claims_that_the_container_has_are_not_added_again() -> None:
    extra = {"resources": {"claims": [{"name": "own"}]}}
    done = after({"nvidia.com/gpu": "2"}, CLAIMED, template={"main": {"extra": extra}})
    (container,) = pod(done)["containers"]
    assert container["resources"]["claims"] == [{"name": "own"}, {"name": "gpu"}]
    again = {"resources": {"claims": [{"name": "gpu"}]}}
    done = after({"nvidia.com/gpu": "2"}, CLAIMED, template={"main": {"extra": again}})
    assert pod(done)["containers"][0]["resources"]["claims"] == [{"name": "gpu"}]
