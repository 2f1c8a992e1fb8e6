"""Slices of TPUs and hosts that a job's pods fill, by their numbers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, problems_of
from tests.linter.manifests import template


def _job(pods: int, resources: Json, **selector: str) -> Json:
    body = template(container={"resources": {"limits": resources}}, nodeSelector=selector)
    spec = {"completions": pods, "parallelism": pods, "completionMode": "Indexed", "template": body}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": spec}


TPU = "google.com/tpu"
TOPOLOGY = "cloud.google.com/gke-tpu-topology"


@pytest.mark.parametrize(
    ("topology", "chips", "pods", "text"),
    [
        ("4x4", 4, 4, None),
        ("4x4", 4, 8, None),
        ("4x4", 4, 3, "a 4x4 slice has 16 chips, but 3 pods with 4 each make 12"),
        ("4x4", 4, 1, "a 4x4 slice has 16 chips, but 1 pod with 4 each make 4"),
        ("2x2", 8, 1, "a 2x2 slice has 4 chips, but a pod requests 8"),
        ("2x2x1", 4, 1, None),
        ("2x2", "4", 1, None),
        ("2x2", "x", 1, None),
        ("2x2", 0, 1, None),
        ("16", 4, 1, None),
        ("4xa", 4, 1, None),
        ("1000x1", 4, 1, None),
        ("999x1", 4, 1, "a 999x1 slice has 999 chips, but 1 pod with 4 each make 4"),
        ("2x2x2x2", 4, 1, None),
    ],
)
def test_a_slice_starts_only_with_all_its_hosts(
    topology: str, chips: Any, pods: int, text: str | None
) -> None:
    problems = problems_of("partial-tpu-slice", _job(pods, {TPU: chips}, **{TOPOLOGY: topology}))
    assert [str(text) in problem.message for problem in problems] == (
        [] if text is None else [True]
    )


@pytest.mark.parametrize(
    ("pods", "gpus", "host", "count"),
    [
        (1, 8, "n", 0),
        (2, 8, "n", 1),
        (2, 4, "n", 0),
        (8, 1, "n", 0),
        (9, 1, "n", 1),
        (3, 0, "n", 0),
        (4, 8, None, 0),
    ],
)
def test_pods_on_one_host_share_its_devices(
    pods: int, gpus: int, host: str | None, count: int
) -> None:
    selector = {} if host is None else {"kubernetes.io/hostname": host}
    problems = problems_of("pods-exceed-host", _job(pods, {"nvidia.com/gpu": gpus}, **selector))
    assert len(problems) == count
    assert all("most machines have 8 at most" in problem.message for problem in problems)
