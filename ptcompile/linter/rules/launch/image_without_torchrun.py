"""The image's PyTorch is older than torchrun.

PTC488 image-without-torchrun: error at run (fails), by torchrun.
Needs: {TORCHRUN}

What: the command is torchrun, and the image's PyTorch is older than 1.10; or it is `python -m
torch.distributed.run`, and older than 1.9. An official tag of pytorch/pytorch says which it is,
else the profile's versions.torch.

Why: PyTorch installs the program torchrun since 1.10, and has the module since 1.9. The container
does not start: "executable file not found in $PATH", or "No module named torch.distributed.run".

Example: pod.yaml with

    - image: pytorch/pytorch:1.7.0-cuda11.0-cudnn8-runtime  # <--
    + image: pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime
      command: [torchrun, train.py]

Fix: use a newer image, or start the script with `python -m torch.distributed.launch`.

Source: PyTorch 1.10, setup.py, entry_points (pull request 64049); PyTorch 1.9,
torch/distributed/run.py.
"""

from __future__ import annotations

from ptcompile.kubernetes.versions import Version, version_text
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole, image_path, torch_version
from ptcompile.simulator.launchers.torchrun import FIRST_RUN_MODULE, FIRST_TORCHRUN

_MODULES = {"torch.distributed.run": FIRST_RUN_MODULE, "torch.distributed.launch": (0, 0)}


def check(subject: Subject) -> Findings:
    for role in subject.training_roles:
        torch = torch_version(role, subject.versions)
        if role.launch.launcher != "torchrun" or torch >= FIRST_TORCHRUN or role.installs_packages:
            continue

        program, first = _program(role)
        if torch < first:
            yield found_at(
                image_path(role),
                f"the container does not start: {program} came with PyTorch {version_text(first)}, "
                f"and this is PyTorch {version_text(torch)}",
                "use an image with a newer PyTorch, such as 2.13",
            )


def _program(role: TrainingRole) -> tuple[str, Version]:
    """Return the program or module that a role starts, and the first PyTorch that has it."""
    for module, version in _MODULES.items():
        if any(module in token for token in role.container.tokens):
            return module, version
    return "torchrun", FIRST_TORCHRUN
