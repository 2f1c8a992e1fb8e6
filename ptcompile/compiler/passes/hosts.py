"""Hosts: where the pods of the auxiliary roles are.

Each operator names pods in its own way, so a spec that wrote the names out would fit one target alone. Every pod of
the job finds the names of a role's pods in `<ROLE>_HOSTS`, in order, with commas between, as Volcano's svc plugin gives
them in VC_<TASK>_HOSTS (Volcano 1.16). It stands in front of the user's variables, which may refer to it as
`$(LOADER_HOSTS)`; so may arguments. The names resolve before the pods are ready. A variable of this name that the user
sets stands.
"""

from __future__ import annotations

from ptcompile.ir.job import Context, Job, map_templates
from ptcompile.ir.pods import PodTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.pods import Json


def hosts(job: Job, context: Context) -> Job:
    """Every main container gets a variable for each auxiliary role."""
    if not job.auxiliary_roles:
        return job
    found = {variable(role): ",".join(names) for role, names in context.target.wiring(job).hosts.items()}

    def tell(template: PodTemplate) -> PodTemplate:
        there = {entry.get("name") for entry in template.main.env}
        front: list[Json] = [{"name": k, "value": v} for k, v in found.items() if k not in there]
        return template.with_env((*front, *template.main.env))

    return map_templates(job, tell)


def variable(role: str) -> str:
    """The variable that holds a role's host names: `data-loader` has DATA_LOADER_HOSTS."""
    return f"{role.upper().replace('-', '_')}_HOSTS"
