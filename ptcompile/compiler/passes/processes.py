"""Processes: `auto` becomes a number where those who would count on the node would count wrong.

torchrun's `auto` counts the devices of CUDA, ROCm and XPU, and host cores where it sees none: on a node with TPUs,
Gaudis or Neuron devices it would start a process for each core. Trainer looks for "gpu" in the resource's name and
falls back to CPUs (torch plugin, 2.3). The number is that of the devices, times what one of them takes. Elsewhere
`auto` stays torchrun's, who sees what the container was given; `cpu` and `gpu` are the user's own words and stand.
Where roles differ one number would be wrong for some, so there `auto` stays too.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job
from ptcompile.spec import devices as hardware


def processes(job: Job, context: Context) -> Job:
    """The job's launch with a number for `auto`, where nothing on the node counts the devices."""
    if job.launch is None or job.launch.nproc_per_node != "auto":
        return job
    found = {
        hardware.uncounted(context.cluster, r.template.main.resources.limits, job.accelerator)
        for r in job.training_roles
    }
    number = found.pop() if len(found) == 1 else None
    return job if number is None else job._replace(launch=job.launch._replace(nproc_per_node=number))
