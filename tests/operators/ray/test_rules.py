"""What lint says about Ray: GPUs, releases, the entrypoint, and what it does not check."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from tests.operators.ray.making import cluster, findings, group, ray_cluster, ray_job, template

TRAIN = "python train.py --num-workers {} --use-gpu"


def _has(code: str, manifest: dict[str, Any]) -> bool:
    return code in {reported for reported, _ in findings(manifest)}


@pytest.mark.parametrize(
    ("parameters", "gpus", "differs"),
    [
        ({}, 8, False),
        ({"num-gpus": "8"}, 8, False),
        ({"num-gpus": "0"}, 8, True),
        ({"num-gpus": "4"}, 8, True),
        ({"num-gpus": "16"}, 8, True),
        ({"num-gpus": "0"}, 0, False),
        ({"num-gpus": "1"}, 0, True),
        ({"num-gpus": "$N"}, 8, False),
    ],
)
def test_gpus_that_ray_offers_must_equal_the_limits(
    parameters: dict[str, str], gpus: int, differs: bool
) -> None:
    assert _has("PTC150", ray_cluster(group(gpus=gpus, rayStartParams=parameters))) is differs
    assert (
        _has("PTC150", ray_cluster(head={"template": template(gpus), "rayStartParams": parameters}))
        is differs
    )


def test_devices_of_claims_and_privileged_containers_are_not_counted() -> None:
    for hidden in (
        {"securityContext": {"privileged": True}},
        {"resources": {"claims": [{"name": "gpu"}]}},
    ):
        pod = template(0, **hidden)
        assert not _has(
            "PTC150", ray_cluster(group(template=pod, rayStartParams={"num-gpus": "8"}))
        )
        assert not _has(
            "PTC151", ray_job(cluster(group(template=pod)), entrypoint=TRAIN.format(16))
        )


@pytest.mark.parametrize(
    ("entrypoint", "waits"),
    [
        (TRAIN.format(16), False),
        (TRAIN.format(17), True),
        ("python train.py --num_workers=17 --use_gpu=True", True),
        ("python train.py --num-workers 17", False),
        ("python train.py --num-workers 17 --use-gpu --gpus-per-worker 0.5", False),
        ("python train.py --num-workers $N --use-gpu", False),
        ("python train.py 'unclosed --num-workers 17 --use-gpu", True),
        ("python3 -m verl.trainer.main_ppo trainer.nnodes=2 trainer.n_gpus_per_node=8", False),
        ("python3 -m verl.trainer.main_ppo trainer.nnodes=4 trainer.n_gpus_per_node=8", True),
        ("python3 -m verl.trainer.main_ppo trainer.nnodes=4", False),
    ],
)
def test_an_entrypoint_that_never_fits_is_reported(entrypoint: str, waits: bool) -> None:
    assert _has("PTC151", ray_job(entrypoint=entrypoint)) is waits


def test_gpus_of_all_groups_count_and_the_autoscaler_adds_some() -> None:
    needs: dict[str, Any] = {"entrypoint": TRAIN.format(20)}
    assert not _has("PTC151", ray_job(cluster(group("a"), group("b", gpus=4, replicas=1)), **needs))
    growing = group(maxReplicas=3)
    assert _has("PTC151", ray_job(cluster(growing), **needs))
    assert not _has("PTC151", ray_job(cluster(growing, enableInTreeAutoscaling=True), **needs))
    assert not _has("PTC151", ray_job(cluster(group(numOfHosts=2)), **needs))
    assert not _has("PTC151", ray_job(cluster(head={"template": template(4)}), **needs))
    assert not _has(
        "PTC151", ray_job(rayClusterSpec="absent", clusterSelector={"ray.io/cluster": "r"}, **needs)
    )


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"entrypointNumGpus": 8}, None),
        ({"entrypointNumGpus": 9}, "spec.entrypointNumGpus"),
        ({"entrypointNumCpus": 8}, None),
        ({"entrypointNumCpus": 9}, "spec.entrypointNumCpus"),
        ({"entrypointResources": '{"custom": 1}'}, "spec.entrypointResources"),
        ({"entrypointResources": '{"accelerator_type:H100": 0.1, "TPU": 4}'}, None),
        ({"entrypointResources": "no JSON"}, None),
    ],
)
def test_entrypoint_needs_one_pod_that_has_it_all(fields: dict[str, Any], path: str | None) -> None:
    assert findings(ray_job(**fields)) == ([("PTC152", path)] if path else [])


def test_an_entrypoint_fits_a_custom_resource_of_a_group() -> None:
    offered = group(rayStartParams={"resources": '\'"{\\"custom\\": 1}"\''})
    assert not _has("PTC152", ray_job(cluster(offered), entrypointResources='{"custom": 1}'))


@pytest.mark.parametrize(
    ("head", "worker", "version", "severity"),
    [
        ("rayproject/ray:2.46.0", "rayproject/ray:2.46.0-gpu", "2.46.0", None),
        ("rayproject/ray:2.46.0", "rayproject/ray-ml:2.44.1-gpu", None, "error"),
        ("acme.io/ray/tune:2.46.0-cu124", "acme.io/ray/tune:2.44.0-cu124", None, "warning"),
        ("rayproject/ray:2.46.0", "rayproject/ray:2.46.0", "2.44.0", "warning"),
        ("rayproject/ray:2.46.0", "rayproject/ray:nightly", "2.46.0", None),
        ("acme.io/train:1.2.3", "acme.io/train:1.2.4", "2.46.0", None),
        ("acme.io/ray/tune:0.9.1", "acme.io/ray/tune:0.9.1", "2.46.0", None),
        ("acme.io/ray/tune:2.1.0", "acme.io/ray/tune:2.1.0", "2.46.0", None),
        ("acme.io/ray-tune:2.9.0", "acme.io/ray-tune:2.9.3", None, "warning"),
        ("acme.io/arrays:1.2.3", "acme.io/arrays:1.2.4", "2.46.0", None),
        ("acme.io:5000/ray", "acme.io:5000/ray@sha256:" + "a" * 64, "2.46.0", None),
    ],
)
def test_differing_releases_are_reported(
    head: str, worker: str, version: str | None, severity: str | None
) -> None:
    fields = {} if version is None else {"rayVersion": version}
    manifest = ray_cluster(
        group(template=template(8, worker)), head={"template": template(0, head)}, **fields
    )
    severities = [d.severity for d in ptcompile.lint([manifest]).diagnostics if d.code == "PTC248"]
    assert severities == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({}, False),
        ({"entrypoint": None}, True),
        ({"entrypoint": "  "}, True),
        ({"entrypoint": None, "submissionMode": "InteractiveMode"}, False),
        ({"entrypoint": None, "submissionMode": "HTTPMode"}, False),
        (
            {
                "entrypoint": None,
                "submitterPodTemplate": template(command=["ray", "job", "submit"]),
            },
            False,
        ),
        ({"entrypoint": None, "submitterPodTemplate": template()}, True),
    ],
)
def test_a_job_without_an_entrypoint_is_reported(fields: dict[str, Any], missing: bool) -> None:
    assert _has("PTC493", ray_job(**fields)) is missing


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ({"replicas": 2, "minReplicas": 1, "maxReplicas": 3}, None),
        (
            {"replicas": 4, "minReplicas": 1, "maxReplicas": 3},
            "starts 3 instead of 4, because maxReplicas is 3",
        ),
        (
            {"replicas": 0, "minReplicas": 1, "maxReplicas": 3},
            "starts 1 instead of 0, because minReplicas is 1",
        ),
        ({"minReplicas": 1, "maxReplicas": 3}, None),
    ],
)
def test_replicas_must_be_in_their_range(size: dict[str, int], message: str | None) -> None:
    workers = {key: value for key, value in group().items() if not key.lower().endswith("replicas")}
    diagnostics = [
        d
        for d in ptcompile.lint([ray_cluster({**workers, **size})]).diagnostics
        if d.code == "PTC247"
    ]
    assert [d.message.partition(": KubeRay ")[2] for d in diagnostics] == (
        [message] if message else []
    )


def test_cluster_that_outlives_its_job_is_a_note() -> None:
    def kept(**fields: Any) -> list[tuple[str, str]]:
        return [
            finding for finding in findings(ray_job(**fields), "note") if finding[0] == "PTC153"
        ]

    assert kept(shutdownAfterJobFinishes=None) == [("PTC153", "spec")]
    assert kept(shutdownAfterJobFinishes=False) == [("PTC153", "spec.shutdownAfterJobFinishes")]
    assert kept() == []
    assert kept(spec=cluster(group(gpus=0)), shutdownAfterJobFinishes=False) == []
    assert kept(spec=cluster(enableInTreeAutoscaling=True), shutdownAfterJobFinishes=False) == []


def test_note_that_the_world_is_not_checked_comes_once() -> None:
    manifest = ray_cluster(group("a"), group("b"))
    notes = [d for d in ptcompile.lint([manifest]).diagnostics if d.code == "PTC492"]
    assert [(d.severity, d.path) for d in notes] == [
        ("note", ("spec", "workerGroupSpecs", 0, "groupName"))
    ]
    assert not any(
        d.code == "PTC492" for d in ptcompile.lint([ray_cluster(group(gpus=0))]).diagnostics
    )


def test_fabric_of_a_head_without_devices_is_not_checked() -> None:
    env = [{"name": "FI_PROVIDER", "value": "efa"}]
    head, workers = {"template": template(env=env)}, group(template=template(8, env=env))
    assert [
        path for code, path in findings(ray_cluster(workers, head=head)) if code == "PTC118"
    ] == ["spec.workerGroupSpecs.0.template.spec.containers.0.env.0.value"]
