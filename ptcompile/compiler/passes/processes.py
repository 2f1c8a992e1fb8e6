"""Processes: replace `auto` with a number if torchrun or the operator would count wrong.

torchrun's `auto` counts CUDA, ROCm and XPU devices, else host cores: on a node with TPUs, Gaudis or
Neuron devices it would start one process per core. Trainer looks for "gpu" in the resource's name
and falls back to CPUs (torch plugin, 2.3). The number is the number of devices times the processes
per device. Otherwise `auto` is left to torchrun, which sees the container's actual devices; `cpu`,
`gpu` and `xpu` are the user's explicit choice. If training roles need different numbers, `auto` is
left unchanged too.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job
from ptcompile.spec import devices as hardware


def processes(job: Job, context: Context) -> Job:
    """Replace `auto` in the job's launch with a number if nothing on the node counts the
    devices.
    """
    if job.launch is None or job.launch.nproc_per_node != "auto":
        return job

    numbers = {
        hardware.uncounted_processes(
            context.cluster, role.template.main.resources.limits, job.accelerator
        )
        for role in job.training_roles
    }
    number = numbers.pop() if len(numbers) == 1 else None
    if number is None:
        return job

    return job._replace(launch=job.launch._replace(nproc_per_node=number))
