"""Volcano's queues: their resources, and the gangs in them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.linter.asking import Json, fires, problems_of
from tests.linter.manifests import task, template, volcano


def _queue(name: str = "q", **spec: Any) -> Json:
    kind = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    return {**kind, "metadata": {"name": name}, "spec": {"weight": 1, **spec}}


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [
        ({"cpu": 1, "memory": "1Gi", "pods": 4, "nvidia.com/gpu": 8, "hugepages-2Mi": "1Gi"}, []),
        ({"mem": "1Gi"}, ["memory"]),
        ({"gpu": 8}, ["nvidia.com/gpu"]),
        ({"Memory": "1Gi"}, ["memory"]),
        ({"licenses": 8}, [None]),
    ],
)
def test_unknown_resources_of_a_queue_are_reported(
    amounts: Json, expected: list[str | None]
) -> None:
    for spec in (
        {"capability": amounts},
        {"deserved": amounts},
        {"guarantee": {"resource": amounts}},
    ):
        helps = [problem.help for problem in problems_of("unread-queue-resource", _queue(**spec))]
        assert helps == [
            f"did you mean {name}?" if name else "write the resource as pods request it"
            for name in expected
        ]


def _job(pods: int, gpus: int, **spec: Any) -> Json:
    pod = template(container={"resources": {"limits": {"cpu": 4, "nvidia.com/gpu": gpus}}})
    return volcano(task("w", pods, pod=pod), queue="q", **spec)


@pytest.mark.parametrize(
    ("pods", "minimum", "expected"),
    [(4, 4, True), (4, 3, True), (4, 2, False), (2, 2, False), (4, None, True)],
)
def test_gangs_that_exceed_the_queue_are_reported(
    pods: int, minimum: int | None, expected: bool
) -> None:
    fields = {} if minimum is None else {"minAvailable": minimum}
    job = _job(pods, 8, **fields)
    assert fires("gang-exceeds-queue", job, _queue(capability={"nvidia.com/gpu": 16})) is expected
    assert not fires("gang-exceeds-queue", job, _queue("other", capability={"nvidia.com/gpu": 16}))
    assert not fires("gang-exceeds-queue", job, _queue(capability={"memory": "1Gi"}))
    assert not fires("gang-exceeds-queue", job, _queue())


def _mpi(command: str, plugins: Json, **container: Any) -> Json:
    launcher = template(command=["sh", "-c", command], container=container)
    return volcano(task("mpi-worker", 2), task("launcher", 1, pod=launcher), plugins=plugins)


@pytest.mark.parametrize(
    ("file", "plugins", "expected"),
    [
        ("mpi_worker.host", {"svc": []}, False),
        ("mpi_worker.host", {"mpi": []}, False),  # implies svc
        ("VC_MPI_WORKER_HOSTS", {"svc": []}, False),
        ("mpi_worker.host", {"ssh": []}, True),
        ("mpi_worker.host", {}, True),
        ("mpi-worker.host", {"svc": []}, True),
        ("worker.host", {"svc": []}, True),
    ],
)
def test_missing_files_of_hosts_are_reported(file: str, plugins: Json, expected: bool) -> None:
    job = _mpi(f"HOSTS=$(cat /etc/volcano/{file}) && mpirun --host $HOSTS python t.py", plugins)
    assert fires("missing-hosts-file", job) is expected


def test_a_file_of_hosts_may_be_on_a_volume() -> None:
    mounts = [{"name": "hosts", "mountPath": "/etc/volcano"}]
    assert not fires("missing-hosts-file", _mpi("cat /etc/volcano/x.host", {}, volumeMounts=mounts))


@pytest.mark.parametrize(
    ("command", "plugins", "expected"),
    [
        ("mpirun --hostfile /h python t.py", {"svc": []}, True),
        ("horovodrun -H a:1,b:1 python t.py", {"svc": []}, True),
        ("mpirun --hostfile /h python t.py", {"svc": [], "ssh": []}, False),
        ("mpirun --hostfile /h python t.py", {"mpi": []}, False),
        ("mpirun -np 8 python t.py", {"svc": []}, False),  # on this pod alone
        ("echo no mpirun here --host", {"svc": []}, True),
        ("python train.py --host a", {"svc": []}, False),
    ],
)
def test_mpirun_without_keys_of_ssh_is_reported(
    command: str, plugins: Json, expected: bool
) -> None:
    assert fires("mpirun-without-ssh", _mpi(command, plugins)) is expected


def test_keys_on_a_volume_are_enough_for_mpirun() -> None:
    mounts = [{"name": "keys", "mountPath": "/root/.ssh"}]
    assert not fires(
        "mpirun-without-ssh", _mpi("mpirun --host a,b t", {"svc": []}, volumeMounts=mounts)
    )
