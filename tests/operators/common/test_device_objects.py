"""The objects that pods claim from, by the releases of Kubernetes and of the driver."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.operators.common.device_objects import waits_for_nodes
from ptcompile.operators.targets import TARGETS
from tests import making

GB200 = "accelerator: nvidia-gb200\nfabric: nvlink-domain\nresources: {cpu: 4, memory: 16Gi, gpu: 4}\n"
GPU = "resources: {cpu: 4, memory: 16Gi, gpu: 1}\n"


def made(body: str, profile: dict[str, Any], target: str) -> list[dict[str, Any]]:
    done = making.compiled(making.smallest(body), target, making.profile(profile))
    assert not [one for one in done.problems if one.severity != "warning"], done.problems
    return list(done.manifests)


@pytest.mark.parametrize("target", TARGETS)
def test_they_stand_before_the_job_on_every_target(target: str) -> None:
    nodes = "" if target == "pod" else "nodes: 2"
    first, *others = made(GB200 + nodes, {"cloud": "eks"}, target)
    assert (first["kind"], first["metadata"], first["spec"]["numNodes"]) == ("ComputeDomain", {"name": "train"}, 0)
    name = first["spec"]["channel"]["resourceClaimTemplate"]["name"]
    assert f"'resourceClaimTemplateName': '{name}'" in str(others)


@pytest.mark.parametrize(
    ("release", "nodes"),
    [("25.3", 3), ("25.8", 0), ("25.12", 0), ("0.1", 0)],  # after 25.12 the driver's releases are numbered 0.x
)
def test_an_older_driver_is_told_the_number_of_nodes(release: str, nodes: int) -> None:
    first, *_ = made(GB200 + "nodes: 3", {"cloud": "eks", "versions": {"nvidiaDra": release}}, "job")
    assert first["spec"]["numNodes"] == nodes
    assert waits_for_nodes((25, 3)) is not waits_for_nodes((0, 9))


@pytest.mark.parametrize(
    ("release", "version", "flat"), [("1.32", "v1beta1", True), ("1.33", "v1beta2", False), ("1.34", "v1", False)]
)
def test_templates_in_the_words_of_each_kubernetes(release: str, version: str, flat: bool) -> None:
    profile = {"versions": {"kubernetes": release}, "gpu": {"claim": {}}}
    done = making.compiled(making.smallest(GPU), "job", making.profile(profile))
    template = done.manifests[0]
    assert template["apiVersion"] == f"resource.k8s.io/{version}"
    (request,) = template["spec"]["spec"]["devices"]["requests"]
    assert ("deviceClassName" in request) is flat
    assert ("exactly" in request) is not flat
    warned = [(one.name, one.path, one.severity) for one in done.problems]
    expected = [] if release == "1.34" else [("kubernetes-too-old", ("spec", "resources"), "warning")]
    assert warned == expected


def test_before_1_32_there_are_no_claims() -> None:
    profile = {"versions": {"kubernetes": "1.31"}, "cloud": "eks"}
    (problem,) = making.compiled(making.smallest(GB200), "job", making.profile(profile)).problems
    assert (problem.name, problem.path, problem.severity) == ("unsupported-by-target", ("spec", "fabric"), "error")
    assert "need Kubernetes 1.32" in problem.message


def test_each_number_of_gpus_has_its_template() -> None:
    body = "nodes: 2\nresources: {gpu: 8}\nroles: {scorer: {command: [serve], resources: {gpu: 1}}}"
    kinds = [(one["kind"], one["metadata"]["name"]) for one in made(body, {"gpu": {"claim": {}}}, "jobset")]
    assert kinds == [
        ("ResourceClaimTemplate", "train-gpu-8"), ("ResourceClaimTemplate", "train-gpu-1"), ("JobSet", "train"),
    ]  # fmt: skip


def test_a_plain_command_of_a_trainjob_counts_the_claimed_gpus() -> None:
    body = "image: img:1\ncommand: [python, train.py]\nnodes: 2\nresources: {cpu: 96, gpu: 8}"
    done = making.compiled(making.text(body), "trainjob", making.profile({"gpu": {"claim": {}}}))
    assert done.manifests[-1]["spec"]["trainer"]["numProcPerNode"] == 8
