"""Environment: the profile's variables, and OMP_NUM_THREADS.

The profile's variables come first, so the user's variables can refer to them. Pods that request the
named accelerator also get its variables, which override the profile's. The user's variables
override both and keep their order. OMP_NUM_THREADS=1 comes last, if it is unset, a node runs
several processes and the spec does not leave defaults to torchrun, which would set the same for its
processes (PyTorch 2.13): this way the manifest shows it. Auxiliary roles do not run torchrun and do
not get it.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, Launch, map_templates
from ptcompile.ir.pods import PodTemplate
from ptcompile.spec import devices as hardware


def env(job: Job, context: Context) -> Job:
    """Add the variables of the profile and of the accelerator, and OMP_NUM_THREADS, to each
    role's main container.
    """
    defaults = context.cluster.spec.defaults.env
    accelerator = hardware.accelerator(context.cluster, job.accelerator)

    def add(template: PodTemplate) -> PodTemplate:
        variables = defaults
        if accelerator and hardware.count_accelerators(
            context.cluster, template.main.resources.limits
        ):
            variables = {**defaults, **accelerator.env}
        if not variables:
            return template

        added = template.main.missing_env(variables)
        if added:
            return template.with_env((*added, *template.main.env))

        return template

    def add_all(template: PodTemplate) -> PodTemplate:
        threads = "OMP_NUM_THREADS"
        extended = add(template)
        launch = job.launch if job.launch is not None and job.launch.adds_variables else None
        runs_several = launch is not None and _runs_several_processes(launch, template, context)
        if not runs_several or threads in [entry.get("name") for entry in extended.main.env]:
            return extended
        return extended.with_env((*extended.main.env, {"name": threads, "value": "1"}))

    return map_templates(job, add_all, add)


def _runs_several_processes(launch: Launch, template: PodTemplate, context: Context) -> bool:
    """Return whether a node runs several processes; `auto`, `gpu`, `xpu` and `cpu` count its
    devices or cores.
    """
    if isinstance(launch.nproc_per_node, int):
        return launch.nproc_per_node > 1
    has_one_device = (
        hardware.count_accelerators(context.cluster, template.main.resources.limits) == 1
    )
    return not (has_one_device and launch.nproc_per_node in {"auto", "gpu", "xpu"})
