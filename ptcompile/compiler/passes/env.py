"""Environment: the profile's variables, and OMP_NUM_THREADS.

The user's order is kept, and the user wins over the profile. The profile's variables, and in pods that ask for it those
of the named accelerator, stand in front, so that the user's may refer to them; the accelerator's win, as the closer
ones. OMP_NUM_THREADS=1 comes last, where it is not set and more than one process runs on a node: torchrun sets the same
for its children then (PyTorch 2.13), and the manifest shows what will run. Pods that do not train run no torchrun.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, Launch, map_templates
from ptcompile.ir.pods import PodTemplate
from ptcompile.spec import devices as hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.pods import Json


def env(job: Job, context: Context) -> Job:
    """Each role's main container gets the variables that the profile and torchrun's habits give it."""
    defaults = context.cluster.spec.defaults.env
    accelerator = hardware.accelerator(context.cluster, job.accelerator)

    def add(template: PodTemplate) -> PodTemplate:
        ours = defaults
        if accelerator and hardware.accelerators_in(context.cluster, template.main.resources.limits):
            ours = {**defaults, **accelerator.env}
        if not ours:
            return template
        names = {entry.get("name") for entry in template.main.env}
        front: list[Json] = [{"name": k, "value": v} for k, v in ours.items() if k not in names]
        return template.with_env((*front, *template.main.env)) if front else template

    def train(template: PodTemplate) -> PodTemplate:
        threads = "OMP_NUM_THREADS"
        full = add(template)
        several = job.launch is not None and _several(job.launch, template, context)
        if not several or threads in [entry.get("name") for entry in full.main.env]:
            return full
        return full.with_env((*full.main.env, {"name": threads, "value": "1"}))

    return map_templates(job, train, add)


def _several(launch: Launch, template: PodTemplate, context: Context) -> bool:
    """Whether more than one process runs on a node; `auto`, `gpu` and `cpu` count devices or cores there."""
    if isinstance(launch.nproc_per_node, int):
        return launch.nproc_per_node > 1
    one = hardware.accelerators_in(context.cluster, template.main.resources.limits) == 1
    return not (one and launch.nproc_per_node in {"auto", "gpu"})
