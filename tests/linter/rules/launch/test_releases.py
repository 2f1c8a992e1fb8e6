"""Options and programs that an older PyTorch lacks: by the image's tag or the profile's versions.torch."""

from __future__ import annotations

from typing import Any

import pytest

import ptcompile
from ptcompile.kubernetes.versions import Versions
from ptcompile.linter import run
from tests.linter.rules.launch.making import Json, pod

RULES = ("unknown-launch-option", "image-without-torchrun", "bad-nproc")


def findings(
    manifest: Json, torch: tuple[int, int] | None = None
) -> list[tuple[str, str, str | None]]:
    versions = Versions() if torch is None else Versions(torch=torch)
    return [
        (item.name, item.message.partition(": ")[2], item.help)
        for item in run(manifest, versions=versions)
        if item.name in RULES
    ]


def image(tag: str, *command: str) -> Json:
    return pod(*command, image=f"pytorch/pytorch:{tag}")


def names(manifest: Json, torch: tuple[int, int] | None = None) -> list[str]:
    return [name for name, _, _ in findings(manifest, torch)]


OLD, RECENT = "2.2.2-cuda12.1-cudnn8-runtime", "2.13.0-cuda13.0-cudnn9-runtime"


@pytest.mark.parametrize(
    ("option", "absent", "present"),
    [
        ("local-ranks-filter=0", "2.2.2", "2.5.1"),
        ("logs-specs=default", "2.2.2", "2.5.1"),
        ("numa-binding=node", "2.5.1", "2.13.0"),
        ("virtual-local-rank", "2.5.1", "2.13.0"),
        ("signals-to-handle=SIGUSR1", "2.5.1", "2.13.0"),
        ("log-line-prefix-template=x", "2.13.0", "2.15.0"),
    ],
)
def test_an_option_needs_its_release(option: str, absent: str, present: str) -> None:
    """`torchrun --help` of 2.2.2, 2.5.1, 2.13.0 and 2.15.0 (docs/facts/torchrun.md#options-and-variables)."""
    name = option.partition("=")[0]
    (finding,) = findings(
        image(f"{absent}-cuda12.1-cudnn8-runtime", "torchrun", f"--{option}", "t.py")
    )
    major_minor, first = absent.rpartition(".")[0], present.rpartition(".")[0]
    assert finding[1:] == (
        f"torchrun of PyTorch {major_minor} has no option --{name} and does not start",
        f"remove it, or use PyTorch {first} or newer",
    )
    assert not findings(
        image(f"{present}-cuda12.1-cudnn8-runtime", "torchrun", f"--{option}", "t.py")
    )


def test_the_profile_says_which_torch_another_image_has() -> None:
    command = ("torchrun", "--numa_binding=node", "t.py")
    assert names(pod(*command), (2, 5)) == ["unknown-launch-option"]
    assert names(pod(*command)) == [], "the newest is assumed"
    assert names(image(RECENT, *command), (2, 5)) == [], "the tag wins"


def test_releases_before_2_0_do_not_read_hyphens() -> None:
    hyphens = image(
        "1.13.1-cuda11.6-cudnn8-runtime", "torchrun", "--standalone", "--nproc-per-node=2", "t.py"
    )
    ((_, message, help),) = findings(hyphens)
    assert message == "torchrun of PyTorch 1.13 knows no hyphens in its options and does not start"
    assert help == "write --nproc_per_node, or use PyTorch 2.0 or newer"
    underscores = image(
        "1.13.1-cuda11.6-cudnn8-runtime", "torchrun", "--nproc_per_node=2", "t.py", "--log-dir=x"
    )
    assert not findings(underscores)
    assert not findings(
        image("2.0.1-cuda11.7-cudnn8-runtime", "torchrun", "--nproc-per-node=2", "t.py")
    )


@pytest.mark.parametrize(
    ("tag", "command", "message"),
    [
        ("1.7.0-cuda11.0-cudnn8-runtime", ("torchrun", "t.py"),
         "torchrun came with PyTorch 1.10, and this is PyTorch 1.7"),
        ("1.9.1-cuda11.1-cudnn8-devel", ("bash", "-c", "cd /a && torchrun t.py"), "and this is PyTorch 1.9"),
        ("1.8.1-cuda11.1-cudnn8-devel", ("python", "-m", "torch.distributed.run", "t.py"),
         "torch.distributed.run came with PyTorch 1.9, and this is PyTorch 1.8"),
        ("1.9.1-cuda11.1-cudnn8-devel", ("python", "-m", "torch.distributed.run", "t.py"), None),
        ("1.7.0-cuda11.0-cudnn8-runtime", ("python", "-m", "torch.distributed.launch", "t.py"), None),
        ("1.7.0-cuda11.0-cudnn8-runtime", ("bash", "-c", "pip install -U torch && torchrun t.py"), None),
        ("1.7.0-cuda11.0-cudnn8-runtime", ("python", "t.py"), None),
        ("1.10.0-cuda11.3-cudnn8-runtime", ("torchrun", "t.py"), None),
        ("latest", ("torchrun", "t.py"), None),
    ],
)  # fmt: skip
def test_an_image_older_than_torchrun_is_reported(
    tag: str, command: tuple[str, ...], message: str | None
) -> None:
    messages = [
        text for name, text, _ in findings(image(tag, *command)) if name == "image-without-torchrun"
    ]
    assert len(messages) == (message is not None)
    assert all(text.endswith(message or "") for text in messages)


def test_xpu_is_a_number_of_processes_only_in_recent_releases() -> None:
    command = ("torchrun", "--nproc-per-node=xpu", "t.py")
    assert names(image("2.5.1-cuda12.4-cudnn9-runtime", *command)) == ["bad-nproc"]
    assert names(image(RECENT, *command)) == []


def spec(tag: str, **fields: Any) -> dict[str, Any]:
    body = {
        "image": f"pytorch/pytorch:{tag}",
        "script": "train.py",
        "nodes": 2,
        "elastic": {"nprocPerNode": 1},
    }
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "train"},
        "spec": {**body, **fields},
    }


def test_compile_reports_the_same_at_the_spec_s_lines() -> None:
    result = ptcompile.compile(spec("1.7.0-cuda11.0-cudnn8-runtime"))
    (finding,) = [item for item in result.diagnostics if item.severity == "error"]
    assert (finding.name, finding.path) == ("image-without-torchrun", ("spec", "image"))
    command = ["torchrun", "--numa-binding=node", "train.py"]
    (warning,) = [
        item
        for item in ptcompile.compile(spec(OLD, script=None, command=command)).diagnostics
        if item.name == "unknown-launch-option"
    ]
    assert warning.path == ("spec", "command", 1)


def test_compile_spells_options_as_the_image_accepts_them() -> None:
    result = ptcompile.compile(spec("1.13.1-cuda11.6-cudnn8-runtime"))
    assert result.ok
    assert "--nproc_per_node=1" in result.yaml()
    assert not [item for item in result.diagnostics if item.name in RULES]
