"""Resources of a node against the machines of its cloud: each machine at its size and one unit above."""

from __future__ import annotations

import pytest

from ptcompile import compile
from ptcompile.diagnostics import Problem
from ptcompile.hardware.machines import MACHINES, Machine, least_memory, left_for_pods
from ptcompile.hardware.nodes import ANYWHERE
from tests import making
from tests.compiler.checks import findings

SHAPES = [
    (name, cloud, one)
    for name, clouds in MACHINES.items()
    for cloud, all in clouds.items()
    for one in all
]
FITS, TAKES = "fits-no-machine", "takes-the-whole-machine"


def machine_problems(body: str, cloud: str | None) -> list[Problem]:
    problems = making.compiled(
        making.smallest(body), "job", making.profile({"cloud": cloud})
    ).problems
    return [problem for problem in problems if problem.name in {FITS, TAKES}]


def asking(name: str, machine: Machine, **more: object) -> str:
    amounts = {"cpu": 1, "memory": "1Gi", "gpu": machine.devices, **more}
    pin = f"nodeSelector: {{node.kubernetes.io/instance-type: {machine.name}}}"
    return f"accelerator: {name}\n{pin}\nresources: {{{', '.join(f'{k}: {v}' for k, v in amounts.items())}}}"


@pytest.mark.parametrize(
    ("name", "cloud", "machine"), SHAPES, ids=lambda one: getattr(one, "name", str(one))
)
def test_resources_are_checked_against_every_machine(
    name: str, cloud: str, machine: Machine
) -> None:
    where = cloud or None
    if not machine.cpu:  # no source gives its CPUs and memory
        assert machine_problems(asking(name, machine, cpu=500, memory="9Ti"), where) == []
        (problem,) = machine_problems(asking(name, machine, gpu=machine.devices + 1), where)
        assert (problem.name, problem.path) == (FITS, ("spec", "resources", "gpu"))
        return
    (cpu, _), memory = left_for_pods(machine, where), least_memory(machine, where)
    assert machine_problems(asking(name, machine, cpu=f"{cpu}m", memory=f"{memory}Mi"), where) == []
    for word, all_of_it, one_more in (
        ("gpu", machine.devices, machine.devices + 1),
        ("cpu", machine.cpu, machine.cpu + 1),
        ("memory", f"{machine.memory}Gi", f"{machine.memory + 1}Gi"),
    ):
        problems = machine_problems(asking(name, machine, **{word: all_of_it}), where)
        assert [(problem.name, problem.severity) for problem in problems] == (
            [] if word == "gpu" else [(TAKES, "warning")]
        )
        (found_one,) = machine_problems(asking(name, machine, **{word: one_more}), where)
        assert (found_one.name, found_one.severity, found_one.path) == (
            FITS,
            "error",
            ("spec", "resources", word),
        )
        assert f"({machine.name})" in found_one.message


H100 = "accelerator: nvidia-h100\nresources: "
TOO_MANY = (
    "spec.resources.gpu: 16: no machine with nvidia-h100 on eks has more than 8 (p5.48xlarge)"
)


@pytest.mark.parametrize(
    ("body", "cloud", "messages"),
    [
        (H100 + "{gpu: 16, cpu: 400, memory: 3Ti}", "eks",
         [TOO_MANY,
          "spec.resources.cpu: 400: no machine with nvidia-h100 on eks has more than 192 vCPUs (p5.48xlarge)",
          "spec.resources.memory: 3Ti: no machine with nvidia-h100 on eks has more than 2048Gi (p5.48xlarge)"]),
        ("accelerator: nvidia-a100-40gb\nresources: {gpu: 16, cpu: 250, memory: 3Ti}", "eks",
         ["spec.resources.gpu: 16: no machine with nvidia-a100-40gb on eks has more than 8 (p4d.24xlarge)",
          "spec.resources.cpu: 250: no machine with nvidia-a100-40gb on eks has more than 96 vCPUs (p4d.24xlarge)",
          "spec.resources.memory: 3Ti: no machine with nvidia-a100-40gb on eks has more than 1152Gi (p4d.24xlarge)"]),
        ("accelerator: nvidia-a100-40gb\nresources: {gpu: 16}", "gke", []),  # a2-megagpu-16g
        (H100 + "{gpu: 16}", None, []),  # the machine is unknown
        ("accelerator: nvidia-t4\nresources: {gpu: 16}", "gke", []),  # N1: any combination
        ("accelerator: nvidia-a100-40gb/1g.5gb\nresources: {gpu: 16}", "eks", []),  # seven per card
        ("accelerator: nvidia-a100-40gb/1g.5gb\nresources: {gpu: 1, cpu: 97}", "eks", ["spec.resources.cpu: 97: "]),
        ("accelerator: google-tpu-v5e/4x4\nelastic: {nnodes: 1}\nresources: {gpu: 16}", "gke",
         ["spec.resources.gpu: 16: no machine with google-tpu-v5e/4x4 on gke has more than 8 (ct5lp-hightpu-8t)"]),
        (H100 + "{devices: {nvidia.com/gpu: 9}}", "eks", ["spec.resources.devices[nvidia.com/gpu]: 9: "]),
        (H100 + "{gpu: 1, limits: {memory: 3Ti}}", "eks", ["spec.resources.limits.memory: 3Ti: "]),
        (H100 + "{gpu: 8, requests: {cpu: 8}, limits: {cpu: 500}}", "eks", []),  # limits may exceed the node
        # the smaller machine has too few GPUs, so the larger one is checked
        (H100 + "{gpu: 1, cpu: 100}", "eks", []),
        (H100 + "{gpu: 8}\nmaster: {}\nworker: {replicas: 2, resources: {gpu: 9}}", "eks",
         ["spec.worker.resources.gpu: 9: "]),
    ],
)  # fmt: skip
def test_nodes_that_fit_no_machine_have_their_messages(
    body: str, cloud: str | None, messages: list[str]
) -> None:
    reported = [problem.message for problem in machine_problems(body, cloud)]
    assert len(reported) == len(messages)
    assert all(text.startswith(wanted) for text, wanted in zip(reported, messages, strict=True))


def test_a_profile_s_default_is_reported_at_the_accelerator() -> None:
    profile = making.profile({"cloud": "eks", "defaults": {"requests": {"cpu": "200"}}})
    problems = making.compiled(making.smallest(H100 + "{gpu: 8}"), "job", profile).problems
    assert [(problem.name, problem.path) for problem in problems if problem.name == FITS] == [
        (FITS, ("spec", "accelerator"))
    ]


def test_the_profile_s_accelerators_are_not_checked() -> None:
    own = making.profile(
        {"cloud": "eks", "accelerators": {"nvidia-h100": {"nodeLabels": {"card": "mine"}}}}
    )
    assert not making.compiled(making.smallest(H100 + "{gpu: 16}"), "job", own).problems


def test_vendors_with_one_dialect_are_checked_without_a_cloud() -> None:
    assert {name for name, clouds in MACHINES.items() if ANYWHERE in clouds} >= {
        "google-tpu-v6e",
        "aws-trainium2",
    }
    (problem,) = machine_problems("accelerator: aws-trainium2\nresources: {gpu: 32}", None)
    assert "no machine with aws-trainium2 has more than 16 (trn2.48xlarge)" in problem.message


def test_a_rejected_number_of_gpus_is_reported_once() -> None:
    """Compile checks the spec again without its rejected fields; the missing GPUs are not reported then."""
    cluster = {"kind": "ClusterProfile", "apiVersion": "ptcompile/v1", "spec": {"cloud": "eks"}}
    diagnostics = compile(
        making.smallest(H100 + "{gpu: 16, cpu: 400, memory: 3Ti}"), cluster=cluster
    ).diagnostics
    assert [diagnostic.name for diagnostic in diagnostics] == [FITS] * 3


PARTS, DISK = "part-of-a-machine", "ephemeral-storage-above-disk"


def notes(body: str, cloud: str | None, name: str) -> list[str]:
    problems = making.compiled(
        making.smallest(body), "job", making.profile({"cloud": cloud})
    ).problems
    return [f"{problem.severity} {problem.message}" for problem in problems if problem.name == name]


@pytest.mark.parametrize(
    ("body", "cloud", "message"),
    [
        (H100 + "{gpu: 8}", "eks", None),
        (H100 + "{gpu: 1}", "eks", None),  # p5.4xlarge has one GPU
        (H100 + "{gpu: 4}", "eks",
         "note spec.resources.gpu: uses 4 of the 8 accelerators of p5.48xlarge; other pods can use the remaining 4"),
        (H100 + "{gpu: 4}\nnodes: 2", "eks", None),  # both nodes fit on one machine
        (H100 + "{gpu: 4, cpu: 180}\nnodes: 2", "eks",
         "note spec.resources.gpu: p5.48xlarge fits 1 of these pods, which leaves 4 accelerators unusable"),
        ("accelerator: nvidia-l4\nresources: {gpu: 4}", "eks", None),  # g6.12xlarge
        ("accelerator: nvidia-a100-40gb/1g.5gb\nresources: {gpu: 1}", "eks", None),
    ],
)  # fmt: skip
def test_using_part_of_a_machine_is_a_note(body: str, cloud: str, message: str | None) -> None:
    assert notes(body, cloud, PARTS) == ([message] if message else [])


@pytest.mark.parametrize(
    ("body", "cloud", "message"),
    [
        (H100 + "{gpu: 8, ephemeralStorage: 17Gi}", "eks", None),
        (H100 + "{gpu: 8, ephemeralStorage: 100Gi}", "eks",
         "warning spec.resources.ephemeralStorage: 100Gi: EKS's default root volume leaves pods 17Gi"),
        (H100 + "{gpu: 8, ephemeralStorage: 40T}", "eks",
         "warning spec.resources.ephemeralStorage: 40T: p5.48xlarge has local disks of 30400G"),
        (H100 + "{gpu: 8, ephemeralStorage: 6000Gi}", "gke", None),
        (H100 + "{gpu: 8, ephemeralStorage: 6001Gi}", "gke",
         "warning spec.resources.ephemeralStorage: 6001Gi: a3-highgpu-8g has local disks of 6000Gi"),
    ],
)  # fmt: skip
def test_ephemeral_storage_is_checked_against_the_disks(
    body: str, cloud: str, message: str | None
) -> None:
    assert notes(body, cloud, DISK) == ([message] if message else [])


def test_network_devices_are_checked_against_the_machine() -> None:
    h200 = "accelerator: nvidia-h200\nfabric: efa\nnodeSelector: {node.kubernetes.io/instance-type: p5en.48xlarge}\n"
    devices = "resources: {gpu: 8, devices: {vpc.amazonaws.com/efa: %s}}"
    assert machine_problems(h200 + devices % 16, "eks") == []
    (problem,) = machine_problems(h200 + devices % 32, "eks")
    assert problem.path == ("spec", "resources", "devices", "vpc.amazonaws.com/efa")
    assert "has more than 16 (p5en.48xlarge)" in problem.message


@pytest.mark.parametrize(
    ("machine", "measured", "asked", "warned"),
    [
        # aws/aws-k8s-tester#471 and pytorch/ci-infra#1082
        ("nvidia-a10g g5.8xlarge", 127462076 // 1024, "126Gi", True),
        ("nvidia-a10g g5.8xlarge", 127462076 // 1024, "115Gi", False),
        ("nvidia-l4 g6.4xlarge", 58981, "58Gi", True),
        ("nvidia-l4 g6.4xlarge", 58981, "56Gi", False),
    ],
)
def test_memory_bounds_match_measured_nodes_of_eks(
    machine: str, measured: int, asked: str, warned: bool
) -> None:
    accelerator, name = machine.split()
    one = next(one for one in MACHINES[accelerator]["eks"] if one.name == name)
    assert least_memory(one, "eks") <= measured <= left_for_pods(one, "eks")[1]
    problems = machine_problems(asking(accelerator, one, memory=asked), "eks")
    assert [problem.severity for problem in problems] == (["warning"] if warned else [])
    assert all(
        "depending on the hypervisor's share and the kubelet's maximum number" in problem.message
        for problem in problems
    )


@pytest.mark.parametrize("case", findings.cases("machines"))
def test_findings_are_as_recorded(case: str) -> None:
    assert findings.again(case) == case.strip()
