"""torchrun rejects the number of processes and does not start.

PTC415 bad-nproc: error at run (fails), by torchrun.
Needs: {TORCHRUN} {NPROC}

What: the processes per node are neither a number above zero nor one of auto, cpu, gpu and xpu:
`all` and `cuda` too.

Why: torchrun raises ValueError on any other word, capital letters included, and no operator checks
the text before.

Example: pod.yaml with

      command:
        - torchrun
    -   - --nproc-per-node=GPU  # <--
    +   - --nproc-per-node=gpu
        - train.py
      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: write a number, or gpu for one process per GPU.

Source: PyTorch 2.13, torch/distributed/run.py, determine_local_world_size; training-operator 1.9,
whose CRD takes any text.
"""

from __future__ import annotations

from ptcompile.kubernetes.commands import PROCESS_WORDS
from ptcompile.kubernetes.versions import version_text
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import torch_version
from ptcompile.simulator.launchers import TORCHRUN_TABLE
from ptcompile.simulator.launchers.torchrun import is_int, is_literal

_NO_DEVICES = frozenset(TORCHRUN_TABLE["not_devices"])
"""Words that are the name of no device type that PyTorch or a plugin registers as its private
backend.
"""
_OPTION = "nproc-per-node"
_WITHOUT_XPU = (2, 5)
"""The newest PyTorch that was found not to know xpu here; 2.13 does."""


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        nproc = role.options.get(_OPTION, "")
        if not is_literal(nproc):
            continue

        torch = torch_version(role, subject.versions)
        if nproc == "xpu" and torch <= _WITHOUT_XPU and not role.installs_packages:
            release = f"torchrun of PyTorch {version_text(torch)}"
            message = f"{release} does not start with xpu processes per node"
            help = "write the number of processes, or use PyTorch 2.13 or newer"
            yield found_at(role.path_of(_OPTION), message, help)
        if not _is_invalid(nproc):
            continue

        suggestion = nproc.strip().lower()
        is_known = suggestion in PROCESS_WORDS
        yield found_at(
            role.path_of(_OPTION),
            f"torchrun does not start with {nproc!r} processes per node: it must be a number above "
            f"0, or one of {', '.join(PROCESS_WORDS)}",
            "write a number, or gpu for one process per GPU",
            role.fix_to(_OPTION, suggestion, f"write {suggestion}", safe=True)
            if is_known
            else None,
        )


def _is_invalid(nproc: str) -> bool:
    if is_int(nproc):
        return int(nproc) < 1
    # may be a device type that only the image knows
    may_be_device = nproc.isascii() and nproc.isalpha() and nproc.islower()
    return nproc not in PROCESS_WORDS and (nproc in _NO_DEVICES or not may_be_device)
