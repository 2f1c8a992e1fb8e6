"""torchrun counts the devices of this pod wrongly.

PTC430 miscounted-devices: warning at run (differs), by torchrun.
Needs: {TORCHRUN} google/amazon/mig

What: the processes per node are auto or gpu, and the devices are MIG slices, TPU chips or Neuron
cores.

Why: CUDA shows one MIG slice to a process, so torchrun counts 1 of several. It knows neither TPU
nor Neuron: auto then starts one process for each core of the host.

Example: pod.yaml with

      command:
        - torchrun
    -   - --nproc-per-node=auto  # <--
    +   - --nproc-per-node=2
        - train.py
      resources: {limits: {cpu: 8, memory: 64Gi, aws.amazon.com/neuron: 1}}

Fix: write the number of processes: one per slice, or as many as the device's own runtime expects.

Source: PyTorch 2.13, torch/distributed/run.py, determine_local_world_size, and torch.accelerator;
NVIDIA MIG user guide: a CUDA process enumerates one compute instance.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at

_UNCOUNTED = ("google.com/tpu", "aws.amazon.com/neuron")
_MIG_PREFIX = "nvidia.com/mig-"


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        nproc = role.options.get("nproc-per-node", "")
        if nproc not in ("auto", "gpu") or role.is_uncertain("nproc-per-node"):
            continue

        devices = role.pod.devices
        slices = sum(count for name, count in devices.items() if name.startswith(_MIG_PREFIX))
        foreign = next((name for name in devices if name.startswith(_UNCOUNTED)), None)
        if foreign is None and slices < 2:
            continue

        if foreign is not None and nproc == "gpu":
            message = f"torchrun does not know {foreign}: with gpu it does not start"
        elif foreign is not None:
            message = (
                f"torchrun does not know {foreign}: with {nproc} it starts a process for each core "
                "of the host"
            )
        else:
            message = (
                f"with {nproc} torchrun counts 1 of {slices} MIG slices: CUDA shows a process one "
                "of them"
            )

        yield found_at(
            role.path_or_command("nproc-per-node"), message, "write the number of processes"
        )
