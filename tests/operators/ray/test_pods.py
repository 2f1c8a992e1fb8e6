"""The pods of a Ray cluster, and how KubeRay starts Ray in them."""

from __future__ import annotations

import ptcompile
from ptcompile.operators.table import expand
from tests.operators.ray.making import cluster, group, ray_cluster, ray_job, template


def test_head_and_workers_become_pods() -> None:
    expansion = expand(ray_cluster(group(numOfHosts=2), group("cpu", gpus=0, replicas=1)))
    assert [(role.name, role.count) for role in expansion.roles] == [
        ("head", 1),
        ("gpu", 4),
        ("cpu", 1),
    ]
    head, worker = expansion.pods[0], expansion.pods[1]
    assert [pod.name for pod in (head, worker)] == ["r-head", "r-gpu-worker"]
    assert head.random_suffix
    assert (head.labels["ray.io/group"], worker.labels["ray.io/group"]) == ("headgroup", "gpu")


def test_commands_are_those_of_kuberay_after_the_users() -> None:
    workers = group(
        rayStartParams={"num-cpus": "4", "block": "false"},
        template=template(8, command=["/setup.sh"]),
    )
    head, worker, _ = expand(ray_cluster(workers)).pods
    assert head.containers[0].args == ("ray start --head --block --dashboard-host=0.0.0.0",)
    address = "r-head-svc.ml.svc.cluster.local:6379"
    assert worker.containers[0].args == (
        f"/setup.sh && ray start --address={address} --num-cpus=4 --num-gpus=8",
    )
    assert worker.containers[0].command == ("/bin/bash", "-c", "--")


def test_command_that_starts_ray_itself_is_left_alone() -> None:
    own = group(
        template=template(8, command=["sh", "-c", "ray start --address=$RAY_ADDRESS --block"])
    )
    worker = expand(ray_cluster(own)).pods[1]
    assert worker.containers[0].command == ("sh", "-c", "ray start --address=$RAY_ADDRESS --block")


def test_shared_memory_and_variables_are_added_unless_the_user_has_them() -> None:
    job = ptcompile.simulate([ray_job()])
    head, worker = job.pods[0], job.pods[1]
    assert worker.env["RAY_ADDRESS"] == "j-*****-head-svc.ml.svc.cluster.local:6379"
    assert head.env["RAY_ADDRESS"] == "127.0.0.1:6379"
    assert [mount["mountPath"] for mount in worker.view.containers[0].mounts] == ["/dev/shm"]  # noqa: S108
    mount = {"name": "own", "mountPath": "/dev/shm"}  # noqa: S108
    own = template(8, volumeMounts=[mount], env=[{"name": "RAY_ADDRESS", "value": "x:1"}])
    own["spec"]["volumes"] = [{"name": "own", "emptyDir": {"medium": "Memory"}}]
    worker = ptcompile.simulate([ray_job(cluster(group(template=own)))]).pods[1]
    assert worker.env["RAY_ADDRESS"] == "x:1"
    assert [volume["name"] for volume in worker.view.volumes] == ["own"]


def test_number_of_replicas_is_within_the_limits_of_the_group() -> None:
    counts = []
    for size in (
        {"replicas": 9},
        {"replicas": 0},
        {"replicas": None},
        {"replicas": None, "minReplicas": 0},
    ):
        fields = {"minReplicas": 1, "maxReplicas": 3, **size}
        counts.append(len(expand(ray_cluster(group(**fields))).pods) - 1)  # type: ignore[arg-type]
    assert counts == [3, 1, 1, 0]


def test_world_says_that_ray_is_not_simulated() -> None:
    (job,) = ptcompile.simulate([ray_cluster()]).to_dict()["jobs"]
    (note,) = job["rendezvous"]["notes"]
    assert note.startswith("Ray connects the nodes and places the processes")
