"""What KubeRay's webhook and controller reject."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operators.ray.making import cluster, findings, group, ray_cluster, ray_job, template

REFUSED, FAILED = "PTC551", "PTC553"
GROUPS = "spec.workerGroupSpecs.0"


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        (ray_cluster(), []),
        (ray_cluster(name="a" * 53), []),
        (ray_cluster(name="a" * 54), [(REFUSED, "metadata.name")]),
        (ray_cluster(name="1a"), [(REFUSED, "metadata.name")]),
        (ray_cluster(group("a"), group("b")), []),
        (ray_cluster(group("a"), group("a")), [(REFUSED, "spec.workerGroupSpecs.1.groupName")]),
        (ray_cluster(group(minReplicas=4, maxReplicas=3)), [(FAILED, f"{GROUPS}.minReplicas")]),
        (ray_cluster(group(minReplicas=0, maxReplicas=3)), []),
        (ray_cluster(group(minReplicas=-1)), [(FAILED, f"{GROUPS}.minReplicas")]),
        (
            ray_cluster(group(resources={"GPU": "8"}, rayStartParams={"num-gpus": "8"})),
            [(FAILED, f"{GROUPS}.rayStartParams.num-gpus")],
        ),
        (ray_cluster(group(resources={"GPU": "8"})), []),
    ],
)
def test_mistakes_in_a_cluster_are_errors(
    manifest: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    reported = findings(manifest, "error")
    assert [finding for finding in reported if finding[0] in (REFUSED, FAILED)] == expected


@pytest.mark.parametrize(
    ("manifest", "path"),
    [
        (ray_job(), None),
        (ray_job(ttlSecondsAfterFinished=600), None),
        (
            ray_job(shutdownAfterJobFinishes=None, ttlSecondsAfterFinished=600),
            "spec.ttlSecondsAfterFinished",
        ),
        (ray_job(shutdownAfterJobFinishes=False, ttlSecondsAfterFinished=0), None),
        (ray_job(ttlSecondsAfterFinished=-1), "spec.ttlSecondsAfterFinished"),
        (ray_job(suspend=True), None),
        (ray_job(suspend=True, shutdownAfterJobFinishes=False), "spec.suspend"),
        (ray_job(rayClusterSpec="absent"), "spec"),
        (ray_job(rayClusterSpec="absent", clusterSelector={"ray.io/cluster": "r"}), None),
        (
            ray_job(
                rayClusterSpec="absent", clusterSelector={"ray.io/cluster": "r"}, backoffLimit=2
            ),
            "spec.backoffLimit",
        ),
        (
            ray_job(rayClusterSpec="absent", clusterSelector={"ray.io/cluster": "r"}, suspend=True),
            "spec.suspend",
        ),
        (ray_job(submissionMode="InteractiveMode", backoffLimit=2), "spec.backoffLimit"),
        (ray_job(submissionMode="InteractiveMode"), None),
        (
            ray_job(submissionMode="SidecarMode", submitterPodTemplate=template()),
            "spec.submitterPodTemplate",
        ),
        (ray_job(activeDeadlineSeconds=0), "spec.activeDeadlineSeconds"),
        (ray_job(activeDeadlineSeconds=60), None),
        (
            ray_job(cluster(group(minReplicas=4, maxReplicas=2))),
            "spec.rayClusterSpec.workerGroupSpecs.0.minReplicas",
        ),
    ],
)
def test_mistakes_in_a_job_are_errors(manifest: dict[str, Any], path: str | None) -> None:
    assert findings(manifest, "error") == ([(FAILED, path)] if path else [])


@pytest.mark.parametrize(("policy", "paths"), [("Never", 0), ("Always", 1)])
def test_sidecar_mode_and_the_second_autoscaler_need_policy_never(policy: str, paths: int) -> None:
    pod = template()
    pod["spec"]["restartPolicy"] = policy
    head = {"template": pod}
    assert (
        len(findings(ray_job(cluster(head=head), submissionMode="SidecarMode"), "error")) == paths
    )
    options: dict[str, Any] = {
        "enableInTreeAutoscaling": True,
        "autoscalerOptions": {"version": "v2"},
    }
    assert len(findings(ray_cluster(head=head, **options), "error")) == paths


def test_pods_are_checked_as_the_server_checks_them() -> None:
    bad = template(image="Acme/Ray:1", volumeMounts=[{"name": "none", "mountPath": "/x"}])
    paths = [
        path
        for code, path in findings(ray_cluster(group(template=bad)), "error")
        if code == "PTC513"
    ]
    assert paths == [f"{GROUPS}.template.spec.containers.0.volumeMounts.0.name"]
