"""Hosts: the host names of auxiliary pods, as variables.

Operators name pods differently, so a spec with literal names would work on one target only. In
every pod of the job, `<ROLE>_HOSTS` holds the names of a role's pods, in order and separated by
commas, like VC_<TASK>_HOSTS of Volcano's svc plugin (Volcano 1.16). It comes before the user's
variables, so they and the arguments can refer to it as `$(LOADER_HOSTS)`. The names resolve before
the pods are ready. A variable with this name that the user sets is kept.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate


def hosts(job: Job, context: Context) -> Job:
    """Add a variable for each auxiliary role to every main container."""
    if not job.auxiliary_roles:
        return job

    variables = {
        hosts_variable(role): ",".join(names)
        for role, names in context.target.wiring(job).hosts.items()
    }

    def add_hosts(template: PodTemplate) -> PodTemplate:
        return template.with_env((*template.main.missing_env(variables), *template.main.env))

    return map_templates(job, add_hosts)


def hosts_variable(role: str) -> str:
    """Return the name of the variable that holds a role's host names: DATA_LOADER_HOSTS for
    `data-loader`.
    """
    return f"{role.upper().replace('-', '_')}_HOSTS"
