"""PodGroups in files, counted with the jobs whose pods name them."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.api.simulate import simulate
from ptcompile.simulator.as_text import overview
from tests.making import smallest

PLUGINS = {"kind": "ClusterProfile", "spec": {"gangScheduler": "scheduler-plugins"}}
VOLCANO = {"kind": "ClusterProfile", "spec": {"queueSystem": "volcano"}}
BODY = "elastic: {nnodes: '2:4'}\nresources: {cpu: 2}\nqueue: q"


@pytest.mark.parametrize("target", ["job", "jobset"])
@pytest.mark.parametrize(
    ("profile", "scheduler"), [(PLUGINS, "coscheduling"), (VOLCANO, "volcano")]
)
def test_a_compiled_job_has_a_group(target: str, profile: dict[str, Any], scheduler: str) -> None:
    world = simulate(smallest(BODY), target=target, cluster=profile)
    assert not world.skipped
    (job,) = world.jobs
    assert job.pod_group is not None
    assert (job.pod_group["scheduler"], job.pod_group["minMember"]) == (scheduler, 2)
    assert job.pod_group["minResources"] == {"cpu": "4"}
    assert job.pod_group.get("queue") == ("q" if scheduler == "volcano" else None)
    assert "minMember 2" in overview(world)


def test_pods_wait_for_a_missing_group() -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}
    labels = {"scheduling.x-k8s.io/pod-group": "gone"}
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "labels": labels},
        "spec": pod,
    }
    assert "gone is in no file: the pods wait until it exists" in overview(simulate(manifest))


def test_a_multikueue_manager_has_no_pods() -> None:
    profile = {"kind": "ClusterProfile", "spec": {"multiKueue": True}}
    (job,) = simulate(smallest("nodes: 2\nqueue: q"), target="pytorchjob", cluster=profile).jobs
    assert any("MultiKueue" in note for note in job.notes)
