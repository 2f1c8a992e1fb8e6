"""Numbers of processes compared with devices, wherever the number of processes is set."""

from __future__ import annotations

from typing import Any

import pytest

from ptcompile.linter import run
from tests.linter.rules.launch.making import messages, names, pod, pytorchjob

Json = dict[str, Any]
DEVICES = frozenset(
    {
        "more-processes-than-gpus",
        "idle-gpus",
        "gpu-processes-without-gpu",
        "miscounted-devices",
        "host-core-processes",
        "world-size-counts-processes",
    }
)


def node(*command: str, **limits: Any) -> Json:
    return pod(*command, resources={"limits": {"cpu": 8, "memory": "64Gi", **limits}})


GPU8, GPU1 = {"nvidia.com/gpu": 8}, {"nvidia.com/gpu": 1}
CASES: list[tuple[str, Json, set[str]]] = [
    (
        "by flag",
        node("torchrun", "--nproc-per-node=9", "t.py", **GPU8),
        {"more-processes-than-gpus"},
    ),
    ("by two words", node("torchrun", "--nproc_per_node", "4", "t.py", **GPU8), {"idle-gpus"}),
    (
        "in a shell",
        node("bash", "-c", "exec torchrun --nproc-per-node=9 t.py", **GPU8),
        {"more-processes-than-gpus"},
    ),
    (
        "in a shell, by its variable",
        node("sh", "-c", "N=9; torchrun --nproc-per-node=$N t.py", **GPU8),
        {"more-processes-than-gpus"},
    ),
    ("in a shell, unknown", node("sh", "-c", "torchrun --nproc-per-node=$N t.py", **GPU8), set()),
    ("not set", node("torchrun", "t.py", **GPU8), {"idle-gpus"}),
    ("one per GPU", node("torchrun", "--nproc-per-node=8", "t.py", **GPU8), set()),
    ("counted by torchrun", node("torchrun", "--nproc-per-node=gpu", "t.py", **GPU8), set()),
    ("no GPU is not a mistake", node("torchrun", "--nproc-per-node=8", "t.py"), set()),
    (
        "slices are not GPUs",
        node("torchrun", "--nproc-per-node=1", "t.py", **{"nvidia.com/mig-1g.5gb": 2}),
        set(),
    ),
    (
        "TPUs have other processes",
        node("torchrun", "--nproc-per-node=1", "t.py", **{"google.com/tpu": 4}),
        set(),
    ),
    (
        "gpu without a GPU",
        node("torchrun", "--nproc-per-node=gpu", "t.py"),
        {"gpu-processes-without-gpu"},
    ),
    (
        "auto without a GPU",
        node("torchrun", "--nproc-per-node=auto", "t.py"),
        {"host-core-processes"},
    ),
    (
        "auto on slices",
        node("torchrun", "--nproc-per-node=auto", "t.py", **{"nvidia.com/mig-1g.5gb": 2}),
        {"miscounted-devices"},
    ),
    (
        "auto on one slice",
        node("torchrun", "--nproc-per-node=auto", "t.py", **{"nvidia.com/mig-1g.5gb": 1}),
        set(),
    ),
    (
        "auto on a TPU",
        node("torchrun", "--nproc-per-node=auto", "t.py", **{"google.com/tpu": 4}),
        {"miscounted-devices"},
    ),
    (
        "auto on Gaudi",
        node("torchrun", "--nproc-per-node=auto", "t.py", **{"habana.ai/gaudi": 8}),
        set(),
    ),
    (
        "gpu by the runtime",
        pod(
            "torchrun",
            "--nproc-per-node=gpu",
            "t.py",
            resources={},
            env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
        ),
        set(),
    ),
    (
        "by the operator's field",
        pytorchjob(master=["torchrun", "t.py"], nprocPerNode="2"),
        {"more-processes-than-gpus"},
    ),
    (
        "by the operator's default",
        pytorchjob(master=["torchrun", "t.py"], nprocPerNode=None),
        set(),
    ),
    (
        "plain Python of an integer field",
        pytorchjob(master=["python", "t.py"], nprocPerNode="2"),
        {"world-size-counts-processes"},
    ),
    (
        "a launcher that is a module",
        pytorchjob(master=["python", "-m", "accelerate.commands.launch", "t.py"], nprocPerNode="2"),
        set(),
    ),
]


@pytest.mark.parametrize(
    ("manifest", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_rules_about_devices_fire(manifest: Json, expected: set[str]) -> None:
    assert names(manifest) & DEVICES == expected


def test_the_finding_is_at_the_number() -> None:
    assert messages(
        pytorchjob(master=["torchrun", "t.py"], nprocPerNode="2"), "more-processes-than-gpus"
    ) == ["spec.nprocPerNode: 2 processes on a node with 1 GPU: the extra ones find no device"]
    by_env = pod("torchrun", "t.py", env=[{"name": "PET_NPROC_PER_NODE", "value": "2"}])
    (problem,) = run(by_env, only={"more-processes-than-gpus"})
    assert problem.path == ("spec", "containers", 0, "env", 0, "value")
    assert problem.fix is not None
    assert [(edit.op, edit.path, edit.value) for edit in problem.fix.edits] == [
        ("set", problem.path, "1")
    ]


@pytest.mark.parametrize(
    ("command", "index", "value"),
    [
        (["torchrun", "--nproc-per-node=2", "t.py"], 1, "--nproc-per-node=1"),
        (["torchrun", "--nproc_per_node", "2", "t.py"], 2, "1"),
    ],
)
def test_a_fix_keeps_the_form_of_the_flag(command: list[str], index: int, value: str) -> None:
    (problem,) = run(pod(*command), only={"more-processes-than-gpus"})
    assert problem.fix is not None
    (edit,) = problem.fix.edits
    assert (edit.path, edit.value) == (("spec", "containers", 0, "command", index), value)


def test_a_script_is_not_rewritten() -> None:
    (problem,) = run(
        pod("sh", "-c", "torchrun --nproc-per-node=2 t.py"), only={"more-processes-than-gpus"}
    )
    assert problem.path == ("spec", "containers", 0, "command", 2)
    assert problem.fix is None
