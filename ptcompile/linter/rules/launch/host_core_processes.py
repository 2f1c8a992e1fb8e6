"""torchrun starts a process for each core of the host.

PTC431 host-core-processes: warning at run (slows), by torchrun.
Needs: {TORCHRUN} auto/cpu/{TORCHRUN_FIELD_KINDS}

What: the processes per node are auto or cpu in a pod without accelerators. auto is PyTorchJob's
default for nprocPerNode.

Why: torchrun counts the cores of the machine, not the CPU limit of the container. On a node of 64
cores it starts 64 processes in a container with 4 CPUs, which are slow or run out of memory.

Example: pod.yaml with

      command:
        - torchrun
    -   - --nproc-per-node=auto  # <--
    +   - --nproc-per-node=8
        - train.py

Fix: write the number of processes, for example that of the CPU limit.

Source: PyTorch 2.13, torch/distributed/run.py: os.cpu_count(); training-operator 1.9: nprocPerNode
is auto where it is not written.
"""

from __future__ import annotations

from ptcompile.linter.devices import may_see_devices
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        nproc = role.options.get("nproc-per-node", "")
        if (
            nproc in ("auto", "cpu")
            and not role.is_uncertain("nproc-per-node")
            and not may_see_devices(role.pod)
        ):
            yield found_at(
                role.path_or_command("nproc-per-node"),
                f"with nproc-per-node {nproc} and no GPU, torchrun starts a process for each core "
                "of the host, ignoring the CPU limit",
                "write the number of processes",
            )
