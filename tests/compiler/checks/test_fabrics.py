"""Fabric against cloud, accelerator and machine: errors for impossible combinations, warnings for unavailable ones."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.diagnostics import Problem
from ptcompile.hardware.fabrics import FABRICS
from tests import making
from tests.compiler.checks import findings

CLOUD, MACHINE = "fabric-of-another-cloud", "fabric-without-machine"


def fabric_problems(
    cloud: str | None, accelerator: str, fabric: str, more: str = "", **profile: Any
) -> list[Problem]:
    named = f"accelerator: {accelerator}\n" if accelerator else ""
    body = f"{named}fabric: {fabric}\nresources: {{cpu: 8, memory: 16Gi, gpu: 1}}\n{more}"
    problems = making.compiled(
        making.smallest(body), "job", making.profile({"cloud": cloud, **profile})
    ).problems
    return [problem for problem in problems if problem.name in {CLOUD, MACHINE}]


@pytest.mark.parametrize("accelerator", ["", "nvidia-h100"])
@pytest.mark.parametrize(
    ("cloud", "fabric"),
    [
        ("eks", "tcpx"),
        ("eks", "tcpxo"),
        ("eks", "gib"),
        ("gke", "efa"),
        ("aks", "efa"),
        ("aks", "gib"),
        ("oke", "efa"),
    ],
)
def test_a_fabric_of_another_cloud_is_an_error(cloud: str, fabric: str, accelerator: str) -> None:
    (problem,) = fabric_problems(cloud, accelerator, fabric)
    assert (problem.name, problem.severity, problem.path, problem.stage) == (
        CLOUD,
        "error",
        ("spec", "fabric"),
        "run",
    )
    home = FABRICS[fabric].only_on
    assert (
        problem.message
        == f"spec.fabric: only nodes of {home} have {fabric}, but the profile's cloud is {cloud}"
    )


@pytest.mark.parametrize(
    ("cloud", "accelerator", "fabric", "message"),
    [
        (
            "gke",
            "nvidia-h100",
            "tcpxo",
            "nvidia-h100 on gke has tcpx, not tcpxo; tcpxo comes with nvidia-h100-mega",
        ),
        (
            "gke",
            "nvidia-h100-mega",
            "tcpx",
            "nvidia-h100-mega on gke has tcpxo, not tcpx; tcpx comes with nvidia-h100",
        ),
        (
            "gke",
            "nvidia-h200",
            "tcpxo",
            "nvidia-h200 on gke has gib, not tcpxo; tcpxo comes with nvidia-h100-mega",
        ),
        ("gke", "nvidia-l4", "tcpx", "nvidia-l4 on gke has no fabric; tcpx comes with nvidia-h100"),
        ("gke", "nvidia-t4", "tcpx", "nvidia-t4 on gke has no fabric; tcpx comes with nvidia-h100"),
        (
            "gke",
            "google-tpu-v5e/2x2",
            "tcpx",
            "google-tpu-v5e/2x2 on gke has no fabric; tcpx comes with nvidia-h100",
        ),
        ("eks", "nvidia-h100", "infiniband", "nvidia-h100 on eks has efa, not infiniband"),
        ("aks", "nvidia-h100", "roce", "nvidia-h100 on aks has infiniband, not roce"),
    ],
)
def test_a_fabric_without_a_machine_is_a_warning(
    cloud: str, accelerator: str, fabric: str, message: str
) -> None:
    (problem,) = fabric_problems(cloud, accelerator, fabric)
    assert (problem.name, problem.severity, problem.path) == (
        MACHINE,
        "warning",
        ("spec", "fabric"),
    )
    assert problem.message == f"spec.fabric: {message}"


@pytest.mark.parametrize(
    ("cloud", "accelerator", "fabric"),
    [
        ("gke", "nvidia-h100", "tcpx"),
        ("gke", "nvidia-h100-mega", "tcpxo"),
        ("gke", "nvidia-h200", "gib"),
        ("gke", "nvidia-b200", "gib"),
        ("gke", "nvidia-gb200", "gib"),
        ("oke", "nvidia-h100", "roce"),  # RoCE from the site's device plugin
        ("gke", "nvidia-gb200", "nvlink-domain"),
        (None, "nvidia-h100", "infiniband"),
    ],
)
def test_fabrics_of_the_machines_have_no_finding(
    cloud: str | None, accelerator: str, fabric: str
) -> None:
    assert not [
        problem
        for problem in fabric_problems(cloud, accelerator, fabric)
        if problem.name in {CLOUD, MACHINE}
    ]


def test_only_the_selected_machine_is_checked() -> None:
    pin = "nodeSelector: {node.kubernetes.io/instance-type: %s}"
    (problem,) = fabric_problems("eks", "nvidia-l4", "efa", pin % "g6.4xlarge")
    assert problem.message.startswith(
        "spec.fabric: g6.4xlarge has no fabric; efa comes with nvidia-t4, "
    )
    assert MACHINE not in [
        finding.name for finding in fabric_problems("eks", "nvidia-l4", "efa", pin % "g6.8xlarge")
    ]


OWN = {"h100": {"nodeLabels": {"pool": "gold"}, "fabricDevices": {"efa": 8}}}


def test_the_profile_s_fabric_overrides_the_built_in_one() -> None:
    assert not fabric_problems(
        "gke", "", "efa", fabrics={"efa": {"resources": {"example.com/efa": "1"}}}
    )
    assert [
        finding.name for finding in fabric_problems("gke", "h100", "efa", accelerators=OWN)
    ] != [CLOUD]
    assert not fabric_problems(
        "gke",
        "nvidia-h100",
        "tcpxo",
        accelerators={"nvidia-h100": {"nodeLabels": {"pool": "gold"}}},
    )
    pools = {"a": {"machine": "a3-megagpu-8g"}, "b": {"machine": "a3-highgpu-8g"}}
    (problem,) = fabric_problems("gke", "nvidia-h100", "tcpxo", nodePools=pools)
    assert problem.message.startswith(
        "spec.fabric: nvidia-h100 in the node pools has tcpx, not tcpxo"
    )
    assert not fabric_problems(
        "gke", "nvidia-h100", "tcpxo", nodePools={"a": {"labels": {"pool": "gold"}}}
    )


@pytest.mark.parametrize("case", findings.cases("fabrics"))
def test_findings_are_as_recorded(case: str) -> None:
    assert findings.again(case) == case.strip()
