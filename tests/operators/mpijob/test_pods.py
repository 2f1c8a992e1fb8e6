"""Pods, names and objects that MPI Operator 0.8 creates (v2beta1/mpi_job_controller.go)."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.kinds.model import KindContext
from ptcompile.operators.mpijob.pods import describe_failures, expand, lost_pod, pod_templates

Json = dict[str, Any]


def mpijob(
    workers: int | None = 2, launcher: Json | None = None, worker: Json | None = None, **spec: Any
) -> Json:
    def replica(container: Json | None, **more: Any) -> Json:
        body = {"containers": [{"name": "main", "image": "i:1", **(container or {})}]}
        return {"template": {"spec": body}, **more}

    replicas = {"Launcher": replica(launcher or {"command": ["mpirun", "python", "train.py"]})}
    if workers is not None:
        replicas["Worker"] = replica(worker, replicas=workers)
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"slotsPerWorker": 8, **spec, "mpiReplicaSpecs": replicas},
    }


def hostfile(**spec: Any) -> str:
    (config,) = expand(mpijob(**spec), KindContext()).configmaps
    assert config["metadata"] == {"name": "train-config", "namespace": "ml"}
    return str(config["data"]["hostfile"])


def test_pods_have_names_and_dns_records() -> None:
    pods = list(expand(mpijob(), KindContext()).pods)
    assert [(pod.name, pod.hostname, pod.subdomain, pod.random_suffix) for pod in pods] == [
        ("train-launcher", "train-launcher", "train", True),
        ("train-worker-0", "train-worker-0", "train", False),
        ("train-worker-1", "train-worker-1", "train", False),
    ]
    assert [pod.dns for pod in pods] == [
        None, "train-worker-0.train.ml.svc.cluster.local", "train-worker-1.train.ml.svc.cluster.local",
    ]  # fmt: skip
    assert pods[1].spec["dnsConfig"]["searches"] == ["train.ml.svc.cluster.local"]


@pytest.mark.parametrize(
    ("spec", "lines"),
    [
        ({}, ["train-worker-0.train.ml.svc slots=8", "train-worker-1.train.ml.svc slots=8"]),
        (
            {"mpiImplementation": "Intel"},
            ["train-worker-0.train.ml.svc:8", "train-worker-1.train.ml.svc:8"],
        ),
        ({"mpiImplementation": "MPICH", "workers": 1}, ["train-worker-0.train.ml.svc:8"]),
        (
            {"runLauncherAsWorker": True, "workers": 1},
            ["train-launcher.train.ml.svc slots=8", "train-worker-0.train.ml.svc slots=8"],
        ),
        ({"runLauncherAsWorker": True, "workers": None}, ["train-launcher.train.ml.svc slots=8"]),
        ({"workers": 12}, [f"train-worker-{i}.train.ml.svc slots=8" for i in range(12)]),
    ],
)
def test_the_hostfile_lists_the_workers(spec: Json, lines: list[str]) -> None:
    assert hostfile(**spec).splitlines() == lines


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        (
            {},
            {
                "OMPI_MCA_orte_set_default_slots": "8",
                "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
            },
        ),
        (
            {"mpiImplementation": "Intel"},
            {"I_MPI_PERHOST": "8", "I_MPI_HYDRA_HOST_FILE": "/etc/mpi/hostfile"},
        ),
        ({"mpiImplementation": "MPICH"}, {"HYDRA_HOST_FILE": "/etc/mpi/hostfile"}),
    ],
)
def test_launcher_and_workers_have_their_environment(spec: Json, names: dict[str, str]) -> None:
    launcher, worker, _ = expand(mpijob(**spec), KindContext()).pods
    variables = {entry["name"]: entry["value"] for entry in launcher.containers[0].env}
    assert names.items() <= variables.items()
    assert (variables["K_MPI_JOB_ROLE"], variables["NVIDIA_VISIBLE_DEVICES"]) == ("launcher", "")
    assert [(entry["name"], entry["value"]) for entry in worker.containers[0].env] == [
        ("K_MPI_JOB_ROLE", "worker")
    ]
    assert not {"MASTER_ADDR", "RANK", "WORLD_SIZE"} & variables.keys()


def test_launcher_as_worker_sees_its_gpus_and_is_worker_0() -> None:
    launcher, worker = expand(mpijob(1, runLauncherAsWorker=True), KindContext()).pods
    assert "NVIDIA_VISIBLE_DEVICES" not in {entry["name"] for entry in launcher.containers[0].env}
    assert launcher.dns == "train-launcher.train.ml.svc.cluster.local"
    assert [pod.labels["training.kubeflow.org/replica-index"] for pod in (launcher, worker)] == [
        "0",
        "1",
    ]


@pytest.mark.parametrize(
    ("container", "command"),
    [({}, ("/usr/sbin/sshd", "-De")), ({"command": ["x"]}, ("x",)), ({"args": ["x"]}, None)],
)
def test_worker_without_command_runs_an_ssh_server(
    container: Json, command: tuple[str, ...] | None
) -> None:
    *_, worker = expand(mpijob(1, worker=container), KindContext()).pods
    assert worker.containers[0].command == command


def test_pods_have_restart_policies_and_mounts() -> None:
    launcher, worker = expand(mpijob(1, sshAuthMountPath="/home/mpi/.ssh"), KindContext()).pods
    assert (launcher.restart_policy, worker.restart_policy) == ("OnFailure", "Never")
    assert [mount["mountPath"] for mount in launcher.containers[0].mounts] == [
        "/home/mpi/.ssh",
        "/etc/mpi",
    ]
    assert [mount["mountPath"] for mount in worker.containers[0].mounts] == ["/home/mpi/.ssh"]


def test_without_a_launcher_nothing_is_created() -> None:
    manifest = mpijob()
    del manifest["spec"]["mpiReplicaSpecs"]["Launcher"]
    assert expand(manifest, KindContext()).refused
    assert not list(expand(manifest, KindContext()).pods)


def test_simulate_and_diff_expand_mpijobs() -> None:
    world = ptcompile.simulate(mpijob())
    assert [pod.role for pod in world.pods] == ["launcher", "worker", "worker"]
    same = mpijob(mpiImplementation="OpenMPI", runPolicy={"cleanPodPolicy": "None"})
    (unchanged,) = ptcompile.diff(mpijob(), same).objects
    assert not unchanged.changes
    (grown,) = ptcompile.diff(mpijob(), mpijob(3)).objects
    assert grown.changes


@pytest.mark.parametrize(
    ("role", "limit", "recreated", "text"),
    [
        ("Launcher", None, "pod", "its Job creates a new pod, which is counted"),
        ("Launcher", 0, "none", "the job fails"),
        ("launcher", 1, "pod", "its Job creates a new pod, which is counted"),
        ("Worker", None, "pod", "mpirun fails with it; the controller creates a new pod"),
        ("Worker", 0, "pod", "mpirun fails with it; the controller creates a new pod"),
    ],
)
def test_a_lost_pod_is_recreated_by_role(
    role: str, limit: int | None, recreated: str, text: str
) -> None:
    manifest = mpijob(runPolicy={} if limit is None else {"backoffLimit": limit})
    assert lost_pod(manifest, role) == (recreated, text)


def _sentences(manifest: Json) -> str:
    return "\n".join(describe_failures(manifest))


def test_the_sentences_say_what_a_failure_causes() -> None:
    manifest = mpijob()
    text = _sentences(manifest)
    assert (
        "a launcher that fails: the kubelet restarts it in place, at most backoffLimit 6 times"
        in text
    )
    assert "a worker that fails: mpirun fails with it; the controller creates a new pod" in text
    manifest["spec"]["mpiReplicaSpecs"]["Worker"]["restartPolicy"] = "OnFailure"
    manifest["spec"]["mpiReplicaSpecs"]["Launcher"]["restartPolicy"] = "Never"
    text = _sentences(manifest)
    assert "a launcher that fails: its Job creates a new pod" in text
    assert "a worker that fails: mpirun fails with it; the kubelet restarts it in place" in text
    assert "a worker that fails" not in _sentences(mpijob(workers=None))


@pytest.mark.parametrize(("suspend", "expected"), [(True, True), (False, False), (None, False)])
def test_a_suspended_job_has_a_note(suspend: bool | None, expected: bool) -> None:
    notes = expand(mpijob(runPolicy={"suspend": suspend}), KindContext()).notes
    assert any(note.startswith("suspended: ") for note in notes) is expected


def test_absent_numbers_have_their_defaults() -> None:
    manifest = mpijob(slotsPerWorker=None)
    del manifest["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"]
    manifest["spec"]["mpiReplicaSpecs"]["Other"] = {"template": {}}
    assert {template.role: template.replicas for template in pod_templates(manifest)} == {
        "Launcher": 1,
        "Worker": 0,
        "Other": 1,
    }
    assert "slots=1" in hostfile(slotsPerWorker=None)
