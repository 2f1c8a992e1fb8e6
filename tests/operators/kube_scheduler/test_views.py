"""What simulate and requires say about gangs of Kubernetes."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile
from tests.cli.running import here

GOLDEN = Path(__file__).parents[3] / "golden"


def pod_group(capsys: pytest.CaptureFixture[str], folder: str, file: str) -> list[str]:
    path = GOLDEN / folder
    text = here(capsys, "simulate", path / file, "--cluster", path / "cluster.yaml").out
    lines = text.split("pod group")[1].split("on failure")[0].strip().splitlines()
    return [line.strip() for line in lines]


def test_simulate_says_what_waits_for_what(capsys: pytest.CaptureFixture[str]) -> None:
    assert pod_group(capsys, "gang-kubernetes", "jobset.yaml") == [
        "gang: kube-scheduler waits until 4 pods exist, then schedules 4 of them at once or none",
        "all of them in one domain of topology.kubernetes.io/rack",
        "preempted all at once",
    ]
    assert (
        pod_group(capsys, "gang-kubernetes-1-36", "trainjob.yaml")[1:]
        == pod_group(capsys, "gang-kubernetes", "jobset.yaml")[1:]
    )
    assert pod_group(capsys, "gang-kubernetes-range", "jobset.yaml") == [
        "gang: kube-scheduler waits until 3 pods exist, then schedules 3 of them at once or none"
    ]
    assert pod_group(capsys, "gang-kubernetes-1-35", "job.yaml") == [
        "gang: kube-scheduler waits until 4 pods exist, then schedules 4 of them at once or none"
    ]


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        (
            "gang-kubernetes",
            ["kubernetes 1.37", "v1beta1", "GenericWorkload", "TopologyAwareWorkloadScheduling"],
        ),
        (
            "gang-kubernetes-1-36",
            [
                "kubernetes 1.36",
                "v1alpha2",
                "GenericWorkload",
                "GangScheduling",
                "TopologyAwareWorkloadScheduling",
                "WorkloadAwarePreemption",
            ],
        ),
        (
            "gang-kubernetes-1-35",
            ["kubernetes 1.35", "v1alpha1", "GenericWorkload", "GangScheduling"],
        ),
        ("gang-none", []),
    ],
)
@pytest.mark.parametrize("file", ["job.yaml", "spec.yaml"])
def test_requires_names_the_api_and_the_gates(folder: str, file: str, expected: list[str]) -> None:
    cluster = GOLDEN / folder / "cluster.yaml"
    needs = ptcompile.requires(
        GOLDEN / folder / file, cluster=cluster, target="job" if file == "spec.yaml" else None
    )
    texts = [str(requirement) for requirement in needs.requirements]
    settings = [text for text in texts if text.startswith(("api", "gate"))]
    if not expected:
        assert settings == []
        return
    assert expected[0] in texts[0]
    assert [part in text for part, text in zip(expected[1:], settings, strict=True)] == [
        True
    ] * len(settings)


def test_a_group_that_no_file_has_is_required() -> None:
    pod = {
        "schedulingGroup": {"podGroupName": "train"},
        "containers": [{"name": "a", "image": "b"}],
    }
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": pod}
    assert "PodGroup/train" in [
        requirement.name for requirement in ptcompile.requires(manifest).requirements
    ]
