"""Settings that a vendor's guide requires: a note where they are needed, a warning elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.kubernetes.pod_spec import SHM_PATH
from tests.linter.asking import pod, problems_of

GPUS = {"nvidia.com/gpu": 8}


def _pod(
    devices: dict[str, Any] | None = None, host_path: str = "", **fields: Any
) -> dict[str, Any]:
    volumes = [{"name": "host", "hostPath": {"path": host_path}}] if host_path else []
    security = {"privileged": fields.pop("privileged")} if "privileged" in fields else {}
    container = {
        "name": "t",
        "image": "train:1",
        "command": ["python", "train.py"],
        "resources": {"limits": devices or {}},
        "securityContext": security,
    }
    return pod(containers=[container], volumes=volumes, **fields)


def _severities(rule: str, manifest: dict[str, Any]) -> list[str]:
    return [problem.severity for problem in problems_of(rule, manifest)]


@pytest.mark.parametrize(
    ("host_path", "severity"),
    [
        ("", "warning"),
        ("/data", "warning"),
        (SHM_PATH, "warning"),
        ("/devices", "warning"),
        ("/dev/infiniband", "note"),
        ("/dev/infiniband/", "note"),
        ("/dev", "note"),
        ("/dev/kfd", "note"),
        ("/home/kubernetes/bin/gib", "note"),
        ("/home/kubernetes/bin/other", "warning"),
    ],
)
def test_privileged_container_needs_it_for_devices_of_a_host_path(
    host_path: str, severity: str
) -> None:
    """Without privileges the device cgroup denies a device that a hostPath brings, with IPC_LOCK or without."""
    (problem,) = problems_of("privileged-training", _pod(GPUS, host_path, privileged=True))
    assert problem.severity == severity
    is_needless = severity == "warning"
    assert ("IPC_LOCK" in str(problem.help)) is is_needless
    assert (problem.fix is not None) is is_needless


@pytest.mark.parametrize(
    ("devices", "host_path", "severity"),
    [
        (GPUS, "", "warning"),
        ({"habana.ai/gaudi": 8}, "", "note"),
        ({"amd.com/gpu": 8}, "", "note"),
        (GPUS, "/dev/infiniband", "note"),
        ({}, "", "warning"),
    ],
)
def test_host_ipc_is_a_note_where_guides_set_it(
    devices: dict[str, Any], host_path: str, severity: str
) -> None:
    assert _severities("host-namespaces", _pod(devices, host_path, hostIPC=True)) == [severity]
    assert _severities("host-namespaces", _pod(devices, host_path, hostPID=True)) == ["warning"]


@pytest.mark.parametrize(
    ("devices", "severity"),
    [
        (GPUS, "note"),
        ({"aws.amazon.com/neuron": 16}, "note"),
        ({"nvidia.com/gpu": 4}, "warning"),
        ({}, "warning"),
    ],
)
def test_shm_of_the_node_is_a_note_for_a_pod_that_takes_the_machine(
    devices: dict[str, Any], severity: str
) -> None:
    assert _severities("host-shm", _pod(devices, SHM_PATH)) == [severity]


JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: train}}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  backoffLimit: 0
  template:
    spec:
      subdomain: train
      restartPolicy: Never
      containers:
        - name: t
          image: ghcr.io/acme/train:1.0
          command: [torchrun, --nnodes=2, --rdzv-backend=c10d, --rdzv-endpoint=train-0.train:29400{}, train.py]
"""


@pytest.mark.parametrize(
    ("options", "severity"),
    [
        (", --node-rank=0", "note"),
        (", --node-rank=0, --master-addr=train-0.train, --master-port=29400", "note"),
        (", --master-port=29500", "warning"),
        (", --master-addr=other", "warning"),
    ],
)
def test_ignored_option_is_a_note_if_it_does_not_contradict_the_rendezvous(
    options: str, severity: str
) -> None:
    problems = [
        d
        for d in ptcompile.lint(JOB.format(options)).diagnostics
        if d.name == "ignored-rendezvous-option"
    ]
    assert [problem.severity for problem in problems] == [severity]


SHARED = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  schedulerName: volcano
  minAvailable: 2
  tasks:
    - name: master
      replicas: 1
      template:
        spec: &pod
          restartPolicy: Never
          hostIPC: true
          containers: [{name: t, image: "ghcr.io/acme/train:1.0", command: [python, train.py]}]
    - name: worker
      replicas: 1
      template:
        spec: SPEC
"""


def test_finding_in_a_template_that_roles_share_is_reported_once() -> None:
    """Both tasks of an alias have their finding at one place; a copy has another line."""
    alias = SHARED.replace("SPEC", "*pod")
    copy = SHARED.replace(
        "SPEC",
        "{restartPolicy: Never, hostIPC: true, containers: [{name: t, image: 'ghcr.io/acme/train:1.0', command: [x]}]}",
    )
    paths = [
        [d.path[2] for d in ptcompile.lint(text).diagnostics if d.code == "PTC821"]
        for text in (alias, copy)
    ]
    assert paths == [[0], [0, 1]]


RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {{name: mpi, namespace: ml, labels: {{trainer.kubeflow.org/framework: mpi}}}}
spec:
  mlPolicy: {{numNodes: 2, {}: {{}}}}
  template:
    spec:
      replicatedJobs:
        - name: launcher
          template:
            metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
            spec:
              template:
                spec:
                  containers:
                    - name: node
                      image: ghcr.io/acme/train:1.0
                      command: [mpirun, python, train.py]
                      volumeMounts: [{{name: {}, mountPath: /keys}}]
"""


@pytest.mark.parametrize(
    ("policy", "volume", "codes"),
    [
        ("mpi", "mpi-ssh-auth", []),
        ("mpi", "mpi-hostfile", []),
        ("mpi", "other", ["PTC513"]),
        ("torch", "mpi-ssh-auth", ["PTC513"]),
        ("flux", "flux-install", []),
    ],
)
def test_container_of_a_runtime_may_mount_the_volumes_that_trainer_adds(
    policy: str, volume: str, codes: list[str]
) -> None:
    report = ptcompile.lint(RUNTIME.format(policy, volume))
    assert [d.code for d in report.diagnostics if d.code == "PTC513"] == codes


HEAD = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: train}
spec:
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          containers:
            - name: t
              image: ghcr.io/acme/train:1.0
              command: [mpirun, python, train.py]
              env: [{name: FI_PROVIDER, value: efa}]
    Worker:
      replicas: 2
      template:
        spec:
          containers:
            - name: t
              image: ghcr.io/acme/train:1.0
              env: [{name: FI_PROVIDER, value: efa}]
              resources: {limits: {nvidia.com/gpu: 8, WORKER}}
"""


def test_fabric_of_a_pod_without_devices_is_that_of_the_pods_that_train() -> None:
    """A launcher or a head only passes the variables on."""
    complete = HEAD.replace("WORKER", "vpc.amazonaws.com/efa: 4")
    partial = HEAD.replace("WORKER", "memory: 64Gi")
    paths = [
        [d.path[2] for d in ptcompile.lint(text).diagnostics if d.code == "PTC118"]
        for text in (complete, partial)
    ]
    assert paths == [[], ["Worker"]]


def test_number_of_processes_from_a_command_is_one_word() -> None:
    """Guides count the GPUs with nvidia-smi; its options are not torchrun's."""
    script = "N=$(nvidia-smi -L | wc -l); torchrun --nproc-per-node ${N} train.py"
    manifest = _pod(GPUS)
    manifest["spec"]["containers"][0]["command"] = ["sh", "-c", script]
    assert "PTC423" not in {d.code for d in ptcompile.lint([manifest]).diagnostics}
